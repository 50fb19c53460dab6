//! From a plan to six operations: open the place, make the files, wrap the faults.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use rustix::fs::fstatvfs;
use rustix::io::Errno;

use super::bigfile::{self, BigFile};
use super::guard::{Guard, Look};
use super::operations::{Create, DataRead, DataWrite, Delete, Files, Operation, Read, Stat};
use super::place::Place;
use super::pool::{self, Repair};
use crate::config::{BackendKind, TargetPlan};
use crate::probe::export::Export;
use crate::probe::origin::Origin;
use crate::probe::region::Region;
use crate::probe::{ProbeError, Progress};
use iosonde_core::aligned::AlignedBuffer;
use iosonde_core::backend::faulty::Faulty;
use iosonde_core::backend::null::Null;
use iosonde_core::backend::posix::{Access, PosixDirectory};
use iosonde_core::backend::{Backend, BlockFile, ObjectName};
use iosonde_core::clock::Clock;
use iosonde_core::sample::{Cache, Op};
use iosonde_core::seed::Random;

/// The big file of a target as it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    /// Access mode: through the cache or around it.
    pub access: Access,
    /// Its size.
    pub file_bytes: u64,
}

type Opened<T, U> = Result<(T, U), ProbeError>;

/// A target whose files are ready.
pub struct Prepared {
    /// The plan asked for.
    pub plan: TargetPlan,
    /// Notes for the user.
    pub notes: Vec<String>,
    files: PreparedFiles,
    region: Region,
    seed: u64,
    buffers: Vec<AlignedBuffer>,
    /// True if every op will run here, and not only those of a trial.
    all_ops: bool,
}

enum PreparedFiles {
    Posix { place: Place, data: BigFile, directory: OwnedFd },
    Nfs(Box<Export>),
    Null,
}

impl Prepared {
    /// Make or repair everything a target needs; the pool goes into the region.
    pub fn new(
        plan: TargetPlan,
        (origin, clock): (&Origin, &Arc<dyn Clock>),
        region: Region,
        progress: &mut Progress<'_>,
    ) -> Result<Self, ProbeError> {
        let mut notes = Vec::new();
        let files = match plan.backend {
            BackendKind::Null => {
                notes.push("the null backend stores nothing: this measures the tool".into());
                region.pool().reset(0..plan.pool as u64);
                PreparedFiles::Null
            }
            BackendKind::Posix => posix(&plan, (origin, &**clock), &region, &mut notes, progress)?,
            BackendKind::Nfs => {
                let export = Export::prepare(&plan, (origin, clock), &region, &mut notes, progress)?;
                PreparedFiles::Nfs(Box::new(export))
            }
        };
        if !plan.faults.is_empty() {
            notes.push("faults are being injected: this is a drill".into());
        }
        Ok(Self { plan, notes, files, region, seed: origin.seed, buffers: Vec::new(), all_ops: true })
    }

    /// The big file, where there is one.
    pub fn made(&self) -> Option<Made> {
        match &self.files {
            PreparedFiles::Posix { data, .. } => Some(Made { access: data.access, file_bytes: data.bytes }),
            PreparedFiles::Nfs(export) => {
                Some(Made { access: Access::Direct, file_bytes: export.file_bytes() })
            }
            PreparedFiles::Null => None,
        }
    }

    /// Who notices when the target's path leads elsewhere; none where nothing is stored, or the kernel does not tell.
    pub fn guard(&self) -> Option<Box<dyn Look>> {
        match &self.files {
            PreparedFiles::Posix { place, .. } => {
                let files =
                    [(bigfile::NAME.into(), "big file"), (pool::directory_name(&self.plan), "pool of files")];
                let guard = Guard::new(place, &self.plan.path, &files)?;
                Some(Box::new(guard))
            }
            PreparedFiles::Nfs(export) => export.guard(&self.plan),
            PreparedFiles::Null => None,
        }
    }

