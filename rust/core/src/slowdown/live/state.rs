//! Current state of one op.

use serde::Serialize;

use crate::slowdown::verdict::{LOST_AT, State};

/// Current state of one op, as written to the state folder. `_ns` fields are null when unknown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OpState {
    /// Name of the op.
    pub op: &'static str,
    /// Verdict.
    pub state: State,
    /// Rows of the last window.
    pub n_due: usize,
    /// Number of successful rows.
    pub n_seen: usize,
    /// Number of other rows.
    pub n_lost: usize,
    /// Ticks skipped since the start.
    pub ticks_skipped: u64,
    /// Service time of the last op that ended ok.
    pub latest_ns: Option<i64>,
    /// Median service time of the last window, of more windows where it holds fewer than 6 operations.
    pub median_ns: Option<f64>,
    /// Lower end of its interval.
    pub median_lower_ns: Option<f64>,
    /// Upper end of its interval.
    pub median_upper_ns: Option<f64>,
    /// Operations behind the median.
    pub median_n: Option<usize>,
    /// 0.95 quantile of the last window, of more windows where it holds fewer than 72 operations.
    pub q95_ns: Option<f64>,
    /// Number of operations behind it.
    pub q95_n: Option<usize>,
    /// Usual latency.
    pub baseline_ns: Option<f64>,
    /// Number of windows behind the baseline.
    pub baseline_windows: usize,
    /// Reliability of the baseline: `learning` (a median of the windows so far), `early`, `provisional`, `reliable`.
    pub stage: &'static str,
    /// Number of the baseline's epoch: it grows with every lasting change of the usual latency.
    pub epoch: u32,
    /// Usual latency relative to the one when the first epoch became reliable.
    pub climate: Option<f64>,
    /// `typ`, the slowdown of the typical op; while learning median / baseline.
    pub slowdown: Option<f64>,
    /// Lower end of its interval.
    pub slowdown_lower: Option<f64>,
    /// Upper end of its interval.
    pub slowdown_upper: Option<f64>,
    /// Of a slow op the slowdown over the whole stretch since `since_ns`: the median of its windows.
    pub stretch_slowdown: Option<f64>,
    /// Lower end of its interval.
    pub stretch_lower: Option<f64>,
    /// Upper end of its interval.
    pub stretch_upper: Option<f64>,
    /// Slowdown of the slowest twentieth, by response time.
    pub tail: Option<f64>,
    /// Lower end of its interval.
    pub tail_lower: Option<f64>,
    /// Upper end of its interval; null below 72 rows.
    pub tail_upper: Option<f64>,
    /// Share of due ops that the storage made late, that failed or did not come back.
    pub lost: Option<f64>,
    /// Lower end of its interval.
    pub lost_lower: Option<f64>,
    /// Upper end of its interval.
    pub lost_upper: Option<f64>,
    /// Share of operations that were as quick as cache hits, where latencies have two modes.
    pub hits: Option<f64>,
    /// The usual share.
    pub hits_usual: Option<f64>,
    /// Cause of the current alarm: `typ`, `shift`, `share`, `tail`, `lost` or `cache`.
    pub alarm: Option<&'static str>,
    /// Time of the alarm, UTC.
    pub alarm_ns: Option<i64>,
    /// True during an alarm without a slow typical operation: a part of the operations is slow.
    pub partly: bool,
    /// Start of being slow, hung or failing, UTC.
    pub since_ns: Option<i64>,
    /// Age of the open operation.
    pub inflight_ns: Option<u64>,
    /// Due time of the open operation, UTC.
    pub inflight_due_ns: Option<i64>,
    /// Share of due ops that the probing host alone delayed or omitted.
    pub late: Option<f64>,
    /// True if the probing host explains the slowdown, or without one delayed many operations.
    pub host_busy: bool,
    /// End of the last successful operation, UTC.
    pub last_ok_ns: Option<i64>,
    /// Outcome of the last operation.
    pub last_outcome: Option<String>,
    /// Possible effect of the cache on it.
    pub cache: Option<&'static str>,
}

impl OpState {
    /// Names of [`OpState::verdict`], in metrics.
    pub const VERDICTS: [&'static str; 8] =
        ["learning", "ok", "host_busy", "partly_slow", "slow", "lost", "failing", "hung"];

    /// The verdict of the op, as `now` and its sentences have it.
    pub fn verdict(&self) -> &'static str {
        match self.state {
            State::Hung => "hung",
            State::Failing => "failing",
            State::Slow if self.partly => "partly_slow",
            State::Slow if !self.host_busy => "slow",
            _ if self.lost_lower.is_some_and(|lower| lower >= LOST_AT) => "lost",
            _ if self.host_busy => "host_busy",
            State::Learning => "learning",
            _ => "ok",
        }
    }
}
