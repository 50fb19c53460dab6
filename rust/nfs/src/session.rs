//! A sweep's stay on a server: a directory of its own, two files, points, and nothing left behind.

use std::sync::Arc;

use iosonde_core::clock::Clock;
use iosonde_core::seed::Random;
use nfs3_types::nfs3::stable_how;

use crate::connection::{Connection, Connector};
use crate::error::NfsError;
use crate::hold::{Claim, Hold};
use crate::link::Link;
use crate::load::{self, Aim};
use crate::mount::{Mounted, Place, mount, unmount};
use crate::point::{Measured, Progress, Request};

/// Name of the lock in the directory that is mounted: one sweep at a time.
pub const LOCK: &str = ".iosonde-nfs-lock";
const FILES: [&str; 2] = ["written", "read"];
/// Bytes of one WRITE while files are filled.
const CHUNK: u32 = 1 << 18;
const EXIST: u32 = 17;
/// Writes and probes begin so long after their threads.
const LEAD_NS: u64 = 2_000_000;

/// A mounted export with a directory of ours.
pub struct Session {
    connector: Connector,
    control: Connection,
    mounted: Mounted,
    directory: String,
    handle: Option<Vec<u8>>,
    files: Vec<Vec<u8>>,
    seed: u64,
    first_xid: u32,
    words: String,
    hold: Option<Hold>,
}

impl Session {
    /// Mount. Nothing is made yet. `words` say in the lock who measures: `on node7, since ...`. Errors: all.
    pub fn open(connector: Connector, place: &Place, seed: u64, words: &str) -> Result<Self, NfsError> {
        let mounted = mount(&connector, place)?;
        let first_xid = Random::stream(seed, "xid").bits() as u32;
        let control = Connection::open(&connector, mounted.nfs, first_xid)?;
        let directory = format!(".iosonde-{}-nfs-{:08x}", connector.caller.uid, seed as u32);
        Ok(Self {
            connector,
            control,
            mounted,
            directory,
            handle: None,
            files: Vec::new(),
            seed,
            first_xid,
            words: words.to_owned(),
            hold: None,
        })
    }

    /// Name of the directory below the export.
    pub fn directory(&self) -> &str {
        &self.directory
    }

    /// Take the export's lock, make the directory and fill both files with `bytes` random bytes. `filled` gets how many are
    /// there and may say no. Errors: all; Held; `clean` removes what was made.
    pub fn prepare(&mut self, bytes: u64, mut filled: impl FnMut(u64) -> bool) -> Result<bool, NfsError> {
        self.take_lock()?;
        let (most, _) = self.control.limits(&self.mounted.root)?;
        let handle = match self.control.make_directory(&self.mounted.root, &self.directory) {
            Err(NfsError::Status { status: EXIST, .. }) => {
                self.control.lookup(&self.mounted.root, &self.directory)?
            }
            made => made?,
        };
        self.handle = Some(handle.clone());
        let mut chunk = vec![0; most.clamp(512, CHUNK) as usize];
        Random::stream(self.seed, "files").fill(&mut chunk);
        for (number, name) in (0..).zip(FILES) {
            let file = self.control.create(&handle, name)?;
            self.files.push(file.clone());
            let mut at = 0;
            while at < bytes {
                if !filled(number * bytes + at) {
                    return Ok(false);
                }
                let length = (bytes - at).min(chunk.len() as u64) as usize;
                self.control.write(&file, at, &chunk[..length], stable_how::UNSTABLE)?;
                at += length as u64;
            }
            self.control.commit(&file)?;
        }
        Ok(filled(2 * bytes))
    }

    fn take_lock(&mut self) -> Result<(), NfsError> {
        let random = Random::stream(self.seed, "lock");
        let beats = Link::new(self.connector.clone(), self.mounted.nfs, random);
        let claim = Claim { directory: &self.mounted.root, name: LOCK, words: &self.words };
        self.hold = Hold::take(&mut self.control, beats, &claim, &self.connector.clock)?;
        Ok(())
    }

    fn connect(&mut self) -> Result<Connection, NfsError> {
        self.first_xid = self.first_xid.wrapping_add(1 << 24);
        Connection::open(&self.connector, self.mounted.nfs, self.first_xid)
    }

    /// Measure one point over `connections` of its own, and one of the reads. Errors: of connecting.
    pub fn point(
        &mut self,
        connections: usize,
        request: &Request,
        progress: &Progress,
    ) -> Result<Measured, NfsError> {
        let [written, read] = self.files.as_slice() else {
            return Err(NfsError::Malformed { what: "prepared session" });
        };
        let (address, connector) = (self.mounted.nfs, self.connector.clone());
        let aim = |file: &[u8]| Aim { connector: connector.clone(), address, file: file.to_vec() };
        let (writing, reading) = (aim(written), aim(read));
        let writers = (0..connections).map(|_| self.connect()).collect::<Result<Vec<_>, _>>()?;
        let prober = self.connect()?;
        let clock: Arc<dyn Clock> = Arc::clone(&self.connector.clock);
        let (start_ns, began_ns) = (clock.monotonic_ns() + LEAD_NS, clock.wall_ns());
        let seed = self.seed;
        let (writes, probes) = std::thread::scope(|scope| {
            let writes = (request.write_rate > 0.0)
                .then(|| scope.spawn(|| load::write(&writing, writers, request, progress, start_ns, seed)));
            let probes = (request.probe_period_ns > 0)
                .then(|| scope.spawn(|| load::probe(&reading, prober, request, progress, start_ns)));
            (writes.map(|thread| thread.join()), probes.map(|thread| thread.join()))
        });
        let (writes, mut problems) = writes.and_then(Result::ok).unwrap_or_default();
        let (probes, more) = probes.and_then(Result::ok).unwrap_or_default();
        problems.extend(more);
        let seen = |flag: &std::sync::atomic::AtomicBool| flag.load(std::sync::atomic::Ordering::Relaxed);
        Ok(Measured {
            began_ns,
            lasted_ns: progress.lasted_ns.load(std::sync::atomic::Ordering::Relaxed),
            writes,
            probes,
            ceiling: seen(&progress.ceiling),
            stopped: seen(&progress.stop),
            problems,
        })
    }

    /// Remove files and directory, and unmount. Fine where nothing was made. Errors: all, after everything was tried.
    pub fn clean(&mut self) -> Result<(), NfsError> {
        if self.handle.is_none() && self.hold.is_none() {
            return Ok(());
        }
        // The connection may have been lost with the server's patience.
        let root = self.mounted.root.clone();
        let mut control = self.connect()?;
        let mut first = Ok(());
        if let Some(handle) = &self.handle {
            for name in FILES {
                first = first.and(gone(control.remove(handle, name)));
            }
            first = first.and(gone(control.remove_directory(&root, &self.directory)));
        }
        if let Some(hold) = &mut self.hold {
            first = first.and(hold.release(&mut control));
        }
        if first.is_ok() {
            self.hold = None;
            self.handle = None;
            self.files.clear();
            // Servers only keep a list of it.
            let _ = unmount(&self.connector, &self.mounted);
        }
        first
    }
}

fn gone(result: Result<(), NfsError>) -> Result<(), NfsError> {
    const NOENT: u32 = 2;
    match result {
        Err(NfsError::Status { status: NOENT, .. }) => Ok(()),
        result => result,
    }
}
