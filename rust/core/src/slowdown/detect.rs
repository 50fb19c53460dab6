//! Is it slow now? Detectors that take every operation, and are looked at every ten seconds.
//!
//! An alarm is raised when `typ >= 2` over the last minute (2.5 where latencies have two modes) on two ticks in a row, when a
//! twentieth of the due operations of that minute is lost, or when one of three cumulative sums (Page 1954) reaches its limit:
//!
//! `S <- S + ln(p_1/p_0)` when the operation counts, else `S <- S + ln((1 - p_1)/(1 - p_0))`, kept between 0 and
//! `H + ln(p_1/p_0)`: more would only make it forget more slowly, less would forget a limit reached between two ticks.
//!
//! An operation counts when its response exceeds `c g`; for the sums `share` and `tail` only if it is the first of a run, since
//! a slow operation right after a slow one says nothing new. Two quick operations in a row end a run. With `r = Q_exp(.95) / Q_exp(.75)`:
//!
//! | sum | c | p_0 | p_1 | H |
//! |---|---|---|---|---|
//! | `shift` | `Q_exp(.90)` | .15 | .40 | 12 |
//! | `share` | `Q_exp(.95) r` | .01 | .08 | 7 |
//! | `tail` | `Q_exp(.95) r^1.5` | .003 | .05 | 8 |
//!
//! `g = exp(G)` is the harmless load: on every tick without an alarm
//! `G <- G + (clip(ln typ, -.35, .8) - G) / 30`, and g is kept between `exp(-.15)` and `exp(.8)`. Where latencies have two modes
//! an operation up to `Q_exp(.50)`, a cache hit, neither counts nor ends a run. The alarm is over after five minutes in which
//! `typ < 1.5`, `tail < 3`, every S < 5 and nothing would raise it.

use super::triple::{Expected, Factor, Triple};

/// Time between two ticks.
pub const TICK_NS: i64 = 10_000_000_000;
/// What a tick looks at.
pub const LOOK_NS: i64 = 60_000_000_000;
/// `typ` that raises an alarm ...
pub const ALARM_TYP: f64 = 2.0;
/// ... and where latencies have two modes.
pub const ALARM_TYP_BIMODAL: f64 = 2.5;
/// Ticks in a row for `typ`.
pub const TICKS: u32 = 2;
/// Quick operations in a row that end a run of slow ones.
pub const RUN_ENDS: u8 = 2;
/// Share of lost operations that raises one.
pub const ALARM_LOST: f64 = 0.05;
/// An alarm is over below this `typ` ...
pub const CLEAR_TYP: f64 = 1.5;
/// ... this `tail` ...
pub const CLEAR_TAIL: f64 = 3.0;
/// ... and these sums ...
pub const CLEAR_SUM: f64 = 5.0;
/// ... for so long.
pub const CLEAR_NS: i64 = 300_000_000_000;
/// Ticks over which the harmless load is followed.
pub const LOAD_TICKS: f64 = 30.0;
/// `ln typ` that is followed at most, either way.
pub const LOAD_STEP: (f64, f64) = (-0.35, 0.8);
/// Harmless load at most, either way, as a logarithm.
pub const LOAD: (f64, f64) = (-0.15, 0.8);

/// What raised an alarm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The typical operation takes twice as long.
    Typ,
    /// Many operations take longer.
    Shift,
    /// A part of them takes much longer.
    Share,
    /// A few of them take very long.
    Tail,
    /// Operations are lost.
    Lost,
}

impl Cause {
    /// In the order of the causes.
    pub const NAMES: [&str; 5] = ["typ", "shift", "share", "tail", "lost"];
    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// The constants of a cumulative sum.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// What it raises an alarm as.
    pub cause: Cause,
    /// Usual share of operations that count.
    pub p0: f64,
    /// Share that it waits for.
    pub p1: f64,
    /// Limit.
    pub limit: f64,
    /// Whether only the first operation of a run counts.
    pub runs: bool,
}

/// The three sums.
pub const RULES: [Rule; 3] = [
    Rule { cause: Cause::Shift, p0: 0.15, p1: 0.40, limit: 12.0, runs: false },
    Rule { cause: Cause::Share, p0: 0.01, p1: 0.08, limit: 7.0, runs: true },
    Rule { cause: Cause::Tail, p0: 0.003, p1: 0.05, limit: 8.0, runs: true },
];

/// The latencies above which an operation counts, in the order of [`RULES`], ns.
fn limits_ns(expected: &Expected) -> [f64; 3] {
    let (q75, q90, q95) = (expected.at[14], expected.at[17], expected.q95());
    let r = q95 / q75.max(1.0);
    [q90, q95 * r, q95 * r.powf(1.5)]
}

/// An alarm that was raised or is over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alarm {
    /// The tick that raised it, UTC.
    pub raised_ns: i64,
    /// What raised it.
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
    /// Quick operations that it takes to end the run; 0 outside one.
    run: u8,
}

