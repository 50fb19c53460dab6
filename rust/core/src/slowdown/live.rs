//! One op of one target as it happens: counts, histograms, the last window against the baseline.

use std::collections::VecDeque;

use serde::Serialize;

use super::baseline::Trailing;
use super::onset::onset;
use super::quantile::{Estimate, WindowStatistics, of_sorted};
use super::verdict::{Controls, FAILING_FROM, State, host_was_busy, is_hung, is_slow};
pub use super::window::ClosedWindow;
use super::window::OpenWindow;
use crate::histogram::Histogram;
use crate::sample::{Cache, Op, Outcome, Sample};

/// Windows of samples kept, so that an onset inside an earlier window can be found.
const KEPT_WINDOWS: i64 = 4;
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

/// What is known of one op now, as written to the state folder. `_ns` fields are null when unknown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OpState {
    /// Which op.
    pub op: &'static str,
    /// What it amounts to.
    pub state: State,
    /// Rows of the last window.
    pub n_due: usize,
    /// Those that ended ok.
    pub n_seen: usize,
    /// Those that did not.
    pub n_lost: usize,
    /// Ticks skipped since the start.
    pub ticks_skipped: u64,
    /// Service latency of the last op that ended ok.
    pub latest_ns: Option<i64>,
    /// Median service latency of the last window.
    pub median_ns: Option<f64>,
    /// Lower end of its interval.
    pub median_lower_ns: Option<f64>,
    /// Upper end of its interval.
    pub median_upper_ns: Option<f64>,
    /// 0.95 quantile of the last window; null below 72 samples.
    pub q95_ns: Option<f64>,
    /// What is usual.
    pub baseline_ns: Option<f64>,
    /// From how many windows that is known.
    pub baseline_windows: usize,
    /// Median / baseline.
    pub slowdown: Option<f64>,
    /// Lower end of its interval.
    pub slowdown_lower: Option<f64>,
    /// Upper end of its interval.
    pub slowdown_upper: Option<f64>,
    /// Since when it is slow, hung or failing, UTC.
    pub since_ns: Option<i64>,
    /// Age of the open operation.
    pub inflight_ns: Option<u64>,
    /// When the open operation was due, UTC.
    pub inflight_due_ns: Option<i64>,
    /// Whether the probing host explains the slowdown.
    pub host_busy: bool,
    /// When an operation last ended ok, UTC.
    pub last_ok_ns: Option<i64>,
    /// How the last one ended.
    pub last_outcome: Option<String>,
    /// What the cache could do to it.
    pub cache: Option<&'static str>,
}

