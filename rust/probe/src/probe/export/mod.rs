//! A target that is an NFS export, probed from user space: no mount, no cache of the kernel, and nothing that could get
//! stuck in it.
//!
//! ```text
//! EXPORT/.iosonde-<uid>/nfs@<host>/MARK          what made it
//!                                  lock          who probes here, beaten while it does
//!                                  data          the big file
//!                                  pool-<size>/  the small files
//! ```
//! Each lane has a connection of its own: one that hangs holds up no other. A connection that was lost is opened anew
//! by the next operation.

mod big_file;
mod guard;
mod place;
mod small_files;

use std::sync::Arc;

use iosonde_core::clock::Clock;
use iosonde_core::sample::Op;
use iosonde_core::seed::Random;
use iosonde_nfs::blocks::Blocks;
use iosonde_nfs::files::{Handle, stable_how};
use iosonde_nfs::link::Link;
use iosonde_nfs::objects::Objects;

use super::files::guard::Look;
use super::files::pool;
use super::origin::Origin;
use super::region::Region;
use super::{ProbeError, Progress};
use crate::config::TargetPlan;
use guard::ExportGuard;
use place::ExportPlace;

/// An export whose files are ready.
pub struct Export {
    place: ExportPlace,
    data: Handle,
    file_bytes: u64,
    small: Handle,
    /// Bytes of a READ and of a WRITE that the server takes.
    limits: (u32, u32),
}

impl Export {
    /// Make or repair everything; the pool goes into the region.
    pub fn prepare(
        plan: &TargetPlan,
        (origin, clock): (&Origin, &Arc<dyn Clock>),
        region: &Region,
        notes: &mut Vec<String>,
        progress: &mut Progress<'_>,
    ) -> Result<Self, ProbeError> {
        let mut place = ExportPlace::open(plan, origin, clock)?;
        let limits = place.limits()?;
        let mut random = Random::stream(origin.seed, &format!("{} contents", plan.name));
        let host = &origin.host;
        let (data, file_bytes) =
            big_file::prepare(&mut place, plan, (host, &**clock, limits.1), &mut random, progress)?;
        progress(&plan.name, "big file", file_bytes, file_bytes);
        notes.push(format!(
            "big file {} MiB; NFSv3 from user space: no cache of the kernel is in the way",
            file_bytes >> 20
        ));
        small_files::remove_others(&mut place, plan)?;
        let small = place.enter_directory(&pool::directory_name(plan))?;
        let found = small_files::look(&mut place, &small, plan.object_bytes)?;
        if found.strangers > 0 {
            notes.push(format!("{} files in the pool's directory are not ours; left alone", found.strangers));
        }
        let mut backend = Objects::new(place.link(), small.clone(), stable_how::UNSTABLE);
        let mut content = vec![0_u8; plan.object_bytes as usize];
        let mut fresh = || {
            random.fill(&mut content);
            content.clone()
        };
        let all = plan.pool as u64 * plan.object_bytes;
        let mut report = |files: u64| progress(&plan.name, "pool", files * plan.object_bytes, all);
        let ids = pool::repair(&mut backend, found, plan.pool, &mut fresh, &mut report)
            .map_err(|repair| place.repair_error(repair))?;
        region.pool().reset(ids);
        progress(&plan.name, "pool", all, all);
        Ok(Self { place, data, file_bytes, small, limits })
    }

    /// Go to files that an earlier worker made ready, without making or changing anything.
    pub fn attach(plan: &TargetPlan, origin: &Origin, clock: &Arc<dyn Clock>) -> Result<Self, ProbeError> {
        let mut place = ExportPlace::attach(plan, origin, clock)?;
        let limits = place.limits()?;
        let (data, found) = place.existing(big_file::NAME)?;
        let (small, _) = place.existing(&pool::directory_name(plan))?;
        Ok(Self { place, data, file_bytes: found.size, small, limits })
    }

    /// Bytes of the big file.
    pub fn file_bytes(&self) -> u64 {
        self.file_bytes
    }

    /// The big file for one lane. Its connection is opened here, or by the first operation if that fails.
    pub fn blocks(&self, op: Op) -> Blocks {
        let (written, read) = self.limits;
        Blocks::new(self.link(), self.data.clone(), if op == Op::DataRead { read } else { written })
    }

    /// The small files for one lane.
    pub fn objects(&self) -> Objects<Link> {
        Objects::new(self.link(), self.small.clone(), stable_how::FILE_SYNC)
    }

    fn link(&self) -> Link {
        let mut link = self.place.link();
        let _ = link.open();
        link
    }

    /// Who notices when names lead elsewhere.
    pub fn guard(&self, plan: &TargetPlan) -> Option<Box<dyn Look>> {
        let files = [(pool::directory_name(plan), "pool of files"), (big_file::NAME.into(), "big file")];
        ExportGuard::new(&self.place, files).map(|guard| Box::new(guard) as Box<dyn Look>)
    }
}
