//! Object store of a benchmark: data sets of numbered objects below one marked root.
//!
//! One [`ObjectStore`] is one rank's way to it (a descriptor, a connection). Opening, listing and removing are never
//! timed; what is timed are the four methods of the [`Backend`] that [`ObjectStore::open_set`] gives.

use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::Backend;

/// Names a data set: the `set`-th of the ones made for `rank`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SetId {
    /// Rank that owns it.
    pub rank: u32,
    /// Number among that rank's sets.
    pub set: u32,
}

impl SetId {
    /// Parse from the digits in names of data sets: at least five each, as written.
    pub fn from_digits(rank: &str, set: &str) -> Option<Self> {
        let number = |digits: &str| {
            let plain = digits.len() >= 5 && digits.bytes().all(|byte| byte.is_ascii_digit());
            plain.then(|| digits.parse().ok())?
        };
        Some(Self { rank: number(rank)?, set: number(set)? })
    }
}

/// Capabilities of a backend. A benchmark that needs more is refused before it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Capabilities {
    /// Written data can be read back, and deleted objects are gone.
    pub stores: bool,
    /// Creating an object that exists fails and changes nothing.
    pub exclusive: bool,
    /// Deleting a missing object fails with ENOENT. S3 reports success.
    pub delete_tells: bool,
    /// An object can be forced to stable storage before create returns.
    pub fsync: bool,
    /// Several ranks may live in one process.
    pub threads: bool,
}

/// Options of writing objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Manner {
    /// Force every object to stable storage before create returns.
    pub fsync: bool,
    /// Bypass the client's cache (O_DIRECT).
    pub direct: bool,
}

/// Access of one rank to the objects of a benchmark.
///
/// Everything is below a root of its own. `begin` makes and marks it, or accepts one that carries our mark;
/// anything else that stands there is refused with [`Errno::EXIST`] and left alone.
pub trait ObjectStore: Send {
    /// Capabilities of the store.
    fn capabilities(&self) -> Capabilities;
    /// Create and mark the root, or accept it. Every rank may call it, at the same time.
    fn begin(&mut self) -> Result<(), Errno>;
    /// Lock the root against other runs until this value is dropped; EBUSY if another holds it. One rank of a run calls it.
    fn lock(&mut self) -> Result<(), Errno> {
        Ok(())
    }
    /// Alignment of sizes and offsets for [`Manner::direct`]; none if it is not supported.
    fn direct_alignment(&mut self) -> Result<Option<u64>, Errno> {
        Ok(None)
    }
    /// Text stored at the root (the parameters of the tree); none if there is none yet.
    fn note(&mut self) -> Result<Option<String>, Errno>;
    /// Store a text atomically at the root in place of an earlier one.
    fn set_note(&mut self, text: &str) -> Result<(), Errno>;
    /// Existing data sets, in any order.
    fn sets(&mut self) -> Result<Vec<SetId>, Errno>;
    /// Create a data set; no error if it exists.
    fn make_set(&mut self, set: SetId) -> Result<(), Errno>;
    /// Open a data set for the four timed operations.
    fn open_set(&mut self, set: SetId, manner: Manner) -> Result<Box<dyn Backend>, Errno>;
    /// Numbers of the objects in a data set, in any order; ENOENT if there is no such set.
    fn list_set(&mut self, set: SetId) -> Result<Vec<u64>, Errno>;
    /// Remove an empty data set; ENOTEMPTY if it is not, no error if it is gone.
    fn remove_set(&mut self, set: SetId) -> Result<(), Errno>;
    /// Remove the root with its mark and note. Only after all sets are gone; no error if it is gone.
    fn end(&mut self) -> Result<(), Errno>;
    /// The storage's message on the last error, if more than a number.
    fn problem(&self) -> Option<String> {
        None
    }
}
