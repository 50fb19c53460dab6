//! Jobs of the writer, its setup, and the limit of what may wait.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::disk::{Disk, RealDisk};
use super::spool;
use crate::config::Keep;
use iosonde_core::clock::{Clock, RealClock};
use iosonde_core::sample::Sample;

/// Rows that wait in memory while the store cannot take them; beyond, the oldest go.
pub const BACKLOG_ROWS: usize = 200_000;
/// Lines and frames that wait likewise.
pub const BACKLOG_APPENDS: usize = 10_000;

/// Looks at the store.
pub type Looking = dyn FnMut(&dyn Disk) -> io::Result<()> + Send;

/// A look at the store by the writer's thread; one that fails is done again with the next round.
pub struct Look(pub Box<Looking>);

impl fmt::Debug for Look {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Look")
    }
}

/// A job for the writer.
#[derive(Debug)]
pub enum Job {
    /// Look at the store before anything else is written.
    Look(Look),
    /// Append rows; `now_ns` is UTC, chooses the segment and tells the writer the time. May be empty.
    Rows {
        /// In the order in which they ended.
        samples: Vec<Sample>,
        /// Now.
        now_ns: i64,
    },
    /// Replace a file atomically.
    Replace {
        /// Path of the file.
        path: PathBuf,
        /// With what.
        bytes: Vec<u8>,
    },
    /// Append one frame to a file of frames.
    Frame {
        /// Path of the file.
        path: PathBuf,
        /// Bytes that the file begins with when it is new.
        head: Vec<u8>,
        /// Contents of the frame.
        payload: Vec<u8>,
    },
    /// From now on rows may be of these targets: those known so far, at their places, and more.
    Targets(Vec<spool::Target>),
    /// Append one line to a text file; its end is added if it has none.
    Line {
        /// Path of the file.
        path: PathBuf,
        /// Text to write.
        text: String,
    },
}

/// Setup of a writer: its places and limits.
pub struct Setup {
    /// The store.
    pub root: PathBuf,
    /// The folder of this host below `spool/` and, with `host=` before it, below the dates of `samples/`.
    pub host: String,
    /// The first segment's header.
    pub header: spool::Header,
    /// Retention applied when room is short.
    pub keep: Keep,
    /// The file system, or what stands for it.
    pub disk: Box<dyn Disk>,
    /// Tells how much time passed, whatever UTC does.
    pub clock: Arc<dyn Clock>,
}

impl Setup {
    /// A real store from which only a full disk drops anything.
    pub fn new(root: PathBuf, host: String, header: spool::Header) -> Self {
        let (disk, clock) = (Box::new(RealDisk), Arc::new(RealClock));
        Self { root, host, header, keep: Keep::default(), disk, clock }
    }
}
