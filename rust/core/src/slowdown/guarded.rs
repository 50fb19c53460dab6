//! The guarded baseline: usual latency of an op, learnt only from intervals that were not slow themselves.
//!
//! Ten-minute intervals come in one by one, in ascending order. An interval is **flagged** when, against what was expected
//! before it, `typ > 1.5` or `tail > 3` or `lost > .01`. Expected is the quantile function of the pooled histograms of
//! the unflagged intervals of the last 14 days, worked out anew every hour. Nothing is expected before the first hour; it
//! is provisional from 6 hours and reliable from 3 days on (of observed intervals).
//!
//! A lasting change begins a new **epoch**: 3 days in a row whose upper quartile of `typ` is below 1/1.25, or 14 days in a
//! row whose lower quartile is above 1.25 (or of which three quarters are flagged); 2 of them may only be above 1.125. Days that may turn out to be the first of
//! an epoch are held out of the pool until that is decided, and it does not forget meanwhile: a slowdown of ten days never
//! becomes usual. The **reference** is what was expected when the first epoch became reliable; `climate` compares with it.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::buckets::Pool;
use super::levels::{Levels, N, RankTable};
use super::modes::Modes;
use super::null_rates::exceedances::Exceedances;
use super::null_rates::{DAYS, DayRates, NullRates};
use super::triple::{Expected, Triple};
use first_pass::{FirstPass, Found};
pub use interval::{INTERVAL_NS, Interval};
use kept::{DAY_NS, Day, FLAG_TYP, is_flagged};
pub use log::LOG_BYTES;
use log::Log;
use misses::Misses;
pub use saved::BadBaseline;

mod code;
mod epochs;
mod first_pass;
mod interval;
mod kept;
mod log;
mod misses;
mod points;
mod saved;

const HOUR_NS: i64 = 3_600_000_000_000;
/// Look-back time of the pool in days.
pub const HORIZON_DAYS: i64 = 14;
/// Observed intervals before an expectation exists: an hour.
pub const EARLY_INTERVALS: usize = 6;
/// Observed intervals before it is provisional: 6 hours.
pub const PROVISIONAL_INTERVALS: usize = 36;
/// Observed intervals before it is reliable: 3 days.
pub const RELIABLE_INTERVALS: usize = 432;
/// Factor above which a day counts as slower; as faster below its inverse.
pub const EPOCH_FACTOR: f64 = 1.25;
/// Share of flagged intervals above which a day also counts as slower.
pub const EPOCH_FLAGGED: f64 = 0.75;
/// Days before a slower epoch is accepted.
pub const SLOWER_DAYS: usize = 14;
/// Number of these days that may be exceptions, ...
pub const SLOWER_MISSES: usize = 2;
/// ... if their lower quartile is above this.
pub const NEARLY_FACTOR: f64 = 1.125;
/// Consecutive days before a faster epoch is accepted.
pub const FASTER_DAYS: usize = 3;
/// Least observed intervals of a day that counts.
const DAY_INTERVALS: usize = 36;
/// Observed intervals between two passes over a provisional baseline.
const YOUNG_STEP: usize = 18;
/// Days between two searches for modes.
const MODES_DAYS: i64 = 7;

/// Reliability of a baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Less than an hour: no expectation.
    Learning,
    /// Less than six hours.
    Early,
    /// Less than three days.
    Provisional,
    /// Three days and more.
    Reliable,
}

impl Stage {
    /// Names in ascending order.
    pub const NAMES: [&str; 4] = ["learning", "early", "provisional", "reliable"];
    /// Name of the stage.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// A lasting change of the usual latency.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EpochChange {
    /// Number of the new epoch; the first is 0.
    pub epoch: u32,
    /// Start of the epoch, UTC.
    pub began_ns: i64,
    /// Expected latency in the middle of the band, after / before.
    pub factor: f64,
}

/// Judgement of an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judged {
    /// Slowdown relative to the expectation before it.
    pub triple: Triple,
    /// True if it was not learnt.
    pub flagged: bool,
    /// The epoch change that its day's predecessor completed.
    pub change: Option<EpochChange>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Today {
    day: i64,
    pool: Pool,
    typ: Vec<f32>,
    flagged: usize,
    above: Vec<Exceedances>,
}

