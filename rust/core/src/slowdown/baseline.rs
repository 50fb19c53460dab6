//! The trailing-median baseline: the usual latency of an operation.
//!
//! The baseline of a window is the median of the medians of the windows that started in
//! `[start - trailing, start)`. It is the simplest honest one: it never looks ahead and half of its windows may
//! be slow before it moves far.

use std::collections::VecDeque;

use super::quantile::Estimate;
use super::verdict::{SLOW_FROM, SLOW_LOWER, is_young_slow};

/// Least number of known windows for a baseline.
pub const MINIMUM_WINDOWS: usize = 5;
/// Default look-back time of a baseline: 7 days.
pub const DEFAULT_TRAILING_NS: u64 = 7 * 86_400 * 1_000_000_000;

/// Quantiles for the spread of young windows, and the standard deviations between them.
const SPREAD: (f64, f64, f64) = (0.10, 0.90, 2.56);

/// Usual latency while a guarded baseline is still being learnt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Young {
    /// Median of the medians of the windows so far that were not slow, ns.
    pub baseline_ns: f64,
    /// Standard deviation of their logarithms.
    pub error: f64,
}

/// Medians of the trailing windows of one series, prepared for their median.
#[derive(Debug, Clone)]
pub struct Trailing {
    trailing_ns: i64,
    in_time: VecDeque<(i64, i64)>,
    sorted: Vec<i64>,
}

impl Trailing {
    /// A baseline that looks `trailing_ns` back.
    pub fn new(trailing_ns: u64) -> Self {
        let trailing_ns = i64::try_from(trailing_ns).unwrap_or(i64::MAX);
        Self { trailing_ns, in_time: VecDeque::new(), sorted: Vec::new() }
    }
    /// Learn a window's median. Windows already learnt that did not start before it are forgotten: the wall clock
    /// was set back, and of time that was lived twice the later account counts.
    pub fn learn(&mut self, start_ns: i64, median_ns: i64) {
        self.forget_from(start_ns);
        self.in_time.push_back((start_ns, median_ns));
        let at = self.sorted.partition_point(|&value| value < median_ns);
        self.sorted.insert(at, median_ns);
    }
    /// Baseline of a window that starts at `start_ns`; none while learning.
    pub fn baseline_ns(&mut self, start_ns: i64) -> Option<f64> {
        self.forget(start_ns.saturating_sub(self.trailing_ns));
        let n = self.sorted.len();
        (n >= MINIMUM_WINDOWS).then(|| self.sorted[n.div_ceil(2) - 1] as f64)
    }
    /// Learn a window's median unless it is slow against what is known, or may be: a slowdown of half an hour is not taken
    /// for usual. `ends`: of the median's interval, the median itself where they are unknown.
    pub fn learn_unless_slow(&mut self, start_ns: i64, median_ns: i64, ends: (i64, i64)) {
        let window = |young: &Young| {
            let by = |ns: i64| ns as f64 / young.baseline_ns.max(1.0);
            Estimate { value: by(median_ns), lower: by(ends.0), upper: by(ends.1), n: 0 }
        };
        self.forget_from(start_ns);
        let left_out = self.young(start_ns).is_some_and(|young| {
            let found = window(&young);
            let unsure = found.value >= SLOW_FROM && found.lower < SLOW_LOWER;
            unsure || is_young_slow(&found, young.error)
        });
        if !left_out {
            self.learn(start_ns, median_ns);
        }
    }
    /// Usual latency for a window that starts at `start_ns`; none below five known windows.
    pub fn young(&mut self, start_ns: i64) -> Option<Young> {
        let baseline_ns = self.baseline_ns(start_ns)?;
        let at = |q: f64| {
            let rank = (q * self.sorted.len() as f64).ceil() as usize;
            (self.sorted[rank.clamp(1, self.sorted.len()) - 1].max(1)) as f64
        };
        Some(Young { baseline_ns, error: (at(SPREAD.1) / at(SPREAD.0)).ln() / SPREAD.2 })
    }
    /// Forget everything.
    pub fn clear(&mut self) {
        (self.in_time, self.sorted) = Default::default();
    }
    /// Number of known windows.
    pub fn windows(&self) -> usize {
        self.sorted.len()
    }

    fn forget_from(&mut self, start_ns: i64) {
        while let Some(&(last, unlived)) = self.in_time.back() {
            if last < start_ns {
                break;
            }
            self.in_time.pop_back();
            self.unsort(unlived);
        }
    }

