//! Comparison of a window with the usual latency.

use super::baselines::Baselines;
use crate::slowdown::baseline::MINIMUM_WINDOWS;
use crate::slowdown::levels::Levels;
use crate::slowdown::quantile::{Estimate, of_sorted};
use crate::slowdown::seen::Seen;
use crate::slowdown::triple::{Factor, Triple};
use crate::slowdown::verdict::{Controls, Lateness, control_level, host_was_busy, is_slow, is_young_slow};

/// Reference of a window, and the comparison.
pub struct Usual {
    pub baseline_ns: Option<f64>,
    /// Reference of an onset: of uncached operations with two modes.
    pub middle_ns: Option<f64>,
    /// Reference of a hang.
    pub slowest_ns: Option<f64>,
    /// Number of windows behind the baseline.
    pub known: usize,
    pub slowdown: Option<Estimate>,
    /// Variation of the windows behind a young baseline.
    young_error: Option<f64>,
    pub tail: Option<Factor>,
    pub lost: Option<Factor>,
}

impl Usual {
    /// Compare with the guarded baseline, or while it learns with the median of the windows so far. `median`: of the window that
    /// starts at `start_ns`.
    pub fn of(baselines: &mut Baselines, levels: &Levels, median: Option<Estimate>, start_ns: i64) -> Self {
        let expected = baselines.guarded().expected().copied();
        let Triple { typ, tail, lost } = Triple::of(levels, expected.as_ref());
        let whole = |typ: Factor| {
            let (lower, upper) = typ.lower.zip(typ.upper)?;
            Some(Estimate { value: typ.value, lower, upper, n: levels.n as usize })
        };
        if let Some(expected) = expected {
            return Self {
                baseline_ns: Some(expected.q50()),
                middle_ns: Some(expected.middle()),
                slowest_ns: Some(expected.q99),
                known: (baselines.guarded().intervals() as usize).max(MINIMUM_WINDOWS),
                slowdown: typ.and_then(whole),
                young_error: None,
                tail,
                lost,
            };
        }
        let (young, known) = baselines.young(start_ns);
        let baseline_ns = young.map(|young| young.baseline_ns);
        Self {
            baseline_ns,
            middle_ns: baseline_ns,
            slowest_ns: baseline_ns,
            known,
            slowdown: median.zip(baseline_ns).map(|(median, baseline)| ratio(&median, baseline)),
            young_error: young.map(|young| young.error),
            tail,
            lost,
        }
    }

    pub fn is_slow(&self) -> bool {
        self.slowdown.is_some_and(|found| match self.young_error {
            Some(error) => is_young_slow(&found, error),
            None => is_slow(found.value, found.lower),
        })
    }

    /// True if the probing host explains a slow window, by the numbers that make it slow.
    pub fn is_host_busy(&self, rows: &[Seen], late_ns: f64, bimodal: bool, host: Lateness) -> bool {
        let level = control_level(bimodal);
        let at = |rows: &mut dyn Iterator<Item = Seen>| {
            let mut service: Vec<i64> = rows.filter_map(|row| row.service_ns).collect();
            service.sort_unstable();
            of_sorted(&service, level).map(|found| found.value)
        };
        let alone = at(&mut rows.iter().map(|row| row.unqueued())).zip(at(&mut rows.iter().copied()));
        let known = self.slowdown.zip(alone).zip(self.middle_ns);
        known.is_some_and(|((slowdown, (unqueued_ns, service_ns)), middle_ns)| {
            let unqueued = slowdown.value * unqueued_ns / service_ns.max(1.0);
            host_was_busy(&Controls { slowdown: slowdown.value, unqueued, late_ns, middle_ns, host })
        })
    }
}

fn ratio(of: &Estimate, baseline: f64) -> Estimate {
    let by = |value: f64| value / baseline.max(1.0);
    Estimate { value: by(of.value), lower: by(of.lower), upper: by(of.upper), n: of.n }
}