/// A day that may belong to a new epoch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Held {
    /// Candidate for a slower epoch (true) or a faster one.
    verdict: bool,
    /// True if the day itself was as usual.
    missed: bool,
    day: Day,
}

/// The baseline of one series.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Guarded {
    epoch: u32,
    epoch_began_ns: Option<i64>,
    last_ns: Option<i64>,
    /// Intervals that may be judged again: of an epoch that is not reliable yet, else of held days and today.
    log: Log,
    /// Numbers of intervals at the last pass, and at the last search for modes.
    young_seen: usize,
    modes_seen: usize,
    reliable: bool,
    days: VecDeque<Day>,
    /// Detector rates on ordinary days, the latest last.
    rates: VecDeque<DayRates>,
    today: Today,
    held: Vec<Held>,
    /// Pool of `days`.
    #[serde(skip)]
    pool: Pool,
    modes: Option<Modes>,
    modes_day: Option<i64>,
    expected: Option<Expected>,
    reference: Option<Expected>,
    version: u32,
    intervals: u64,
    changes: Vec<EpochChange>,
    misses: Misses,
    #[serde(skip)]
    ranks: RankTable,
    #[serde(skip)]
    first_pass: FirstPass,
}

impl Guarded {
    /// A baseline for judging a whole history: quicker, with more memory.
    pub fn of_history() -> Self {
        Self { ranks: RankTable::of_history(), ..Self::default() }
    }
    /// Current expectation.
    pub fn expected(&self) -> Option<&Expected> {
        self.expected.as_ref()
    }
    /// Expectation when the first epoch became reliable.
    pub fn reference(&self) -> Option<&Expected> {
        self.reference.as_ref()
    }
    /// Set another reference for the climate.
    pub fn set_reference(&mut self, reference: Expected) {
        self.reference = Some(reference);
    }
    /// Number of recomputations of the expectation.
    pub fn version(&self) -> u32 {
        self.version
    }
    /// Number of the epoch.
    pub fn epoch(&self) -> u32 {
        self.epoch
    }
    /// Number of intervals with rows so far.
    pub fn intervals(&self) -> u64 {
        self.intervals
    }
    /// Every epoch change so far.
    pub fn changes(&self) -> &[EpochChange] {
        &self.changes
    }
    /// Reliability of the baseline.
    pub fn stage(&self) -> Stage {
        match self.log.intervals() {
            _ if self.reliable => Stage::Reliable,
            0..EARLY_INTERVALS => Stage::Learning,
            EARLY_INTERVALS..PROVISIONAL_INTERVALS => Stage::Early,
            _ => Stage::Provisional,
        }
    }
    /// Current expectation relative to the reference, in the middle of the band.
    pub fn climate(&self) -> Option<f64> {
        let (now, then) = (self.expected?, self.reference?);
        let middle = usize::midpoint(now.band_from(), N - 1);
        Some(now.at[middle] / then.at[middle].max(1.0))
    }

    /// Judge an interval and learn from it. One that is not after the last one is judged only; after a clock that was set
    /// back by more than a day learning goes on from there.
    pub fn learn(&mut self, interval: &Interval) -> Judged {
        let levels = Levels::of_packed(
            &interval.service,
            interval.response.as_ref(),
            interval.n_due,
            interval.n_lost,
            &mut self.ranks,
        );
        let triple = Triple::of(&levels, self.expected.as_ref());
        let flagged = self.expected.is_some() && is_flagged(&triple, FLAG_TYP);
        let mut judged = Judged { triple, flagged, change: None };
        if !self.follows(interval.start_ns) || interval.n_due == 0 {
            return judged;
        }
        let before_ns = self.last_ns.replace(interval.start_ns);
        self.epoch_began_ns.get_or_insert(interval.start_ns);
        let day = interval.start_ns.div_euclid(DAY_NS);
        if day != self.today.day {
            judged.change = self.close_day(day);
        }
        self.note(interval, &judged);
        let hour = |start_ns: i64| (start_ns + INTERVAL_NS).div_euclid(HOUR_NS);
        if self.is_due(before_ns.map(hour) != Some(hour(interval.start_ns))) {
            self.refresh();
        }
        judged
    }