    /// Go to files that an earlier worker made ready, without making or changing anything.
    pub fn attach(
        plan: TargetPlan,
        (origin, clock): (&Origin, &Arc<dyn Clock>),
        region: Region,
    ) -> Result<Self, ProbeError> {
        let files = match plan.backend {
            BackendKind::Null => PreparedFiles::Null,
            BackendKind::Posix => {
                let place = Place::attach(&plan, origin)?;
                let data = BigFile::existing(&place, &plan)?;
                let directory = place.existing_directory(&pool::directory_name(&plan))?;
                PreparedFiles::Posix { place, data, directory }
            }
            BackendKind::Nfs => PreparedFiles::Nfs(Box::new(Export::attach(&plan, origin, clock)?)),
        };
        let (notes, buffers) = (Vec::new(), Vec::new());
        Ok(Self { plan, notes, files, region, seed: origin.seed, buffers, all_ops: false })
    }

    /// The operation of one lane. `clock` is that lane's; faults count from `start_ns`. `turn` numbers the lanes an op
    /// has had, so that no two choose the same places.
    pub fn operation(
        &mut self,
        op: Op,
        turn: u64,
        clock: &Arc<dyn Clock>,
        start_ns: u64,
    ) -> Result<Box<dyn Operation>, ProbeError> {
        let random = self.random(op, turn, "");
        if op.is_data() {
            let (file, bytes) = self.blocks(op, turn, clock, start_ns)?;
            let buffer = self.buffer();
            return Ok(match op {
                Op::DataRead => Box::new(DataRead::new(file, bytes, buffer, random)),
                _ => Box::new(DataWrite::new(file, bytes, buffer, random)),
            });
        }
        let (backend, cache) = self.objects(op, turn, clock, start_ns)?;
        let object_bytes = self.plan.object_bytes as usize;
        let files = Files { backend, pool: self.region.pool(), object_bytes, cache };
        Ok(match op {
            Op::MdCreate => Box::new(Create::new(files, random)),
            Op::MdStat => Box::new(Stat::new(files)),
            Op::MdRead => Box::new(Read::new(files)),
            _ => Box::new(Delete::new(files)),
        })
    }

    fn random(&self, op: Op, turn: u64, what: &str) -> Random {
        Random::stream(self.seed.wrapping_add(turn), &format!("{} {}{what}", self.plan.name, op.name()))
    }

    fn null(&self, op: Op, turn: u64, clock: &Arc<dyn Clock>, start_ns: u64) -> Faulty<Null> {
        let random = self.random(op, turn, " latency");
        let null = Null::new(Arc::clone(clock), self.plan.latency.clone(), self.plan.object_bytes, random);
        self.faulty(null, clock, start_ns)
    }

    fn blocks(
        &self,
        op: Op,
        turn: u64,
        clock: &Arc<dyn Clock>,
        start_ns: u64,
    ) -> Opened<Box<dyn BlockFile>, u64> {
        Ok(match &self.files {
            PreparedFiles::Null => {
                (Box::new(self.null(op, turn, clock, start_ns)), self.plan.file_bytes.unwrap_or(1 << 40))
            }
            PreparedFiles::Posix { place, data, .. } => {
                (Box::new(self.faulty(data.open(place, op)?, clock, start_ns)), data.bytes)
            }
            PreparedFiles::Nfs(export) => {
                (Box::new(self.faulty(export.blocks(op), clock, start_ns)), export.file_bytes())
            }
        })
    }

    fn objects(
        &self,
        op: Op,
        turn: u64,
        clock: &Arc<dyn Clock>,
        start_ns: u64,
    ) -> Opened<Box<dyn Backend>, Option<Cache>> {
        Ok(match &self.files {
            PreparedFiles::Null => (Box::new(self.null(op, turn, clock, start_ns)), None),
            PreparedFiles::Nfs(export) => {
                (Box::new(self.faulty(export.objects(), clock, start_ns)), Some(Cache::Direct))
            }
            PreparedFiles::Posix { place, data, directory } => {
                let files = PosixDirectory::new(duplicate(directory, place)?);
                let memory = data.access == Access::Memory;
                (Box::new(self.faulty(files, clock, start_ns)), memory.then_some(Cache::Cached))
            }
        })
    }

    /// Takes one of the two blocks, side by side; a trial often needs only one.
    fn buffer(&mut self) -> AlignedBuffer {
        if self.all_ops && self.buffers.is_empty() {
            self.buffers = AlignedBuffer::several::<2>(self.plan.block_bytes as usize).into();
        }
        self.buffers.pop().unwrap_or_else(|| AlignedBuffer::new(self.plan.block_bytes as usize))
    }