    fn forget(&mut self, before_ns: i64) {
        while let Some(&(start, median)) = self.in_time.front() {
            if start >= before_ns {
                break;
            }
            self.in_time.pop_front();
            self.unsort(median);
        }
    }

    fn unsort(&mut self, median_ns: i64) {
        let at = self.sorted.partition_point(|&value| value < median_ns);
        self.sorted.remove(at);
    }
}

/// Baseline of every window of a series, ascending in start; none while learning.
pub fn trailing_median(
    windows: impl Iterator<Item = (i64, Option<i64>)>,
    trailing_ns: u64,
) -> Vec<Option<f64>> {
    let mut trailing = Trailing::new(trailing_ns);
    windows
        .map(|(start_ns, median_ns)| {
            let baseline = trailing.baseline_ns(start_ns);
            if let Some(median_ns) = median_ns {
                trailing.learn(start_ns, median_ns);
            }
            baseline
        })
        .collect()
}

/// Median of a window and the ends of its interval, ns.
pub type Median = (i64, (i64, i64));

/// Usual latency for every window of a series in its first hour, ascending in start; none while learning.
pub fn young_baselines(
    windows: impl Iterator<Item = (i64, Option<Median>)>,
    trailing_ns: u64,
) -> Vec<Option<Young>> {
    let mut trailing = Trailing::new(trailing_ns);
    windows
        .map(|(start_ns, median)| {
            let young = trailing.young(start_ns);
            if let Some((median_ns, ends)) = median {
                trailing.learn_unless_slow(start_ns, median_ns, ends);
            }
            young
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Random;

    /// Naive implementation of the definition.
    fn plain(windows: &[(i64, Option<i64>)], trailing_ns: i64) -> Vec<Option<f64>> {
        let of = |start: i64, upto: usize| {
            let mut medians: Vec<i64> = windows[..upto]
                .iter()
                .filter(|&&(s, _)| s >= start - trailing_ns)
                .filter_map(|&(_, median)| median)
                .collect();
            medians.sort_unstable();
            let n = medians.len();
            (n >= MINIMUM_WINDOWS).then(|| medians[n.div_ceil(2) - 1] as f64)
        };
        windows.iter().enumerate().map(|(i, &(start, _))| of(start, i)).collect()
    }

    #[test]
    fn equals_the_plain_definition() {
        let mut random = Random::stream(4, "baseline");
        for _ in 0..50 {
            let mut start = 0;
            let windows: Vec<(i64, Option<i64>)> = (0..200)
                .map(|_| {
                    start += 1 + random.below(3) as i64;
                    (start, (random.below(10) > 1).then(|| random.below(50) as i64))
                })
                .collect();
            let trailing = 1 + random.below(100);
            assert_eq!(trailing_median(windows.iter().copied(), trailing), plain(&windows, trailing as i64));
        }
    }

    #[test]
    fn learns_before_it_speaks() {
        let windows = (0..7).map(|i| (i, Some(10)));
        let baselines = trailing_median(windows, 100);
        assert_eq!(baselines.iter().filter(|b| b.is_none()).count(), MINIMUM_WINDOWS);
        assert_eq!(baselines[5], Some(10.0));
    }

    #[test]
    fn a_slow_half_hour_is_not_taken_for_usual() {
        let level = |i: i64| if (6..40).contains(&i) { 4_000 } else { 1_000 + 10 * (i % 5) };
        let windows = (0..60).map(|i| (i, Some((level(i), (level(i), level(i))))));
        let young = young_baselines(windows, 100);
        let last = young[59].unwrap();
        assert!((1_000.0..1_050.0).contains(&last.baseline_ns) && last.error < 0.05, "{last:?}");
        assert_eq!(young[..5], [None; 5]);
    }

    #[test]
    fn windows_of_two_modes_are_learnt_as_they_are() {
        let level = |i: i64| if i % 2 == 0 { 100 } else { 5_000 };
        let windows = (0..40).map(|i| (i, Some((level(i), (level(i), level(i))))));
        let young = young_baselines(windows, 100)[39].unwrap();
        assert!(young.error > 1.0, "50x is no slowdown where every other window is at it: {young:?}");
    }

    #[test]
    fn a_clock_set_back_replaces_the_future_it_had_seen() {
        let mut trailing = Trailing::new(100);
        for start in [10, 20, 1_000_000, 1_000_010, 30, 40, 50] {
            trailing.learn(start, start);
        }
        assert_eq!(
            trailing.in_time.iter().map(|&(start, _)| start).collect::<Vec<_>>(),
            [10, 20, 30, 40, 50]
        );
        assert_eq!(trailing.baseline_ns(60), Some(30.0));
    }
}