/// The running account of one op.
#[derive(Debug)]
pub struct LiveOp {
    op: Op,
    period_ns: u64,
    window_ns: i64,
    recent: VecDeque<Sample>,
    baseline: Trailing,
    open_window: (i64, OpenWindow),
    slow_since: Option<i64>,
    failures: u32,
    failing_since: Option<i64>,
    last: Option<Sample>,
    last_ok: Option<Sample>,
    /// Latency a user would have felt, since the start.
    pub felt: Histogram,
    /// Latency of the storage, since the start.
    pub service: Histogram,
    /// Rows by kind of outcome since the start, in the order of [`OUTCOME_KINDS`].
    pub counts: [u64; 5],
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
            recent: VecDeque::new(),
            baseline: Trailing::new(trailing_ns),
            open_window: (i64::MIN, OpenWindow::default()),
            slow_since: None,
            failures: 0,
            failing_since: None,
            last: None,
            last_ok: None,
            felt: Histogram::default(),
            service: Histogram::default(),
            counts: [0; 5],
        }
    }

    /// Remember a window of an earlier run.
    pub fn learn(&mut self, start_ns: i64, median_ns: i64) {
        self.baseline.learn(start_ns, median_ns);
    }

    /// Take a row; returns the window it closed.
    pub fn take(&mut self, sample: &Sample) -> Option<ClosedWindow> {
        self.count(sample);
        // An operation that was stuck comes in after the trials that took over from it.
        let at = self.recent.partition_point(|kept| kept.due_ns <= sample.due_ns);
        self.recent.insert(at, *sample);
        let newest = self.recent.back().map_or(sample.due_ns, |kept| kept.due_ns);
        let oldest = newest - KEPT_WINDOWS * self.window_ns;
        while self.recent.len() > KEPT_SAMPLES || self.recent.front().is_some_and(|kept| kept.due_ns < oldest)
        {
            self.recent.pop_front();
        }
        let start = sample.due_ns.div_euclid(self.window_ns) * self.window_ns;
        let closed = (start > self.open_window.0).then(|| self.close_window(start)).flatten();
        if start == self.open_window.0 {
            self.open_window.1.take(sample);
        }
        closed
    }

    /// The wall clock was set back: of time that is lived twice the later account counts.
    pub fn set_back(&mut self) {
        self.recent.clear();
        self.open_window = (i64::MIN, OpenWindow::default());
    }

    fn count(&mut self, sample: &Sample) {
        let kind = OUTCOME_KINDS.iter().position(|&kind| kind == sample.outcome.kind()).unwrap_or(1);
        self.counts[kind] += 1;
        if sample.outcome == Outcome::SHED {
            return;
        }
        if let Some(felt) = sample.felt_ns() {
            self.felt.record(felt.max(0) as u64);
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
        if let Some(median_ns) = closed.median_ns() {
            self.baseline.learn(start_ns, median_ns);
        }
        Some(closed)
    }

    /// Close the window that is still open, when nothing more will come.
    pub fn close(&mut self) -> Option<ClosedWindow> {
        self.close_window(i64::MAX)
    }

    /// Felt latencies of the last n rows; none for those that did not end ok.
    pub fn recent_felt(&self, n: usize) -> impl Iterator<Item = Option<i64>> + '_ {
        let skip = self.recent.len().saturating_sub(n);
        self.recent
            .iter()
            .skip(skip)
            .map(|sample| (sample.outcome == Outcome::OK).then(|| sample.felt_ns()).flatten())
    }

    /// What the last window amounts to at `now_ns` (UTC).
    pub fn assess(&mut self, now_ns: i64, in_flight: Option<InFlight>) -> OpState {
        let since = now_ns - self.window_ns;
        let window: Vec<Sample> =
            self.recent.iter().filter(|s| s.due_ns > since && s.outcome != Outcome::SHED).copied().collect();
        let mut service: Vec<i64> = ok_rows(&window).filter_map(Sample::service_ns).collect();
        let statistics = WindowStatistics::of(&mut service);
        let median = statistics.quantiles[1];
        let window_start = now_ns.div_euclid(self.window_ns) * self.window_ns;
        let baseline_ns = self.baseline.baseline_ns(window_start);
        let slowdown = median.zip(baseline_ns).map(|(median, baseline)| ratio(&median, baseline));
        let slow = slowdown.as_ref().is_some_and(|found| is_slow(found.value, found.lower));
        self.follow_since(slow, slowdown.as_ref(), baseline_ns);
        let (state, since_ns) = self.word(in_flight, slow, slowdown.is_some(), baseline_ns);
        OpState {
            op: self.op.name(),
            state,
            n_due: window.len(),
            n_seen: statistics.n_seen,
            n_lost: window.len() - statistics.n_seen,
            ticks_skipped: self.counts[3],
            latest_ns: self.last_ok.and_then(|sample| sample.service_ns()),
            median_ns: median.map(|m| m.value),
            median_lower_ns: median.map(|m| m.lower),
            median_upper_ns: median.map(|m| m.upper),
            q95_ns: statistics.quantiles[4].map(|q| q.value),
            baseline_ns,
            baseline_windows: self.baseline.windows(),
            slowdown: slowdown.map(|s| s.value),
            slowdown_lower: slowdown.map(|s| s.lower),
            slowdown_upper: slowdown.map(|s| s.upper),
            since_ns,
            inflight_ns: in_flight.map(|open| open.age_ns),
            inflight_due_ns: in_flight.map(|open| open.due_ns),
            host_busy: slow && baseline_ns.is_some_and(|baseline| busy(&window, baseline)),
            last_ok_ns: self.last_ok.and_then(|sample| sample.ended_ns),
            last_outcome: self.last.map(|sample| sample.outcome.name()),
            cache: self.last.map(|sample| Cache::name(sample.cache)),
        }
    }

    fn follow_since(&mut self, slow: bool, slowdown: Option<&Estimate>, baseline_ns: Option<f64>) {
        let (true, Some(slowdown), Some(baseline)) = (slow, slowdown, baseline_ns) else {
            self.slow_since = None;
            return;
        };
        if self.slow_since.is_none() {
            let rows: Vec<&Sample> = ok_rows(self.recent.make_contiguous()).collect();
            let service: Vec<i64> = rows.iter().filter_map(|sample| sample.service_ns()).collect();
            let first = onset(&service, baseline, slowdown.value).unwrap_or(service.len() - 1);
            self.slow_since = rows.get(first).map(|sample| sample.due_ns);
        }
    }

    fn word(
        &self,
        in_flight: Option<InFlight>,
        slow: bool,
        known: bool,
        baseline_ns: Option<f64>,
    ) -> (State, Option<i64>) {
        if let Some(open) = in_flight.filter(|open| is_hung(open.age_ns, self.period_ns, baseline_ns)) {
            (State::Hung, Some(open.due_ns))
        } else if self.failures >= FAILING_FROM {
            (State::Failing, self.failing_since)
        } else if slow {
            (State::Slow, self.slow_since)
        } else if known {
            (State::Ok, None)
        } else {
            (State::Learning, None)
        }
    }
}

