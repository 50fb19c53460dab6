//! From a plan to six operations: open the place, make the files, wrap the faults.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::fs::fstatvfs;
use rustix::io::Errno;

use super::bigfile::BigFile;
use super::operations::{Create, DataRead, DataWrite, Delete, Files, Operation, Read, Stat};
use super::place::Place;
use super::pool::{self, Pool, Repair};
use super::{ProbeError, Progress};
use crate::backend::faulty::Faulty;
use crate::backend::null::Null;
use crate::backend::posix::{Access, PosixDirectory};
use crate::backend::{Backend, BlockFile};
use crate::clock::Clock;
use crate::config::{BackendKind, TargetPlan};
use crate::sample::Op;
use crate::seed::Random;

/// Where a run's randomness and names come from.
#[derive(Debug, Clone)]
pub struct Origin {
    /// Seed of the run.
    pub seed: u64,
    /// Name of this host.
    pub host: String,
    /// Memory of this host.
    pub memory_bytes: u64,
    /// Now, UTC.
    pub now_ns: i64,
}

/// A target whose files are ready.
pub struct Prepared {
    /// What was asked for.
    pub plan: TargetPlan,
    /// What people should know.
    pub notes: Vec<String>,
    files: PreparedFiles,
    seed: u64,
}

enum PreparedFiles {
    Posix { place: Place, data: BigFile, directory: OwnedFd, pool: Arc<Pool> },
    Null { pool: Arc<Pool> },
}

impl Prepared {
    /// Make or repair everything a target needs.
    pub fn new(plan: TargetPlan, origin: &Origin, progress: &mut Progress<'_>) -> Result<Self, ProbeError> {
        let mut notes = Vec::new();
        let files = match plan.backend {
            BackendKind::Null => {
                notes.push("the null backend stores nothing: this measures the tool".into());
                PreparedFiles::Null { pool: Arc::new(Pool::new(plan.pool, 0..plan.pool as u64)) }
            }
            BackendKind::Posix => posix(&plan, origin, &mut notes, progress)?,
        };
        if !plan.faults.is_empty() {
            notes.push("faults are being injected: this is a drill".into());
        }
        Ok(Self { plan, notes, files, seed: origin.seed })
    }

    /// The operation of one lane. `clock` is that lane's; faults count from `start_ns`.
    pub fn operation(
        &self,
        op: Op,
        clock: &Arc<dyn Clock>,
        start_ns: u64,
    ) -> Result<Box<dyn Operation>, ProbeError> {
        let random = Random::stream(self.seed, &format!("{} {}", self.plan.name, op.name()));
        match &self.files {
            PreparedFiles::Null { pool } => {
                let null = || {
                    let own = Random::stream(self.seed, &format!("{} {} latency", self.plan.name, op.name()));
                    let latency = self.plan.latency.clone();
                    let null = Null::new(Arc::clone(clock), latency, self.plan.object_bytes, own);
                    self.faulty(null, clock, start_ns)
                };
                let bytes = self.plan.file_bytes.unwrap_or(1 << 40);
                if op.is_data() {
                    Ok(self.data(op, Box::new(null()), bytes, random))
                } else {
                    Ok(self.metadata(op, Box::new(null()), pool, false, random))
                }
            }
            PreparedFiles::Posix { place, data, directory, pool } => {
                if op.is_data() {
                    let file = self.faulty(data.open(place)?, clock, start_ns);
                    return Ok(self.data(op, Box::new(file), data.bytes, random));
                }
                let own = directory.try_clone().map_err(|error| ProbeError::Failed {
                    path: place.path.clone(),
                    what: "cannot duplicate a descriptor",
                    errno: Errno::from_io_error(&error).unwrap_or(Errno::MFILE),
                })?;
                let backend = self.faulty(PosixDirectory::new(own), clock, start_ns);
                let memory = data.access == Access::Memory;
                Ok(self.metadata(op, Box::new(backend), pool, memory, random))
            }
        }
    }

    fn faulty<T>(&self, inner: T, clock: &Arc<dyn Clock>, start_ns: u64) -> Faulty<T> {
        Faulty::new(inner, Arc::clone(clock), start_ns, self.plan.faults.clone())
    }

    fn data(&self, op: Op, file: Box<dyn BlockFile>, bytes: u64, random: Random) -> Box<dyn Operation> {
        let block = self.plan.block_bytes as usize;
        match op {
            Op::DataRead => Box::new(DataRead::new(file, bytes, block, random)),
            _ => Box::new(DataWrite::new(file, bytes, block, random)),
        }
    }

    fn metadata(
        &self,
        op: Op,
        backend: Box<dyn Backend>,
        pool: &Arc<Pool>,
        memory: bool,
        random: Random,
    ) -> Box<dyn Operation> {
        let object_bytes = self.plan.object_bytes as usize;
        let files = Files { backend, pool: Arc::clone(pool), object_bytes, memory };
        match op {
            Op::MdCreate => Box::new(Create::new(files, random)),
            Op::MdStat => Box::new(Stat::new(files)),
            Op::MdRead => Box::new(Read::new(files)),
            _ => Box::new(Delete::new(files)),
        }
    }
}

fn posix(
    plan: &TargetPlan,
    origin: &Origin,
    notes: &mut Vec<String>,
    progress: &mut Progress<'_>,
) -> Result<PreparedFiles, ProbeError> {
    let place = Place::open(&plan.path, &origin.host, origin.now_ns)?;
    let mut random = Random::stream(origin.seed, &format!("{} contents", plan.name));
    let data = BigFile::prepare(&place, plan, origin.memory_bytes, &mut random, progress)?;
    notes.push(data.note.clone());
    let own = format!("pool-{}", plan.object_bytes);
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
    let pool = fill_pool(&place, &directory, plan, found, &mut random, progress)?;
    Ok(PreparedFiles::Posix { place, data, directory, pool: Arc::new(pool) })
}

fn fill_pool(
    place: &Place,
    directory: &OwnedFd,
    plan: &TargetPlan,
    found: pool::Found,
    random: &mut Random,
    progress: &mut Progress<'_>,
) -> Result<Pool, ProbeError> {
    let path = || place.path.clone();
    let own = directory.try_clone().map_err(|_| ProbeError::Failed {
        path: path(),
        what: "cannot duplicate a descriptor",
        errno: Errno::MFILE,
    })?;
    let mut backend = PosixDirectory::new(own);
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