    fn faulty<T>(&self, inner: T, clock: &Arc<dyn Clock>, start_ns: u64) -> Faulty<T> {
        Faulty::new(inner, Arc::clone(clock), start_ns, self.plan.faults.clone())
    }
}

fn duplicate(directory: &OwnedFd, place: &Place) -> Result<OwnedFd, ProbeError> {
    directory.try_clone().map_err(|error| ProbeError::Failed {
        path: place.path.clone(),
        what: "cannot duplicate a descriptor",
        errno: Errno::from_io_error(&error).unwrap_or(Errno::MFILE),
    })
}

fn posix(
    plan: &TargetPlan,
    (origin, clock): (&Origin, &dyn Clock),
    region: &Region,
    notes: &mut Vec<String>,
    progress: &mut Progress<'_>,
) -> Result<PreparedFiles, ProbeError> {
    let place = Place::open(plan, origin)?;
    let mut random = Random::stream(origin.seed, &format!("{} contents", plan.name));
    let data = BigFile::prepare(&place, plan, (origin, clock), &mut random, progress)?;
    progress(&plan.name, "big file", data.bytes, data.bytes);
    notes.push(data.note.clone());
    let own = pool::directory_name(plan);
    let failed = |what| {
        let path = place.path.clone();
        move |errno| ProbeError::Failed { path, what, errno }
    };
    for name in place.names().map_err(failed("cannot list"))? {
        if name.starts_with("pool-") && name != own {
            pool::remove(&place, &name)?;
        }
    }
    let directory = place.open_directory(&own)?;
    let found = pool::look(&directory, plan.object_bytes).map_err(failed("cannot list the pool"))?;
    if found.strangers > 0 {
        notes.push(format!("{} files in the pool's directory are not ours; left alone", found.strangers));
    }
    let ids = fill_pool(&place, &directory, plan, found, &mut random, progress)?;
    if let Some(&newest) = ids.back() {
        let name = ObjectName::new(newest);
        place.check_component(Path::new(&own).join(OsStr::from_bytes(name.as_c_str().to_bytes())))?;
    }
    region.pool().reset(ids);
    let bytes = plan.pool as u64 * plan.object_bytes;
    progress(&plan.name, "pool", bytes, bytes);
    Ok(PreparedFiles::Posix { place, data, directory })
}

fn fill_pool(
    place: &Place,
    directory: &OwnedFd,
    plan: &TargetPlan,
    found: pool::Found,
    random: &mut Random,
    progress: &mut Progress<'_>,
) -> Result<VecDeque<u64>, ProbeError> {
    let path = || place.path.clone();
    let mut backend = PosixDirectory::new(duplicate(directory, place)?);
    let mut content = vec![0_u8; plan.object_bytes as usize];
    let mut fresh = || {
        random.fill(&mut content);
        content.clone()
    };
    let all = plan.pool as u64 * plan.object_bytes;
    let mut report = |files: u64| progress(&plan.name, "pool", files * plan.object_bytes, all);
    let whole = found.broken.is_empty() && found.ids.len() == plan.pool;
    let repaired = pool::repair(&mut backend, found, plan.pool, &mut fresh, &mut report);
    if !whole {
        // A file whose blocks were never allocated is deleted several times as fast as one that is on the
        // device: measure what is usual, not the first half minute.
        let _ = rustix::fs::syncfs(directory);
    }
    repaired.map_err(|repair| match repair {
        Repair::Stopped => ProbeError::Stopped { path: path() },
        Repair::Failed { errno: Errno::NOSPC | Errno::DQUOT, .. } => {
            let free = fstatvfs(directory).map(|fs| fs.f_bavail * fs.f_frsize).unwrap_or(0);
            let suggestion = "a smaller one, or --pool with fewer files".into();
            ProbeError::NoSpace { path: path(), needed: all, free, suggestion }
        }
        Repair::Failed { what, errno } => ProbeError::Failed { path: path(), what, errno },
    })
}

/// Bytes of memory of this machine; 0 where unknown.
pub fn memory_bytes() -> u64 {
    let info = rustix::system::sysinfo();
    info.totalram as u64 * u64::from(info.mem_unit)
}

/// Identifier of this boot of the kernel; empty if it does not tell.
pub fn boot_id() -> String {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    text.trim().to_owned()
}
