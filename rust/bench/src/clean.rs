//! Remove what iosonde left in a directory: marked directories of this user that nobody holds, and nothing else.
//!
//! A mark says that everything beside it is iosonde's. No link is followed and no other file system entered.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags, flock, fstat, openat, statat, unlinkat};
use rustix::io::{Errno, pread};

use iosonde_core::marked::{self, FOLLOW_NOTHING, MarkedError};

/// How a first line of a mark begins.
const MARKS: &[u8] = b"iosonde ";
/// Directories below a marked one.
const DEEPEST: usize = 8;

/// One marked directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Where.
    pub path: PathBuf,
    /// First line of its mark: what made it.
    pub made_by: String,
    /// Files in it.
    pub files: u64,
    /// Their size in bytes.
    pub bytes: u64,
    /// What came of it.
    pub state: State,
}

/// What came of a marked directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It could go.
    Unused,
    /// It is gone.
    Removed,
    /// A probe or a benchmark holds it, or nothing tells whether one does.
    Held,
    /// Something in it cannot be removed.
    Failed(Errno),
}

/// Marked directories of this user below `target`; with `remove` those that nobody holds go.
pub fn clean(target: &Path, remove: bool) -> Result<Vec<Found>, MarkedError> {
    let outer = rustix::fs::open(target, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .map_err(|errno| MarkedError::Failed { path: target.to_owned(), what: "cannot open", errno })?;
    let (own, path) = match marked::walk(&outer, target, &marked::own_name()) {
        Err(MarkedError::NotWritable { errno: Errno::NOENT, .. }) => return Ok(Vec::new()),
        walked => walked?,
    };
    let mut found = Vec::new();
    let failed = |errno| MarkedError::Failed { path: path.clone(), what: "cannot list", errno };
    let mut names = marked::names(&own).map_err(failed)?;
    names.sort();
    for name in names {
        if let Some(one) = look(&own, &path, &name, remove) {
            found.push(one);
        }
    }
    if remove {
        // What is not marked stays, and so does the directory around it.
        let _ = unlinkat(&outer, marked::own_name(), AtFlags::REMOVEDIR);
    }
    Ok(found)
}

fn look(own: &OwnedFd, own_path: &Path, name: &str, remove: bool) -> Option<Found> {
    let (root, path) = marked::walk(own, own_path, name).ok()?;
    let made_by = mark(&root)?;
    let device = fstat(&root).ok()?.st_dev;
    let (mut files, mut bytes) = (0, 0);
    // Held until everything is gone: a probe that starts meanwhile must not find half of it.
    let locks: Option<Vec<_>> = ["lock", "MARK"].iter().map(|name| hold(&root, name)).collect();
    let held = locks.is_none();
    let swept = sweep(&root, device, remove && !held, DEEPEST, &mut |size| {
        files += 1;
        bytes += size;
    });
    let state = match (held, swept) {
        (true, _) => State::Held,
        (false, Err(errno)) => State::Failed(errno),
        (false, Ok(())) if remove => match end(&root, own, name) {
            Ok(()) => State::Removed,
            Err(errno) => State::Failed(errno),
        },
        (false, Ok(())) => State::Unused,
    };
    Some(Found { path, made_by, files, bytes, state })
}

/// First line of the mark, if it is one of ours.
fn mark(root: &OwnedFd) -> Option<String> {
    let file = openat(root, "MARK", FOLLOW_NOTHING, Mode::empty()).ok()?;
    let mut text = [0_u8; 128];
    let n = pread(&file, &mut text, 0).ok()?;
    let line = text[..n].split(|byte| *byte == b'\n').next()?;
    line.starts_with(MARKS).then(|| String::from_utf8_lossy(line).into_owned())
}

/// Lock a file of ours, if it is there; none where somebody else holds it, or nothing can tell.
///
/// Opened for writing: NFS grants an exclusive lock on nothing else. A file system without locks may carry a probe
/// that runs, so what cannot be locked stays.
pub fn hold(root: &OwnedFd, name: &str) -> Option<Option<OwnedFd>> {
    let file = match openat(root, name, OFlags::RDWR | FOLLOW_NOTHING, Mode::empty()) {
        Err(Errno::NOENT) => return Some(None),
        opened => opened.ok()?,
    };
    flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
    Some(Some(file))
}

/// Visit every regular file but the mark; with `remove` files and then their directories go.
fn sweep(
    directory: &OwnedFd,
    device: u64,
    remove: bool,
    left: usize,
    visit: &mut dyn FnMut(u64),
) -> Result<(), Errno> {
    for name in marked::names(directory)? {
        let status = match statat(directory, &name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => continue,
            status => status?,
        };
        match FileType::from_raw_mode(status.st_mode) {
            FileType::RegularFile if name == "MARK" && left == DEEPEST => {}
            FileType::RegularFile => {
                visit(status.st_size as u64);
                if remove {
                    unlinkat(directory, &name, AtFlags::empty())?;
                }
            }
            FileType::Directory if left > 0 && status.st_dev == device => {
                let flags = OFlags::DIRECTORY | FOLLOW_NOTHING;
                let below = openat(directory, &name, flags, Mode::empty())?;
                sweep(&below, device, remove, left - 1, visit)?;
                if remove {
                    unlinkat(directory, &name, AtFlags::REMOVEDIR)?;
                }
            }
            // A link, a device or a mount is nothing that iosonde makes.
            _ => return Err(Errno::PERM),
        }
    }
    Ok(())
}

/// The mark goes last: what is left without one would be a stranger's.
fn end(root: &OwnedFd, own: &OwnedFd, name: &str) -> Result<(), Errno> {
    unlinkat(root, "MARK", AtFlags::empty())?;
    unlinkat(own, name, AtFlags::REMOVEDIR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn made() -> (PathBuf, PathBuf) {
        let target = std::env::temp_dir().join(format!("iosonde-clean-test-{}", iosonde_core::seed::fresh()));
        let own = target.join(marked::own_name());
        for (name, mark) in [("login2", "iosonde probe directory, format 1\n"), ("other", "by somebody\n")] {
            fs::create_dir_all(own.join(name).join("pool-3901")).unwrap();
            fs::write(own.join(name).join("MARK"), mark).unwrap();
            fs::write(own.join(name).join("data"), [0; 1000]).unwrap();
            fs::write(own.join(name).join("pool-3901/0000000000000000"), [0; 24]).unwrap();
        }
        (target, own)
    }

    #[test]
    fn marked_directories_go_and_others_stay() {
        let (target, own) = made();
        let seen = clean(&target, false).unwrap();
        assert_eq!(seen.len(), 1);
        assert_eq!((seen[0].files, seen[0].bytes, seen[0].state), (2, 1024, State::Unused));
        assert!(own.join("login2/data").exists());
        let gone = clean(&target, true).unwrap();
        assert_eq!((gone[0].files, gone[0].bytes, gone[0].state), (2, 1024, State::Removed));
        assert!(!own.join("login2").exists() && own.join("other/data").exists());
        fs::remove_dir_all(own.join("other")).unwrap();
        assert_eq!(clean(&target, true).unwrap(), []);
        assert_eq!(fs::read_dir(&target).unwrap().count(), 0);
        assert_eq!(clean(&target, true).unwrap(), []);
        fs::remove_dir(target).unwrap();
    }

    #[test]
    fn what_is_held_stays_and_links_are_not_followed() {
        let (target, own) = made();
        let lock = own.join("login2/lock");
        fs::write(&lock, "pid 1").unwrap();
        let file = fs::File::open(&lock).unwrap();
        flock(&file, FlockOperation::NonBlockingLockExclusive).unwrap();
        assert_eq!(clean(&target, true).unwrap()[0].state, State::Held);
        assert!(own.join("login2/data").exists());
        drop(file);
        let elsewhere = target.join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        fs::write(elsewhere.join("precious"), "").unwrap();
        symlink(&elsewhere, own.join("login2/pool-3901/link")).unwrap();
        symlink(&elsewhere, own.join("login3")).unwrap();
        let found = clean(&target, true).unwrap();
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].state, State::Failed(Errno::PERM));
        assert!(elsewhere.join("precious").exists() && own.join("login2/MARK").exists());
        fs::remove_dir_all(target).unwrap();
    }
}
