//! Null rates: frequency of exceeding the detectors' limits on ordinary days.
//!
//! Each interval of ten minutes gives `N_k`, the operations above the limit `c_k` of sum k (the interval's own harmless load
//! divided out), its `typ` and its share of lost operations. A day gives
//!
//! - `p_k`: the 0.9 quantile of the share above `c_k` over its hours;
//! - `D_k = sum (N_(i+1) - N_i)^2 / (2 sum N_i)`, the dispersion: 1 where slow operations come independently, the size of a
//!   cluster where they come in clusters;
//! - the 0.95 quantile of `typ` and the 0.9 quantile of the share lost, over its intervals and hours;
//! - the error e of `ln typ` over a minute, `e^2 = 10 (2 V_1 - V_2)`: with `V_j = (1.4826 median |ln typ_(i+j) - ln typ_i|)^2 / 2`
//!   this is the nugget of a variogram, what changes from one interval to the next and does not go on changing. Minutes vary ten
//!   times as much as intervals of ten minutes where that comes from less than a minute's memory. Where `typ` jumps now and
//!   then on most days, the 0.98 quantile of its steps (over 2.33) counts in the place of the MAD.
//!
//! Over the days `p_k` is the median times [`SPREAD`] standard deviations of its logarithm (from the median absolute deviation),
//! `D_k`, `typ` and e are their 0.8 quantiles (`D_k` of intervals that were not slow, at least the median of all of them, less a
//! factor of [`CHANCE`], which chance alone gives). Intervals that hold a [fault](faults) are left out. A cluster that exceeds a
//! high limit exceeds the lower ones, too, where ordinary operations hide it: `D_k` is at least that of the sums above. A day of
//! which more than half of the intervals was slow does not count. While fewer than [`ENOUGH_DAYS`] days are known, their spread
//! is not: shares and dispersion count [`UNKNOWN`] times.

use serde::{Deserialize, Serialize};

use self::exceedances::Exceedances;
use self::faults::without_faults;
use super::quantile::nearest_rank;

pub mod exceedances;
pub mod faults;

/// Standard deviations of the logarithm of a day's share above the median of ordinary days.
pub const SPREAD: f64 = 2.0;
/// Least number of days for their spread.
pub const ENOUGH_DAYS: usize = 3;
/// Factor on shares and dispersion until then.
pub const UNKNOWN: f64 = 1.5;
/// Least number of days for the spread of shares of misses: what is in a cache changes from day to day.
pub const ENOUGH_MISS_DAYS: usize = 7;
/// Largest share of misses of a day.
const MOST: f64 = 0.999;
/// Dispersion of independent operations on one of five days.
pub const CHANCE: f64 = 1.2;
/// Days over which rates are learnt.
pub const DAYS: usize = 14;
/// Least intervals of a day that counts.
pub const LEAST_INTERVALS: usize = 36;
const HOUR_INTERVALS: usize = 6;
const MAD: f64 = 1.4826;
/// Level of steps of `ln typ` at which jumps are sought ...
const JUMP: f64 = 0.98;
/// ... where a normal distribution has this many standard deviations ...
const NORMAL_JUMP: f64 = 2.33;
/// ... of which so many times as much are jumps.
const JUMPY: f64 = 1.5;
/// Minutes in an interval.
const MINUTES: f64 = 10.0;

/// Usual values of the detectors' numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct NullRates {
    /// Share of operations above each limit, 0 to 1.
    pub share: [f64; 3],
    /// Dispersion of their number, at least 1.
    pub dispersion: [f64; 3],
    /// `typ` of a busy but ordinary ten minutes.
    pub typ: f64,
    /// Standard error of `ln typ` of a minute.
    pub typ_error: f64,
    /// Share of lost operations of an ordinary hour.
    pub lost: f64,
}

/// Usual share of operations that miss a cache, and the dispersion of their number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MissRates {
    /// Share, 0 to 1.
    pub share: f64,
    /// Dispersion, at least 1.
    pub dispersion: f64,
}

