//! Start of the current slow span of an op.

use crate::slowdown::verdict::{QUIET_BELOW, QUIET_WINDOWS};

/// Slow span as in events: five consecutive quiet windows end it, unknown ones do not.
#[derive(Debug)]
pub struct Stretch {
    since_ns: Option<i64>,
    loud_ns: i64,
}

impl Default for Stretch {
    fn default() -> Self {
        Self { since_ns: None, loud_ns: i64::MIN }
    }
}

impl Stretch {
    /// Start of the span, UTC; none outside of one.
    pub fn since_ns(&self) -> Option<i64> {
        self.since_ns
    }

    /// Take the last window; `slowdown` is none if unknown.
    pub fn look(&mut self, slowdown: Option<f64>, window_ns: i64, now_ns: i64) {
        if now_ns.saturating_sub(self.loud_ns) >= QUIET_WINDOWS * window_ns {
            self.since_ns = None;
        }
        if slowdown.is_none_or(|value| value >= QUIET_BELOW) {
            self.loud_ns = now_ns;
        }
    }

    /// Start a span at `onset_ns` unless one is open: the window is slow.
    pub fn begin(&mut self, onset_ns: impl FnOnce() -> Option<i64>) {
        self.since_ns = self.since_ns.or_else(onset_ns);
    }
}
