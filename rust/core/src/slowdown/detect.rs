//! Is it slow now? Three detectors and the lost operations, looked at every ten seconds over the last sixty.
//!
//! An alarm is raised when `typ >= 2` (2.5 where latencies have two modes) on two ticks in a row, or `tail >= 10` on two
//! ticks in a row, or the sum S reaches 30, or a twentieth of the due operations is lost. S is Page's cumulative sum for
//! `J = [response > 2 Q_exp(.95)]`, rising from a share of .01 to one of .10:
//! `S <- S + ln 10` if J, else `S <- S + ln(.9/.99)`, kept between 0 and 30. The alarm is over after five minutes in which `typ < 1.5`,
//! `tail < 3` and S < 5.

use super::triple::{Expected, Triple};

/// Time between two ticks.
pub const TICK_NS: i64 = 10_000_000_000;
/// What a tick looks at.
pub const LOOK_NS: i64 = 60_000_000_000;
/// `typ` that raises an alarm ...
pub const ALARM_TYP: f64 = 2.0;
/// ... and where latencies have two modes.
pub const ALARM_TYP_BIMODAL: f64 = 2.5;
/// `tail` that raises an alarm.
pub const ALARM_TAIL: f64 = 10.0;
/// Share of lost operations that raises one.
pub const ALARM_LOST: f64 = 0.05;
/// S that raises one.
pub const ALARM_SUM: f64 = 30.0;
/// Ticks in a row for `typ` and `tail`.
pub const TICKS: u32 = 2;
/// An operation counts in J above so many times the expected 0.95 quantile.
pub const SLOW_Q95: f64 = 2.0;
/// Share of J that is usual.
pub const USUAL_SHARE: f64 = 0.01;
/// Share of J that S waits for.
pub const SLOW_SHARE: f64 = 0.10;
/// An alarm is over below this `typ` ...
pub const CLEAR_TYP: f64 = 1.5;
/// ... this `tail` ...
pub const CLEAR_TAIL: f64 = 3.0;
/// ... and this S ...
pub const CLEAR_SUM: f64 = 5.0;
/// ... for so long.
pub const CLEAR_NS: i64 = 300_000_000_000;

/// What raised an alarm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The typical operation.
    Typ,
    /// The slowest twentieth.
    Tail,
    /// The share of slow operations.
    Share,
    /// Lost operations.
    Lost,
}

impl Cause {
    /// In the order of the detectors.
    pub const NAMES: [&str; 4] = ["typ", "tail", "share", "lost"];
    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
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

/// The detectors of one op.
#[derive(Debug, Clone, Default)]
pub struct Detector {
    sum: f64,
    typ_ticks: u32,
    tail_ticks: u32,
    calm_since: Option<i64>,
    alarm: Option<Alarm>,
}

impl Detector {
    /// Take an operation: its response latency, none if it was lost without one.
    pub fn take(&mut self, response_ns: Option<i64>, expected: &Expected) {
        let slow = response_ns.is_none_or(|ns| ns as f64 > SLOW_Q95 * expected.q95());
        let step = if slow { SLOW_SHARE / USUAL_SHARE } else { (1.0 - SLOW_SHARE) / (1.0 - USUAL_SHARE) };
        // More would only make it forget more slowly.
        self.sum = (self.sum + step.ln()).clamp(0.0, ALARM_SUM);
    }
    /// The alarm, while it lasts.
    pub fn alarm(&self) -> Option<&Alarm> {
        self.alarm.as_ref()
    }
    /// A tick: `last` is the slowdown of the last [`LOOK_NS`]. Returns an alarm that was raised or is over now.
    pub fn tick(&mut self, now_ns: i64, last: &Triple, bimodal: bool) -> Option<Alarm> {
        let value = |factor: Option<super::triple::Factor>| factor.map_or(0.0, |factor| factor.value);
        let (typ, tail, lost) = (value(last.typ), value(last.tail), value(last.lost));
        let limit = if bimodal { ALARM_TYP_BIMODAL } else { ALARM_TYP };
        self.typ_ticks = if typ >= limit { self.typ_ticks + 1 } else { 0 };
        self.tail_ticks = if tail >= ALARM_TAIL { self.tail_ticks + 1 } else { 0 };
        let Some(alarm) = &mut self.alarm else {
            let cause = if self.typ_ticks >= TICKS {
                Cause::Typ
            } else if self.tail_ticks >= TICKS {
                Cause::Tail
            } else if self.sum >= ALARM_SUM {
                Cause::Share
            } else if lost >= ALARM_LOST {
                Cause::Lost
            } else {
                return None;
            };
            let raised = Alarm {
                raised_ns: now_ns,
                cause,
                peak: typ.max(1.0),
                peak_tail: tail.max(1.0),
                cleared_ns: None,
            };
            self.alarm = Some(raised);
            self.calm_since = None;
            return self.alarm;
        };
        alarm.peak = alarm.peak.max(typ);
        alarm.peak_tail = alarm.peak_tail.max(tail);
        let calm = typ < CLEAR_TYP && tail < CLEAR_TAIL && self.sum < CLEAR_SUM && lost < ALARM_LOST;
        let since = if calm { *self.calm_since.get_or_insert(now_ns) } else { i64::MAX };
        if !calm {
            self.calm_since = None;
        }
        if now_ns.saturating_sub(since) < CLEAR_NS {
            return None;
        }
        let over = Alarm { cleared_ns: Some(now_ns), ..*alarm };
        *self = Self::default();
        Some(over)
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
            assert!(delay <= 180 * SECOND && alarms[0].cause != Cause::Lost, "seed {seed}: {alarms:?}");
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