    /// Recompute the expectation, at the latest an hour after the last learnt interval.
    pub fn refresh(&mut self) {
        let found = if self.reliable { self.of_pool() } else { self.of_young() };
        if let Some(found) = found {
            self.version += 1;
            let null = NullRates::of(self.rates.make_contiguous());
            self.expected = Some(Expected { null, misses: self.misses.rates(), ..found });
        }
        if self.reliable && self.reference.is_none() {
            self.reference = self.expected;
        }
    }

    fn follows(&mut self, start_ns: i64) -> bool {
        let Some(last_ns) = self.last_ns else { return true };
        if start_ns > last_ns {
            return true;
        }
        if last_ns - start_ns < DAY_NS {
            return false;
        }
        let day = start_ns.div_euclid(DAY_NS);
        self.held.clear();
        self.days.retain(|known| known.day < day);
        if self.reliable {
            self.log.clear();
        } else {
            self.log.retain(|known| known.start_ns < start_ns);
        }
        self.today = Today { day, ..Today::default() };
        self.sum_days();
        true
    }

    fn sum_days(&mut self) {
        self.pool = Pool::default();
        self.days.iter().for_each(|day| self.pool.add(&day.pool));
    }

    fn note(&mut self, interval: &Interval, judged: &Judged) {
        let seen = !interval.service.is_empty();
        self.today.typ.extend(judged.triple.typ_value().map(|typ| typ as f32));
        self.today.flagged += usize::from(judged.flagged && judged.triple.typ.is_some());
        if !seen {
            return;
        }
        self.intervals += 1;
        if let Some(modes) = self.expected.and_then(|expected| expected.modes) {
            self.misses.note(&interval.service, &modes);
        }
        if self.reliable && !judged.flagged {
            self.today.pool.add(&interval.service);
        }
        if let Some(expected) = self.expected.filter(|_| self.reliable) {
            let typ = judged.triple.typ_value().unwrap_or(1.0);
            let due = (interval.n_due, interval.n_lost);
            self.today.above.push(Exceedances::of(
                &interval.service,
                due,
                typ,
                judged.flagged,
                expected.limits_ns,
            ));
        }
        self.log.push(interval);
    }

    /// True if a recomputation is due: with the first interval that ends in another hour; for a young baseline, which
    /// uses all intervals, less often as it grows.
    fn is_due(&self, new_hour: bool) -> bool {
        let hourly = new_hour || self.expected.is_none();
        let n = self.log.intervals();
        let early = n < PROVISIONAL_INTERVALS || self.young_seen < PROVISIONAL_INTERVALS;
        let grown = early || n >= self.young_seen + YOUNG_STEP || n >= RELIABLE_INTERVALS;
        hourly && (self.reliable || grown)
    }

    /// Expectation from the pool. Today counts unless it may belong to a new epoch.
    fn of_pool(&self) -> Option<Expected> {
        if !self.held.is_empty() || self.today.pool.total() == 0 {
            return Expected::of(self.pool.iter(), self.modes);
        }
        Expected::of(self.pool.with(&self.today.pool), self.modes)
    }

    /// Expectation from the first pass over a young baseline.
    fn of_young(&mut self) -> Option<Expected> {
        let n = self.log.intervals();
        if n < EARLY_INTERVALS {
            return None;
        }
        let look = n >= 2 * self.modes_seen || n >= RELIABLE_INTERVALS;
        let known = (!look).then_some(self.modes);
        let Found { expected, rates } = self.first_pass.judge(&self.log, known)?;
        self.rates = rates.into();
        (self.modes, self.young_seen) = (expected.modes, n);
        if look {
            self.modes_seen = n;
        }
        if n >= RELIABLE_INTERVALS {
            self.reliable = true;
            self.modes_day = Some(self.today.day);
            self.days = self.first_pass.days(&self.log).into();
            self.first_pass = FirstPass::default();
            self.log.clear();
            (self.young_seen, self.modes_seen) = (0, 0);
            if self.days.back().is_some_and(|last| last.day == self.today.day) {
                self.today.pool = self.days.pop_back().map(|last| Pool::from(last.pool)).unwrap_or_default();
            }
            self.sum_days();
        }
        Some(expected)
    }
}

#[cfg(test)]
mod tests;