/// The detectors of one op.
#[derive(Debug, Clone, Default)]
pub struct Detector {
    sums: [Sum; 3],
    load: f64,
    typ_ticks: u32,
    calm_since: Option<i64>,
    alarm: Option<Alarm>,
}

impl Detector {
    /// Take an operation: its response time, none if it was lost without one.
    pub fn take(&mut self, response_ns: Option<i64>, expected: &Expected) {
        let ns = response_ns.map_or(f64::INFINITY, |ns| ns as f64);
        let neutral = expected.modes.is_some() && ns <= expected.q50();
        let g = self.load.clamp(LOAD.0, LOAD.1).exp();
        for ((sum, rule), limit_ns) in self.sums.iter_mut().zip(&RULES).zip(limits_ns(expected)) {
            let slow = !neutral && ns > limit_ns * g;
            let counts = slow && !(rule.runs && sum.run > 0);
            let rise = (rule.p1 / rule.p0).ln();
            let step = if counts { rise } else { ((1.0 - rule.p1) / (1.0 - rule.p0)).ln() };
            sum.value = (sum.value + step).clamp(0.0, rule.limit + rise);
            if !neutral {
                sum.run = if slow { RUN_ENDS } else { sum.run.saturating_sub(1) };
            }
        }
    }
    /// The alarm, while it lasts.
    pub fn alarm(&self) -> Option<&Alarm> {
        self.alarm.as_ref()
    }
    /// A tick: `last` is the slowdown of the last [`LOOK_NS`]. Returns an alarm that was raised or is over now.
    pub fn tick(&mut self, now_ns: i64, last: &Triple, bimodal: bool) -> Option<Alarm> {
        let value = |factor: Option<Factor>| factor.map_or(0.0, |factor| factor.value);
        let (typ, tail) = (value(last.typ), value(last.tail));
        let cause = self.cause(typ, value(last.lost), bimodal);
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
        let sums = self.sums.iter().all(|sum| sum.value < CLEAR_SUM);
        if cause.is_some() || typ >= CLEAR_TYP || tail >= CLEAR_TAIL || !sums {
            self.calm_since = None;
            return None;
        }
        if now_ns - *self.calm_since.get_or_insert(now_ns) < CLEAR_NS {
            return None;
        }
        let over = Alarm { cleared_ns: Some(now_ns), ..*alarm };
        *self = Self { load: self.load, ..Self::default() };
        Some(over)
    }

    fn cause(&mut self, typ: f64, lost: f64, bimodal: bool) -> Option<Cause> {
        let limit = if bimodal { ALARM_TYP_BIMODAL } else { ALARM_TYP };
        self.typ_ticks = if typ >= limit { self.typ_ticks + 1 } else { 0 };
        if self.typ_ticks >= TICKS {
            return Some(Cause::Typ);
        }
        let reached = self.sums.iter().zip(&RULES).find(|(sum, rule)| sum.value >= rule.limit);
        let lost = (lost >= ALARM_LOST).then_some(Cause::Lost);
        reached.map(|(_, rule)| rule.cause).or(lost)
    }
}

#[cfg(test)]
mod tests {
    use super::super::buckets::Packed;
    use super::super::levels::{Levels, RankTable};
    use super::*;
    use crate::seed::Random;

    const SECOND: i64 = 1_000_000_000;

    struct Bench {
        random: Random,
        expected: Expected,
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
            let expected = Expected::of(Packed::of_sorted(&usual).iter(), None).unwrap();
            let (detector, ranks) = (Detector::default(), RankTable::default());
            Self { random, expected, detector, last: Vec::new(), second: 0, ranks }
        }
        /// Seconds in which a share of the operations takes `factor` times as long; alarms with their second.
        fn live(&mut self, seconds: i64, factor: f64, share: f64) -> Vec<Alarm> {
            let mut alarms = Vec::new();
            for _ in 0..seconds {
                self.second += 1;
                let by = if self.random.unit() < share { factor } else { 1.0 };
                let ns = (create(&mut self.random) as f64 * by) as i64;
                self.detector.take(Some(ns), &self.expected);
                self.last.push(ns);
                if self.second % 10 == 0 {
                    let from = self.last.len().saturating_sub(60);
                    let mut rows = self.last[from..].to_vec();
                    rows.sort_unstable();
                    let n = rows.len() as u64;
                    let levels = Levels::of_sorted(&rows, &rows, n, 0, &mut self.ranks);
                    let triple = Triple::of(&levels, Some(&self.expected));
                    alarms.extend(self.detector.tick(self.second * SECOND, &triple, false));
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
    fn lost_operations_alarm_without_any_expectation() {
        let mut detector = Detector::default();
        let lost = Levels { n_due: 60, n_lost: 4, ..Levels::default() };
        let alarm = detector.tick(0, &Triple::of(&lost, None), false);
        assert_eq!(alarm.map(|alarm| alarm.cause), Some(Cause::Lost));
    }
}
