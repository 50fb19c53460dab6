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

use rustix::fs::{AtFlags, Dir, Mode, OFlags, mkdirat, openat, unlinkat};
use rustix::io::Errno;

use super::posix::PosixDirectory;
use super::root::{OwnRoot, gone};
use super::store::{Capabilities, Manner, ObjectStore, SetId};
use super::{Backend, ObjectName};
use crate::marked::{self, FOLLOW_NOTHING};

/// First line of the marker.
pub const MARK: &str = "iosonde metadata benchmark, format 1";

const NAME: &str = "bench-metadata";

/// A rank's descriptor of the tree.
#[derive(Debug)]
pub struct Tree {
    own: OwnRoot,
}

impl Tree {
    /// Tree below `path`, which must exist.
    pub fn new(path: PathBuf) -> Self {
        Self { own: OwnRoot::new(path, NAME, MARK) }
    }

    fn open_directory(&mut self, set: SetId) -> Result<OwnedFd, Errno> {
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | FOLLOW_NOTHING;
        let rank = openat(self.own.root()?, rank_name(set), flags, Mode::empty())?;
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

impl ObjectStore for Tree {
    fn capabilities(&self) -> Capabilities {
        Capabilities { stores: true, exclusive: true, delete_tells: true, fsync: true, threads: true }
    }

    fn begin(&mut self) -> Result<(), Errno> {
        self.own.begin()
    }

    fn lock(&mut self) -> Result<(), Errno> {
        self.own.lock()
    }

    fn direct_alignment(&mut self) -> Result<Option<u64>, Errno> {
        self.own.direct_alignment()
    }

    fn note(&mut self) -> Result<Option<String>, Errno> {
        self.own.note()
    }

    fn set_note(&mut self, text: &str) -> Result<(), Errno> {
        self.own.set_note(text)
    }

    fn sets(&mut self) -> Result<Vec<SetId>, Errno> {
        let root = self.own.root()?;
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
        let root = self.own.root()?;
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
        let rank = match openat(self.own.root()?, rank_name(set), flags, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(()),
            rank => rank?,
        };
        gone(unlinkat(&rank, set_name(set), AtFlags::REMOVEDIR))?;
        match unlinkat(self.own.root()?, rank_name(set), AtFlags::REMOVEDIR) {
            // Others' sets are still there; or another rank was faster.
            Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOENT) => Ok(()),
            result => result,
        }
    }

    fn end(&mut self) -> Result<(), Errno> {
        match self.own.root() {
            Err(Errno::NOENT) => return Ok(()),
            root => root?,
        };
        // A mark that goes before its sets would leave them as strangers.
        if !self.sets()?.is_empty() {
            return Err(Errno::NOTEMPTY);
        }
        self.own.end()
    }

    fn problem(&self) -> Option<String> {
        self.own.problem()
    }
}
