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

use rustix::fs::{AtFlags, Dir, FileType, FlockOperation, Mode, OFlags};
use rustix::fs::{flock, fstat, ftruncate, mkdirat, openat, renameat, statat, unlinkat};
use rustix::io::{Errno, pread, pwrite, write};

use super::prepare::Origin;
use super::state::slug;
use super::{ProbeError, pin};
use crate::config::{Pin, TargetPlan};

/// First line of every marker.
pub const MARK: &str = "iosonde probe directory, format 1";

const FOLLOW_NOTHING: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC);
const OWN_DIRECTORY: Mode = Mode::RWXU;
const OWN_FILE: Mode = Mode::RUSR.union(Mode::WUSR);

/// An opened, marked and locked directory on a target.
#[derive(Debug)]
pub struct Place {
    /// Its descriptor.
    pub directory: OwnedFd,
    /// Its path, for messages.
    pub path: PathBuf,
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
        mark(&directory, &path)?;
        let lock = lock(&directory, &path, origin)?;
        Ok(Self { directory, path, pin, _lock: lock })
    }

    /// Go to the place of a plan as an earlier worker left it: makes nothing and takes no lock, because on a half-dead
    /// file system that might not return.
    pub fn attach(plan: &TargetPlan, origin: &Origin) -> Result<Self, ProbeError> {
        let root = open_target(&plan.path)?;
        let (outer, path) = walk(&root, &plan.path, &own_name())?;
        let (directory, path) = walk(&outer, &path, &place_name(plan, origin))?;
        check_mark(&directory, &path)?;
        Ok(Self { directory, path, pin: None, _lock: None })
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
        enter(&self.directory, &self.path, name).map(|(directory, _)| directory)
    }

    /// See that a file of ours lies on the component that the place is of.
    pub fn check_component(&self, file: impl AsRef<Path>) -> Result<(), ProbeError> {
        self.pin.map_or(Ok(()), |pin| pin::file(&self.path.join(file), pin))
    }

    /// Open a directory of ours that is there.
    pub fn existing_directory(&self, name: &str) -> Result<OwnedFd, ProbeError> {
        walk(&self.directory, &self.path, name).map(|(directory, _)| directory)
    }

    /// Names in the place.
    pub fn names(&self) -> Result<Vec<String>, Errno> {
        names(&self.directory)
    }
}

