//! Where a benchmark keeps its objects: data sets of numbered objects below one marked root.
//!
//! One [`ObjectStore`] is one rank's way to it (a descriptor, a connection). Opening, listing and removing are never
//! timed; what is timed are the four methods of the [`Backend`] that [`ObjectStore::open_set`] gives.

use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::Backend;

/// Names a data set: the `set`-th of the ones made for `rank`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SetId {
    /// Whose it is.
    pub rank: u32,
    /// Which of that rank's.
    pub set: u32,
}

impl SetId {
    /// From the digits that names of data sets are made of: at least five each, as they are written.
    pub fn from_digits(rank: &str, set: &str) -> Option<Self> {
        let number = |digits: &str| {
            let plain = digits.len() >= 5 && digits.bytes().all(|byte| byte.is_ascii_digit());
            plain.then(|| digits.parse().ok())?
        };
        Some(Self { rank: number(rank)?, set: number(set)? })
    }
}

/// What a backend can and cannot do. A benchmark that asks for more is refused before it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Capabilities {
    /// What was written can be read back, and what was deleted is gone.
    pub stores: bool,
    /// Creating an object that exists fails and changes nothing.
    pub exclusive: bool,
    /// Deleting an object that does not exist fails with ENOENT. S3 answers that all is well.
    pub delete_tells: bool,
    /// An object can be forced to stable storage before create returns.
    pub fsync: bool,
    /// Several ranks may live in one process.
    pub threads: bool,
}

/// How objects are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Manner {
    /// Force every object to stable storage before create returns.
    pub fsync: bool,
    /// Past the client's cache (O_DIRECT).
    pub direct: bool,
}

/// One rank's way to the objects of a benchmark.
///
/// Everything is below a root of its own. `begin` makes and marks it, or accepts one that carries our mark;
/// anything else that stands there is refused with [`Errno::EXIST`] and left alone.
pub trait ObjectStore: Send {
    /// What it can do.
    fn capabilities(&self) -> Capabilities;
    /// Make and mark the root, or accept it. Every rank may call it, at the same time.
    fn begin(&mut self) -> Result<(), Errno>;
    /// Hold the root against other runs until this way is dropped; EBUSY if another holds it. One rank of a run calls it.
    fn lock(&mut self) -> Result<(), Errno> {
        Ok(())
    }
    /// Sizes and offsets must be multiples of this for [`Manner::direct`]; none where it is not granted.
    fn direct_alignment(&mut self) -> Result<Option<u64>, Errno> {
        Ok(None)
    }
    /// The text kept at the root (the parameters that made the tree); none if there is none yet.
    fn note(&mut self) -> Result<Option<String>, Errno>;
    /// Keep a text at the root in place of an earlier one. It appears whole or not at all.
    fn set_note(&mut self, text: &str) -> Result<(), Errno>;
    /// The data sets that exist, in any order.
    fn sets(&mut self) -> Result<Vec<SetId>, Errno>;
    /// Make a data set; fine if it exists.
    fn make_set(&mut self, set: SetId) -> Result<(), Errno>;
    /// The objects of a data set, for the four timed operations.
    fn open_set(&mut self, set: SetId, manner: Manner) -> Result<Box<dyn Backend>, Errno>;
    /// Numbers of the objects in a data set, in any order; ENOENT if there is no such set.
    fn list_set(&mut self, set: SetId) -> Result<Vec<u64>, Errno>;
    /// Remove an empty data set; ENOTEMPTY if it is not, fine if it is gone.
    fn remove_set(&mut self, set: SetId) -> Result<(), Errno>;
    /// Remove the root with its mark and note. Only after all sets are gone; fine if it is gone.
    fn end(&mut self) -> Result<(), Errno>;
    /// What the storage said about the last error, where it says more than a number.
    fn problem(&self) -> Option<String> {
        None
    }
}
