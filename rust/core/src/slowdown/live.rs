//! Live account of one op of one target: counts, histograms, the last window relative to the baseline.

use super::detect::{Alarm, CLEAR_TAIL, Detector, LOOK_NS, TICK_NS};
use super::guarded::Guarded;
use super::levels::{Levels, RankTable};
use super::quantile::{Estimate, WindowStatistics};
use super::recent::Recent;
use super::rules::Cause;
use super::seen::{Lane, Seen, is_late};
use super::triple::Triple;
use super::verdict::{Controls, FAILING_FROM, Lateness, State, host_held_up, host_was_busy, is_hung};
pub use super::window::ClosedWindow;
use super::window::OpenWindow;
use baselines::Baselines;
use rows::{
    first_lost_ns, first_miss_ns, late_by_host, late_ns, of_more_windows, ok_rows, onset_ns, share_of_hits,
};
pub use state::OpState;
use stretch::Stretch;
use totals::LastRows;
pub use totals::{OUTCOME_KINDS, Totals};
use usual::Usual;

mod baselines;
mod rows;
mod state;
mod stretch;
mod totals;
mod usual;

use crate::sample::{Cache, Op, Outcome, Sample};

/// Windows of samples kept, to find an onset inside an earlier window.
const KEPT_WINDOWS: i64 = 4;
/// Least number of rows kept, enough for a 0.95 quantile of a slow probe.
const KEPT_ROWS: i64 = 100;
/// Most samples kept, whatever the windows require.
const KEPT_SAMPLES: usize = 20_000;

/// An operation in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InFlight {
    /// Its due time, UTC.
    pub due_ns: i64,
    /// Waiting time of a user since then.
    pub age_ns: u64,
}

/// Live account of one op.
#[derive(Debug)]
pub struct LiveOp {
    op: Op,
    period_ns: u64,
    window_ns: i64,
    recent: Recent,
    lane: Lane,
    host: Lateness,
    baselines: Baselines,
    open_window: (i64, OpenWindow),
    detector: Detector,
    tick_ns: i64,
    ranks: RankTable,
    stretch: Stretch,
    last: LastRows,
    /// Cumulative numbers since the start.
    pub totals: Totals,
}

/// Events completed by a row.
#[derive(Debug, Default, PartialEq)]
pub struct Taken {
    /// The window that it completed.
    pub window: Option<ClosedWindow>,
    /// An alarm that was raised or ended, and the start of slowness (UTC).
    pub alarm: Option<(Alarm, i64)>,
    /// True if the expectation was recomputed.
    pub learnt: bool,
}

impl LiveOp {
    /// An empty account.
    pub fn new(op: Op, period_ns: u64, window_ns: u64, trailing_ns: u64) -> Self {
        Self {
            op,
            period_ns,
            window_ns: window_ns as i64,
            recent: Recent::new(op),
            lane: Lane::default(),
            host: Lateness::default(),
            baselines: Baselines::new(trailing_ns),
            open_window: (i64::MIN, OpenWindow::default()),
            detector: Detector::default(),
            tick_ns: i64::MIN,
            ranks: RankTable::default(),
            stretch: Stretch::default(),
            last: LastRows::default(),
            totals: Totals::default(),
        }
    }

    /// Learn a window of an earlier run.
    pub fn learn(&mut self, start_ns: i64, median_ns: i64) {
        self.baselines.learn_window(start_ns, median_ns, (median_ns, median_ns));
    }
    /// Resume with the baseline of an earlier run.
    pub fn resume(&mut self, guarded: Guarded) {
        self.baselines.resume(guarded);
    }
    /// Bytes on the heap that grow with rate or history, without histograms since the start.
    pub fn heap_bytes(&self) -> usize {
        let rows = self.recent.heap_bytes() + self.open_window.1.heap_bytes();
        rows + self.guarded().heap_bytes() + self.stretch.heap_bytes()
    }
    /// Baseline for the next run.
    pub fn guarded(&self) -> &Guarded {
        self.baselines.guarded()
    }

