//! Simulated histories of one op, ten minutes at a time: what the memory and the speed of a baseline are measured on.

use iosonde_core::seed::Random;
use iosonde_core::slowdown::buckets::{Packed, Pool, bucket};
use iosonde_core::slowdown::guarded::{INTERVAL_NS, Interval};

/// Intervals in a day.
pub const DAY: i64 = 144;
/// First interval: 2026-01-01 UTC.
const FIRST: i64 = 1_767_225_600_000_000_000 / INTERVAL_NS;

/// What an op lives through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Lognormal, a day and night of 10 %.
    Quiet,
    /// From day 3 on lastingly three times as slow.
    Slow,
    /// Ever slower, by 3 % a day.
    Drifting,
    /// 45 % hits, 80 times as fast as misses.
    Bimodal,
    /// Pareto tail over four decades, and a tenth of the intervals slow.
    Heavy,
    /// Lost and late operations in every interval.
    Lossy,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Quiet, Self::Slow, Self::Drifting, Self::Bimodal, Self::Heavy, Self::Lossy];
    /// Its name.
    #[allow(dead_code)] // of one of the programs that share this file
    pub fn name(self) -> &'static str {
        ["quiet", "lasting slowdown", "drifting", "bimodal", "heavy tails", "lossy"][self as usize]
    }
}

/// Interval number `k` of a history at so many rows an interval.
pub fn interval(random: &mut Random, kind: Kind, k: i64, rows: u32) -> Interval {
    let day = k as f64 / DAY as f64;
    let daily = 1.0 + 0.1 * (std::f64::consts::TAU * day).sin();
    let by = match kind {
        Kind::Slow if day >= 3.0 => 3.0,
        Kind::Drifting => 1.03_f64.powf(day),
        Kind::Heavy if random.unit() < 0.1 => 4.0,
        _ => 1.0,
    };
    let median_ns = 1.5e6 * by * daily;
    let one = |random: &mut Random| match kind {
        Kind::Bimodal if random.unit() < 0.45 => 1e5 * (0.25 * random.normal()).exp(),
        Kind::Bimodal => 8e6 * by * daily * (0.5 * random.normal()).exp(),
        Kind::Heavy if random.unit() < 0.2 => median_ns * random.unit().max(1e-9).powf(-1.0 / 1.1),
        _ => median_ns * (0.4 * random.normal()).exp(),
    };
    let (mut service, mut response) = (Pool::default(), Pool::default());
    let (mut n_lost, mut differs) = (0, false);
    for _ in 0..rows {
        let ns = one(random) as i64;
        let lost = kind == Kind::Lossy && random.unit() < 0.004;
        n_lost += u64::from(lost);
        differs |= lost;
        service.count(bucket(ns));
        response.count(bucket(if lost { ns + 400_000_000 } else { ns }));
    }
    let response: Option<Packed> = differs.then(|| response.packed());
    let start_ns = (FIRST + k) * INTERVAL_NS;
    Interval { start_ns, n_due: u64::from(rows), n_lost, service: service.packed(), response }
}
