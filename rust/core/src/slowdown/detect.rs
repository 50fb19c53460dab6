//! Live detectors of slowness: they take every operation, and are evaluated every ten seconds.
//!
//! An alarm is raised when `typ` over the last minute reaches its limit on two ticks in a row, when more operations of that
//! minute are lost than usual, or when one of three cumulative sums (Page 1954) reaches its limit:
//!
//! `S <- S + ln(p_1/p_0)` when the operation counts, else `S <- S + ln((1 - p_1)/(1 - p_0))`, kept between 0 and
//! `H + ln(p_1/p_0)`: more would only make it forget more slowly, less would forget a limit reached between two ticks.
//!
//! An operation counts when its response exceeds `c g`; for the sums `share` and `tail` only if it is the first of a run, since
//! a slow operation right after a slow one says nothing new. Two quick operations in a row end a run. What `c`, `p_0`, `p_1` and H
//! are for an op follows from its baseline: [`super::limits`].
//!
//! `g = exp(G)` is the harmless load: on every tick without an alarm
//! `G <- G + (clip(ln typ, -.35, .8) - G) / 30`, and g is kept between `exp(-.15)` and `exp(.8)`. Where latencies have two modes
//! an operation up to `Q_exp(.50)`, a cache hit, neither counts nor ends a run; one more sum counts misses. The alarm is over after five minutes in which
//! `typ < 1.5` (or is usual), `tail < 3` (its lower end), every S is below .6 H and nothing would raise it.

use super::cold::Cold;
use super::limits::Limits;
use super::rules::{ALARM_LOST, Cause, LOAD};
use super::triple::{Factor, Triple};

/// Time between two ticks.
pub const TICK_NS: i64 = 10_000_000_000;
/// Time span that a tick evaluates.
pub const LOOK_NS: i64 = 60_000_000_000;
/// Consecutive ticks needed for `typ`.
pub const TICKS: u32 = 2;
/// Consecutive quick operations that end a run of slow ones.
pub const RUN_ENDS: u8 = 2;
/// An alarm ends below this `typ` ...
pub const CLEAR_TYP: f64 = 1.5;
/// ... this `tail` ...
pub const CLEAR_TAIL: f64 = 3.0;
/// ... and with every sum below this share of its limit ...
pub const CLEAR_SUM: f64 = 0.6;
/// ... for this long.
pub const CLEAR_NS: i64 = 300_000_000_000;
/// Ticks over which harmless load is averaged.
pub const LOAD_TICKS: f64 = 30.0;
/// Largest `ln typ` that is followed, either way.
pub const LOAD_STEP: (f64, f64) = (-0.35, 0.8);

/// An alarm, raised or ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alarm {
    /// The tick that raised it, UTC.
    pub raised_ns: i64,
    /// Cause of the alarm.
    pub cause: Cause,
    /// The largest `typ` so far; 1 when none was known.
    pub peak: f64,
    /// The largest `tail` so far.
    pub peak_tail: f64,
    /// The tick that ended it; none while it lasts.
    pub cleared_ns: Option<i64>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    value: f64,
    /// Quick operations still needed to end the run; 0 outside one.
    run: u8,
}

/// The detectors of one op.
#[derive(Debug, Clone, Default)]
pub struct Detector {
    sums: [Sum; 3],
    cold: Cold,
    load: f64,
    typ_ticks: u32,
    calm_since: Option<i64>,
    alarm: Option<Alarm>,
}