fn open_target(target: &Path) -> Result<OwnedFd, ProbeError> {
    rustix::fs::open(target, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .map_err(|errno| ProbeError::NoTarget { path: target.to_owned(), errno })
}

/// One place a host; several for a target whose servers are probed one by one.
fn place_name(plan: &TargetPlan, origin: &Origin) -> String {
    let host = slug(&origin.host);
    match &plan.component {
        Some(component) if component.pin != Pin::Directory => format!("{host}@{}", slug(&component.name)),
        _ => host,
    }
}

fn own_name() -> String {
    format!(".iosonde-{}", rustix::process::geteuid().as_raw())
}

/// Open a directory of ours below `parent`, making it if it is missing.
fn enter(parent: &OwnedFd, parent_path: &Path, name: &str) -> Result<(OwnedFd, PathBuf), ProbeError> {
    match mkdirat(parent, name, OWN_DIRECTORY) {
        Ok(()) | Err(Errno::EXIST) => walk(parent, parent_path, name),
        Err(errno) => Err(ProbeError::NotWritable { path: parent_path.to_owned(), errno }),
    }
}

/// Open a directory of ours below `parent`.
fn walk(parent: &OwnedFd, parent_path: &Path, name: &str) -> Result<(OwnedFd, PathBuf), ProbeError> {
    let path = parent_path.join(name);
    let in_the_way = |what: &str| ProbeError::InTheWay { path: path.clone(), what: what.into() };
    let directory = openat(parent, name, OFlags::DIRECTORY | FOLLOW_NOTHING, Mode::empty()).map_err(
        |errno| match errno {
            Errno::LOOP | Errno::NOTDIR => in_the_way("a symbolic link or a file stands here"),
            errno => ProbeError::NotWritable { path: path.clone(), errno },
        },
    )?;
    let owner = fstat(&directory)
        .map_err(|errno| ProbeError::Failed { path: path.clone(), what: "cannot stat", errno })?
        .st_uid;
    if owner != rustix::process::geteuid().as_raw() {
        return Err(in_the_way(&format!("it belongs to user {owner}")));
    }
    Ok((directory, path))
}

/// Accept a directory with our mark, mark an empty one, refuse any other.
fn mark(directory: &OwnedFd, path: &Path) -> Result<(), ProbeError> {
    let failed = |what| move |errno| ProbeError::Failed { path: path.to_owned(), what, errno };
    match check_mark(directory, path) {
        Err(ProbeError::Failed { errno: Errno::NOENT, .. }) => {
            let strangers: Vec<String> = names(directory)
                .map_err(failed("cannot list"))?
                .into_iter()
                .filter(|name| name != "MARK.new")
                .collect();
            if let Some(name) = strangers.first() {
                let what = format!("it holds `{name}` and no mark of iosonde");
                return Err(ProbeError::InTheWay { path: path.to_owned(), what });
            }
            write_mark(directory).map_err(|errno| ProbeError::NotWritable { path: path.to_owned(), errno })
        }
        checked => checked,
    }
}

fn check_mark(directory: &OwnedFd, path: &Path) -> Result<(), ProbeError> {
    let failed = |what| move |errno| ProbeError::Failed { path: path.to_owned(), what, errno };
    let file =
        openat(directory, "MARK", FOLLOW_NOTHING, Mode::empty()).map_err(failed("cannot open MARK"))?;
    let mut text = [0_u8; 256];
    let n = pread(&file, &mut text, 0).map_err(failed("cannot read MARK"))?;
    let found = String::from_utf8_lossy(&text[..n]).lines().next().unwrap_or("").to_owned();
    if found == MARK {
        return Ok(());
    }
    Err(ProbeError::OtherVersion { path: path.join("MARK"), found, expected: MARK })
}

fn write_mark(directory: &OwnedFd) -> Result<(), Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | FOLLOW_NOTHING;
    let file = openat(directory, "MARK.new", flags, OWN_FILE)?;
    let text = format!("{MARK}\nEverything beside this file is made, changed and deleted by iosonde.\n");
    if write(&file, text.as_bytes())? != text.len() {
        return Err(Errno::NOSPC);
    }
    renameat(directory, "MARK.new", directory, "MARK")
}

/// One probe at a time: a lock that dies with its holder. None where our own supervisor's stuck worker still holds it.
fn lock(directory: &OwnedFd, path: &Path, origin: &Origin) -> Result<Option<OwnedFd>, ProbeError> {
    let failed = |what| move |errno| ProbeError::Failed { path: path.to_owned(), what, errno };
    let file = openat(directory, "lock", OFlags::RDWR | OFlags::CREATE | FOLLOW_NOTHING, OWN_FILE)
        .map_err(|errno| ProbeError::NotWritable { path: path.to_owned(), errno })?;
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
    let since = origin.now_ns / 1_000_000_000;
    let text = format!("pid {}, since {since} s of the Unix epoch, {run}\n", origin.supervisor);
    // Only for people and for our own later workers: a full disk must not stop the probe here.
    let _ = ftruncate(&file, 0).and_then(|()| pwrite(&file, text.as_bytes(), 0));
    Ok(Some(file))
}

/// Names in a directory, without `.` and `..`.
pub fn names(directory: &OwnedFd) -> Result<Vec<String>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name != "." && name != ".." {
            names.push(name);
        }
    }
    Ok(names)
}

/// Remove a regular file of ours; leaves anything else alone.
pub fn remove_file(directory: &OwnedFd, name: &str) -> Result<(), Errno> {
    let status = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if FileType::from_raw_mode(status.st_mode) != FileType::RegularFile {
        return Err(Errno::PERM);
    }
    unlinkat(directory, name, AtFlags::empty())
}