    /// Take a row; returns the events that it completes.
    pub fn take(&mut self, sample: &Sample) -> Taken {
        self.totals.take(sample);
        self.last.take(sample);
        let mut taken = Taken { alarm: self.tick(sample.due_ns), ..Taken::default() };
        let by_host = self.lane.take(sample, self.period_ns);
        self.recent.insert(sample, by_host);
        let kept_ns = (KEPT_WINDOWS * self.window_ns).max(KEPT_ROWS * self.period_ns as i64);
        self.recent.trim(KEPT_SAMPLES, kept_ns.max(LOOK_NS + TICK_NS));
        let start = sample.due_ns.div_euclid(self.window_ns) * self.window_ns;
        taken.window = (start > self.open_window.0).then(|| self.close_window(start)).flatten();
        if start == self.open_window.0 {
            self.open_window.1.take(sample);
        }
        if let Some(seen) = Seen::of(sample, self.period_ns, by_host) {
            if let Some(limits) = self.baselines.limits() {
                self.detector.take(seen.unqueued().response_ns, limits);
            }
            taken.learnt = self.baselines.learn(&seen);
        }
        taken
    }

    /// Evaluate the detectors on rows before `due_ns`, if a tick lies between.
    fn tick(&mut self, due_ns: i64) -> Option<(Alarm, i64)> {
        let tick_ns = due_ns.div_euclid(TICK_NS) * TICK_NS;
        if tick_ns <= self.tick_ns {
            return None;
        }
        self.tick_ns = tick_ns;
        let expected = self.guarded().expected().copied();
        let from = self.recent.before(tick_ns - LOOK_NS);
        let rows: Vec<Seen> = self.seen(from).map(Seen::unqueued).collect();
        let mut last = Triple::of(&Levels::of_rows(&rows, &mut self.ranks), expected.as_ref());
        let usual_ns = expected.map(|expected| expected.middle());
        if let Some((typ, middle_ns)) = last.typ_value().zip(usual_ns) {
            let late_ns = late_ns(self.recent.from(from));
            if host_was_busy(&Controls { slowdown: typ, unqueued: typ, late_ns, middle_ns, host: self.host })
            {
                last.typ = None;
            }
        }
        let alarm = self.detector.tick(tick_ns, &last, self.baselines.limits())?;
        let peak = alarm.peak.max(alarm.peak_tail);
        let since = match alarm.cause {
            Cause::Lost => first_lost_ns(self.seen(0), tick_ns - LOOK_NS),
            Cause::Cache => {
                let limit = self.baselines.limits().and_then(|limits| limits.cold);
                limit.and_then(|limit| first_miss_ns(self.seen(0), &limit.sum))
            }
            _ => usual_ns.and_then(|usual| onset_ns(&self.recent, usual, peak)),
        };
        Some((alarm, since.unwrap_or(alarm.raised_ns)))
    }

