//! Representation of an interval for a pass: its levels as buckets, and thresholds for comparison.

use super::kept::{FLAG_LOST, FLAG_TAIL};
use crate::slowdown::buckets::value_ns;
use crate::slowdown::levels::{LEVELS, N};
use crate::slowdown::triple::Expected;

/// Marker of a missing bucket: no rows.
pub(super) const NONE: u16 = u16::MAX;

/// The levels of an interval, as buckets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Points {
    pub(super) service: [u16; N],
    /// The 0.95 quantile of the response time, or [`NONE`].
    pub(super) tail: u16,
    lost: f32,
}

impl Points {
    /// Points of `n` service times by bucket, descending; responses equal these without a `tail`.
    pub(super) fn of(
        service: impl Iterator<Item = (u16, u32)>,
        n: u64,
        tail: Option<u16>,
        (n_due, n_lost): (u64, u64),
    ) -> Self {
        let service = levels(service, n);
        let lost = n_lost as f32 / n_due.max(1) as f32;
        Self { service, tail: tail.unwrap_or(service[N - 1]), lost }
    }
    /// Typical slowdown; single precision suffices for a comparison with a limit.
    pub(super) fn typ(&self, expected: &Expected) -> f64 {
        let mut ratios = [0.0_f32; N];
        let band = expected.band_from()..N;
        let ratios = &mut ratios[..band.len()];
        for (ratio, i) in ratios.iter_mut().zip(band) {
            *ratio = ratio_of(self.service[i], expected, i);
        }
        let middle = ratios.len() / 2;
        f64::from(*ratios.select_nth_unstable_by(middle, f32::total_cmp).1)
    }
}

/// Buckets of the levels of a histogram, descending, with n latencies.
pub(super) fn levels(descending: impl Iterator<Item = (u16, u32)>, n: u64) -> [u16; N] {
    // From the slowest on a level is reached with as many latencies as lie at it and above.
    let needed = |i: usize| n + 1 - ((LEVELS[i] * n as f64).ceil() as u64).clamp(1, n.max(1));
    let mut found = [0; N];
    let (mut seen, mut level) = (0, N);
    for (bucket, count) in descending {
        seen += u64::from(count);
        while level > 0 && seen >= needed(level - 1) {
            level -= 1;
            found[level] = bucket;
        }
        if level == 0 {
            break;
        }
    }
    found
}

fn ratio_of(bucket: u16, expected: &Expected, i: usize) -> f32 {
    value_ns(bucket) as f32 / expected.at[i].max(1.0) as f32
}

/// First bucket of each level above a limit: many intervals are compared with few expectations.
#[derive(Debug, Clone)]
pub(super) struct Thresholds {
    above: [u16; N],
    band_from: usize,
    tail: u16,
}

impl Thresholds {
    /// Thresholds for slow intervals relative to `expected`, by `typ_limit` or the limits of tail and lost.
    pub(super) fn of(expected: &Expected, typ_limit: f64) -> Self {
        let above =
            std::array::from_fn(|i| first(|bucket| f64::from(ratio_of(bucket, expected, i)) > typ_limit));
        let q95 = expected.q95().max(1.0);
        let tail = first(|bucket| f64::from(value_ns(bucket) as f32) / q95 > FLAG_TAIL);
        Self { above, band_from: expected.band_from(), tail }
    }
    /// True if the typical slowdown, the tail or the share lost exceeds its limit.
    pub(super) fn are_exceeded(&self, points: &Points) -> bool {
        let band = self.band_from..N;
        // The median is above the limit when enough of the ratios are.
        let most = (N - self.band_from) - (N - self.band_from) / 2;
        let levels = points.service[band.clone()].iter().zip(&self.above[band]);
        let above = levels.filter(|&(bucket, from)| bucket >= from).count();
        let tail = points.tail != NONE && points.tail >= self.tail;
        above >= most || tail || f64::from(points.lost) > FLAG_LOST
    }
}

/// First bucket for which a monotone condition holds; one past the end if never.
fn first(holds: impl Fn(u16) -> bool) -> u16 {
    let (mut low, mut high) = (0, crate::slowdown::buckets::BUCKETS as u16);
    while low < high {
        let middle = u16::midpoint(low, high);
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    low
}
