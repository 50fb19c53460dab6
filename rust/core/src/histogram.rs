//! Latency histograms: an HDR histogram for quantiles, fixed buckets for Prometheus.

/// Upper bounds of the exported buckets in nanoseconds: 50 us doubled up to 104.9 s.
pub const BUCKET_BOUNDS_NS: [u64; 22] = {
    let mut bounds = [0; 22];
    let mut i = 0;
    while i < bounds.len() {
        bounds[i] = 50_000 << i;
        i += 1;
    }
    bounds
};

/// Schema of Prometheus' native buckets: 2 to the power of this many per doubling, so bounds grow by 9 %.
pub const NATIVE_SCHEMA: i32 = 3;

const HIGHEST_NS: u64 = 24 * 3600 * 1_000_000_000;

/// Latencies of one op since the start, in nanoseconds.
#[derive(Debug, Clone)]
pub struct Histogram {
    hdr: hdrhistogram::Histogram<u32>,
    buckets: [u64; BUCKET_BOUNDS_NS.len()],
    count: u64,
    sum_ns: u128,
}

impl Default for Histogram {
    fn default() -> Self {
        // Two digits keep quantiles within 1 %, in 20 KiB.
        #[allow(clippy::expect_used)]
        let hdr = hdrhistogram::Histogram::new_with_bounds(1, HIGHEST_NS, 2)
            .expect("these bounds and 2 digits are allowed");
        Self { hdr, buckets: [0; BUCKET_BOUNDS_NS.len()], count: 0, sum_ns: 0 }
    }
}

impl Histogram {
    /// Count one latency. Above a day it counts as a day in quantiles, exactly in the sum.
    pub fn record(&mut self, latency_ns: u64) {
        self.hdr.saturating_record(latency_ns.clamp(1, HIGHEST_NS));
        let bucket = BUCKET_BOUNDS_NS.partition_point(|&bound| bound < latency_ns);
        if let Some(count) = self.buckets.get_mut(bucket) {
            *count += 1;
        }
        self.count += 1;
        self.sum_ns += u128::from(latency_ns);
    }
    /// Add the counts of another histogram.
    pub fn merge(&mut self, other: &Self) {
        // Both have the same bounds, so adding cannot fail.
        let _ = self.hdr.add(&other.hdr);
        self.buckets.iter_mut().zip(&other.buckets).for_each(|(mine, theirs)| *mine += theirs);
        self.count += other.count;
        self.sum_ns += other.sum_ns;
    }
    /// Number of recorded latencies.
    pub fn count(&self) -> u64 {
        self.count
    }
    /// Sum of latencies in seconds.
    pub fn sum_seconds(&self) -> f64 {
        self.sum_ns as f64 / 1e9
    }
    /// Counts at or below each of [`BUCKET_BOUNDS_NS`].
    pub fn cumulative(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let mut seen = 0;
        BUCKET_BOUNDS_NS.iter().zip(&self.buckets).map(move |(&bound, &count)| {
            seen += count;
            (bound, seen)
        })
    }
    /// Index and count of each native bucket that is not empty, ascending: `i` reaches from 2^((i-1)/8) s, excluded, to
    /// 2^(i/8) s. A latency within 1 % of a bound may count in the bucket beside it, always in the same.
    pub fn native(&self) -> Vec<(i32, u64)> {
        let per_doubling = f64::from(1 << NATIVE_SCHEMA);
        let mut found: Vec<(i32, u64)> = Vec::new();
        for step in self.hdr.iter_recorded() {
            let seconds = self.hdr.median_equivalent(step.value_iterated_to()) as f64 / 1e9;
            let index = (seconds.log2() * per_doubling).ceil() as i32;
            match found.last_mut() {
                Some((last, count)) if *last == index => *count += u64::from(step.count_at_value()),
                _ => found.push((index, u64::from(step.count_at_value()))),
            }
        }
        found
    }
    /// The nearest-rank quantile within 1 %; none when empty.
    pub fn quantile_ns(&self, q: f64) -> Option<u64> {
        (self.count > 0).then(|| self.hdr.value_at_quantile(q))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_reach_from_50_us_to_over_100_s() {
        assert_eq!(BUCKET_BOUNDS_NS[0], 50_000);
        assert!(BUCKET_BOUNDS_NS[21] > 100_000_000_000);
    }

    #[test]
    fn quantiles_stay_within_one_percent() {
        let mut histogram = Histogram::default();
        let values: Vec<u64> = (1..=10_000).map(|i| i * i).collect();
        for &value in &values {
            histogram.record(value);
        }
        for q in [0.01, 0.5, 0.95, 0.99] {
            let exact = values[(q * 10_000.0) as usize - 1] as f64;
            let found = histogram.quantile_ns(q).unwrap() as f64;
            assert!((found / exact - 1.0).abs() < 0.01, "q {q}: {found} against {exact}");
        }
    }

    #[test]
    fn native_buckets_hold_all_within_one_percent() {
        let mut histogram = Histogram::default();
        let values: Vec<u64> = (0..3_000).map(|i| 1.01_f64.powi(i) as u64).collect();
        values.iter().for_each(|&value| histogram.record(value));
        let native = histogram.native();
        assert!(native.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert_eq!(native.iter().map(|&(_, count)| count).sum::<u64>(), 3_000);
        let mut seen = 0;
        for &(index, count) in &native {
            seen += count;
            let bound_ns = (f64::from(index) / 8.0).exp2() * 1e9;
            let below =
                |share: f64| values.iter().filter(|&&v| v.min(HIGHEST_NS) as f64 <= bound_ns * share).count();
            assert!((below(0.99)..=below(1.01)).contains(&(seen as usize)), "up to {bound_ns} ns");
        }
    }

    #[test]
    fn merging_equals_recording_together() {
        let (mut all, mut first, mut second) =
            (Histogram::default(), Histogram::default(), Histogram::default());
        for value in (1..1_000_u64).map(|i| i * i * i) {
            all.record(value);
            if value % 3 == 0 { first.record(value) } else { second.record(value) }
        }
        first.merge(&second);
        assert!(first.cumulative().eq(all.cumulative()));
        assert_eq!(first.quantile_ns(0.9), all.quantile_ns(0.9));
        assert_eq!((first.count(), first.sum_seconds()), (all.count(), all.sum_seconds()));
    }

    #[test]
    fn beyond_the_last_bucket_only_the_count_grows() {
        let mut histogram = Histogram::default();
        histogram.record(u64::MAX);
        assert_eq!(histogram.cumulative().last(), Some((BUCKET_BOUNDS_NS[21], 0)));
        assert_eq!(histogram.count(), 1);
    }
}
