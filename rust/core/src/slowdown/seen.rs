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
    /// What the storage alone did to a row: without the wait for a CPU, and not late where the one before in its lane
    /// (`before`) had ended when it was due, so that only the host can have held it up.
    pub fn alone(sample: &Sample, before: Option<&Sample>, period_ns: u64) -> Option<Self> {
        let seen = Self::of(sample, period_ns)?;
        let free =
            before.and_then(|before| before.ended_ns).is_some_and(|ended_ns| ended_ns <= sample.due_ns);
        let by_host = seen.lost && free && sample.outcome == Outcome::OK;
        let seen = if by_host { Self { response_ns: seen.service_ns, lost: false, ..seen } } else { seen };
        Some(seen.unqueued())
    }
    /// The same without the wait for a CPU.
    pub fn unqueued(self) -> Self {
        let less = |ns: Option<i64>| ns.map(|ns| (ns - self.queued_ns).max(1));
        Self { service_ns: less(self.service_ns), response_ns: less(self.response_ns), queued_ns: 0, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Cache, Op};

    const PERIOD_NS: u64 = 100_000_000;

    fn row(due_ns: i64, late_ns: i64, service_ns: i64) -> Sample {
        Sample {
            due_ns,
            began_ns: Some(due_ns + late_ns),
            ended_ns: Some(due_ns + late_ns + service_ns),
            offset_bytes: None,
            control_runq_ns: Some(1_000),
            target: 0,
            op: Op::MdStat,
            outcome: Outcome::OK,
            cache: Cache::Unknown,
        }
    }

    #[test]
    fn lateness_is_the_hosts_unless_the_one_before_went_on() {
        let late = row(100_000_000, 30_000_000, 5_000_000);
        let alone = |before: Option<&Sample>| Seen::alone(&late, before, PERIOD_NS).unwrap();
        let quick = alone(Some(&row(0, 0, 5_000_000)));
        assert_eq!(
            (quick.lost, quick.response_ns, quick.service_ns),
            (false, Some(4_999_000), Some(4_999_000))
        );
        let held_up = alone(Some(&row(0, 0, 130_000_000)));
        assert_eq!((held_up.lost, held_up.response_ns), (true, Some(34_999_000)));
        assert!(alone(None).lost && alone(Some(&Sample { ended_ns: None, ..row(0, 0, 0) })).lost);
        let failed = Sample { outcome: Outcome::TIMEOUT, ..late };
        assert!(Seen::alone(&failed, Some(&row(0, 0, 1)), PERIOD_NS).unwrap().lost);
    }
}
