//! Statistics of recent rows: quantiles, the onset, lateness of the timer.

use crate::sample::{Outcome, Sample};
use crate::slowdown::onset::{onset, onset_of_losses};
use crate::slowdown::quantile::{Estimate, minimum_count, of_sorted};
use crate::slowdown::recent::Recent;
use crate::slowdown::rules::SumLimit;
use crate::slowdown::seen::{Seen, is_missed_by_host};
use crate::slowdown::triple::{Factor, share_of};

/// Successful rows.
pub fn ok_rows<R: Iterator<Item = Sample> + Clone>(rows: R) -> impl Iterator<Item = Sample> + Clone {
    rows.filter(|sample| sample.outcome == Outcome::OK)
}

/// Lateness of the timer that woke the probe: the median of began - due in ns.
pub fn late_ns(window: impl Iterator<Item = Sample> + Clone) -> f64 {
    let late = ok_rows(window).filter_map(|sample| Some(sample.began_ns? - sample.due_ns));
    let mut late: Vec<i64> = late.collect();
    late.sort_unstable();
    of_sorted(&late, 0.5).map_or(0.0, |median| median.value)
}

/// Share of a window's operations that the probing host alone delayed or omitted; each row with true for a delay.
pub fn late_by_host(window: impl Iterator<Item = (Sample, bool)>) -> Option<Factor> {
    let (mut due, mut late) = (0, 0);
    for (sample, by_host) in window {
        let missed = is_missed_by_host(&sample);
        due += u64::from(missed || sample.outcome != Outcome::SHED);
        late += u64::from(missed || by_host);
    }
    if late == 0 {
        return (due > 0).then_some(Factor { value: 0.0, lower: Some(0.0), upper: None });
    }
    share_of(late, due)
}

/// Due time of the first operation of the slow span that the last one belongs to.
pub fn onset_ns(recent: &Recent, usual_ns: f64, slowdown: f64) -> Option<i64> {
    let rows = ok_rows(recent.from(0));
    let service: Vec<i64> = rows.clone().filter_map(|sample| sample.service_ns()).collect();
    let first = onset(&service, usual_ns, slowdown)?;
    rows.clone().nth(first).map(|sample| sample.due_ns)
}

/// Due time of the first operation of the lossy span that the last one belongs to; else of the first loss from
/// `look_ns` on.
pub fn first_lost_ns(rows: impl Iterator<Item = Seen>, look_ns: i64) -> Option<i64> {
    let rows: Vec<Seen> = rows.collect();
    let onset = onset_of_losses(rows.iter().map(|row| row.lost)).map(|place| &rows[place]);
    let first = || rows.iter().find(|row| row.lost && row.due_ns >= look_ns);
    onset.or_else(first).map(|row| row.due_ns)
}

/// Due time of the first operation of the span of misses that the last one belongs to.
pub fn first_miss_ns(rows: impl Iterator<Item = Seen>, misses: &SumLimit) -> Option<i64> {
    let (mut sum, mut first) = (0.0_f64, None);
    for (row, ns) in rows.filter_map(|row| Some((row, row.unqueued().response_ns?))) {
        sum += if ns as f64 > misses.above_ns { misses.rise } else { misses.fall };
        if sum <= 0.0 {
            (sum, first) = (0.0, None);
        } else {
            first.get_or_insert(row.due_ns);
        }
    }
    first
}

/// Share of operations that were quicker than the latency between hits and misses; none without any.
pub fn share_of_hits(rows: &[Seen], between_ns: f64) -> Option<f64> {
    let known = || rows.iter().filter_map(|row| row.response_ns);
    let hits = known().filter(|&ns| ns as f64 <= between_ns).count();
    (known().next().is_some()).then(|| hits as f64 / known().count() as f64)
}

/// Quantile of service times over the shortest span of at least two windows before `now_ns` with enough operations.
pub fn of_more_windows(recent: &Recent, level: f64, window_ns: i64, now_ns: i64) -> Option<Estimate> {
    let earliest = ok_rows(recent.from(0).rev()).nth(minimum_count(level) - 1)?;
    let since_ns =
        now_ns.saturating_sub(window_ns.saturating_mul(windows_back(&earliest, window_ns, now_ns)));
    let rows = ok_rows(recent.from(recent.before(since_ns.saturating_add(1))));
    let mut service: Vec<i64> = rows.filter_map(|sample| sample.service_ns()).collect();
    service.sort_unstable();
    of_sorted(&service, level)
}

/// Windows from `now_ns` back to a row, at least two. The clock may have stepped by years since: computed
/// without a loop.
fn windows_back(row: &Sample, window_ns: i64, now_ns: i64) -> i64 {
    (now_ns.saturating_sub(row.due_ns).div_euclid(window_ns.max(1)) + 1).max(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Cache, Op};
    use crate::seed::Random;

    const WINDOW_NS: i64 = 60;

    fn recent(due: impl Iterator<Item = (i64, Outcome)>) -> Recent {
        let mut recent = Recent::new(Op::MdStat);
        for (due_ns, outcome) in due {
            let sample = Sample {
                due_ns,
                began_ns: Some(due_ns),
                ended_ns: Some(due_ns + 7 + due_ns % 5),
                offset_bytes: None,
                control_runq_ns: None,
                target: 0,
                op: Op::MdStat,
                outcome,
                cache: Cache::Unknown,
            };
            recent.insert(&sample, false);
        }
        recent
    }

    /// Naive search window by window, as in the definition.
    fn plain(recent: &Recent, level: f64, now_ns: i64) -> Option<Estimate> {
        (2..200).find_map(|windows| {
            let rows = ok_rows(recent.from(recent.before(now_ns - WINDOW_NS * windows + 1)));
            let mut service: Vec<i64> = rows.filter_map(|sample| sample.service_ns()).collect();
            service.sort_unstable();
            (service.len() >= minimum_count(level)).then(|| of_sorted(&service, level)).flatten()
        })
    }

    #[test]
    fn the_shortest_stretch_is_found_without_walking_there() {
        let mut random = Random::stream(7, "windows");
        for _ in 0..200 {
            let n = random.below(150) as i64;
            let outcome = |random: &mut Random| {
                if random.unit() < 0.8 { Outcome::OK } else { Outcome::TIMEOUT }
            };
            let rows: Vec<_> = (0..n).map(|k| (1_000 + 13 * k, outcome(&mut random))).collect();
            let (recent, now_ns) = (recent(rows.into_iter()), 1_000 + 13 * n + random.below(300) as i64);
            for level in [0.5, 0.95] {
                assert_eq!(of_more_windows(&recent, level, WINDOW_NS, now_ns), plain(&recent, level, now_ns));
            }
        }
    }

    #[test]
    fn a_clock_that_stepped_by_years_is_reached_in_one_step() {
        let recent = recent((0..10).map(|k| (13 * k, Outcome::OK)));
        let years_ns = 56 * 365 * 86_400 * 1_000_000_000;
        assert_eq!(windows_back(&recent.get(4).unwrap(), WINDOW_NS, years_ns), years_ns / WINDOW_NS);
        for now_ns in [years_ns, i64::MAX, -years_ns] {
            assert!(of_more_windows(&recent, 0.5, 1, now_ns).is_some(), "{now_ns}");
        }
    }
}
