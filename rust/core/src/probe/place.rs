//! The marked directory in which a probe keeps its files, and nothing else is ever touched.
//!
//! ```text
//! TARGET/.iosonde-<uid>/<host>/MARK          what made it
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

use super::ProbeError;

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
    _lock: OwnedFd,
}

impl Place {
    /// Find or make the place of `host` on `target`. `now_ns` (UTC) goes into the lock for others to read.
    pub fn open(target: &Path, host: &str, now_ns: i64) -> Result<Self, ProbeError> {
        let root = rustix::fs::open(target, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            .map_err(|errno| ProbeError::NoTarget { path: target.to_owned(), errno })?;
        let own = format!(".iosonde-{}", rustix::process::geteuid().as_raw());
        let (outer, path) = enter(&root, target, &own)?;
        let (directory, path) = enter(&outer, &path, &super::state::slug(host))?;
        mark(&directory, &path)?;
        let lock = lock(&directory, &path, now_ns)?;
        Ok(Self { directory, path, _lock: lock })
    }

    /// Open or create a regular file of ours.
    pub fn open_file(&self, name: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        openat(&self.directory, name, flags | FOLLOW_NOTHING, OWN_FILE)
    }

    /// Open or make a directory of ours.
    pub fn open_directory(&self, name: &str) -> Result<OwnedFd, ProbeError> {
        enter(&self.directory, &self.path, name).map(|(directory, _)| directory)
    }

    /// Names in the place.
    pub fn names(&self) -> Result<Vec<String>, Errno> {
        names(&self.directory)
    }
}

/// Open a directory of ours below `parent`, making it if it is missing.
fn enter(parent: &OwnedFd, parent_path: &Path, name: &str) -> Result<(OwnedFd, PathBuf), ProbeError> {
    let path = parent_path.join(name);
    match mkdirat(parent, name, OWN_DIRECTORY) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(errno) => return Err(ProbeError::NotWritable { path: parent_path.to_owned(), errno }),
    }
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
    match openat(directory, "MARK", FOLLOW_NOTHING, Mode::empty()) {
        Ok(file) => {
            let mut text = [0_u8; 256];
            let n = pread(&file, &mut text, 0).map_err(failed("cannot read MARK"))?;
            let found = String::from_utf8_lossy(&text[..n]).lines().next().unwrap_or("").to_owned();
            if found == MARK {
                return Ok(());
            }
            let path = path.join("MARK");
            Err(ProbeError::OtherVersion { path, found, expected: MARK })
        }
        Err(Errno::NOENT) => {
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
        Err(errno) => Err(failed("cannot open MARK")(errno)),
    }
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

/// One probe at a time: a lock that dies with its holder.
fn lock(directory: &OwnedFd, path: &Path, now_ns: i64) -> Result<OwnedFd, ProbeError> {
    let failed = |what| move |errno| ProbeError::Failed { path: path.to_owned(), what, errno };
    let file = openat(directory, "lock", OFlags::RDWR | OFlags::CREATE | FOLLOW_NOTHING, OWN_FILE)
        .map_err(|errno| ProbeError::NotWritable { path: path.to_owned(), errno })?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        // A file system without locks (Lustre without -o flock) is probed all the same.
        Ok(()) | Err(Errno::NOSYS | Errno::OPNOTSUPP | Errno::NOLCK) => {}
        Err(Errno::WOULDBLOCK) => {
            let mut text = [0_u8; 128];
            let n = pread(&file, &mut text, 0).unwrap_or(0);
            let holder = String::from_utf8_lossy(&text[..n]).trim().to_owned();
            return Err(ProbeError::Held { path: path.to_owned(), holder });
        }
        Err(errno) => return Err(failed("cannot lock")(errno)),
    }
    let pid = rustix::process::getpid().as_raw_nonzero();
    let text = format!("pid {pid}, since {} s of the Unix epoch\n", now_ns / 1_000_000_000);
    // Only for people: a full disk must not stop the probe here.
    let _ = ftruncate(&file, 0).and_then(|()| pwrite(&file, text.as_bytes(), 0));
    Ok(file)
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
