//! Rules that turn numbers into words: slow, hung, failing, busy.

use super::quantile::Estimate;
use super::rules::FLOOR_NS;
use super::triple::Factor;

/// Least slowdown of a slow window ...
pub const SLOW_FROM: f64 = 2.0;
/// ... and least lower end of its interval.
pub const SLOW_LOWER: f64 = 1.5;
/// Baselines after which an open operation hangs ...
pub const HUNG_BASELINES: f64 = 50.0;
/// ... if also older than this, and than [`HUNG_PERIODS`].
pub const HUNG_NS: u64 = 1_000_000_000;
/// See [`HUNG_NS`].
pub const HUNG_PERIODS: u64 = 2;
/// Consecutive failures that make a target failing.
pub const FAILING_FROM: u32 = 3;
/// Share of the added latency above which the probing host explains a slow window.
pub const HOST_SHARE: f64 = 0.5;
/// Lower end of the share of operations delayed or omitted by the host, from which on it was busy.
pub const HELD_UP_AT: f64 = 0.05;
/// Operations are lost from this lower end of the share lost on.
pub const LOST_AT: f64 = 0.05;
/// Timers of an idle host wake a probe 0.1 ms late; below this (median) lateness says nothing.
pub const LATE_NS: i64 = 1_000_000;

/// True if a slowdown with this lower end of its interval is slow. Unknown (NaN) is not.
pub fn is_slow(slowdown: f64, lower: f64) -> bool {
    slowdown >= SLOW_FROM && lower >= SLOW_LOWER
}

/// Standard errors by which a slowdown must exceed 1 while the baseline is learnt from windows so far.
pub const YOUNG_ERRORS: f64 = 4.0;
/// Typical slowdown below which a window is quiet ...
pub const QUIET_BELOW: f64 = 1.5;
/// ... and consecutive quiet windows that end a slow span.
pub const QUIET_WINDOWS: i64 = 5;
/// Standard errors in a 95 % interval.
const INTERVAL_ERRORS: f64 = 3.92;

/// True if a slowdown is slow relative to a young baseline whose windows vary by `error` (of logarithms).
pub fn is_young_slow(slowdown: &Estimate, error: f64) -> bool {
    let own = (slowdown.upper / slowdown.lower.max(f64::MIN_POSITIVE)).ln() / INTERVAL_ERRORS;
    is_slow(slowdown.value, slowdown.lower) && slowdown.value.ln() >= YOUNG_ERRORS * error.max(own)
}

/// True if an operation open for `age_ns` hangs.
pub fn is_hung(age_ns: u64, period_ns: u64, baseline_ns: Option<f64>) -> bool {
    let patience = HUNG_NS.max(HUNG_PERIODS * period_ns);
    age_ns > patience && age_ns as f64 > HUNG_BASELINES * baseline_ns.unwrap_or(0.0)
}

/// Ratio of delayed timers to the median on a contended host: a probe sometimes has a CPU at once and
/// sometimes waits for a slice. A coarse timer delays all alike.
pub const CONTENDED_FROM: f64 = 3.0;
/// CPU waits, as seen by timers, that may hide in an operation: those of kernel threads that serve the storage.
pub const HIDDEN_WAITS: f64 = 8.0;

/// Lateness of waking the probe over a window, of all operations of a target: began - due, ns. NaN or 0 if unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Lateness {
    /// Median.
    pub median_ns: f64,
    /// 0.9 quantile.
    pub q90_ns: f64,
}

impl Lateness {
    /// Lateness from values in any order.
    pub fn of(mut late_ns: Vec<i64>) -> Self {
        late_ns.sort_unstable();
        let at = |q: f64| {
            let rank = ((q * late_ns.len() as f64).ceil() as usize).max(1);
            late_ns.get(rank - 1).map_or(0.0, |&ns| ns as f64)
        };
        Self { median_ns: at(0.5), q90_ns: at(0.9) }
    }

    /// True if tasks of this host wait for a CPU: the waits of the storage's own kernel threads are in no
    /// operation's account.
    pub fn is_contended(self) -> bool {
        self.q90_ns > LATE_NS as f64 && self.q90_ns >= CONTENDED_FROM * self.median_ns
    }
}

/// Possible effects of the probing host on one slow window.
#[derive(Debug, Clone, Copy)]
pub struct Controls {
    /// Slowdown of the window.
    pub slowdown: f64,
    /// Slowdown without the thread's wait for a CPU: times `Q_unqueued(u) / Q_obs(u)` at [`control_level`].
    pub unqueued: f64,
    /// Lateness of the timer that woke the probe (median): began - due, ns.
    pub late_ns: f64,
    /// Expected latency in the middle of the compared band, ns.
    pub middle_ns: f64,
    /// Lateness of the host for all operations of the target.
    pub host: Lateness,
}

/// Level at which service times with and without the wait for a CPU are compared: among uncached operations
/// with two modes.
pub fn control_level(bimodal: bool) -> f64 {
    if bimodal { 0.80 } else { 0.50 }
}

