//! One rank: its directory, its file, and everything it does there that is not timed.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::{AtFlags, unlinkat};
use rustix::io::Errno;

use super::content::{Content, Writer};
use super::parameters::{Layout, Parameters};
use super::pattern::Transfers;
use super::records::Records;
use super::ring::Ring;
use super::running::Running;
use crate::ranks::BenchError;
use crate::ranks::account::OpAccount;
use crate::ranks::gauge::Gauge;
use iosonde_core::backend::root::{OwnRoot, gone};
use iosonde_core::clock::{Clock, Stop};
use iosonde_core::marked;

/// First line of the marker.
const MARK: &str = "iosonde bandwidth benchmark, format 1";
const NAME: &str = "bench-bandwidth";
const DATA: &str = "data.";

/// What all ranks of a process share.
#[derive(Clone)]
pub struct Common {
    /// What the run is asked to do.
    pub parameters: Arc<Parameters>,
    /// The directory to measure; none for no file system at all.
    pub place: Option<PathBuf>,
    /// Every instant comes from it.
    pub clock: Arc<dyn Clock>,
    /// Raised when somebody wants an end.
    pub stop: Arc<Stop>,
    /// When the run began, monotonic.
    pub origin_ns: u64,
}

/// The tally of a rank's transfers in one phase.
#[derive(Debug, Clone, Default)]
pub struct Account {
    /// The name of their op.
    pub op: &'static str,
    /// Counts and latencies.
    pub transfers: OpAccount,
}

/// A phase to make ready for.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Write, or read.
    pub write: bool,
    /// How many transfers each rank wrote; empty = all.
    pub counts: Vec<u64>,
    /// Of the phase.
    pub repetition: u32,
    /// Keep the file open at a limit.
    pub held: bool,
}

/// One rank of a run.
pub struct Rank {
    /// Its number, over all processes.
    pub number: u32,
    pub(super) common: Common,
    pub(super) own: Option<OwnRoot>,
    pub(super) content: Content,
    pub(super) account: Account,
    pub(super) records: Arc<Mutex<Records>>,
    pub(super) gauge: Arc<Gauge<Account>>,
    pub(super) ring: Option<Ring>,
    pub(super) running: Option<Running>,
}

impl Rank {
    /// A rank at its place.
    pub fn new(
        number: u32,
        common: Common,
        gauge: Arc<Gauge<Account>>,
        records: Arc<Mutex<Records>>,
    ) -> Result<Self, BenchError> {
        let parameters = &common.parameters;
        let ring = if parameters.depth > 1 { Some(Ring::new(parameters.depth)?) } else { None };
        if ring.is_some() && common.place.is_none() {
            return Err(BenchError::wrong("null: has no queue", "--queue-depth 1"));
        }
        let content = Content::new(parameters.seed, parameters.transfer_bytes, parameters.depth);
        *records.lock().unwrap_or_else(PoisonError::into_inner) = Records::new(parameters.bin_ns);
        let own = common.place.clone().map(|path| OwnRoot::new(path, NAME, MARK));
        let account = Account::default();
        Ok(Self { number, common, own, content, account, records, gauge, ring, running: None })
    }

    /// Make or accept the directory; the first rank of a run also holds it against other runs.
    pub fn begin(&mut self, hold: bool) -> Result<(), BenchError> {
        self.ask("make a directory for the benchmark", OwnRoot::begin)?;
        if hold {
            self.ask("hold the benchmark's directory", OwnRoot::lock)?;
        }
        if !self.common.parameters.direct || self.own.is_none() {
            return Ok(());
        }
        let size = self.common.parameters.transfer_bytes;
        match self.ask("try O_DIRECT", OwnRoot::direct_alignment)?.flatten() {
            Some(alignment) if size.is_multiple_of(alignment) => Ok(()),
            Some(alignment) => Err(BenchError::wrong(
                format!("transfers of {size} bytes are not possible with O_DIRECT here"),
                format!("a multiple of {alignment} bytes: try -t {}", size.next_multiple_of(alignment)),
            )),
            None => Err(BenchError::wrong(
                "O_DIRECT is not granted here",
                "a file system that has it: try without --direct",
            )),
        }
    }

    /// The text kept in the directory.
    pub fn note(&mut self) -> Result<Option<String>, BenchError> {
        Ok(self.ask("read what the kept files say of themselves", OwnRoot::note)?.flatten())
    }

    /// Keep a text in the directory.
    pub fn set_note(&mut self, text: &str) -> Result<(), BenchError> {
        self.ask("write a note beside the files", |own| own.set_note(text)).map(drop)
    }

    /// Make ready for a phase. Returns how many transfers it has.
    pub fn load(&mut self, wanted: &Wanted) -> Result<u64, BenchError> {
        let parameters = Arc::clone(&self.common.parameters);
        let (number, repetition) = (self.number, wanted.repetition);
        let whose = if wanted.write { number } else { parameters.reads_of(number) };
        let mut transfers = Transfers::written(&parameters, whose, repetition);
        if !wanted.write {
            let count = wanted.counts.get(whose as usize).copied().unwrap_or(u64::MAX);
            transfers = transfers.read_back(count, &parameters, number, repetition);
        }
        if wanted.write {
            self.content.prepare();
        }
        self.account.op = if wanted.write { "data_write" } else { "data_read" };
        self.account.transfers.clear();
        self.records.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let planned = transfers.count();
        self.gauge.begin(planned);
        self.running = Some(Running {
            write: wanted.write,
            held: wanted.held,
            name: parameters.file_of(whose),
            writer: Writer { rank: whose, repetition },
            transfers,
            at: 0,
            file: None,
            origin_ns: None,
            last_ns: 0,
            cpu_ns: 0,
            failures_in_row: 0,
            problems: Vec::new(),
        });
        Ok(planned)
    }

    /// The path of the file of the phase that was loaded.
    pub fn path(&self) -> Option<String> {
        let path = self.common.place.as_ref()?.join(marked::own_name()).join(NAME);
        Some(path.join(&self.running.as_ref()?.name).to_string_lossy().into_owned())
    }

    /// Remove the file that it writes; of a shared file, rank 0.
    pub fn remove(&mut self) -> Result<(), BenchError> {
        self.running = None;
        let parameters = Arc::clone(&self.common.parameters);
        if parameters.layout != Layout::Own && self.number != 0 {
            return Ok(());
        }
        let name = parameters.file_of(self.number);
        self.ask("remove a file", |own| gone(unlinkat(own.root()?, name.as_str(), AtFlags::empty())))
            .map(drop)
    }

    /// Remove what runs with other ranks left.
    pub fn sweep(&mut self) -> Result<(), BenchError> {
        self.ask("remove files of earlier runs", |own| {
            let root = own.root()?;
            for name in marked::names(root)?.iter().filter(|name| name.starts_with(DATA)) {
                gone(marked::remove_file(root, name))?;
            }
            Ok(())
        })
        .map(drop)
    }

    /// Remove the directory after all files are gone.
    pub fn end(&mut self) -> Result<(), BenchError> {
        self.running = None;
        self.ask("remove the benchmark's directory", OwnRoot::end).map(drop)
    }

    /// None without a file system.
    fn ask<R>(
        &mut self,
        what: &str,
        call: impl FnOnce(&mut OwnRoot) -> Result<R, Errno>,
    ) -> Result<Option<R>, BenchError> {
        let Some(own) = &mut self.own else { return Ok(None) };
        call(own).map(Some).map_err(|errno| BenchError::Refused {
            attempt: what.to_owned(),
            errno,
            problem: own.problem(),
        })
    }
}
