//! Since when an op is slow.

use crate::slowdown::verdict::{QUIET_BELOW, QUIET_WINDOWS};

/// As for events: a stretch goes on until five windows in a row are quiet, and what is unknown ends none.
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
    /// When it began, UTC; none outside of one.
    pub fn since_ns(&self) -> Option<i64> {
        self.since_ns
    }

    /// A look at the last window; `slowdown` is none where it is unknown.
    pub fn look(&mut self, slowdown: Option<f64>, window_ns: i64, now_ns: i64) {
        if now_ns.saturating_sub(self.loud_ns) >= QUIET_WINDOWS * window_ns {
            self.since_ns = None;
        }
        if slowdown.is_none_or(|value| value >= QUIET_BELOW) {
            self.loud_ns = now_ns;
        }
    }

    /// The window is slow: a stretch that has not begun began at `onset_ns`.
    pub fn begin(&mut self, onset_ns: impl FnOnce() -> Option<i64>) {
        self.since_ns = self.since_ns.or_else(onset_ns);
    }
}
