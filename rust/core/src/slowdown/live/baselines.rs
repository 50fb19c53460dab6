//! Baselines of an op: the trailing one while young, then the guarded one, and the detectors' limits.

use crate::slowdown::baseline::{Trailing, Young};
use crate::slowdown::guarded::Guarded;
use crate::slowdown::interval::OpenInterval;
use crate::slowdown::limits::Limits;
use crate::slowdown::seen::Seen;

/// Both baselines of an op, and the current interval.
#[derive(Debug)]
pub struct Baselines {
    /// Trailing baseline, in use until `guarded` has an expectation.
    young: Trailing,
    guarded: Guarded,
    open_interval: OpenInterval,
    limits: Option<Limits>,
}

impl Baselines {
    pub fn new(trailing_ns: u64) -> Self {
        Self {
            young: Trailing::new(trailing_ns),
            guarded: Guarded::default(),
            open_interval: OpenInterval::default(),
            limits: None,
        }
    }

    /// Resume with the baseline of an earlier run.
    pub fn resume(&mut self, guarded: Guarded) {
        self.limits = guarded.expected().and_then(Limits::of);
        self.guarded = guarded;
    }

    pub fn guarded(&self) -> &Guarded {
        &self.guarded
    }

    /// Limits of the detectors; none without an expectation.
    pub fn limits(&self) -> Option<&Limits> {
        self.limits.as_ref()
    }

    /// Usual latency for a window that starts at `start_ns` by the windows so far, and their number.
    pub fn young(&mut self, start_ns: i64) -> (Option<Young>, usize) {
        (self.young.young(start_ns), self.young.windows())
    }

    /// Learn a window's median; `ends`: of its interval.
    pub fn learn_window(&mut self, start_ns: i64, median_ns: i64, ends: (i64, i64)) {
        if self.guarded.expected().is_none() {
            self.young.learn_unless_slow(start_ns, median_ns, ends);
        }
    }

    /// Learn a row; true if the expectation was recomputed.
    pub fn learn(&mut self, seen: &Seen) -> bool {
        let version = self.guarded.version();
        if let Some(interval) = self.open_interval.take(seen) {
            self.guarded.learn(&interval);
            if self.guarded.expected().is_some() {
                self.young.clear();
            }
        }
        let learnt = self.guarded.version() != version;
        if learnt {
            self.limits = self.guarded.expected().and_then(Limits::of);
        }
        learnt
    }

    /// Restart the interval: the wall clock was set back.
    pub fn set_back(&mut self) {
        self.open_interval = OpenInterval::default();
    }
}
