//! Data sets as directories of a mounted file system.
//!
//! ```text
//! DIR/.iosonde-<uid>/bench-metadata/MARK          what made it
//!                                   lock          held while a run uses it
//!                                   note          the parameters that made it
//!                                   r00000/d00000/<object number, 16 hexadecimal digits>
//! ```

use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::fs::{AtFlags, Dir, FlockOperation, Mode, OFlags, flock, mkdirat, openat, renameat, unlinkat};
use rustix::io::{Errno, pread, write};

use super::posix::{PosixDirectory, direct_alignment};
use super::store::{Capabilities, Manner, ObjectStore, SetId};
use super::{Backend, ObjectName};
use crate::marked::{self, FOLLOW_NOTHING, MarkedError, OWN_FILE};

/// First line of the marker.
pub const MARK: &str = "iosonde metadata benchmark, format 1";

const NAME: &str = "bench-metadata";
const NOTE_BYTES: usize = 64 << 10;

/// A rank's descriptor of the tree.
#[derive(Debug)]
pub struct Tree {
    path: PathBuf,
    root: Option<OwnedFd>,
    lock: Option<OwnedFd>,
    problem: Option<String>,
}

impl Tree {
    /// The tree below `path`, which must exist.
    pub fn new(path: PathBuf) -> Self {
        Self { path, root: None, lock: None, problem: None }
    }

    fn enter(&self, make: bool) -> Result<OwnedFd, MarkedError> {
        let outer = rustix::fs::open(&self.path, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            .map_err(|errno| MarkedError::Failed { path: self.path.clone(), what: "cannot open", errno })?;
        let step = if make { marked::enter } else { marked::walk };
        let (own, path) = step(&outer, &self.path, &marked::own_name())?;
        let (root, path) = step(&own, &path, NAME)?;
        if make {
            marked::mark(&root, &path, MARK)?;
        } else {
            marked::check(&root, &path, MARK)?;
        }
        Ok(root)
    }

    fn root(&mut self) -> Result<&OwnedFd, Errno> {
        if self.root.is_none() {
            let root = self.enter(false).map_err(|error| self.note_problem(&error))?;
            self.root = Some(root);
        }
        self.root.as_ref().ok_or(Errno::BADF)
    }

    fn note_problem(&mut self, error: &MarkedError) -> Errno {
        self.problem = Some(error.to_string());
        error.errno()
    }

    fn open_directory(&mut self, set: SetId) -> Result<OwnedFd, Errno> {
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | FOLLOW_NOTHING;
        let rank = openat(self.root()?, rank_name(set), flags, Mode::empty())?;
        openat(&rank, set_name(set), flags, Mode::empty())
    }
}

fn rank_name(set: SetId) -> String {
    format!("r{:05}", set.rank)
}

fn set_name(set: SetId) -> String {
    format!("d{:05}", set.set)
}

fn made(result: Result<(), Errno>) -> Result<(), Errno> {
    match result {
        Err(Errno::EXIST) => Ok(()),
        other => other,
    }
}

fn gone(result: Result<(), Errno>) -> Result<(), Errno> {
    match result {
        Err(Errno::NOENT) => Ok(()),
        other => other,
    }
}

impl ObjectStore for Tree {
    fn capabilities(&self) -> Capabilities {
        Capabilities { stores: true, exclusive: true, delete_tells: true, fsync: true, threads: true }
    }

    fn begin(&mut self) -> Result<(), Errno> {
        let root = self.enter(true).map_err(|error| self.note_problem(&error))?;
        self.root = Some(root);
        Ok(())
    }

    fn lock(&mut self) -> Result<(), Errno> {
        let file = openat(self.root()?, "lock", OFlags::RDWR | OFlags::CREATE | FOLLOW_NOTHING, OWN_FILE)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            // A file system without locks (Lustre without -o flock) is measured all the same.
            Ok(()) | Err(Errno::NOSYS | Errno::OPNOTSUPP | Errno::NOLCK) => {}
            Err(Errno::WOULDBLOCK) => {
                self.problem = Some(format!(
                    "{}: another run uses the tree below it; expected one at a time: wait for it, or choose \
                     another directory",
                    self.path.display()
                ));
                return Err(Errno::BUSY);
            }
            Err(errno) => return Err(errno),
        }
        self.lock = Some(file);
        Ok(())
    }

    fn direct_alignment(&mut self) -> Result<Option<u64>, Errno> {
        const TRIAL: &str = "direct.new";
        let root = self.root()?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::DIRECT | FOLLOW_NOTHING;
        let opened = openat(root, TRIAL, flags, OWN_FILE);
        let alignment = match &opened {
            Ok(file) => Some(direct_alignment(file).unwrap_or(4096)),
            Err(Errno::INVAL) => None,
            Err(errno) => return Err(*errno),
        };
        gone(unlinkat(root, TRIAL, AtFlags::empty()))?;
        Ok(alignment)
    }

