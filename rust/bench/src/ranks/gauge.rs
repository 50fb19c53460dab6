//! What others may see of a rank while it works: how far it is, and what it has had open for how long.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

const IDLE: u64 = u64::MAX;

/// One rank's gauge, with copies of its account `A`. The rank stores plain numbers; whoever looks may see them a moment
/// apart.
#[derive(Debug)]
pub struct Gauge<A> {
    ops: &'static [&'static str],
    planned: AtomicU64,
    ended: AtomicU64,
    failed: AtomicU64,
    open_since_ns: AtomicU64,
    open_op: AtomicU64,
    asked: AtomicU64,
    copy: Mutex<Option<A>>,
}

/// A look at a gauge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reading {
    /// Operations of the phase.
    pub planned: u64,
    /// That ended.
    pub ended: u64,
    /// Of these, not ok.
    pub failed: u64,
    /// What is open now, and for how long.
    pub open: Option<(&'static str, u64)>,
}

impl<A: Clone> Gauge<A> {
    /// Of a rank that does these ops.
    pub fn new(ops: &'static [&'static str]) -> Self {
        Self {
            ops,
            planned: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            open_since_ns: AtomicU64::new(IDLE),
            open_op: AtomicU64::new(0),
            asked: AtomicU64::new(0),
            copy: Mutex::new(None),
        }
    }
    /// A phase of so many operations begins.
    pub fn begin(&self, planned: u64) {
        self.planned.store(planned, Relaxed);
        self.ended.store(0, Relaxed);
        self.failed.store(0, Relaxed);
        self.copy.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
    /// An operation begins, once the rank knows its clock; `op` is its place among the names.
    #[inline]
    pub fn opened(&self, op: usize, now_ns: u64) {
        self.open_op.store(op as u64, Relaxed);
        self.open_since_ns.store(now_ns, Relaxed);
    }
    /// What was open is so no more, and is no operation of the phase.
    pub fn settled(&self) {
        self.open_since_ns.store(IDLE, Relaxed);
    }
    /// An operation ended.
    #[inline]
    pub fn closed(&self, ok: bool) {
        self.open_since_ns.store(IDLE, Relaxed);
        self.ended.store(self.ended.load(Relaxed) + 1, Relaxed);
        if !ok {
            self.failed.store(self.failed.load(Relaxed) + 1, Relaxed);
        }
    }
    /// Whether somebody wants a copy of the account.
    #[inline]
    pub fn asked(&self) -> bool {
        self.asked.load(Relaxed) != 0
    }
    /// Hand one out, between two steps.
    pub fn publish(&self, account: &A) {
        self.asked.store(0, Relaxed);
        *self.copy.lock().unwrap_or_else(PoisonError::into_inner) = Some(account.clone());
    }
    /// Look at it at `now_ns` of the rank's clock.
    pub fn read(&self, now_ns: u64) -> Reading {
        let since = self.open_since_ns.load(Relaxed);
        let op = self.ops.get(self.open_op.load(Relaxed) as usize).copied().unwrap_or("");
        Reading {
            planned: self.planned.load(Relaxed),
            ended: self.ended.load(Relaxed),
            failed: self.failed.load(Relaxed),
            open: (since != IDLE).then(|| (op, now_ns.saturating_sub(since))),
        }
    }
    /// The latest copy of its account, and a request for a newer one.
    pub fn copy(&self) -> Option<A> {
        self.asked.store(1, Relaxed);
        self.copy.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_shows_what_is_open_and_how_far_it_is() {
        let gauge = Gauge::<()>::new(&["stat", "read"]);
        gauge.begin(3);
        gauge.opened(1, 100);
        assert_eq!(gauge.read(350).open, Some(("read", 250)));
        gauge.closed(true);
        gauge.opened(0, 400);
        gauge.closed(false);
        assert_eq!(gauge.read(500), Reading { planned: 3, ended: 2, failed: 1, open: None });
    }

    #[test]
    fn a_copy_comes_after_it_was_asked_for() {
        let gauge = Gauge::new(&["stat"]);
        assert!(!gauge.asked());
        assert!(gauge.copy().is_none());
        assert!(gauge.asked());
        gauge.publish(&17);
        assert!(!gauge.asked());
        assert_eq!(gauge.copy(), Some(17));
    }
}
