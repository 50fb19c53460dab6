//! Budget of probing a target, and the period that keeps to it.

use serde::{Deserialize, Serialize};

use super::options::BudgetOptions;

/// Operations of one period: one of each kind.
const OPS_A_PERIOD: f64 = 6.0;
const MILLISECOND_NS: u64 = 1_000_000;

/// Limits of the cost of probing one target; none is unlimited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// Bytes read and written a second.
    pub bytes_per_s: Option<u64>,
    /// Operations a second.
    pub ops_per_s: Option<f64>,
    /// Processor time a second.
    pub cpu_ns_per_s: Option<u64>,
}

impl Budget {
    /// Takes the target's own limits, else those for all; shared evenly by `parts` components.
    pub(super) fn new(own: &BudgetOptions, all: &BudgetOptions, parts: usize) -> Self {
        let parts = parts.max(1) as u64;
        Self {
            bytes_per_s: own.bytes.or(all.bytes).map(|bytes| bytes / parts),
            ops_per_s: own.ops.or(all.ops).map(|ops| ops / parts as f64),
            cpu_ns_per_s: own.cpu.or(all.cpu).map(|cpu| cpu / parts),
        }
    }

    /// The first fault of the budget, if it has one.
    pub(super) fn problem(&self) -> Option<&'static str> {
        if self.bytes_per_s == Some(0) {
            return Some("a budget of 0 bytes allows no probe; leave `bytes` out for no limit");
        }
        if self.ops_per_s.is_some_and(|ops| !(ops > 0.0 && ops.is_finite())) {
            return Some("a budget's `ops` must be a number above 0; leave it out for no limit");
        }
        if self.cpu_ns_per_s.is_some_and(|cpu| cpu < MILLISECOND_NS / 10) {
            return Some("a budget's `cpu` must be at least 100us a second; leave it out for no limit");
        }
        None
    }

    /// The period that was asked for, or the shortest whole multiple of 1 ms that the budget allows.
    pub(super) fn stretch(&self, asked_ns: u64, block_bytes: u64, object_bytes: u64) -> u64 {
        let bytes = 2.0 * (block_bytes as f64 + object_bytes as f64);
        let for_bytes = self.bytes_per_s.map_or(0.0, |limit| bytes / limit as f64);
        let for_ops = self.ops_per_s.map_or(0.0, |limit| OPS_A_PERIOD / limit);
        let least_ns = for_bytes.max(for_ops) * 1e9;
        if least_ns <= asked_ns as f64 {
            return asked_ns;
        }
        // What rounding adds to an exact quotient must not cost a millisecond.
        let milliseconds = (least_ns / MILLISECOND_NS as f64 - 1e-6).ceil();
        (milliseconds as u64).saturating_mul(MILLISECOND_NS).clamp(asked_ns, i64::MAX as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(bytes: Option<u64>, ops: Option<f64>) -> Budget {
        Budget { bytes_per_s: bytes, ops_per_s: ops, cpu_ns_per_s: None }
    }

    #[test]
    fn a_period_that_fits_is_left_alone() {
        assert_eq!(Budget::default().stretch(1_500_000, 1 << 20, 3901), 1_500_000);
        assert_eq!(budget(Some(3 << 20), Some(8.0)).stretch(1_000_000_000, 1 << 20, 3901), 1_000_000_000);
        assert_eq!(budget(None, Some(6.0)).stretch(1_000_000_000, 1 << 20, 3901), 1_000_000_000);
    }

    #[test]
    fn a_period_that_costs_too_much_is_the_next_millisecond() {
        assert_eq!(budget(None, Some(3.0)).stretch(1_000_000_000, 4096, 1), 2_000_000_000);
        assert_eq!(budget(None, Some(7.0)).stretch(100_000_000, 4096, 1), 858_000_000);
        // 2 * (1 MiB + 3901 bytes) at 1 MiB a second: 2.00744 s.
        assert_eq!(budget(Some(1 << 20), None).stretch(1_000_000_000, 1 << 20, 3901), 2_008_000_000);
        assert!(budget(None, Some(1e-300)).stretch(1, 4096, 1) > 1 << 60);
    }

    #[test]
    fn components_share_a_budget() {
        let written = BudgetOptions { bytes: Some(4000), ops: Some(8.0), cpu: Some(20_000_000) };
        let shared = Budget::new(&BudgetOptions::default(), &written, 4);
        assert_eq!(
            shared,
            Budget { bytes_per_s: Some(1000), ops_per_s: Some(2.0), cpu_ns_per_s: Some(5_000_000) }
        );
    }
}