    fn note(&mut self) -> Result<Option<String>, Errno> {
        // Where nothing was ever made there is no note; where the path itself is missing that is an error.
        let exists = self.path.is_dir();
        let root = match self.root() {
            Err(Errno::NOENT) if exists => return Ok(None),
            root => root?,
        };
        let file = match openat(root, "note", FOLLOW_NOTHING, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(None),
            file => file?,
        };
        let mut bytes = vec![0; NOTE_BYTES];
        let n = pread(&file, &mut bytes, 0)?;
        bytes.truncate(n);
        String::from_utf8(bytes).map(Some).map_err(|_| Errno::BADMSG)
    }

    fn set_note(&mut self, text: &str) -> Result<(), Errno> {
        let root = self.root()?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | FOLLOW_NOTHING;
        let file = openat(root, "note.new", flags, OWN_FILE)?;
        if write(&file, text.as_bytes())? != text.len() {
            return Err(Errno::NOSPC);
        }
        renameat(root, "note.new", root, "note")
    }

    fn sets(&mut self) -> Result<Vec<SetId>, Errno> {
        let root = self.root()?;
        let mut found = Vec::new();
        for name in marked::names(root)? {
            let Some(rank) = name.strip_prefix('r') else { continue };
            let directory = openat(root, name.as_str(), OFlags::DIRECTORY | FOLLOW_NOTHING, Mode::empty());
            let sets = match directory.and_then(|directory| marked::names(&directory)) {
                // Removed by another rank since it was listed, or none of ours.
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => continue,
                sets => sets?,
            };
            found.extend(sets.iter().filter_map(|name| SetId::from_digits(rank, name.strip_prefix('d')?)));
        }
        Ok(found)
    }

    fn make_set(&mut self, set: SetId) -> Result<(), Errno> {
        let root = self.root()?;
        made(mkdirat(root, rank_name(set), Mode::RWXU))?;
        let flags = OFlags::DIRECTORY | FOLLOW_NOTHING;
        let rank = openat(root, rank_name(set), flags, Mode::empty())?;
        made(mkdirat(&rank, set_name(set), Mode::RWXU))
    }

    fn open_set(&mut self, set: SetId, manner: Manner) -> Result<Box<dyn Backend>, Errno> {
        let directory = self.open_directory(set)?;
        Ok(Box::new(PosixDirectory::with_manner(directory, manner)))
    }

    fn list_set(&mut self, set: SetId) -> Result<Vec<u64>, Errno> {
        let directory = self.open_directory(set)?;
        let mut numbers = Vec::new();
        for entry in Dir::read_from(&directory)? {
            numbers.extend(ObjectName::parse(entry?.file_name().to_bytes()));
        }
        Ok(numbers)
    }

    fn remove_set(&mut self, set: SetId) -> Result<(), Errno> {
        let flags = OFlags::DIRECTORY | FOLLOW_NOTHING;
        let rank = match openat(self.root()?, rank_name(set), flags, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(()),
            rank => rank?,
        };
        gone(unlinkat(&rank, set_name(set), AtFlags::REMOVEDIR))?;
        match unlinkat(self.root()?, rank_name(set), AtFlags::REMOVEDIR) {
            // Others' sets are still there; or another rank was faster.
            Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOENT) => Ok(()),
            result => result,
        }
    }

    fn end(&mut self) -> Result<(), Errno> {
        match self.root() {
            Err(Errno::NOENT) => return Ok(()),
            root => root?,
        };
        // A mark that goes before its sets would leave them as strangers.
        if !self.sets()?.is_empty() {
            return Err(Errno::NOTEMPTY);
        }
        let root = self.root()?;
        let drafts = marked::names(root)?.into_iter().filter(|name| marked::is_draft(name));
        for name in drafts.chain(["note.new", "note", "lock", "MARK"].map(String::from)) {
            gone(unlinkat(root, name.as_str(), AtFlags::empty()))?;
        }
        self.root = None;
        self.lock = None;
        let outer = rustix::fs::open(&self.path, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let own = openat(&outer, marked::own_name(), OFlags::DIRECTORY | FOLLOW_NOTHING, Mode::empty())?;
        gone(unlinkat(&own, NAME, AtFlags::REMOVEDIR))?;
        match unlinkat(&outer, marked::own_name(), AtFlags::REMOVEDIR) {
            // A probe of this user lives there too.
            Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOENT) => Ok(()),
            result => result,
        }
    }

    fn problem(&self) -> Option<String> {
        self.problem.clone()
    }
}
