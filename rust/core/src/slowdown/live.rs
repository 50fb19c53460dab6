//! One op of one target as it happens: counts, histograms, the last window against the baseline.

use super::baseline::{MINIMUM_WINDOWS, Trailing};
use super::detect::{Alarm, CLEAR_TAIL, Detector, LOOK_NS, TICK_NS};
use super::guarded::Guarded;
use super::interval::OpenInterval;
use super::levels::{Levels, RankTable};
use super::limits::Limits;
use super::onset::onset;
use super::quantile::{Estimate, WindowStatistics, minimum_count, of_sorted};
use super::recent::Recent;
use super::seen::Seen;
use super::triple::{Factor, Triple};
use super::verdict::{
    Controls, FAILING_FROM, QUIET_BELOW, QUIET_WINDOWS, State, control_level, host_was_busy, is_hung,
    is_slow, is_young_slow,
};
pub use super::window::ClosedWindow;
use super::window::OpenWindow;
pub use state::OpState;

mod state;

use crate::histogram::Histogram;
use crate::sample::{Cache, Op, Outcome, Sample};

/// Windows of samples kept, so that an onset inside an earlier window can be found.
const KEPT_WINDOWS: i64 = 4;
/// Rows kept at least, so that a slow probe has enough for a 0.95 quantile.
const KEPT_ROWS: i64 = 100;
/// Samples kept at most, whatever the windows say.
const KEPT_SAMPLES: usize = 20_000;

/// An operation that has begun and not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InFlight {
    /// When it was due, UTC.
    pub due_ns: i64,
    /// For how long a user who wanted it then has waited.
    pub age_ns: u64,
}

/// The running account of one op.
#[derive(Debug)]
pub struct LiveOp {
    op: Op,
    period_ns: u64,
    window_ns: i64,
    recent: Recent,
    /// What is usual as long as `guarded` does not know.
    young: Trailing,
    guarded: Guarded,
    open_window: (i64, OpenWindow),
    open_interval: OpenInterval,
    detector: Detector,
    limits: Option<Limits>,
    tick_ns: i64,
    ranks: RankTable,
    slow_since: Option<i64>,
    loud_ns: i64,
    failures: u32,
    failing_since: Option<i64>,
    last: Option<Sample>,
    last_ok: Option<Sample>,
    /// Response times since the start.
    pub response: Histogram,
    /// Service times since the start.
    pub service: Histogram,
    /// Rows by kind of outcome since the start, in the order of [`OUTCOME_KINDS`].
    pub counts: [u64; 5],
}

/// What a row brought to an end.
#[derive(Debug, Default, PartialEq)]
pub struct Taken {
    /// The window it was the first one after.
    pub window: Option<ClosedWindow>,
    /// An alarm that was raised or is over, and since when it was slow (UTC).
    pub alarm: Option<(Alarm, i64)>,
    /// Whether what is expected was worked out anew.
    pub learnt: bool,
}

/// The kinds of outcome in the order of [`LiveOp::counts`].
pub const OUTCOME_KINDS: [&str; 5] = ["ok", "error", "timeout", "skipped", "shed"];

impl LiveOp {
    /// An account with nothing in it.
    pub fn new(op: Op, period_ns: u64, window_ns: u64, trailing_ns: u64) -> Self {
        Self {
            op,
            period_ns,
            window_ns: window_ns as i64,
            recent: Recent::new(op),
            young: Trailing::new(trailing_ns),
            guarded: Guarded::default(),
            open_window: (i64::MIN, OpenWindow::default()),
            open_interval: OpenInterval::default(),
            detector: Detector::default(),
            limits: None,
            tick_ns: i64::MIN,
            ranks: RankTable::default(),
            slow_since: None,
            loud_ns: i64::MIN,
            failures: 0,
            failing_since: None,
            last: None,
            last_ok: None,
            response: Histogram::default(),
            service: Histogram::default(),
            counts: [0; 5],
        }
    }

