//! The directory of one look: made, locked, removed; what a killed one left is removed by the next.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, fcntl_setfl, fstatfs, mkdirat, openat, statat, unlinkat};
use rustix::io::Errno;

use crate::clean::hold;
use iosonde_core::backend::ObjectName;
use iosonde_core::backend::posix::Access;
use iosonde_core::backend::root::gone;
use iosonde_core::marked::{self, FOLLOW_NOTHING, MarkedError, OWN_FILE};

/// First line of the marker.
const MARK: &str = "iosonde ping, format 1";
const PREFIX: &str = "ping-";
const BLOCK: &str = "block";
/// The directory of small objects.
pub const OBJECTS: &str = "files";
/// `statfs` type of tmpfs, and of ramfs.
const IN_MEMORY: [u64; 2] = [0x0102_1994, 0x8584_58f6];

/// Younger marks may not be locked yet.
const YOUNG_S: i64 = 60;

/// Its directory, that one's path, and its lock.
type Parts = (OwnedFd, PathBuf, Option<OwnedFd>);

/// Descriptors of a directory in use.
#[derive(Debug)]
pub struct Session {
    outer: OwnedFd,
    own: OwnedFd,
    root: OwnedFd,
    path: PathBuf,
    name: String,
    _lock: Option<OwnedFd>,
}

impl Session {
    /// Make `ping-<seed>` below `target`.
    pub fn begin(target: &Path, seed: u64) -> Result<Self, MarkedError> {
        let outer = rustix::fs::open(target, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            .map_err(|errno| MarkedError::Failed { path: target.to_owned(), what: "cannot open", errno })?;
        let (own, own_path) = marked::enter(&outer, target, &marked::own_name())?;
        let name = format!("{PREFIX}{seed:016x}");
        match Self::fill(&own, &own_path, &name) {
            Ok((root, path, lock)) => {
                if let Some(made_s) = made_s(&root) {
                    sweep(&own, &own_path, made_s - YOUNG_S);
                }
                Ok(Self { outer, own, root, path, name, _lock: lock })
            }
            Err(error) => {
                // Of a file system that is full, not even the directory stays.
                if let Ok((root, _)) = marked::walk(&own, &own_path, &name) {
                    let _ = empty(&root);
                    let _ = unlinkat(&own, &name, AtFlags::REMOVEDIR);
                }
                let _ = unlinkat(&outer, marked::own_name(), AtFlags::REMOVEDIR);
                Err(error)
            }
        }
    }

    fn fill(own: &OwnedFd, own_path: &Path, name: &str) -> Result<Parts, MarkedError> {
        let (root, path) = marked::enter(own, own_path, name)?;
        marked::mark(&root, &path, MARK)?;
        let failed = |errno| MarkedError::NotWritable { path: path.clone(), errno };
        // A file system without locks is measured all the same.
        let lock = hold(&root, "MARK").flatten();
        match mkdirat(&root, OBJECTS, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => Ok((root, path, lock)),
            Err(errno) => Err(failed(errno)),
        }
    }

    /// Its directory.
    pub fn root(&self) -> &OwnedFd {
        &self.root
    }

    /// The directory of small objects.
    pub fn objects(&self) -> Result<OwnedFd, MarkedError> {
        openat(&self.root, OBJECTS, OFlags::DIRECTORY | FOLLOW_NOTHING, Mode::empty())
            .map_err(self.failed("cannot open"))
    }

    /// The file of blocks, past the cache where that is granted.
    pub fn block_file(&self) -> Result<(OwnedFd, Access), MarkedError> {
        let flags = OFlags::RDWR | OFlags::CREATE | FOLLOW_NOTHING;
        let file = openat(&self.root, BLOCK, flags, OWN_FILE).map_err(self.failed("cannot create"))?;
        let memory = fstatfs(&file).is_ok_and(|status| IN_MEMORY.contains(&(status.f_type as u64)));
        if memory {
            return Ok((file, Access::Memory));
        }
        let direct = fcntl_setfl(&file, OFlags::DIRECT).is_ok();
        Ok((file, if direct { Access::Direct } else { Access::Buffered }))
    }

    fn failed(&self, what: &'static str) -> impl Fn(Errno) -> MarkedError + '_ {
        move |errno| MarkedError::Failed { path: self.path.clone(), what, errno }
    }

    /// Remove everything that was made.
    pub fn end(self) -> Result<(), Errno> {
        empty(&self.root)?;
        gone(unlinkat(&self.own, &self.name, AtFlags::REMOVEDIR))?;
        match unlinkat(&self.outer, marked::own_name(), AtFlags::REMOVEDIR) {
            // A probe or another look of this user lives there too.
            Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOENT) => Ok(()),
            result => result,
        }
    }
}

/// Remove directories that carry our mark, are older than `own`'s and that nobody holds.
///
/// A mark appears before it is locked, so a young one may belong to a look that just begins. Both times are those of the
/// file system's clock.
fn sweep(own: &OwnedFd, own_path: &Path, before_s: i64) {
    for name in marked::names(own).unwrap_or_default() {
        let unused = || {
            let (root, path) = marked::walk(own, own_path, &name).ok()?;
            marked::check(&root, &path, MARK).ok()?;
            let old = made_s(&root)? < before_s;
            old.then(|| hold(&root, "MARK")).flatten().map(|lock| (root, lock))
        };
        if !name.starts_with(PREFIX) {
            continue;
        }
        if let Some((root, _lock)) = unused()
            && empty(&root).is_ok()
        {
            let _ = unlinkat(own, &name, AtFlags::REMOVEDIR);
        }
    }
}

/// When a directory was marked.
fn made_s(root: &OwnedFd) -> Option<i64> {
    statat(root, "MARK", AtFlags::SYMLINK_NOFOLLOW).ok().map(|status| status.st_mtime)
}

/// Remove what a look makes in its directory, the mark last; anything else makes it stay.
fn empty(root: &OwnedFd) -> Result<(), Errno> {
    match openat(root, OBJECTS, OFlags::DIRECTORY | FOLLOW_NOTHING, Mode::empty()) {
        Ok(objects) => {
            for name in marked::names(&objects)? {
                if ObjectName::parse(name.as_bytes()).is_some() {
                    gone(marked::remove_file(&objects, &name))?;
                }
            }
        }
        Err(Errno::NOENT) => {}
        Err(errno) => return Err(errno),
    }
    gone(unlinkat(root, OBJECTS, AtFlags::REMOVEDIR))?;
    gone(unlinkat(root, BLOCK, AtFlags::empty()))?;
    for name in marked::names(root)?.into_iter().filter(|name| marked::is_draft(name)) {
        gone(unlinkat(root, &name, AtFlags::empty()))?;
    }
    gone(unlinkat(root, "MARK", AtFlags::empty()))
}
