//! How the writer fares, readable at any time.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A store counts as full until it has taken everything for so long.
const FULL_LINGERS_NS: i64 = 60 * 1_000_000_000;

/// How the writer fares; readable at any time.
#[derive(Debug, Default)]
pub struct Health {
    /// Rows on disk.
    pub rows_written: AtomicU64,
    /// Rows handed over and not yet on disk.
    pub rows_waiting: AtomicU64,
    /// Rows given up because too many waited.
    pub rows_dropped: AtomicU64,
    /// Lines and frames handed over and not yet on disk.
    pub appends_waiting: AtomicU64,
    /// Lines and frames given up because too many waited.
    pub appends_dropped: AtomicU64,
    /// Failed attempts to write.
    pub errors: AtomicU64,
    /// Files of raw samples removed to keep age, size or free space.
    pub files_dropped: AtomicU64,
    /// Their bytes.
    pub bytes_dropped: AtomicU64,
    /// Whether the store has no locks: segments are written without one.
    pub without_locks: AtomicBool,
    begun: AtomicU64,
    done: AtomicU64,
    full: AtomicI64,
    full_seen: AtomicI64,
    last_error: Mutex<Option<String>>,
}

impl Health {
    /// The latest trouble, until everything that waited has been written.
    pub fn last_error(&self) -> Option<String> {
        self.last_error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
    /// Since when the store has been short of room, UTC: a write was refused for it or too little is free. None once
    /// it has taken everything for a minute.
    pub fn store_full_since_ns(&self) -> Option<i64> {
        Some(self.full.load(Ordering::Relaxed)).filter(|&since| since != 0)
    }

    /// The number of the round that the writer is in; none while it is idle. A store that does not answer keeps it there.
    pub fn round(&self) -> Option<u64> {
        let begun = self.begun.load(Ordering::Acquire);
        (begun != self.done.load(Ordering::Acquire)).then_some(begun)
    }

    pub(super) fn unread(&self, error: &io::Error) -> String {
        self.errors.fetch_add(1, Ordering::Relaxed);
        format!("cannot read from the store: {error}")
    }
    pub(super) fn failed(&self, error: &io::Error, path: &Path) -> String {
        self.errors.fetch_add(1, Ordering::Relaxed);
        format!("cannot write to the store: {}: {error}", path.display())
    }
    pub(super) fn set_last_error(&self, error: Option<String>) {
        *self.last_error.lock().unwrap_or_else(PoisonError::into_inner) = error;
    }
    pub(super) fn full_at(&self, now_ns: i64) {
        self.full_seen.store(now_ns, Ordering::Relaxed);
        let _ = self.full.compare_exchange(0, now_ns.max(1), Ordering::Relaxed, Ordering::Relaxed);
    }
    /// Nothing was refused at `now_ns`.
    pub(super) fn fine_at(&self, now_ns: i64) {
        let since_last = now_ns.saturating_sub(self.full_seen.load(Ordering::Relaxed));
        // A clock that was set back must not make a store full for years.
        if !(0..FULL_LINGERS_NS).contains(&since_last) {
            self.full.store(0, Ordering::Relaxed);
        }
    }
}

/// The writer is in a round as long as this lives.
#[derive(Debug)]
pub struct Busy(Arc<Health>);

impl Busy {
    /// A round begins.
    pub fn new(health: &Arc<Health>) -> Self {
        health.begun.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(health))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.done.fetch_add(1, Ordering::AcqRel);
    }
}