impl MissRates {
    /// Rates over days of [misses](Exceedances::of_misses): as [`NullRates::of`], of odds, because a share ends at 1.
    pub fn of(days: &[DayRates]) -> Option<Self> {
        let rates = NullRates::of(days)?;
        let odds: Vec<f64> =
            days.iter().map(|day| day.rates.share[0].min(MOST)).map(|p| p / (1.0 - p)).collect();
        let unknown = if days.len() < ENOUGH_MISS_DAYS { UNKNOWN } else { 1.0 };
        let odds = unknown * high(&odds);
        Some(Self { share: odds / (1.0 + odds), dispersion: rates.dispersion[0] })
    }
}

/// The rates of one day.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DayRates {
    rates: NullRates,
    /// Dispersion without slow intervals: certainly ordinary.
    calm: [f64; 3],
    /// Error of `typ` from its jumps alone.
    jump: f64,
}

impl DayRates {
    /// Rates of the intervals of a day in ascending order; none if too few or more than half of them were slow.
    /// Each of them may be of `span` intervals put together.
    pub fn of(intervals: &[Exceedances], span: usize) -> Option<Self> {
        let slow = intervals.iter().filter(|one| one.slow).count();
        if intervals.len() * span < LEAST_INTERVALS || 2 * slow > intervals.len() {
            return None;
        }
        let intervals = &without_faults(intervals, span);
        let hourly = |of: &dyn Fn(&Exceedances) -> (u32, u32)| {
            let hours = intervals.chunks((HOUR_INTERVALS / span).max(1)).map(|hour| {
                let (part, all) = hour.iter().map(of).fold((0_u64, 0_u64), |(part, all), (one, n)| {
                    (part + u64::from(one), all + u64::from(n))
                });
                part as f64 / all.max(1) as f64
            });
            nearest_rank(hours.collect(), 0.9)
        };
        let share = std::array::from_fn(|k| hourly(&|one| (one.above[k], one.n)));
        let dispersion = std::array::from_fn(|k| dispersion(intervals, k));
        let typ = nearest_rank(intervals.iter().map(|one| f64::from(one.typ)).collect(), 0.95);
        let lost = hourly(&|one| (one.n_lost, one.n_due));
        let quiet: Vec<Exceedances> = intervals.iter().filter(|one| !one.slow).copied().collect();
        let calm = std::array::from_fn(|k| self::dispersion(&quiet, k));
        let (typ_error, jump) = typ_errors(intervals, MINUTES * span as f64);
        Some(Self { rates: NullRates { share, dispersion, typ, typ_error, lost }, calm, jump })
    }
}

impl NullRates {
    /// Rates over days; none without one.
    pub fn of(days: &[DayRates]) -> Option<Self> {
        if days.is_empty() {
            return None;
        }
        let unknown = if days.len() < ENOUGH_DAYS { UNKNOWN } else { 1.0 };
        let over = |of: &dyn Fn(&Self) -> f64| days.iter().map(|day| of(&day.rates)).collect::<Vec<f64>>();
        let share = std::array::from_fn(|k| unknown * high(&over(&|day| day.share[k])));
        // A slow stretch of one day of few is no cluster that comes every day.
        let known = days.len() >= ENOUGH_DAYS;
        let mut dispersion: [f64; 3] = std::array::from_fn(|k| {
            let calm = nearest_rank(days.iter().map(|day| day.calm[k]).collect(), 0.8);
            let all = if known { nearest_rank(over(&|day| day.dispersion[k]), 0.5) } else { 0.0 };
            (unknown * calm.max(all) / CHANCE).max(1.0)
        });
        dispersion[1] = dispersion[1].max(dispersion[2]);
        dispersion[0] = dispersion[0].max(dispersion[1]);
        let typ = nearest_rank(over(&|day| day.typ), 0.8).max(1.0);
        // A day of few may have jumped because something was wrong.
        let jump = if known { nearest_rank(days.iter().map(|day| day.jump).collect(), 0.5) } else { 0.0 };
        let typ_error = nearest_rank(over(&|day| day.typ_error), 0.8).max(jump);
        Some(Self { share, dispersion, typ, typ_error, lost: high(&over(&|day| day.lost)) })
    }
}