impl Detector {
    /// Take an operation: its response time, none if it was lost without one.
    pub fn take(&mut self, response_ns: Option<i64>, limits: &Limits) {
        let ns = response_ns.map_or(f64::INFINITY, |ns| ns as f64);
        let neutral = ns <= limits.neutral_ns;
        let g = self.load.clamp(LOAD.0, LOAD.1).exp();
        for (sum, of) in self.sums.iter_mut().zip(&limits.sums) {
            let slow = !neutral && ns > of.above_ns * g;
            let counts = slow && !(of.runs && sum.run > 0);
            let step = if counts { of.rise } else { of.fall };
            sum.value = (sum.value + step).clamp(0.0, of.limit + of.rise);
            if !neutral {
                sum.run = if slow { RUN_ENDS } else { sum.run.saturating_sub(1) };
            }
        }
        if let Some(limit) = limits.cold.as_ref().filter(|_| response_ns.is_some()) {
            self.cold.take(ns, g, limit);
        }
    }
    /// The current alarm.
    pub fn alarm(&self) -> Option<&Alarm> {
        self.alarm.as_ref()
    }
    /// Evaluate a tick: `last` is the slowdown of the last [`LOOK_NS`]. Returns an alarm that was raised or ended now.
    ///
    /// Without `limits` only losses that are certain raise one.
    pub fn tick(&mut self, now_ns: i64, last: &Triple, limits: Option<&Limits>) -> Option<Alarm> {
        let value = |factor: Option<Factor>| factor.map_or(0.0, |factor| factor.value);
        let (typ, tail) = (value(last.typ), value(last.tail));
        let cause = self.cause(last, limits);
        let Some(alarm) = &mut self.alarm else {
            if typ > 0.0 {
                self.load += (typ.ln().clamp(LOAD_STEP.0, LOAD_STEP.1) - self.load) / LOAD_TICKS;
            }
            let (peak, peak_tail) = (typ.max(1.0), tail.max(1.0));
            self.alarm =
                cause.map(|cause| Alarm { raised_ns: now_ns, cause, peak, peak_tail, cleared_ns: None });
            self.calm_since = None;
            return self.alarm;
        };
        alarm.peak = alarm.peak.max(typ);
        alarm.peak_tail = alarm.peak_tail.max(tail);
        if cause.is_some() || !self.is_calm(typ, last.tail, limits) {
            self.calm_since = None;
            return None;
        }
        if now_ns - *self.calm_since.get_or_insert(now_ns) < CLEAR_NS {
            return None;
        }
        let over = self.alarm.map(|alarm| Alarm { cleared_ns: Some(now_ns), ..alarm });
        *self = Self { load: self.load, ..Self::default() };
        over
    }

    fn is_calm(&self, typ: f64, tail: Option<Factor>, limits: Option<&Limits>) -> bool {
        let tail = tail.map_or(0.0, |tail| tail.lower.unwrap_or(tail.value));
        let usual = limits.map_or(1.0, |limits| limits.typ_usual);
        let sums = limits.is_none_or(|limits| {
            self.sums.iter().zip(&limits.sums).all(|(sum, of)| sum.value < CLEAR_SUM * of.limit)
                && limits.cold.is_none_or(|limit| self.cold.is_below(CLEAR_SUM, &limit))
        });
        typ < CLEAR_TYP.max(usual) && tail < CLEAR_TAIL && sums
    }

    fn cause(&mut self, last: &Triple, limits: Option<&Limits>) -> Option<Cause> {
        let Some(limits) = limits else {
            let certain = |lost: Factor| lost.lower.is_some_and(|lower| lower >= ALARM_LOST);
            return last.lost.filter(|&lost| certain(lost)).map(|_| Cause::Lost);
        };
        self.typ_ticks = if limits.is_typ_slow(last.typ) { self.typ_ticks + 1 } else { 0 };
        if self.typ_ticks >= TICKS {
            return Some(Cause::Typ);
        }
        let reached = self.sums.iter().zip(&limits.sums).find(|(sum, of)| sum.value >= of.limit);
        let lost = limits.is_much_lost(last.lost).then_some(Cause::Lost);
        let cold = limits.cold.is_some_and(|limit| self.cold.is_reached(&limit));
        reached.map(|(_, of)| of.cause).or(lost).or(cold.then_some(Cause::Cache))
    }
}

#[cfg(test)]
mod tests {
    use super::super::buckets::Packed;
    use super::super::levels::{Levels, RankTable};
    use super::super::null_rates::NullRates;
    use super::super::triple::Expected;
    use super::*;
    use crate::seed::Random;

    const SECOND: i64 = 1_000_000_000;

    struct Bench {
        random: Random,
        expected: Expected,
        limits: Limits,
        detector: Detector,
        last: Vec<i64>,
        second: i64,
        ranks: RankTable,
    }

    fn create(random: &mut Random) -> i64 {
        (1.5e6 * (0.4 * random.normal()).exp()) as i64
    }

