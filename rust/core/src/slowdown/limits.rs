//! The limits of the detectors for one op, from the tail of its own baseline.
//!
//! | sum | an operation counts above c | p_0, at least | p_1 at that p_0 | H |
//! |---|---|---|---|---|
//! | `shift` | `Q_exp(.90)`, at least `1.5 m` | .15 | .40 | 12 D^1.5 |
//! | `share` | `Q_exp(.995)`, at least `2 m` | .01 | .08 | 7 D^1.5 |
//! | `tail` | `Q_exp(.999)`, at least `3 m` | .003 | .05 | 8 D^1.5 |
//!
//! m is the expected median, of uncached operations where there are two modes. `p_0` is the share above c that is usual and D the
//! dispersion of their number ([`super::null_rates`]); `p_1` keeps its odds ratio to `p_0`. Under `p_0` a sum of independent
//! operations exceeds h with a probability that falls as `exp(-h)`, one of clusters of D as `exp(-h / D)`; the exponent 1.5 is for clusters that differ in size.
//!
//! `typ` is slow from 2 on (2.5 with two modes) if `ln typ >= ln t + 4 max(s, e)`, t being the `typ` of a busy but ordinary ten
//! minutes, s the standard error of `ln typ` (its 95 % interval over 3.92) and e what minutes usually vary by. Losses raise an alarm from a share of .05 plus three
//! times the usual one on.

use super::cold::ColdLimit;
use super::rules::{ALARM_LOST, RULES, SumLimit};
use super::triple::{Expected, Factor};

/// Least `typ` of an alarm ...
pub const ALARM_TYP: f64 = 2.0;
/// ... and with two modes of latency.
pub const ALARM_TYP_BIMODAL: f64 = 2.5;
/// Standard errors by which `typ` must exceed the usual one.
pub const TYP_ERRORS: f64 = 4.0;
/// Standard errors in a 95 % interval.
const INTERVAL_ERRORS: f64 = 3.92;
/// Times the usual share of lost operations.
pub const LOST_TIMES: f64 = 3.0;

/// Limits of the detectors of one op.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Limits in the order of [`RULES`].
    pub sums: [SumLimit; 3],
    /// Limits of the sum of misses; none where latencies have one mode, or hits are few.
    pub cold: Option<ColdLimit>,
    /// Largest latency of a cache hit, which is ignored; 0 with one mode.
    pub neutral_ns: f64,
    /// `typ` of a busy but ordinary ten minutes.
    pub typ_usual: f64,
    typ_from: f64,
    typ_error: f64,
    lost_from: f64,
}

impl Limits {
    /// Limits from an expectation; none while its null rates are unknown.
    pub fn of(expected: &Expected) -> Option<Self> {
        let null = expected.null?;
        let sums = std::array::from_fn(|k| {
            let p0 = RULES[k].p0.max(null.share[k]).min(0.9);
            SumLimit::of(&RULES[k], expected.limits_ns[k], p0, null.dispersion[k])
        });
        let bimodal = expected.modes.is_some();
        Some(Self {
            sums,
            cold: ColdLimit::of(expected.modes, expected.misses),
            neutral_ns: if bimodal { expected.q50() } else { 0.0 },
            typ_usual: null.typ.max(1.0),
            typ_from: if bimodal { ALARM_TYP_BIMODAL } else { ALARM_TYP },
            typ_error: null.typ_error,
            lost_from: ALARM_LOST + LOST_TIMES * null.lost,
        })
    }
    /// True if the typical slowdown of a minute exceeds chance and load.
    pub fn is_typ_slow(&self, typ: Option<Factor>) -> bool {
        let Some(Factor { value, lower: Some(lower), upper: Some(upper) }) = typ else { return false };
        let error = (upper / lower.max(f64::MIN_POSITIVE)).ln() / INTERVAL_ERRORS;
        value >= self.typ_from && (value / self.typ_usual).ln() >= TYP_ERRORS * error.max(self.typ_error)
    }
    /// True if the share of lost operations exceeds the usual one.
    pub fn is_much_lost(&self, lost: Option<Factor>) -> bool {
        lost.is_some_and(|lost| lost.value >= self.lost_from)
    }
}