fn ok_rows(rows: &[Sample]) -> impl Iterator<Item = &Sample> {
    rows.iter().filter(|sample| sample.outcome == Outcome::OK)
}

fn ratio(of: &Estimate, baseline: f64) -> Estimate {
    let by = |value: f64| value / baseline.max(1.0);
    Estimate { value: by(of.value), lower: by(of.lower), upper: by(of.upper), n: of.n }
}

fn busy(window: &[Sample], baseline_ns: f64) -> bool {
    let median = |of: &dyn Fn(&Sample) -> Option<i64>| {
        let mut values: Vec<i64> = ok_rows(window).filter_map(of).collect();
        values.sort_unstable();
        of_sorted(&values, 0.5).map(|median| median.value)
    };
    let unqueued = |sample: &Sample| Some(sample.service_ns()? - sample.control_runq_ns.unwrap_or(0));
    let controls = (
        median(&Sample::service_ns),
        median(&unqueued),
        median(&|sample| Some(sample.began_ns? - sample.due_ns)),
    );
    let (Some(service_ns), Some(unqueued_ns), Some(late_ns)) = controls else { return false };
    host_was_busy(&Controls { service_ns, unqueued_ns, late_ns }, baseline_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    fn row(k: i64, service_ns: i64, runq_ns: i64) -> Sample {
        Sample {
            due_ns: k * SECOND,
            began_ns: Some(k * SECOND + 1000),
            ended_ns: Some(k * SECOND + 1000 + service_ns),
            offset_bytes: None,
            control_runq_ns: Some(runq_ns),
            target: 0,
            op: Op::MdStat,
            outcome: Outcome::OK,
            cache: Cache::Unknown,
        }
    }

    fn account() -> LiveOp {
        LiveOp::new(Op::MdStat, SECOND as u64, 10 * SECOND as u64, 86_400 * SECOND as u64)
    }

    #[test]
    fn a_tripling_is_slow_since_the_sample_it_began() {
        let mut live = account();
        for k in 0..100 {
            live.take(&row(k, 2_000_000, 0));
        }
        assert_eq!(live.assess(99 * SECOND, None).state, State::Ok);
        for k in 100..110 {
            live.take(&row(k, 6_000_000, 0));
        }
        let state = live.assess(109 * SECOND, None);
        assert_eq!(state.state, State::Slow);
        assert_eq!(state.slowdown, Some(3.0));
        assert_eq!(state.since_ns, Some(100 * SECOND));
        assert!(!state.host_busy);
    }

    #[test]
    fn the_run_queue_explains_what_it_took() {
        let mut live = account();
        for k in 0..100 {
            live.take(&row(k, 2_000_000, 0));
        }
        for k in 100..110 {
            live.take(&row(k, 6_000_000, 4_100_000));
        }
        assert!(live.assess(109 * SECOND, None).host_busy);
    }

    #[test]
    fn no_number_from_too_few() {
        let mut live = account();
        for k in 0..5 {
            live.take(&row(k, 2_000_000, 0));
        }
        let state = live.assess(5 * SECOND, None);
        assert_eq!((state.state, state.median_ns, state.slowdown), (State::Learning, None, None));
    }

    #[test]
    fn a_clock_set_back_is_followed_at_once() {
        let mut live = account();
        for k in 10_000..10_100 {
            live.take(&row(k, 2_000_000, 0));
        }
        live.set_back();
        for k in 0..100 {
            live.take(&row(k, 6_000_000, 0));
        }
        let state = live.assess(99 * SECOND, None);
        assert_eq!((state.n_due, state.baseline_ns), (10, Some(6_000_000.0)));
    }

    #[test]
    fn hung_and_failing_have_their_own_words() {
        let mut live = account();
        let open = InFlight { due_ns: 7 * SECOND, age_ns: 5 * SECOND as u64 };
        let state = live.assess(12 * SECOND, Some(open));
        assert_eq!((state.state, state.since_ns), (State::Hung, Some(7 * SECOND)));
        for k in 20..23 {
            live.take(&Sample { outcome: Outcome::error(rustix::io::Errno::IO), ..row(k, 1, 0) });
        }
        let state = live.assess(23 * SECOND, None);
        assert_eq!((state.state, state.since_ns), (State::Failing, Some(20 * SECOND)));
        assert_eq!(state.last_outcome.as_deref(), Some("EIO"));
    }
}