    impl Bench {
        fn new(seed: u64) -> Self {
            let mut random = Random::stream(seed, "detect");
            let mut usual: Vec<i64> = (0..50_000).map(|_| create(&mut random)).collect();
            usual.sort_unstable();
            let mut expected = Expected::of(Packed::of_sorted(&usual).iter(), None).unwrap();
            expected.null = Some(NullRates {
                share: [0.1, 0.005, 0.001],
                dispersion: [1.0; 3],
                typ: 1.0,
                typ_error: 0.0,
                lost: 0.0,
            });
            let limits = Limits::of(&expected).unwrap();
            let (detector, ranks) = (Detector::default(), RankTable::default());
            Self { random, expected, limits, detector, last: Vec::new(), second: 0, ranks }
        }
        /// Simulate seconds in which a share of the operations takes `factor` times as long; alarms with their second.
        fn live(&mut self, seconds: i64, factor: f64, share: f64) -> Vec<Alarm> {
            let mut alarms = Vec::new();
            for _ in 0..seconds {
                self.second += 1;
                let by = if self.random.unit() < share { factor } else { 1.0 };
                let ns = (create(&mut self.random) as f64 * by) as i64;
                self.detector.take(Some(ns), &self.limits);
                self.last.push(ns);
                if self.second % 10 == 0 {
                    let from = self.last.len().saturating_sub(60);
                    let mut rows = self.last[from..].to_vec();
                    rows.sort_unstable();
                    let n = rows.len() as u64;
                    let levels = Levels::of_sorted(&rows, &rows, n, 0, &mut self.ranks);
                    let triple = Triple::of(&levels, Some(&self.expected));
                    alarms.extend(self.detector.tick(self.second * SECOND, &triple, Some(&self.limits)));
                }
            }
            alarms
        }
    }

    #[test]
    fn a_tenfold_slowdown_alarms_within_forty_seconds_and_is_over_five_minutes_after_it() {
        for seed in 0..20 {
            let mut bench = Bench::new(seed);
            assert_eq!(bench.live(3_600, 1.0, 0.0), []);
            let alarms = bench.live(60, 10.0, 1.0);
            assert!(alarms[0].raised_ns <= (3_600 + 40) * SECOND, "seed {seed}: {alarms:?}");
            let over = bench.live(900, 1.0, 0.0);
            assert!(over[0].cleared_ns.is_some() && over[0].peak > 5.0 && over.len() == 1, "{over:?}");
        }
    }

    #[test]
    fn three_in_ten_slow_operations_are_no_typical_slowdown_and_alarm_all_the_same() {
        for seed in 20..40 {
            let mut bench = Bench::new(seed);
            bench.live(3_600, 1.0, 0.0);
            let alarms = bench.live(600, 10.0, 0.3);
            let delay = alarms[0].raised_ns - 3_600 * SECOND;
            assert!(delay <= 120 * SECOND && alarms[0].cause != Cause::Lost, "seed {seed}: {alarms:?}");
        }
    }

    #[test]
    fn a_tenth_of_slow_operations_is_found_and_one_slow_stretch_of_seconds_is_not() {
        for seed in 40..60 {
            let mut bench = Bench::new(seed);
            bench.live(3_600, 1.0, 0.0);
            let mut alarms = Vec::new();
            for _ in 0..20 {
                alarms.extend(bench.live(5, 10.0, 1.0));
                alarms.extend(bench.live(1_195, 1.0, 0.0));
            }
            assert!(alarms.len() <= 2, "seed {seed}: {alarms:?}");
            let alarms = bench.live(600, 10.0, 0.1);
            assert!(!alarms.is_empty(), "seed {seed}");
        }
    }

    #[test]
    fn without_rates_only_a_certain_loss_raises_an_alarm() {
        let lost = |n_lost| {
            let levels = Levels { n_due: 60, n_lost, ..Levels::default() };
            let mut detector = Detector::default();
            detector.tick(0, &Triple::of(&levels, None), None).map(|alarm| alarm.cause)
        };
        assert_eq!((lost(4), lost(10)), (None, Some(Cause::Lost)));
    }
}