    /// Remember a window of an earlier run.
    pub fn learn(&mut self, start_ns: i64, median_ns: i64) {
        self.learn_window(start_ns, median_ns, (median_ns, median_ns));
    }
    fn learn_window(&mut self, start_ns: i64, median_ns: i64, ends: (i64, i64)) {
        if self.guarded.expected().is_none() {
            self.young.learn_unless_slow(start_ns, median_ns, ends);
        }
    }
    /// Go on with what an earlier run knew.
    pub fn resume(&mut self, guarded: Guarded) {
        self.limits = guarded.expected().and_then(Limits::of);
        self.guarded = guarded;
    }
    /// Bytes on the heap that grow with rate or history, histograms since the start left out.
    pub fn heap_bytes(&self) -> usize {
        self.recent.heap_bytes() + self.open_window.1.heap_bytes() + self.guarded.heap_bytes()
    }
    /// What is usual, for the next run.
    pub fn guarded(&self) -> &Guarded {
        &self.guarded
    }

    /// Take a row; returns what it brought to an end.
    pub fn take(&mut self, sample: &Sample) -> Taken {
        self.count(sample);
        let mut taken = Taken { alarm: self.tick(sample.due_ns), ..Taken::default() };
        let at = self.recent.insert(sample);
        let before = at.checked_sub(1).and_then(|before| self.recent.get(before));
        let kept_ns = (KEPT_WINDOWS * self.window_ns).max(KEPT_ROWS * self.period_ns as i64);
        self.recent.trim(KEPT_SAMPLES, kept_ns.max(LOOK_NS + TICK_NS));
        let start = sample.due_ns.div_euclid(self.window_ns) * self.window_ns;
        taken.window = (start > self.open_window.0).then(|| self.close_window(start)).flatten();
        if start == self.open_window.0 {
            self.open_window.1.take(sample);
        }
        if let Some(seen) = Seen::of(sample, self.period_ns) {
            if let (Some(limits), Some(alone)) =
                (&self.limits, Seen::alone(sample, before.as_ref(), self.period_ns))
            {
                self.detector.take(alone.response_ns, limits);
            }
            taken.learnt = self.see(&seen);
        }
        taken
    }

    /// The baseline; returns whether what is expected was worked out anew.
    fn see(&mut self, seen: &Seen) -> bool {
        let version = self.guarded.version();
        if let Some(interval) = self.open_interval.take(seen) {
            self.guarded.learn(&interval);
            if self.guarded.expected().is_some() {
                self.young.clear();
            }
        }
        let learnt = self.guarded.version() != version;
        if learnt {
            self.limits = self.guarded.expected().and_then(Limits::of);
        }
        learnt
    }

    /// The detectors look at the rows before `due_ns`, if a tick lies between.
    fn tick(&mut self, due_ns: i64) -> Option<(Alarm, i64)> {
        let tick_ns = due_ns.div_euclid(TICK_NS) * TICK_NS;
        if tick_ns <= self.tick_ns {
            return None;
        }
        self.tick_ns = tick_ns;
        let expected = self.guarded.expected().copied();
        let from = self.recent.before(tick_ns - LOOK_NS);
        let window = self.recent.from(from);
        let mut before = from.checked_sub(1).and_then(|before| self.recent.get(before));
        let alone = window.clone().filter_map(|sample| {
            let before = before.replace(sample);
            Seen::alone(&sample, before.as_ref(), self.period_ns)
        });
        let rows: Vec<Seen> = alone.collect();
        let mut last = Triple::of(&Levels::of_rows(&rows, &mut self.ranks), expected.as_ref());
        let usual_ns = expected.map(|expected| expected.middle());
        if let Some((typ, middle_ns)) = last.typ_value().zip(usual_ns)
            && host_was_busy(&Controls { slowdown: typ, unqueued: typ, late_ns: late_ns(window), middle_ns })
        {
            last = Triple { typ: None, lost: None, ..last };
        }
        let alarm = self.detector.tick(tick_ns, &last, self.limits.as_ref())?;
        let since = usual_ns.and_then(|usual| self.onset_ns(usual, alarm.peak.max(alarm.peak_tail)));
        Some((alarm, since.unwrap_or(alarm.raised_ns)))
    }

