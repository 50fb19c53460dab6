//! A benchmark's own directory on a mounted file system: marked, locked by one run, with a note of its parameters.
//!
//! ```text
//! DIR/.iosonde-<uid>/<name>/MARK          what made it
//!                           lock          held while a run uses it
//!                           note          the parameters that made it
//! ```

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, flock, openat, renameat, unlinkat};
use rustix::io::{Errno, pread, write};

use super::posix::direct_alignment;
use crate::marked::{self, FOLLOW_NOTHING, MarkedError, OWN_FILE};

const NOTE_BYTES: usize = 1 << 20;

/// A rank's descriptor of the directory.
#[derive(Debug)]
pub struct OwnRoot {
    path: PathBuf,
    name: &'static str,
    mark: &'static str,
    root: Option<OwnedFd>,
    lock: Option<OwnedFd>,
    problem: Option<String>,
}

impl OwnRoot {
    /// The directory `name` below `path`, which must exist; `mark` is the first line of its marker.
    pub fn new(path: PathBuf, name: &'static str, mark: &'static str) -> Self {
        Self { path, name, mark, root: None, lock: None, problem: None }
    }

    /// The user's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Description of the last error.
    pub fn problem(&self) -> Option<String> {
        self.problem.clone()
    }

    fn enter(&self, make: bool) -> Result<OwnedFd, MarkedError> {
        let outer = rustix::fs::open(&self.path, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            .map_err(|errno| MarkedError::Failed { path: self.path.clone(), what: "cannot open", errno })?;
        let step = if make { marked::enter } else { marked::walk };
        let (own, path) = step(&outer, &self.path, &marked::own_name())?;
        let (root, path) = step(&own, &path, self.name)?;
        if make {
            marked::mark(&root, &path, self.mark)?;
        } else {
            marked::check(&root, &path, self.mark)?;
        }
        Ok(root)
    }

    /// Descriptor of the directory.
    pub fn root(&mut self) -> Result<&OwnedFd, Errno> {
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

    /// Create or accept the directory.
    pub fn begin(&mut self) -> Result<(), Errno> {
        let root = self.enter(true).map_err(|error| self.note_problem(&error))?;
        self.root = Some(root);
        Ok(())
    }

    /// Lock it against other runs.
    pub fn lock(&mut self) -> Result<(), Errno> {
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

    /// Alignment that O_DIRECT needs here; none if it is not supported.
    pub fn direct_alignment(&mut self) -> Result<Option<u64>, Errno> {
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

    /// Text of the note.
    pub fn note(&mut self) -> Result<Option<String>, Errno> {
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

    /// Write the note.
    pub fn set_note(&mut self, text: &str) -> Result<(), Errno> {
        let root = self.root()?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | FOLLOW_NOTHING;
        let file = openat(root, "note.new", flags, OWN_FILE)?;
        if write(&file, text.as_bytes())? != text.len() {
            return Err(Errno::NOSPC);
        }
        renameat(root, "note.new", root, "note")
    }

    /// Remove the directory, once it is empty of benchmark data.
    pub fn end(&mut self) -> Result<(), Errno> {
        let root = self.root()?;
        let drafts = marked::names(root)?.into_iter().filter(|name| marked::is_draft(name));
        for name in drafts.chain(["note.new", "note", "lock", "MARK"].map(String::from)) {
            gone(unlinkat(root, name.as_str(), AtFlags::empty()))?;
        }
        self.root = None;
        self.lock = None;
        let outer = rustix::fs::open(&self.path, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let own = openat(&outer, marked::own_name(), OFlags::DIRECTORY | FOLLOW_NOTHING, Mode::empty())?;
        gone(unlinkat(&own, self.name, AtFlags::REMOVEDIR))?;
        match unlinkat(&outer, marked::own_name(), AtFlags::REMOVEDIR) {
            // A probe of this user lives there too.
            Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOENT) => Ok(()),
            result => result,
        }
    }
}

/// Ignore an error about a missing entry, which needs no removal.
pub fn gone(result: Result<(), Errno>) -> Result<(), Errno> {
    match result {
        Err(Errno::NOENT) => Ok(()),
        other => other,
    }
}
