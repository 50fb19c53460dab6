//! Memory shared by a target's workers and their supervisor: orders, progress, the pool, and a slot for every lane.
//!
//! ```text
//! page 0     stop, divider, progress, the pool's words
//! pool       one byte a file number, round and round
//! slots      one a lane that may exist at a time
//! ```

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use rustix::io::Errno;

use super::files::pool::Pool;
use super::memory::Memory;
use super::slot::{SLOT, Slot};

const STOP: usize = 0;
const DIVIDER: usize = 8;
const PROGRESS_STEPS: usize = 16;
const PROGRESS: usize = 24;
const POOL_WORDS: usize = 64;
const PAGE: usize = 4096;

/// Parts of a preparation, in the order they are made.
pub const PARTS: [&str; 2] = ["big file", "pool"];

/// Progress of a preparation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes done, of how many, of each of the [`PARTS`]; (0, 0) before it is begun.
    pub parts: [(u64, u64); PARTS.len()],
    /// Grows with every sign of life.
    pub steps: u64,
}

/// The shared memory of one target.
#[derive(Debug, Clone)]
pub struct Region {
    memory: Arc<Memory>,
    pool_size: usize,
}

impl Region {
    /// For a pool of `pool_size` files and `slots` lanes.
    pub fn new(pool_size: usize, slots: usize) -> Result<Self, Errno> {
        let memory = Memory::new(PAGE + Pool::bytes(pool_size).next_multiple_of(PAGE) + slots * SLOT)?;
        let region = Self { memory: Arc::new(memory), pool_size };
        region.word(DIVIDER).store(1, Relaxed);
        Ok(region)
    }
    /// Made by the supervisor.
    pub fn attach(descriptor: OwnedFd, pool_size: usize) -> Result<Self, Errno> {
        let memory = Memory::attach(descriptor)?;
        if memory.bytes() < PAGE + Pool::bytes(pool_size) {
            return Err(Errno::INVAL);
        }
        Ok(Self { memory: Arc::new(memory), pool_size })
    }
    /// The memory itself.
    pub fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        self.memory.word(at)
    }
    /// The pool.
    pub fn pool(&self) -> Pool {
        Pool::at(Arc::clone(&self.memory), POOL_WORDS, PAGE, self.pool_size)
    }
    /// The lane slot of a number.
    pub fn slot(&self, number: usize) -> Slot {
        let first = PAGE + Pool::bytes(self.pool_size).next_multiple_of(PAGE);
        Slot::new(Arc::clone(&self.memory), first + number * SLOT)
    }

    /// Ask every worker to end.
    pub fn stop(&self) {
        self.word(STOP).store(1, Release);
    }
    /// True once the end was asked for.
    pub fn stopped(&self) -> bool {
        self.word(STOP).load(Acquire) == 1
    }
    /// Divider of the rate: every n-th tick is worked on.
    pub fn divider(&self) -> u64 {
        self.word(DIVIDER).load(Relaxed).max(1)
    }
    /// Work on one of `divider` ticks from now on.
    pub fn divide(&self, divider: u64) {
        self.word(DIVIDER).store(divider, Relaxed);
    }

    /// Say how far a part of a preparation is.
    pub fn report(&self, part: &str, done: u64, all: u64) {
        if let Some(number) = PARTS.iter().position(|&other| other == part) {
            self.word(PROGRESS + 16 * number).store(done, Relaxed);
            self.word(PROGRESS + 16 * number + 8).store(all, Relaxed);
        }
        self.word(PROGRESS_STEPS).fetch_add(1, Release);
    }
    /// Progress of the preparation.
    pub fn progress(&self) -> Progress {
        let steps = self.word(PROGRESS_STEPS).load(Acquire);
        let word = |at: usize| self.word(at).load(Relaxed);
        let parts = std::array::from_fn(|i| (word(PROGRESS + 16 * i), word(PROGRESS + 16 * i + 8)));
        Progress { parts, steps }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_see_the_same_region() {
        let ours = Region::new(1000, 7).unwrap();
        let descriptor = ours.memory().descriptor().try_clone_to_owned().unwrap();
        let theirs = Region::attach(descriptor, 1000).unwrap();
        ours.slot(6).reset(3);
        theirs.report("pool", 1, 2);
        ours.divide(4);
        theirs.pool().reset(5..1005);
        assert_eq!(theirs.slot(6).claim().end, 3);
        assert_eq!(ours.progress(), Progress { parts: [(0, 0), (1, 2)], steps: 1 });
        assert_eq!((theirs.divider(), ours.pool().len()), (4, 1000));
        assert!(!theirs.stopped());
        ours.stop();
        assert!(theirs.stopped());
    }

    #[test]
    fn a_region_that_is_too_small_is_refused() {
        let small = Memory::new(4096).unwrap();
        let descriptor = small.descriptor().try_clone_to_owned().unwrap();
        assert_eq!(Region::attach(descriptor, 1000).unwrap_err(), Errno::INVAL);
    }
}
