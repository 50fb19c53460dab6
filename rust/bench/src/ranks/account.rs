//! What the operations of one op amounted to: counts, sums, a histogram.

use iosonde_core::sample::Outcome;

const HIGHEST_NS: u64 = 24 * 3600 * 1_000_000_000;
const DIGITS: u8 = 3;

/// One op of one rank in one phase.
#[derive(Debug, Clone)]
pub struct OpAccount {
    /// Ended ok.
    pub ok: u64,
    /// Their latencies' sum.
    pub sum_ns: u64,
    /// The smallest; `u64::MAX` before the first.
    pub min_ns: u64,
    /// The largest.
    pub max_ns: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Ended otherwise: how, and how many.
    pub failed: Vec<(Outcome, u64)>,
    /// Time spent in these.
    pub failed_ns: u64,
    histogram: hdrhistogram::Histogram<u32>,
}

impl Default for OpAccount {
    fn default() -> Self {
        #[allow(clippy::expect_used)]
        let histogram = hdrhistogram::Histogram::new_with_bounds(1, HIGHEST_NS, DIGITS)
            .expect("these bounds and 3 digits are allowed");
        Self {
            ok: 0,
            sum_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
            bytes: 0,
            failed: Vec::new(),
            failed_ns: 0,
            histogram,
        }
    }
}

impl OpAccount {
    /// Count one that ended ok.
    #[inline]
    pub fn succeed(&mut self, latency_ns: u64, bytes: u64) {
        self.ok += 1;
        self.bytes += bytes;
        self.sum_ns += latency_ns;
        self.min_ns = self.min_ns.min(latency_ns);
        self.max_ns = self.max_ns.max(latency_ns);
        self.histogram.saturating_record(latency_ns.max(1));
    }

    /// Count one that did not.
    pub fn fail(&mut self, outcome: Outcome, latency_ns: u64) {
        self.failed_ns += latency_ns;
        match self.failed.iter_mut().find(|(known, _)| *known == outcome) {
            Some((_, count)) => *count += 1,
            None => self.failed.push((outcome, 1)),
        }
    }

    /// How many did not end ok.
    pub fn failures(&self) -> u64 {
        self.failed.iter().map(|(_, count)| count).sum()
    }

    /// Latencies (the middle of a bucket, within 0.1 %) and how many had them, ascending.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.histogram.iter_recorded().map(|step| {
            (self.histogram.median_equivalent(step.value_iterated_to()), step.count_since_last_iteration())
        })
    }

    /// Begin afresh without giving memory back.
    pub fn clear(&mut self) {
        self.histogram.reset();
        self.failed.clear();
        (self.ok, self.sum_ns, self.min_ns, self.max_ns) = (0, 0, u64::MAX, 0);
        (self.bytes, self.failed_ns) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_keep_counts_and_three_digits() {
        let mut account = OpAccount::default();
        let values: Vec<u64> = (1..=2_000).map(|i| i * i * 7).collect();
        values.iter().for_each(|&value| account.succeed(value, 1));
        assert_eq!(account.buckets().map(|(_, count)| count).sum::<u64>(), 2_000);
        let mut seen = 0;
        for (value, count) in account.buckets() {
            for exact in &values[seen..seen + count as usize] {
                assert!((value as f64 / *exact as f64 - 1.0).abs() <= 0.001, "{value} for {exact}");
            }
            seen += count as usize;
        }
        assert_eq!((account.min_ns, account.max_ns, account.bytes), (7, 28_000_000, 2_000));
        account.clear();
        assert_eq!((account.ok, account.buckets().count()), (0, 0));
    }

    #[test]
    fn failures_are_counted_by_kind_and_stay_out_of_latencies() {
        let mut account = OpAccount::default();
        let full = Outcome::error(rustix::io::Errno::NOSPC);
        account.fail(full, 5);
        account.fail(full, 6);
        account.fail(Outcome::SHORT, 1);
        assert_eq!(account.failed, vec![(full, 2), (Outcome::SHORT, 1)]);
        assert_eq!((account.failures(), account.failed_ns, account.buckets().count()), (3, 12, 0));
    }
}