    /// The wall clock was set back: of time that is lived twice the later account counts.
    pub fn set_back(&mut self) {
        self.recent.clear();
        self.open_window = (i64::MIN, OpenWindow::default());
        self.open_interval = OpenInterval::default();
        self.tick_ns = i64::MIN;
        (self.slow_since, self.loud_ns) = (None, i64::MIN);
    }

    fn count(&mut self, sample: &Sample) {
        let kind = OUTCOME_KINDS.iter().position(|&kind| kind == sample.outcome.kind()).unwrap_or(1);
        self.counts[kind] += 1;
        if sample.outcome == Outcome::SHED {
            return;
        }
        if let Some(response) = sample.response_ns() {
            self.response.record(response.max(0) as u64);
        }
        self.last = Some(*sample);
        match sample.outcome {
            Outcome::OK => {
                self.failures = 0;
                self.failing_since = None;
                self.last_ok = Some(*sample);
                self.service.record(sample.service_ns().unwrap_or(0).max(0) as u64);
            }
            Outcome::SKIPPED => {}
            _ => {
                self.failures += 1;
                self.failing_since.get_or_insert(sample.due_ns);
            }
        }
    }

    fn close_window(&mut self, next_start: i64) -> Option<ClosedWindow> {
        let (start_ns, window) =
            std::mem::replace(&mut self.open_window, (next_start, OpenWindow::default()));
        let closed = window.close(self.op, start_ns)?;
        if let Some((median_ns, ends)) = closed.median() {
            self.learn_window(start_ns, median_ns, ends);
        }
        Some(closed)
    }

    /// Close the window that is still open, when nothing more will come.
    pub fn close(&mut self) -> Option<ClosedWindow> {
        self.close_window(i64::MAX)
    }

