//! Health of the writer, readable at any time.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::refusal::{Kind, Refusal};

/// A store counts as full until it has taken everything for so long, or has room to spare.
const FULL_LINGERS_NS: i64 = 60 * 1_000_000_000;
/// A namesake that has not been seen for so long has gone.
const NAMESAKE_LINGERS_NS: i64 = 60 * 1_000_000_000;

/// Health of the writer; readable at any time.
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
    full: AtomicI64,
    full_seen: AtomicI64,
    unlocked: AtomicBool,
    namesake: AtomicI64,
    begun: AtomicU64,
    done: AtomicU64,
    /// Count of [`Health::errors`] before the trouble that lasts.
    errors_before: AtomicU64,
    refusal: Mutex<Option<Refusal>>,
}

impl Health {
    /// The latest trouble, until everything that waited has been written.
    pub fn last_error(&self) -> Option<String> {
        self.refusal().map(|refusal| refusal.text)
    }
    /// The same with its kind, and how often the store has refused. None while it takes everything.
    pub fn refusal(&self) -> Option<Refusal> {
        self.locked().clone()
    }
    /// Since when the store has been short of room, UTC: a write was refused for it or too little is free. None once
    /// there is room to spare, or it has taken everything for a minute.
    pub fn store_full_since_ns(&self) -> Option<i64> {
        Some(self.full.load(Ordering::Relaxed)).filter(|&since| since != 0)
    }
    /// True if the file system of the store has no locks: segments are written without. A sealer takes them later.
    pub fn is_unlocked(&self) -> bool {
        self.unlocked.load(Ordering::Relaxed)
    }
    /// When another probe was last seen to write the states of this one (UTC); none once it has been gone for a minute.
    pub fn namesake_ns(&self, now_ns: i64) -> Option<i64> {
        let seen_ns = self.namesake.load(Ordering::Relaxed);
        let is_new = now_ns.saturating_sub(seen_ns).unsigned_abs() < NAMESAKE_LINGERS_NS.unsigned_abs();
        (seen_ns != 0 && is_new).then_some(seen_ns)
    }
    /// The number of the round that the writer is in; none while it is idle. A store that does not answer keeps it there.
    pub fn round(&self) -> Option<u64> {
        let begun = self.begun.load(Ordering::Acquire);
        (begun != self.done.load(Ordering::Acquire)).then_some(begun)
    }

    fn locked(&self) -> MutexGuard<'_, Option<Refusal>> {
        self.refusal.lock().unwrap_or_else(PoisonError::into_inner)
    }
    pub(super) fn namesake_at(&self, now_ns: i64) {
        self.namesake.store(now_ns, Ordering::Relaxed);
    }
    pub(super) fn set_unlocked(&self, unlocked: bool) {
        self.unlocked.store(unlocked, Ordering::Relaxed);
    }
    /// The store refused. Of several refusals in a round the first is the one that is told.
    pub(super) fn failed(&self, error: &io::Error, path: &Path) -> Trouble {
        self.errors.fetch_add(1, Ordering::Relaxed);
        let what = format!("cannot write to the store: {}: {error}", path.display());
        Trouble::of(error, &what)
    }
    /// The store could not be read.
    pub(super) fn unread(&self, error: &io::Error) -> Trouble {
        self.errors.fetch_add(1, Ordering::Relaxed);
        Trouble::of(error, &format!("cannot read from the store: {error}"))
    }
    /// Records the end of a round, with its trouble if any.
    pub(super) fn ended(&self, trouble: Option<Trouble>, now_ns: i64) {
        let errors = self.errors.load(Ordering::Relaxed);
        let mut known = self.locked();
        let since_ns = known.as_ref().map_or(now_ns, |known| known.since_ns);
        if trouble.is_none() {
            self.errors_before.store(errors, Ordering::Relaxed);
        }
        let count = errors - self.errors_before.load(Ordering::Relaxed);
        *known = trouble.map(|Trouble { kind, text }| Refusal { kind, text, count, since_ns });
    }
    /// The store did not take the last rows in time.
    pub(super) fn late(&self, text: String, now_ns: i64) {
        self.errors.fetch_add(1, Ordering::Relaxed);
        self.ended(Some(Trouble::late(text)), now_ns);
    }
    pub(super) fn full_at(&self, now_ns: i64) {
        self.full_seen.store(now_ns, Ordering::Relaxed);
        let _ = self.full.compare_exchange(0, now_ns.max(1), Ordering::Relaxed, Ordering::Relaxed);
    }
    /// Nothing was refused at `now_ns`; whether there is room to spare.
    pub(super) fn fine_at(&self, now_ns: i64, roomy: bool) {
        let since_last = now_ns.saturating_sub(self.full_seen.load(Ordering::Relaxed));
        // A clock that was set back must not make a store full for years.
        if roomy || !(0..FULL_LINGERS_NS).contains(&since_last) {
            self.full.store(0, Ordering::Relaxed);
        }
    }
}

/// A refusal, with its place.
#[derive(Debug)]
pub(super) struct Trouble {
    kind: Kind,
    text: String,
}

impl Trouble {
    fn of(error: &io::Error, what: &str) -> Self {
        let kind = Kind::of(error);
        Self { kind, text: format!("{what}; to try: {}", kind.remedy()) }
    }
    /// The store took too long.
    pub(super) fn late(text: String) -> Self {
        Self { kind: Kind::Away, text }
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
