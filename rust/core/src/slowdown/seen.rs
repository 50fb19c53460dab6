//! A row as slowdown sees it: what the storage took, what a user waited, what is lost.

use crate::sample::{Outcome, Sample};

/// An operation that begins later than this share of a period was held up; less is the probing host's timer.
pub const LATE_SHARE: u64 = 10;

/// A row as slowdown sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// When it was due.
    pub due_ns: i64,
    /// What the storage took; none if it did not end ok.
    pub service_ns: Option<i64>,
    /// What a user waited: from due on if it was held up, skipped or timed out, else the service; none if it did not
    /// come back or failed.
    pub response_ns: Option<i64>,
    /// Whether it was late or did not end ok.
    pub lost: bool,
    /// What of it the probing thread waited for a CPU.
    pub queued_ns: i64,
}

impl Seen {
    /// Of a row of a series with this period; none of one that was left out on purpose.
    pub fn of(sample: &Sample, period_ns: u64) -> Option<Self> {
        if sample.outcome == Outcome::SHED {
            return None;
        }
        let late_ns = (period_ns / LATE_SHARE) as i64;
        let late = sample.began_ns.is_some_and(|began_ns| began_ns - sample.due_ns > late_ns);
        let ok = sample.outcome == Outcome::OK;
        let service_ns = sample.service_ns().filter(|_| ok);
        let waited = matches!(sample.outcome, Outcome::SKIPPED | Outcome::TIMEOUT);
        let response_ns =
            if ok && !late { service_ns } else { sample.response_ns().filter(|_| ok || waited) };
        let queued_ns = sample.control_runq_ns.unwrap_or(0).max(0);
        Some(Self { due_ns: sample.due_ns, service_ns, response_ns, lost: late || !ok, queued_ns })
    }
    /// The same without the wait for a CPU: what the storage alone took.
    pub fn unqueued(self) -> Self {
        let less = |ns: Option<i64>| ns.map(|ns| (ns - self.queued_ns).max(1));
        Self { service_ns: less(self.service_ns), response_ns: less(self.response_ns), queued_ns: 0, ..self }
    }
}