    /// Response times of the last n rows; none for those that did not end ok.
    pub fn recent_response(&self, n: usize) -> impl Iterator<Item = Option<i64>> + '_ {
        let rows = self.recent.from(self.recent.len().saturating_sub(n));
        rows.map(|sample| (sample.outcome == Outcome::OK).then(|| sample.response_ns()).flatten())
    }

    /// What the last window amounts to at `now_ns` (UTC).
    pub fn assess(&mut self, now_ns: i64, in_flight: Option<InFlight>) -> OpState {
        let from = self.recent.before((now_ns - self.window_ns).saturating_add(1));
        let rows: Vec<Seen> =
            self.recent.from(from).filter_map(|sample| Seen::of(&sample, self.period_ns)).collect();
        let mut service: Vec<i64> = rows.iter().filter_map(|row| row.service_ns).collect();
        let statistics = WindowStatistics::of(&mut service);
        let usual = self.compare(&rows, statistics.quantiles[1], now_ns);
        let slow = usual.is_slow();
        self.follow_since(slow, &usual, now_ns);
        let partly =
            self.detector.alarm().filter(|_| usual.tail.is_some_and(|tail| tail.value >= CLEAR_TAIL));
        let (state, since_ns) = self.word(in_flight, slow, partly.map(|alarm| alarm.raised_ns), &usual);
        let (median, slowdown) = (statistics.quantiles[1], usual.slowdown);
        let (shown, q95) =
            (self.filled(median, 0.5, now_ns), self.filled(statistics.quantiles[4], 0.95, now_ns));
        OpState {
            op: self.op.name(),
            state,
            n_due: rows.len(),
            n_seen: statistics.n_seen,
            n_lost: rows.len() - statistics.n_seen,
            ticks_skipped: self.counts[3],
            latest_ns: self.last_ok.and_then(|sample| sample.service_ns()),
            median_ns: shown.map(|m| m.value),
            median_lower_ns: shown.map(|m| m.lower),
            median_upper_ns: shown.map(|m| m.upper),
            median_n: shown.map(|m| m.n),
            q95_ns: q95.map(|q| q.value),
            q95_n: q95.map(|q| q.n),
            baseline_ns: usual.baseline_ns,
            baseline_windows: usual.known,
            stage: self.guarded.stage().name(),
            epoch: self.guarded.epoch(),
            climate: self.guarded.climate(),
            slowdown: slowdown.map(|s| s.value),
            slowdown_lower: slowdown.map(|s| s.lower),
            slowdown_upper: slowdown.map(|s| s.upper),
            tail: usual.tail.map(|tail| tail.value),
            tail_lower: usual.tail.and_then(|tail| tail.lower),
            tail_upper: usual.tail.and_then(|tail| tail.upper),
            lost: usual.lost.map(|lost| lost.value),
            lost_lower: usual.lost.and_then(|lost| lost.lower),
            lost_upper: usual.lost.and_then(|lost| lost.upper),
            alarm: self.detector.alarm().map(|alarm| alarm.cause.name()),
            alarm_ns: self.detector.alarm().map(|alarm| alarm.raised_ns),
            partly: state == State::Slow && !slow,
            since_ns,
            inflight_ns: in_flight.map(|open| open.age_ns),
            inflight_due_ns: in_flight.map(|open| open.due_ns),
            host_busy: slow && self.is_host_busy(&rows, late_ns(self.recent.from(from)), &usual),
            last_ok_ns: self.last_ok.and_then(|sample| sample.ended_ns),
            last_outcome: self.last.map(|sample| sample.outcome.name()),
            cache: self.last.map(|sample| Cache::name(sample.cache)),
        }
    }

    /// A quantile of the last window, or of the shortest stretch of so many windows back that holds enough operations.
    fn filled(&self, of_window: Option<Estimate>, level: f64, now_ns: i64) -> Option<Estimate> {
        if of_window.is_some() {
            return of_window;
        }
        let oldest_ns = self.recent.get(0)?.due_ns;
        for windows in 2.. {
            let since_ns = now_ns.saturating_sub(self.window_ns.saturating_mul(windows));
            let rows = ok_rows(self.recent.from(self.recent.before(since_ns.saturating_add(1))));
            let mut service: Vec<i64> = rows.filter_map(|sample| sample.service_ns()).collect();
            if service.len() >= minimum_count(level) {
                service.sort_unstable();
                return of_sorted(&service, level);
            }
            if since_ns < oldest_ns {
                break;
            }
        }
        None
    }

    /// The window against what is usual: the guarded baseline, or while it learns the median of the windows so far.
    fn compare(&mut self, rows: &[Seen], median: Option<Estimate>, now_ns: i64) -> Usual {
        let levels = Levels::of_rows(rows, &mut self.ranks);
        let expected = self.guarded.expected().copied();
        let Triple { typ, tail, lost } = Triple::of(&levels, expected.as_ref());
        let whole = |typ: Factor| {
            let (lower, upper) = typ.lower.zip(typ.upper)?;
            Some(Estimate { value: typ.value, lower, upper, n: levels.n as usize })
        };
        if let Some(expected) = expected {
            let known = (self.guarded.intervals() as usize).max(MINIMUM_WINDOWS);
            let (baseline_ns, middle_ns) = (Some(expected.q50()), Some(expected.middle()));
            let slowest_ns = Some(expected.q99);
            return Usual {
                baseline_ns,
                middle_ns,
                slowest_ns,
                known,
                slowdown: typ.and_then(whole),
                young_error: None,
                tail,
                lost,
            };
        }
        let window_start = now_ns.div_euclid(self.window_ns) * self.window_ns;
        let young = self.young.young(window_start);
        let baseline_ns = young.map(|young| young.baseline_ns);
        let slowdown = median.zip(baseline_ns).map(|(median, baseline)| ratio(&median, baseline));
        Usual {
            baseline_ns,
            middle_ns: baseline_ns,
            slowest_ns: baseline_ns,
            known: self.young.windows(),
            slowdown,
            young_error: young.map(|young| young.error),
            tail,
            lost,
        }
    }

    /// Whether the probing host explains that a window is slow, by the numbers that call it slow.
    fn is_host_busy(&self, rows: &[Seen], late_ns: f64, usual: &Usual) -> bool {
        let level = control_level(self.guarded.expected().is_some_and(|expected| expected.modes.is_some()));
        let at = |rows: &mut dyn Iterator<Item = Seen>| {
            let mut service: Vec<i64> = rows.filter_map(|row| row.service_ns).collect();
            service.sort_unstable();
            of_sorted(&service, level).map(|found| found.value)
        };
        let alone = at(&mut rows.iter().map(|row| row.unqueued())).zip(at(&mut rows.iter().copied()));
        let known = usual.slowdown.zip(alone).zip(usual.middle_ns);
        known.is_some_and(|((slowdown, (unqueued_ns, service_ns)), middle_ns)| {
            let unqueued = slowdown.value * unqueued_ns / service_ns.max(1.0);
            host_was_busy(&Controls { slowdown: slowdown.value, unqueued, late_ns, middle_ns })
        })
    }

    /// As for events: a stretch goes on until five windows in a row are quiet, and what is unknown ends none.
    fn follow_since(&mut self, slow: bool, usual: &Usual, now_ns: i64) {
        if now_ns.saturating_sub(self.loud_ns) >= QUIET_WINDOWS * self.window_ns {
            self.slow_since = None;
        }
        if usual.slowdown.is_none_or(|found| found.value >= QUIET_BELOW) {
            self.loud_ns = now_ns;
        }
        let (true, Some(slowdown), Some(middle_ns)) = (slow, usual.slowdown, usual.middle_ns) else {
            return;
        };
        if self.slow_since.is_none() {
            let last = ok_rows(self.recent.from(0)).last().map(|sample| sample.due_ns);
            self.slow_since = self.onset_ns(middle_ns, slowdown.value).or(last);
        }
    }

    /// When the first operation of the slow stretch that the last one belongs to was due.
    fn onset_ns(&self, usual_ns: f64, slowdown: f64) -> Option<i64> {
        let rows = ok_rows(self.recent.from(0));
        let service: Vec<i64> = rows.clone().filter_map(|sample| sample.service_ns()).collect();
        let first = onset(&service, usual_ns, slowdown)?;
        rows.clone().nth(first).map(|sample| sample.due_ns)
    }

    fn word(
        &self,
        in_flight: Option<InFlight>,
        slow: bool,
        partly_since: Option<i64>,
        usual: &Usual,
    ) -> (State, Option<i64>) {
        if let Some(open) = in_flight.filter(|open| is_hung(open.age_ns, self.period_ns, usual.slowest_ns)) {
            (State::Hung, Some(open.due_ns))
        } else if self.failures >= FAILING_FROM {
            (State::Failing, self.failing_since)
        } else if slow {
            (State::Slow, self.slow_since)
        } else if partly_since.is_some() {
            (State::Slow, partly_since)
        } else if usual.slowdown.is_some() {
            (State::Ok, None)
        } else {
            (State::Learning, None)
        }
    }
}

