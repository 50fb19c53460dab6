//! Current ten minutes of one op: the histograms that a baseline learns from.

use super::buckets::{Pool, bucket};
use super::guarded::{INTERVAL_NS, Interval};
use super::seen::Seen;

/// Rows of the current interval.
#[derive(Debug)]
pub struct OpenInterval {
    start_ns: i64,
    n_due: u64,
    n_lost: u64,
    service: Pool,
    response: Option<Pool>,
}

impl Default for OpenInterval {
    fn default() -> Self {
        Self::at(i64::MIN)
    }
}

impl OpenInterval {
    fn at(start_ns: i64) -> Self {
        Self { start_ns, n_due: 0, n_lost: 0, service: Pool::default(), response: None }
    }
    /// Take a row; returns the interval that it completes. Rows of a past interval are ignored.
    pub fn take(&mut self, seen: &Seen) -> Option<Interval> {
        let start_ns = seen.due_ns.div_euclid(INTERVAL_NS) * INTERVAL_NS;
        let closed =
            (start_ns > self.start_ns).then(|| std::mem::replace(self, Self::at(start_ns)).close()).flatten();
        if start_ns == self.start_ns {
            self.n_due += 1;
            self.n_lost += u64::from(seen.lost);
            if seen.response_ns != seen.service_ns && self.response.is_none() {
                self.response = Some(self.service.clone());
            }
            if let Some(ns) = seen.service_ns {
                self.service.count(bucket(ns));
            }
            if let (Some(ns), Some(response)) = (seen.response_ns, &mut self.response) {
                response.count(bucket(ns));
            }
        }
        closed
    }
    /// Finish the interval; none without a row.
    pub fn close(self) -> Option<Interval> {
        (self.n_due > 0).then(|| Interval {
            start_ns: self.start_ns,
            n_due: self.n_due,
            n_lost: self.n_lost,
            service: self.service.packed(),
            response: self.response.map(|response| response.packed()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::buckets::Packed;
    use super::*;
    use crate::sample::{Cache, Op, Outcome, Sample};

    const PERIOD_NS: u64 = 1_000_000_000;

    fn row(due_ns: i64, late_ns: i64, service_ns: i64, outcome: Outcome) -> Sample {
        Sample {
            due_ns,
            began_ns: Some(due_ns + late_ns),
            ended_ns: Some(due_ns + late_ns + service_ns),
            offset_bytes: None,
            control_runq_ns: None,
            target: 0,
            op: Op::MdStat,
            outcome,
            cache: Cache::Unknown,
        }
    }

    #[test]
    fn a_row_is_held_up_from_a_tenth_of_a_period_on() {
        let seen = |late, outcome| Seen::of(&row(0, late, 5_000_000, outcome), PERIOD_NS, false);
        let on_time = seen(100_000_000, Outcome::OK).unwrap();
        assert_eq!((on_time.response_ns, on_time.lost), (Some(5_000_000), false));
        let late = seen(100_000_001, Outcome::OK).unwrap();
        assert_eq!(
            (late.service_ns, late.response_ns, late.lost),
            (Some(5_000_000), Some(105_000_001), true)
        );
        let failed = seen(0, Outcome::error(rustix::io::Errno::IO)).unwrap();
        assert_eq!((failed.service_ns, failed.response_ns, failed.lost), (None, None, true));
        let stuck = seen(0, Outcome::TIMEOUT).unwrap();
        assert_eq!((stuck.service_ns, stuck.response_ns, stuck.lost), (None, Some(5_000_000), true));
        assert_eq!(seen(0, Outcome::SHED), None);
    }

    #[test]
    fn responses_are_kept_apart_from_the_first_that_differs() {
        let mut open = OpenInterval::default();
        let take = |open: &mut OpenInterval, due_ns, late_ns| {
            open.take(&Seen::of(&row(due_ns, late_ns, 1_000_000, Outcome::OK), PERIOD_NS, false).unwrap())
        };
        assert_eq!(take(&mut open, 0, 0), None);
        assert_eq!(take(&mut open, INTERVAL_NS - 1, 400_000_000), None);
        let closed = take(&mut open, INTERVAL_NS, 0).unwrap();
        assert_eq!((closed.start_ns, closed.n_due, closed.n_lost), (0, 2, 1));
        assert_eq!(closed.service, Packed::of_sorted(&[1_000_000, 1_000_000]));
        assert_eq!(closed.response, Some(Packed::of_sorted(&[1_000_000, 401_000_000])));
        assert_eq!(take(&mut open, 5, 0), None, "an interval that is over takes nothing more");
        let next = open.close().unwrap();
        assert_eq!((next.n_due, next.response), (1, None));
    }
}
