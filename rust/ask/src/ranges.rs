//! Threshold ranges of monitoring plugins, and the status that follows from findings.
//!
//! `10` alerts outside 0..10, `10:` below 10, `~:10` above 10, `10:20` outside 10..20, `@10:20` inside (ends included).
//! Source: Monitoring Plugins Development Guidelines, "Threshold and Ranges".

use iosonde_core::slowdown::verdict::{SLOW_FROM, SLOW_LOWER, is_slow};

use crate::finding::{Finding, OpVerdict};
use crate::text::cleaned;

/// Nothing to alert for.
pub const OK: u8 = 0;
/// Slower than the limit.
pub const WARNING: u8 = 1;
/// Much slower, hanging or failing.
pub const CRITICAL: u8 = 2;
/// No news, still learning, or a wrong request.
pub const UNKNOWN: u8 = 3;
/// By their numbers.
pub const STATUS_NAMES: [&str; 4] = ["OK", "WARNING", "CRITICAL", "UNKNOWN"];
/// Mildest first: a known problem outweighs not knowing.
const BADNESS: [u8; 4] = [OK, UNKNOWN, WARNING, CRITICAL];

/// Alert outside `low..=high`, or inside.
#[derive(Debug, Clone, PartialEq)]
pub struct AlertRange {
    /// As the user wrote it.
    pub text: String,
    low: f64,
    /// The upper end.
    pub high: f64,
    /// Whether it alerts inside.
    pub inside: bool,
}

impl std::str::FromStr for AlertRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            let text = cleaned(text.as_bytes());
            format!("cannot read the range '{text}'; expected 10, 10:, ~:10, 10:20 or @10:20")
        };
        let bare = text.trim();
        let (inside, ends) = bare.strip_prefix('@').map_or((false, bare), |ends| (true, ends));
        let (low, high) = match ends.split_once(':') {
            None => (0.0, number(ends).ok_or_else(wrong)?),
            Some(("", high)) => (0.0, number(high).ok_or_else(wrong)?),
            Some((low, high)) => {
                let low = if low == "~" { Some(f64::NEG_INFINITY) } else { number(low) };
                let high = if high.is_empty() { Some(f64::INFINITY) } else { number(high) };
                (low.ok_or_else(wrong)?, high.ok_or_else(wrong)?)
            }
        };
        if low > high {
            return Err(wrong());
        }
        Ok(AlertRange { text: bare.to_string(), low, high, inside })
    }
}

/// Digits with a sign and a point, no exponent.
fn number(text: &str) -> Option<f64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, part) = digits.split_once('.').unwrap_or((digits, "0"));
    let plain =
        [whole, part].iter().all(|side| !side.is_empty() && side.bytes().all(|byte| byte.is_ascii_digit()));
    if plain { text.parse().ok() } else { None }
}

impl AlertRange {
    /// 0 to `high`.
    pub fn to(high: f64) -> Self {
        Self { text: high.to_string(), low: 0.0, high, inside: false }
    }

    fn alerts(&self, value: f64) -> bool {
        (self.low <= value && value <= self.high) == self.inside
    }
}

/// The status of one target. What hangs or fails is critical whatever the ranges say, what is unknown or still learning is
/// unknown, and a busy probing host is ok: it says nothing about the storage. Else the worst operation counts.
pub fn status(finding: &Finding, warning: &AlertRange, critical: &AlertRange) -> u8 {
    if finding.severity == "hung" {
        return CRITICAL;
    }
    if finding.severity == "unknown" || matches!(finding.kind, "learning" | "few") {
        return UNKNOWN;
    }
    finding.ops.iter().map(|op| of_op(op, warning, critical)).max().unwrap_or(OK)
}

/// A slowdown that the probing host or the spread of the windows so far explains alerts nobody, whatever its interval. One that
/// was found needs no interval to support it: the alarm is the test.
fn of_op(op: &OpVerdict, warning: &AlertRange, critical: &AlertRange) -> u8 {
    if op.partly {
        return WARNING;
    }
    let least = if op.lost.is_none() { OK } else { WARNING };
    let Some(slowdown) = op.slowdown.filter(|_| !op.host_busy && !is_within_spread(op)) else { return least };
    for (level, limits) in [(CRITICAL, critical), (WARNING, warning)] {
        if limits.alerts(slowdown) && (op.state == "slow" || is_sure(op.lower, slowdown, limits)) {
            return level;
        }
    }
    least
}

/// Whether an operation is not slow though its slowdown and its interval are: while what is usual is still learnt, its windows
/// have varied as much.
pub fn is_within_spread(op: &OpVerdict) -> bool {
    op.state != "slow" && op.slowdown.zip(op.lower).is_some_and(|(value, lower)| is_slow(value, lower))
}

/// Whether the interval supports an alarm for a value that is too high: its lower end must reach the share of the limit that
/// makes a window slow, at most that of a slow window.
fn is_sure(lower: Option<f64>, slowdown: f64, limits: &AlertRange) -> bool {
    match lower {
        Some(lower) if !limits.inside && slowdown >= limits.low => {
            lower >= SLOW_LOWER.min(limits.high * SLOW_LOWER / SLOW_FROM)
        }
        _ => true,
    }
}

/// The status of several targets together; UNKNOWN for none.
pub fn worst(levels: &[u8]) -> u8 {
    let badness = |level: &&u8| BADNESS.iter().position(|one| one == *level);
    levels.iter().max_by_key(badness).copied().unwrap_or(UNKNOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_by_the_guideline() {
        for (text, alert, quiet) in [
            ("10", 11.0, 3.0),
            ("10:", 9.0, 99.0),
            ("~:10", 11.0, -5.0),
            ("@10:20", 10.0, 21.0),
            (":3", -1.0, 2.0),
        ] {
            let range: AlertRange = text.parse().unwrap();
            assert!(range.alerts(alert) && !range.alerts(quiet), "{text}");
        }
        for bad in ["", ":", "x", "20:10", "1e3", "1.", "nan", "@", "1:2:3", "+1"] {
            assert!(bad.parse::<AlertRange>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_known_problem_outweighs_not_knowing() {
        assert_eq!(
            (worst(&[]), worst(&[OK, UNKNOWN]), worst(&[UNKNOWN, WARNING])),
            (UNKNOWN, UNKNOWN, WARNING)
        );
    }

    #[test]
    fn what_was_found_slow_warns_however_wide_its_interval() {
        let op = |state: &str| OpVerdict {
            op: "data_read".into(),
            state: state.into(),
            slowdown: Some(2.5),
            lower: Some(1.2),
            upper: Some(4.3),
            n: 25,
            since_ns: None,
            host_busy: false,
            outcome: None,
            tail: None,
            partly: false,
            lost: None,
            late: None,
            hits: None,
            hits_usual: None,
            usual_ns: None,
        };
        let level = |state| of_op(&op(state), &AlertRange::to(2.0), &AlertRange::to(5.0));
        assert_eq!((level("slow"), level("ok")), (WARNING, OK));
    }
}