/// The median times [`SPREAD`] standard deviations of the logarithm.
fn high(values: &[f64]) -> f64 {
    let middle = nearest_rank(values.to_vec(), 0.5);
    if middle <= 0.0 {
        return nearest_rank(values.to_vec(), 0.8);
    }
    let off = values.iter().map(|value| (value.max(middle / 100.0) / middle).ln().abs()).collect();
    middle * (SPREAD * MAD * nearest_rank(off, 0.5)).exp()
}

fn dispersion(intervals: &[Exceedances], k: usize) -> f64 {
    let counts = intervals.iter().filter(|one| one.n > 0).map(|one| f64::from(one.above[k]));
    let counts: Vec<f64> = counts.collect();
    let sum: f64 = counts.iter().sum();
    let steps: f64 = counts.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
    if sum > 0.0 { steps / (2.0 * sum) } else { 1.0 }
}

/// The error of `ln typ` over a minute: from the nugget, and from jumps alone.
fn typ_errors(intervals: &[Exceedances], minutes: f64) -> (f64, f64) {
    let ln: Vec<f64> = intervals.iter().map(|one| f64::from(one.typ).max(1e-6).ln()).collect();
    let steps =
        |lag: usize| -> Vec<f64> { ln.windows(lag + 1).map(|run| (run[lag] - run[0]).abs()).collect() };
    let deviation = |lag| MAD * nearest_rank(steps(lag), 0.5);
    let nugget = deviation(1).powi(2) - deviation(2).powi(2) / 2.0;
    let jumps = nearest_rank(steps(1), JUMP) / NORMAL_JUMP;
    let jumps = if jumps > JUMPY * deviation(1) { jumps.powi(2) / 2.0 } else { 0.0 };
    ((minutes * nugget.max(0.0)).sqrt(), (minutes * jumps).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(of: impl Fn(u32) -> u32) -> Vec<Exceedances> {
        let one = |i| Exceedances { n: 600, above: [of(i); 3], n_due: 600, n_lost: 0, typ: 1.0, slow: false };
        (0..144).map(one).collect()
    }

    #[test]
    fn clusters_are_told_from_independent_operations() {
        let mut random = crate::seed::Random::stream(1, "rates");
        let counts: Vec<u32> =
            (0..144).map(|_| (0..600).filter(|_| random.unit() < 0.02).count() as u32).collect();
        let independent = DayRates::of(&day(|i| counts[i as usize]), 1).unwrap().rates;
        let clusters = DayRates::of(&day(|i| 20 * (counts[i as usize] / 13)), 1).unwrap().rates;
        assert!((0.7..1.4).contains(&independent.dispersion[0]), "{independent:?}");
        assert!(clusters.dispersion[0] > 8.0, "{clusters:?}");
        assert!((0.02..0.03).contains(&independent.share[0]), "{independent:?}");
    }

    #[test]
    fn a_slow_day_teaches_nothing_and_one_bad_day_of_six_little() {
        let mut slow = day(|_| 12);
        slow.iter_mut().skip(60).for_each(|one| one.slow = true);
        assert!(DayRates::of(&slow, 1).is_none() && DayRates::of(&day(|_| 12)[..30], 1).is_none());
        let quiet = DayRates::of(&day(|i| 10 + i % 3), 1).unwrap();
        let bad = DayRates::of(&day(|i| 200 * (i % 2)), 1).unwrap();
        let rates = NullRates::of(&[quiet, quiet, bad, quiet, quiet, quiet]).unwrap();
        assert!(rates.share[0] < 0.025 && rates.dispersion[0] < 1.5, "{rates:?}");
        let unknown = NullRates::of(&[quiet]).unwrap();
        assert!((unknown.share[0] / rates.share[0] - UNKNOWN).abs() < 0.1, "{unknown:?}");
        assert_eq!(NullRates::of(&[]), None);
    }
}