/// What a window is compared with, and how it compares.
struct Usual {
    baseline_ns: Option<f64>,
    /// The latency that an onset is sought against: of uncached operations where there are two modes.
    middle_ns: Option<f64>,
    /// The latency that a hang is measured against.
    slowest_ns: Option<f64>,
    known: usize,
    slowdown: Option<Estimate>,
    /// How much the windows vary that a young baseline is learnt from.
    young_error: Option<f64>,
    tail: Option<Factor>,
    lost: Option<Factor>,
}

impl Usual {
    fn is_slow(&self) -> bool {
        self.slowdown.is_some_and(|found| match self.young_error {
            Some(error) => is_young_slow(&found, error),
            None => is_slow(found.value, found.lower),
        })
    }
}

fn ok_rows<R: Iterator<Item = Sample> + Clone>(rows: R) -> impl Iterator<Item = Sample> + Clone {
    rows.filter(|sample| sample.outcome == Outcome::OK)
}

fn ratio(of: &Estimate, baseline: f64) -> Estimate {
    let by = |value: f64| value / baseline.max(1.0);
    Estimate { value: by(of.value), lower: by(of.lower), upper: by(of.upper), n: of.n }
}

/// How late the timer woke the probe, the median of began - due in ns.
fn late_ns(window: impl Iterator<Item = Sample> + Clone) -> f64 {
    let late = ok_rows(window).filter_map(|sample| Some(sample.began_ns? - sample.due_ns));
    let mut late: Vec<i64> = late.collect();
    late.sort_unstable();
    of_sorted(&late, 0.5).map_or(0.0, |median| median.value)
}

#[cfg(test)]
mod tests;