    /// Kept rows from an index on.
    fn seen(&self, from: usize) -> impl Iterator<Item = Seen> + '_ {
        let rows = self.recent.judged(from);
        rows.filter_map(|(sample, by_host)| Seen::of(&sample, self.period_ns, by_host))
    }

    /// Lateness of each operation in the window before `now_ns` (UTC) that no other one held up.
    pub fn late_ns(&self, now_ns: i64) -> impl Iterator<Item = i64> + '_ {
        let rows = self.recent.judged(self.recent.before((now_ns - self.window_ns).saturating_add(1)));
        let ok = rows.filter(|(sample, _)| sample.outcome == Outcome::OK);
        ok.filter_map(|(sample, by_host)| {
            let late_ns = sample.began_ns? - sample.due_ns;
            (by_host || !is_late(&sample, self.period_ns)).then_some(late_ns)
        })
    }

    /// Set the host's lateness over all operations of the target, for later verdicts.
    pub fn hear_of_host(&mut self, host: Lateness) {
        self.host = host;
    }

    /// Handle a wall clock set back: of repeated time the later account counts.
    pub fn set_back(&mut self) {
        self.recent.clear();
        self.lane = Lane::default();
        self.open_window = (i64::MIN, OpenWindow::default());
        self.baselines.set_back();
        self.tick_ns = i64::MIN;
        self.stretch = Stretch::default();
    }

    fn close_window(&mut self, next_start: i64) -> Option<ClosedWindow> {
        let (start_ns, window) =
            std::mem::replace(&mut self.open_window, (next_start, OpenWindow::default()));
        let closed = window.close(self.op, start_ns)?;
        let found = self.slowdown_in(start_ns, start_ns.saturating_add(self.window_ns));
        self.stretch.close_window(start_ns, found);
        if let Some((median_ns, ends)) = closed.median() {
            self.baselines.learn_window(start_ns, median_ns, ends);
        }
        Some(closed)
    }

    /// Rows against what is usual of a window that starts at `start_ns`, with their service times.
    fn compared(&mut self, rows: &[Seen], start_ns: i64) -> (Usual, WindowStatistics) {
        let mut service: Vec<i64> = rows.iter().filter_map(|row| row.service_ns).collect();
        let statistics = WindowStatistics::of(&mut service);
        let levels = Levels::of_rows(rows, &mut self.ranks);
        (Usual::of(&mut self.baselines, &levels, statistics.quantiles[1], start_ns), statistics)
    }

    /// The slowdown of rows due in [begin, end).
    fn slowdown_in(&mut self, begin_ns: i64, end_ns: i64) -> Option<Estimate> {
        let (first, last) = (self.recent.before(begin_ns), self.recent.before(end_ns));
        let rows = self.recent.judged(first).take(last.saturating_sub(first));
        let seen = |(sample, by_host)| Seen::of(&sample, self.period_ns, by_host);
        let rows: Vec<Seen> = rows.filter_map(seen).collect();
        self.compared(&rows, begin_ns.div_euclid(self.window_ns) * self.window_ns).0.slowdown
    }

    /// The slowdown over the whole stretch so far: of its windows, of its operations while fewer than four have closed. The
    /// interval is at least as wide as a stretch of that length errs on ordinary days.
    fn over_stretch(&mut self, now_ns: i64) -> Option<Estimate> {
        let since_ns = self.stretch.since_ns();
        let found = match self.stretch.middle(self.window_ns) {
            Some(middle) if middle.n as i64 >= KEPT_WINDOWS => middle,
            _ => self.slowdown_in(since_ns?, now_ns.saturating_add(1))?,
        };
        let length_ns = since_ns.map_or(self.window_ns, |since_ns| now_ns.saturating_sub(since_ns));
        let error = self.guarded().expected().and_then(|expected| expected.error_over(length_ns));
        Some(error.map_or(found, |error| found.at_least(error)))
    }

    /// Close the window that is still open, when nothing more will come.
    pub fn close(&mut self) -> Option<ClosedWindow> {
        self.close_window(i64::MAX)
    }

    /// Response times of the last n rows; none for unsuccessful ones.
    pub fn recent_response(&self, n: usize) -> impl Iterator<Item = Option<i64>> + '_ {
        let rows = self.recent.from(self.recent.len().saturating_sub(n));
        rows.map(|sample| (sample.outcome == Outcome::OK).then(|| sample.response_ns()).flatten())
    }

    /// Assess the last window at `now_ns` (UTC).
    pub fn assess(&mut self, now_ns: i64, in_flight: Option<InFlight>) -> OpState {
        let from = self.recent.before((now_ns - self.window_ns).saturating_add(1));
        let rows: Vec<Seen> = self.seen(from).collect();
        let start_ns = now_ns.div_euclid(self.window_ns) * self.window_ns;
        let (usual, statistics) = self.compared(&rows, start_ns);
        let slow = usual.is_slow();
        self.follow(slow, &usual, now_ns);
        let over_stretch = if slow { self.over_stretch(now_ns).or(usual.slowdown) } else { None };
        let modes = self.guarded().expected().and_then(|expected| expected.modes);
        let hits = modes.and_then(|modes| share_of_hits(&rows, modes.between_ns()));
        let cold = self.baselines.limits().and_then(|limits| limits.cold);
        let partly = self.detector.alarm().filter(|alarm| match alarm.cause {
            Cause::Cache => cold.zip(hits).is_some_and(|(limit, hits)| limit.is_cold(hits)),
            _ => usual.tail.is_some_and(|tail| tail.value >= CLEAR_TAIL),
        });
        let (state, since_ns) = self.word(in_flight, slow, partly.map(|alarm| alarm.raised_ns), &usual);
        let late = late_by_host(self.recent.judged(from));
        let late_ns = || late_ns(self.recent.from(from));
        let (median, slowdown) = (statistics.quantiles[1], usual.slowdown);
        let more = |level| of_more_windows(&self.recent, level, self.window_ns, now_ns);
        let (shown, q95) = (median.or_else(|| more(0.5)), statistics.quantiles[4].or_else(|| more(0.95)));
        OpState {
            op: self.op.name(),
            state,
            n_due: rows.len(),
            n_seen: statistics.n_seen,
            n_lost: rows.len() - statistics.n_seen,
            ticks_skipped: self.totals.skipped(),
            latest_ns: self.last.ok.and_then(|sample| sample.service_ns()),
            median_ns: shown.map(|m| m.value),
            median_lower_ns: shown.map(|m| m.lower),
            median_upper_ns: shown.map(|m| m.upper),
            median_n: shown.map(|m| m.n),
            q95_ns: q95.map(|q| q.value),
            q95_n: q95.map(|q| q.n),
            baseline_ns: usual.baseline_ns,
            baseline_windows: usual.known,
            stage: self.guarded().stage().name(),
            epoch: self.guarded().epoch(),
            climate: self.guarded().climate(),
            slowdown: slowdown.map(|s| s.value),
            slowdown_lower: slowdown.map(|s| s.lower),
            slowdown_upper: slowdown.map(|s| s.upper),
            stretch_slowdown: over_stretch.map(|s| s.value),
            stretch_lower: over_stretch.map(|s| s.lower),
            stretch_upper: over_stretch.map(|s| s.upper),
            tail: usual.tail.map(|tail| tail.value),
            tail_lower: usual.tail.and_then(|tail| tail.lower),
            tail_upper: usual.tail.and_then(|tail| tail.upper),
            lost: usual.lost.map(|lost| lost.value),
            lost_lower: usual.lost.and_then(|lost| lost.lower),
            lost_upper: usual.lost.and_then(|lost| lost.upper),
            hits,
            hits_usual: modes.map(|modes| modes.hit_share),
            alarm: self.detector.alarm().map(|alarm| alarm.cause.name()),
            alarm_ns: self.detector.alarm().map(|alarm| alarm.raised_ns),
            partly: state == State::Slow && !slow,
            since_ns,
            inflight_ns: in_flight.map(|open| open.age_ns),
            inflight_due_ns: in_flight.map(|open| open.due_ns),
            late: late.map(|late| late.value),
            host_busy: match state {
                State::Slow if slow => usual.is_host_busy(&rows, late_ns(), modes.is_some(), self.host),
                State::Ok | State::Learning => late.is_some_and(host_held_up),
                _ => false,
            },
            last_ok_ns: self.last.ok.and_then(|sample| sample.ended_ns),
            last_outcome: self.last.last.map(|sample| sample.outcome.name()),
            cache: self.last.last.map(|sample| Cache::name(sample.cache)),
        }
    }

    fn follow(&mut self, slow: bool, usual: &Usual, now_ns: i64) {
        let slowdown = usual.slowdown.map(|found| found.value);
        self.stretch.look(slowdown, self.window_ns, now_ns);
        if let (true, Some(slowdown), Some(middle_ns)) = (slow, slowdown, usual.middle_ns) {
            let recent = &self.recent;
            let last = || ok_rows(recent.from(0)).last().map(|sample| sample.due_ns);
            self.stretch.begin(|| onset_ns(recent, middle_ns, slowdown).or_else(last));
        }
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
        } else if self.last.failures >= FAILING_FROM {
            (State::Failing, self.last.failing_since)
        } else if slow {
            (State::Slow, self.stretch.since_ns())
        } else if partly_since.is_some() {
            (State::Slow, partly_since)
        } else if usual.slowdown.is_some() {
            (State::Ok, None)
        } else {
            (State::Learning, None)
        }
    }
}

#[cfg(test)]
mod tests;
