//! Checks that the files a worker works on are still those that the target's path leads to.
//!
//! Operations go through open descriptors: after a purge removed the probe's directory, or another file system was
//! mounted over it, they go on with what nobody else sees any more. A thread of the worker compares, between the
//! operations, where paths lead with what is open.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::identity::{Identity, at, of};
use super::place::{MARK, Place};
use iosonde_core::marked;

/// A change of the probe's directory under a running worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Displaced {
    /// Description of the change.
    pub happened: String,
    /// The probe's answer to it.
    pub answer: String,
}

impl Displaced {
    /// In words.
    pub fn new(happened: impl Into<String>, answer: &str) -> Self {
        Self { happened: happened.into(), answer: answer.into() }
    }
    /// Note for the user once the answer is given.
    pub fn mended(&self) -> String {
        format!("{}: {}", self.happened, self.answer)
    }
}

/// Notices that a target's path leads elsewhere.
pub trait Look: Send {
    /// The change since the last look, if there was one. Other errors are the operations' to tell.
    fn look(&mut self) -> Option<Displaced>;
}

/// Identities that a target's paths led to when it was made ready.
#[derive(Debug)]
pub struct Guard {
    target: PathBuf,
    root: Identity,
    directory: OwnedFd,
    path: PathBuf,
    place: Identity,
    files: Vec<(String, &'static str, Identity)>,
}

impl Guard {
    /// Takes the identities of a place and the files in it, each with its name for messages. None if unknown.
    pub fn new(place: &Place, target: &Path, files: &[(String, &'static str)]) -> Option<Self> {
        let directory = place.directory.try_clone().ok()?;
        let found = files
            .iter()
            .map(|(name, word)| Some((name.clone(), *word, at(&directory, Path::new(name)).ok()?)));
        Some(Self {
            target: target.to_owned(),
            root: place.root,
            place: of(&directory).ok()?,
            path: place.path.clone(),
            files: found.collect::<Option<_>>()?,
            directory,
        })
    }
}

impl Look for Guard {
    fn look(&mut self) -> Option<Displaced> {
        let target = self.target.display();
        match at(CWD, &self.target) {
            Ok(found) if (found.0, found.1) != (self.root.0, self.root.1) => {
                let what = format!("another file system is mounted at {target}");
                return Some(Displaced::new(what, "begun afresh on it"));
            }
            Ok(found) if found != self.root => {
                return Some(Displaced::new(format!("{target} was replaced"), "begun afresh in it"));
            }
            Err(errno) if is_gone(errno) => {
                return Some(Displaced::new(format!("{target} was gone"), "begun afresh"));
            }
            _ => {}
        }
        let lost = |word: &str| Some(Displaced::new(format!("the probe's {word} was removed"), "made anew"));
        if is_lost(at(CWD, &self.path), self.place) {
            return lost("directory");
        }
        for (name, word, known) in &self.files {
            if is_lost(at(&self.directory, Path::new(name)), *known) {
                return lost(word);
            }
        }
        // A purge by age takes first what is never written again.
        let _ = marked::restore(&self.directory, MARK);
        None
    }
}

fn is_gone(errno: Errno) -> bool {
    matches!(errno, Errno::NOENT | Errno::NOTDIR | Errno::STALE)
}

fn is_lost(found: Result<Identity, Errno>, known: Identity) -> bool {
    found.map_or_else(is_gone, |found| found != known)
}