/// True if the probing host explains a slow window: more than half of the slowdown above 1 is its thread's wait for
/// a CPU, or its timer was late by half of the added latency, or the host is contended and the added latency is no
/// more than its kernel threads may have waited, or no more than [`FLOOR_NS`] was added. Without added latency it
/// explains nothing.
pub fn host_was_busy(window: &Controls) -> bool {
    let share = HOST_SHARE * (window.slowdown - 1.0);
    let queued = window.slowdown - window.unqueued > share;
    let late = window.late_ns > LATE_NS as f64 && window.late_ns > share * window.middle_ns;
    let added_ns = (window.slowdown - 1.0) * window.middle_ns;
    let hidden = window.host.is_contended() && added_ns <= HIDDEN_WAITS * window.host.q90_ns;
    share > 0.0 && (queued || late || hidden || is_below_floor(window.slowdown, window.middle_ns))
}

/// True if a slowdown of operations that usually take `usual_ns` adds less than a processor takes to wake.
pub fn is_below_floor(slowdown: f64, usual_ns: f64) -> bool {
    (slowdown - 1.0) * usual_ns <= FLOOR_NS
}

/// True if the share of operations that the probing host alone delayed or omitted exceeds chance.
pub fn host_held_up(late: Factor) -> bool {
    late.lower.is_some_and(|lower| lower >= HELD_UP_AT)
}

/// The state of an op or a target, mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Too few windows for a baseline.
    Learning,
    /// As usual.
    Ok,
    /// Slower than usual.
    Slow,
    /// The last operations failed.
    Failing,
    /// An operation does not return.
    Hung,
    /// The probe ended.
    Stopped,
}

impl State {
    /// All states, as named in states and metrics.
    pub const ALL: [(State, &'static str); 6] = [
        (State::Learning, "learning"),
        (State::Ok, "ok"),
        (State::Slow, "slow"),
        (State::Failing, "failing"),
        (State::Hung, "hung"),
        (State::Stopped, "stopped"),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_needs_size_and_certainty() {
        assert!(is_slow(3.0, 2.5));
        assert!(!is_slow(3.0, 1.2));
        assert!(!is_slow(1.9, 1.8) && !is_slow(f64::NAN, 2.0));
    }

    #[test]
    fn hung_is_relative_to_what_is_usual() {
        assert!(is_hung(1_500_000_000, 100_000_000, Some(1e6)));
        assert!(!is_hung(1_500_000_000, 1_000_000_000, Some(1e6)));
        assert!(!is_hung(3_000_000_000, 1_000_000_000, Some(1e8)));
        assert!(is_hung(3_000_000_000, 1_000_000_000, None));
    }

    #[test]
    fn a_busy_host_explains_what_its_run_queue_took() {
        let busy = |slowdown, unqueued, late_ns| {
            let host = Lateness::default();
            host_was_busy(&Controls { slowdown, unqueued, late_ns, middle_ns: 1e6, host })
        };
        assert!(busy(3.0, 1.1, 0.0));
        assert!(!busy(3.0, 3.0, 1e5));
        assert!(!busy(2.05, 1.95, 1e5), "a tenth of what was added does not explain it");
        assert!(busy(3.0, 3.0, 1.2e6));
        assert!(!busy(9.0, 9.0, 1.2e6), "1.2 ms do not explain 8 ms");
        assert!(!busy(0.8, 0.1, 5e6), "nothing was added, so nothing is explained");
        assert!(!busy(f64::NAN, 1.0, 5e6) && !busy(3.0, f64::NAN, 0.0));
        let host = Lateness::default();
        let idle = |middle_ns| Controls { slowdown: 3.0, unqueued: 3.0, late_ns: 1e5, middle_ns, host };
        assert!(!host_was_busy(&idle(2e4)), "an idle timer is 0.1 ms late and explains nothing");
        assert!(host_was_busy(&idle(1.3e4)), "26 us are a processor that wakes");
    }

    #[test]
    fn on_a_contended_host_kernel_threads_wait_too_and_a_coarse_timer_is_none() {
        let busy = |slowdown, median_ns, q90_ns| {
            let host = Lateness { median_ns, q90_ns };
            host_was_busy(&Controls { slowdown, unqueued: slowdown, late_ns: 1e5, middle_ns: 1e6, host })
        };
        assert!(busy(20.0, 5e4, 4e6), "19 ms are five waits of 4 ms");
        assert!(!busy(60.0, 5e4, 4e6), "59 ms are more than the host can explain");
        assert!(!busy(20.0, 5e4, 4e5), "an idle host");
        assert!(!busy(20.0, 2e6, 3.6e6), "a timer of 4 ms");
        assert!(!busy(20.0, f64::NAN, f64::NAN), "unknown");
        let found = Lateness::of((1..=10).map(|k| k * 1_000_000).rev().collect());
        assert_eq!((found.median_ns, found.q90_ns), (5e6, 9e6));
        assert_eq!(Lateness::of(Vec::new()), Lateness::default());
    }
}
