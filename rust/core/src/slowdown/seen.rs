//! A row as seen by slowdown: service time, user's waiting time, loss, and delay by this host alone.

use crate::sample::{Outcome, Sample};

/// Fraction of a period beyond which a late start means held up; less is the probing host's timer.
pub const LATE_SHARE: u64 = 10;

/// Lane of an op, which executes one operation at a time: attributes the lateness of operations.
#[derive(Debug, Clone, Copy)]
pub struct Lane {
    free_ns: i64,
}

impl Default for Lane {
    fn default() -> Self {
        Self { free_ns: i64::MIN }
    }
}

impl Lane {
    /// Take the next row of the lane. True if only the probing host can have made it late: it started late and ended
    /// ok, and all operations before it had ended at its due time, without their waits for a CPU.
    pub fn take(&mut self, sample: &Sample, period_ns: u64) -> bool {
        let by_host =
            sample.outcome == Outcome::OK && is_late(sample, period_ns) && self.free_ns <= sample.due_ns;
        self.free_ns = self.free_ns.max(free_again_ns(sample).unwrap_or(i64::MIN));
        by_host
    }
}

/// Time at which the lane was free again after an operation, without its thread's wait for a CPU; none if the
/// operation never started or its end is unknown.
pub fn free_again_ns(sample: &Sample) -> Option<i64> {
    let ended_ns = sample.began_ns.and(sample.ended_ns)?;
    Some(ended_ns - sample.control_runq_ns.unwrap_or(0).max(0))
}

/// True if an operation started later than a tenth of a period after its due time.
pub fn is_late(sample: &Sample, period_ns: u64) -> bool {
    let late_ns = (period_ns / LATE_SHARE) as i64;
    sample.began_ns.is_some_and(|began_ns| began_ns - sample.due_ns > late_ns)
}

/// True if the probing host, busy or stopped, kept the lane from working on a tick: neither seen nor lost.
pub fn is_missed_by_host(sample: &Sample) -> bool {
    sample.outcome == Outcome::SHED && sample.control_runq_ns.is_some()
}

/// A row as seen by slowdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// Due time.
    pub due_ns: i64,
    /// Service time; none unless it ended ok.
    pub service_ns: Option<i64>,
    /// Waiting time of a user: from the due time on if the storage held it up, or it was skipped or timed out, else
    /// the service time; none if it did not come back or failed.
    pub response_ns: Option<i64>,
    /// True if the storage made it late, or it did not end ok.
    pub lost: bool,
    /// Part that the probing thread waited for a CPU.
    pub queued_ns: i64,
}

impl Seen {
    /// Convert a row of a series with this period; none for one shed. `by_host`: result of [`Lane::take`].
    pub fn of(sample: &Sample, period_ns: u64, by_host: bool) -> Option<Self> {
        if sample.outcome == Outcome::SHED {
            return None;
        }
        let late = !by_host && is_late(sample, period_ns);
        let ok = sample.outcome == Outcome::OK;
        let service_ns = sample.service_ns().filter(|_| ok);
        let waited = matches!(sample.outcome, Outcome::SKIPPED | Outcome::TIMEOUT);
        let response_ns =
            if ok && !late { service_ns } else { sample.response_ns().filter(|_| ok || waited) };
        let queued_ns = sample.control_runq_ns.unwrap_or(0).max(0);
        Some(Self { due_ns: sample.due_ns, service_ns, response_ns, lost: late || !ok, queued_ns })
    }
    /// The row without the wait for a CPU.
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

    fn seen(lane: &mut Lane, sample: &Sample) -> Seen {
        let by_host = lane.take(sample, PERIOD_NS);
        Seen::of(sample, PERIOD_NS, by_host).unwrap()
    }

    #[test]
    fn lateness_is_the_hosts_unless_an_operation_before_went_on() {
        let late = row(100_000_000, 30_000_000, 5_000_000);
        let after = |before: &[Sample]| {
            let mut lane = Lane::default();
            for sample in before {
                lane.take(sample, PERIOD_NS);
            }
            seen(&mut lane, &late)
        };
        let service = (Some(5_000_000), Some(5_000_000), false);
        let found = |seen: Seen| (seen.service_ns, seen.response_ns, seen.lost);
        assert_eq!(found(after(&[row(0, 0, 5_000_000)])), service);
        assert_eq!(found(after(&[])), service, "nothing was before it");
        let held_up = (Some(5_000_000), Some(35_000_000), true);
        assert_eq!(found(after(&[row(0, 0, 130_000_000)])), held_up);
        let trial = row(50_000_000, 0, 1_000_000);
        assert_eq!(found(after(&[row(0, 0, 130_000_000), trial])), held_up, "the first still went on");
        let queued = Sample { control_runq_ns: Some(120_000_000), ..row(0, 0, 130_000_000) };
        assert_eq!(found(after(&[queued])), service, "it waited for a CPU, not for storage");
        let skipped = Sample { began_ns: None, outcome: Outcome::SKIPPED, ..row(50_000_000, 0, 90_000_000) };
        assert_eq!(found(after(&[skipped])), service, "what never began holds up nothing");
    }

    #[test]
    fn what_fails_is_lost_however_late_it_began() {
        let failed = Sample { outcome: Outcome::TIMEOUT, ..row(100_000_000, 30_000_000, 5_000_000) };
        assert!(seen(&mut Lane::default(), &failed).lost);
        let missed = Sample { began_ns: None, outcome: Outcome::SHED, ..row(0, 0, 9) };
        assert!(is_missed_by_host(&missed) && Seen::of(&missed, PERIOD_NS, false).is_none());
        assert!(!is_missed_by_host(&Sample { control_runq_ns: None, ..missed }));
    }
}
