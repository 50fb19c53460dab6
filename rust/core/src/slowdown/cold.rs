//! Whether a cache stops: a cumulative sum of misses, where latencies have two modes.
//!
//! An operation is a miss above the latency between the modes (times the harmless load). `p_0` is the usual share of misses, and the
//! sum that of [`super::detect`]. Where the misses themselves are slow, the storage is, and a cache is no cause: their level
//! `L <- L + (clip(ln(x / m), -2, 2) - L) / 10` must be below [`SLOW_MISSES`], m being the usual miss.

use super::modes::Modes;
use super::null_rates::MissRates;
use super::rules::{Cause, Rule, SumLimit};

/// The rule of the sum.
pub const MISSES: Rule =
    Rule { cause: Cause::Cache, level: 0.0, least: 0.0, p0: 0.1, p1: 0.5, limit: 15.0, runs: false };
/// Usual share of misses above which a cache that stops is not sought.
pub const MOST_MISSES: f64 = 0.9;
/// Slowdown of the misses above which the storage is slow, as a logarithm.
pub const SLOW_MISSES: f64 = std::f64::consts::LN_2;
/// Largest logarithm of a miss that counts in their level.
const CLIP: f64 = 2.0;
/// Misses over which the level is averaged.
const LEVEL_MISSES: f64 = 10.0;

/// Limits of an op.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColdLimit {
    /// Of the sum.
    pub sum: SumLimit,
    /// The usual miss, ns.
    miss_ns: f64,
    /// Share of misses half-way to what the sum detects.
    from: f64,
}

impl ColdLimit {
    /// Limits of an op with two modes; none while its usual share of misses is not known, or where hits are few.
    pub fn of(modes: Option<Modes>, rates: Option<MissRates>) -> Option<Self> {
        let (modes, rates) = (modes?, rates.filter(|rates| rates.share <= MOST_MISSES)?);
        let p0 = MISSES.p0.max(rates.share);
        let sum = SumLimit::of(&MISSES, modes.between_ns(), p0, rates.dispersion);
        Some(Self { sum, miss_ns: modes.mu[1].exp(), from: f64::midpoint(p0, MISSES.detected(p0)) })
    }
    /// True if a share of hits is below the usual one.
    pub fn is_cold(&self, hits: f64) -> bool {
        1.0 - hits >= self.from
    }
}

/// The sum of misses, and their level.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cold {
    sum: f64,
    level: f64,
}

impl Cold {
    /// Take the response time of an operation; `load`: the harmless one.
    pub fn take(&mut self, ns: f64, load: f64, limit: &ColdLimit) {
        let ColdLimit { sum, miss_ns, .. } = limit;
        let miss = ns > sum.above_ns * load;
        let step = if miss { sum.rise } else { sum.fall };
        self.sum = (self.sum + step).clamp(0.0, sum.limit + sum.rise);
        if miss {
            self.level += ((ns / miss_ns).ln().clamp(-CLIP, CLIP) - self.level) / LEVEL_MISSES;
        }
    }
    /// True if more operations miss than usual, and misses are as quick as ever.
    pub fn is_reached(&self, limit: &ColdLimit) -> bool {
        self.sum >= limit.sum.limit && self.level < SLOW_MISSES
    }
    /// True if the sum is below a share of its limit.
    pub fn is_below(&self, share: f64, limit: &ColdLimit) -> bool {
        self.sum < share * limit.sum.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Random;

    const MODES: Modes = Modes { hit_share: 0.8, mu: [11.5, 15.9], sigma: [0.25, 0.5] };

    fn limit(share: f64) -> Option<ColdLimit> {
        ColdLimit::of(Some(MODES), Some(MissRates { share, dispersion: 1.0 }))
    }

    /// Operations until the sum of misses is reached, a share of them hits; misses take `factor` times as long.
    fn until_reached(hits: f64, factor: f64, most: usize) -> Option<usize> {
        let (mut cold, mut random) = (Cold::default(), Random::stream(7, "cold"));
        let limit = limit(0.22).unwrap();
        (0..most).find(|_| {
            let mode = usize::from(random.unit() >= hits);
            let ns = (MODES.mu[mode] + MODES.sigma[mode] * random.normal()).exp();
            cold.take(if mode == 1 { factor * ns } else { ns }, 1.0, &limit);
            cold.is_reached(&limit)
        })
    }

    #[test]
    fn a_cache_that_stops_is_found_within_twenty_operations_and_one_that_serves_as_usual_never() {
        assert!(until_reached(0.0, 1.0, 100).is_some_and(|n| n < 20));
        assert!(until_reached(0.3, 1.0, 1_000).is_some_and(|n| n < 120));
        assert_eq!(until_reached(0.8, 1.0, 500_000), None);
    }

    #[test]
    fn slow_misses_are_the_storage() {
        assert_eq!(until_reached(0.0, 10.0, 10_000), None);
    }

    #[test]
    fn nothing_is_sought_where_hits_are_few_or_unknown() {
        assert_eq!((limit(0.95), ColdLimit::of(None, None)), (None, None));
        assert!(limit(0.22).unwrap().is_cold(0.2) && !limit(0.22).unwrap().is_cold(0.7));
    }
}
