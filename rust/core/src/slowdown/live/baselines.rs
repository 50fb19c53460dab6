//! What is usual of an op: the trailing baseline while it is young, then the guarded one, and the detectors' limits.

use crate::slowdown::baseline::{Trailing, Young};
use crate::slowdown::guarded::Guarded;
use crate::slowdown::interval::OpenInterval;
use crate::slowdown::limits::Limits;
use crate::slowdown::seen::Seen;

/// Both baselines of an op, and the interval that is not over.
#[derive(Debug)]
pub struct Baselines {
    /// What is usual as long as `guarded` does not know.
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

    /// Go on with what an earlier run knew.
    pub fn resume(&mut self, guarded: Guarded) {
        self.limits = guarded.expected().and_then(Limits::of);
        self.guarded = guarded;
    }

    pub fn guarded(&self) -> &Guarded {
        &self.guarded
    }

    /// Of the detectors; none while nothing is expected.
    pub fn limits(&self) -> Option<&Limits> {
        self.limits.as_ref()
    }

    /// What is usual of a window that starts at `start_ns` by the windows so far, and how many these are.
    pub fn young(&mut self, start_ns: i64) -> (Option<Young>, usize) {
        (self.young.young(start_ns), self.young.windows())
    }

    /// Learn a window's median, `ends` being those of its interval.
    pub fn learn_window(&mut self, start_ns: i64, median_ns: i64, ends: (i64, i64)) {
        if self.guarded.expected().is_none() {
            self.young.learn_unless_slow(start_ns, median_ns, ends);
        }
    }

    /// Learn a row; returns whether what is expected was worked out anew.
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

    /// Begin the interval anew: the wall clock was set back.
    pub fn set_back(&mut self) {
        self.open_interval = OpenInterval::default();
    }
}
