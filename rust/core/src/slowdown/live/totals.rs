//! Rows since the start by outcome, and outcomes of the last ones.

use crate::histogram::Histogram;
use crate::sample::{Outcome, Sample};

/// Kinds of outcome in the order of [`Totals::counts`].
pub const OUTCOME_KINDS: [&str; 5] = ["ok", "error", "timeout", "skipped", "shed"];

/// Cumulative numbers since the start.
#[derive(Debug, Default)]
pub struct Totals {
    /// Response times.
    pub response: Histogram,
    /// Service times.
    pub service: Histogram,
    /// Rows by kind of outcome, in the order of [`OUTCOME_KINDS`].
    pub counts: [u64; 5],
}

impl Totals {
    /// Add a row.
    pub fn take(&mut self, sample: &Sample) {
        let kind = OUTCOME_KINDS.iter().position(|&kind| kind == sample.outcome.kind()).unwrap_or(1);
        self.counts[kind] += 1;
        if sample.outcome == Outcome::SHED {
            return;
        }
        if let Some(response) = sample.response_ns() {
            self.response.record(response.max(0) as u64);
        }
        if sample.outcome == Outcome::OK {
            self.service.record(sample.service_ns().unwrap_or(0).max(0) as u64);
        }
    }

    /// Ticks skipped.
    pub fn skipped(&self) -> u64 {
        self.counts[3]
    }
}

/// The last rows, without those that the agent shed itself.
#[derive(Debug, Default)]
pub(super) struct LastRows {
    pub last: Option<Sample>,
    pub ok: Option<Sample>,
    /// Failures since the last row that ended ok.
    pub failures: u32,
    /// Due time of the first of them, UTC.
    pub failing_since: Option<i64>,
}

impl LastRows {
    pub fn take(&mut self, sample: &Sample) {
        if sample.outcome == Outcome::SHED {
            return;
        }
        self.last = Some(*sample);
        match sample.outcome {
            Outcome::OK => {
                self.failures = 0;
                self.failing_since = None;
                self.ok = Some(*sample);
            }
            Outcome::SKIPPED => {}
            _ => {
                self.failures += 1;
                self.failing_since.get_or_insert(sample.due_ns);
            }
        }
    }
}
