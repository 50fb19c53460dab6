//! The marked directory in which a probe keeps its files, and nothing else is ever touched.
//!
//! ```text
//! TARGET/.iosonde-<uid>/<host>/MARK          what made it; <host>@<component> for a server of Lustre
//!                              lock          held while a probe runs
//!                              data          the big file
//!                              pool-<size>/  the small files
//! ```
//! Every step opens relative to the one before and follows no symbolic link.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags, flock, ftruncate, openat};
use rustix::io::{Errno, pread, pwrite};

use super::identity::{self, Identity};
use super::pin;
use crate::config::{BackendKind, Pin, TargetPlan};
use crate::probe::ProbeError;
use crate::probe::origin::Origin;
use crate::probe::state::slug;
use crate::record::dates::second_of;
use iosonde_core::marked::{self, FOLLOW_NOTHING, MarkedError, OWN_FILE, enter, own_name, walk};

/// First line of every marker.
pub const MARK: &str = "iosonde probe directory, format 1";

/// An opened, marked and locked directory on a target.
#[derive(Debug)]
pub struct Place {
    /// Its descriptor.
    pub directory: OwnedFd,
    /// Its path, for messages.
    pub path: PathBuf,
    /// Identity that the target's path led to.
    pub root: Identity,
    pin: Option<Pin>,
    _lock: Option<OwnedFd>,
}

impl Place {
    /// Find or make the place of a plan. Who holds it goes into the lock for others to read.
    pub fn open(plan: &TargetPlan, origin: &Origin) -> Result<Self, ProbeError> {
        let root = open_target(&plan.path)?;
        let (outer, path) = enter(&root, &plan.path, &own_name())?;
        let name = place_name(plan, origin);
        let pin = plan.component.as_ref().map(|component| component.pin);
        if let Some(pin) = pin {
            pin::directory(&path.join(&name), pin)?;
        }
        let (directory, path) = enter(&outer, &path, &name)?;
        marked::mark(&directory, &path, MARK)?;
        let lock = lock(&directory, &path, origin)?;
        Ok(Self { directory, path, root: root_of(&root, plan)?, pin, _lock: lock })
    }

    /// Go to the place of a plan as an earlier worker left it: makes nothing and takes no lock, because on a half-dead
    /// file system that might not return.
    pub fn attach(plan: &TargetPlan, origin: &Origin) -> Result<Self, ProbeError> {
        let root = open_target(&plan.path)?;
        let (outer, path) = walk(&root, &plan.path, &own_name())?;
        let (directory, path) = walk(&outer, &path, &place_name(plan, origin))?;
        marked::check(&directory, &path, MARK)?;
        Ok(Self { directory, path, root: root_of(&root, plan)?, pin: None, _lock: None })
    }

    /// Open or create a regular file of ours.
    pub fn open_file(&self, name: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        openat(&self.directory, name, flags | FOLLOW_NOTHING, OWN_FILE)
    }

    /// Open or make a directory of ours, on the component that the place is of.
    pub fn open_directory(&self, name: &str) -> Result<OwnedFd, ProbeError> {
        if let Some(pin) = self.pin {
            pin::directory(&self.path.join(name), pin)?;
        }
        Ok(enter(&self.directory, &self.path, name)?.0)
    }

    /// See that a file of ours lies on the component that the place is of.
    pub fn check_component(&self, file: impl AsRef<Path>) -> Result<(), ProbeError> {
        self.pin.map_or(Ok(()), |pin| pin::file(&self.path.join(file), pin))
    }

    /// Open a directory of ours that is there.
    pub fn existing_directory(&self, name: &str) -> Result<OwnedFd, ProbeError> {
        Ok(walk(&self.directory, &self.path, name)?.0)
    }

    /// Names in the place.
    pub fn names(&self) -> Result<Vec<String>, Errno> {
        marked::names(&self.directory)
    }
}

/// Identity (device and inode) of an open directory.
fn root_of(directory: &OwnedFd, plan: &TargetPlan) -> Result<Identity, ProbeError> {
    identity::of(directory).map_err(|errno| ProbeError::NoTarget { path: plan.path.clone(), errno })
}

/// Mount point of the file system that a target lies on; none if the kernel does not tell. An error if it is above the
/// mount that was probed `before`: a bare mount point is not the target.
pub fn mount_of(plan: &TargetPlan, before: Option<&Path>) -> Result<Option<PathBuf>, ProbeError> {
    if plan.backend != BackendKind::Posix {
        return Ok(None);
    }
    let target = &plan.path;
    let mount = identity::mount_of(open_target(target)?);
    match (&mount, before) {
        (Some(now), Some(before)) if now != before && before.starts_with(now) => {
            Err(ProbeError::Unmounted { path: target.clone(), mount: before.to_owned() })
        }
        _ => Ok(mount),
    }
}

fn open_target(target: &Path) -> Result<OwnedFd, ProbeError> {
    rustix::fs::open(target, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .map_err(|errno| ProbeError::NoTarget { path: target.to_owned(), errno })
}

/// Name of this host's place on a target; one for each server if servers are probed one by one.
fn place_name(plan: &TargetPlan, origin: &Origin) -> String {
    let host = slug(&origin.host);
    match &plan.component {
        Some(component) if component.pin != Pin::Directory => format!("{host}@{}", slug(&component.name)),
        _ => host,
    }
}

/// Locks the place for one probe; the lock dies with its holder. None if our own stuck worker still holds it.
fn lock(directory: &OwnedFd, path: &Path, origin: &Origin) -> Result<Option<OwnedFd>, ProbeError> {
    let failed = |what| move |errno| ProbeError::Failed { path: path.to_owned(), what, errno };
    let file = openat(directory, "lock", OFlags::RDWR | OFlags::CREATE | FOLLOW_NOTHING, OWN_FILE)
        .map_err(|errno| MarkedError::NotWritable { path: path.to_owned(), errno })?;
    let run = format!("run {}", origin.run_id);
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        // A file system without locks (Lustre without -o flock) is probed all the same.
        Ok(()) | Err(Errno::NOSYS | Errno::OPNOTSUPP | Errno::NOLCK) => {}
        Err(Errno::WOULDBLOCK) => {
            let mut text = [0_u8; 128];
            let n = pread(&file, &mut text, 0).unwrap_or(0);
            let holder = String::from_utf8_lossy(&text[..n]).trim().to_owned();
            if holder.split(", ").any(|part| part == run) {
                return Ok(None);
            }
            return Err(ProbeError::Held { path: path.to_owned(), holder });
        }
        Err(errno) => return Err(failed("cannot lock")(errno)),
    }
    let text = format!("pid {}, since {}Z, {run}\n", origin.supervisor, second_of(origin.now_ns));
    // Only for people and for our own later workers: a full disk must not stop the probe here.
    let _ = ftruncate(&file, 0).and_then(|()| pwrite(&file, text.as_bytes(), 0));
    Ok(Some(file))
}
