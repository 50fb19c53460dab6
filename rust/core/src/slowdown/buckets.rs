//! Log-bucket histograms: the content of a roll-up's ten minutes, mergeable without loss.
//!
//! Bucket `b` holds latencies in `(gamma^(b-1), gamma^b]` ns, `gamma = 1.02`; its value `2 gamma^b / (1 + gamma)` is within
//! 1 % of all of them (Masson, Rim, Lee: DDSketch, VLDB 2019, section 2.1). Merging adds counts.

use std::fmt::Write as _;
use std::sync::LazyLock;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Ratio of a bucket's upper end to its lower end.
pub const GAMMA: f64 = 1.02;
/// Number of buckets; the last one takes everything above a day and a half.
pub const BUCKETS: usize = 1_650;

/// Bucket of a latency; the first below 1 ns.
pub fn bucket(ns: i64) -> u16 {
    if ns <= 1 {
        return 0;
    }
    let place = ((ns as f64).ln() / GAMMA.ln()).ceil() as usize;
    place.min(BUCKETS - 1) as u16
}

/// Representative latency of a bucket, ns.
pub fn value_ns(bucket: u16) -> f64 {
    VALUES_NS[usize::from(bucket).min(BUCKETS - 1)]
}

static VALUES_NS: LazyLock<Box<[f64; BUCKETS]>> = LazyLock::new(|| {
    let value = |bucket: usize| 2.0 * (bucket as f64 * GAMMA.ln()).exp() / (1.0 + GAMMA);
    Box::new(std::array::from_fn(value))
});

/// First bucket whose value exceeds a latency; [`BUCKETS`] if none does.
pub fn first_above(ns: f64) -> u16 {
    VALUES_NS.partition_point(|&value| value <= ns) as u16
}

/// Counts by bucket, ascending, packed: varint gap and varint count of each non-empty bucket.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Packed(Box<[u8]>);

impl Packed {
    /// Pack (bucket, count) pairs in ascending order of buckets; empty ones are left out.
    pub fn of(counts: impl Iterator<Item = (u16, u32)>) -> Self {
        let mut bytes = Vec::with_capacity(3 * counts.size_hint().1.unwrap_or(0).min(BUCKETS));
        let mut next = 0;
        for (bucket, count) in counts.filter(|&(_, count)| count > 0) {
            put(&mut bytes, u64::from(u32::from(bucket) - next));
            put(&mut bytes, u64::from(count));
            next = u32::from(bucket) + 1;
        }
        Self(bytes.into_boxed_slice())
    }
    /// Pack latencies in ascending order.
    pub fn of_sorted(sorted: &[i64]) -> Self {
        let runs = sorted.chunk_by(|&one, &other| bucket(one) == bucket(other));
        Self::of(runs.map(|run| (bucket(run[0]), run.len() as u32)))
    }
    /// (bucket, count), ascending.
    pub fn iter(&self) -> impl Iterator<Item = (u16, u32)> + '_ {
        Counts { rest: &self.0, next: 0 }
    }
    /// (bucket, count), descending.
    pub fn descending(&self) -> impl Iterator<Item = (u16, u32)> + use<> {
        let mut counts = Vec::with_capacity(self.0.len() / 2);
        counts.extend(self.iter());
        counts.into_iter().rev()
    }
    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.0.len()
    }
    /// True without any count.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// Number of latencies.
    pub fn total(&self) -> u64 {
        self.iter().map(|(_, count)| u64::from(count)).sum()
    }
}

struct Counts<'a> {
    rest: &'a [u8],
    next: u32,
}

impl Iterator for Counts<'_> {
    type Item = (u16, u32);

    #[inline]
    fn next(&mut self) -> Option<(u16, u32)> {
        let (gap, count) = match *self.rest {
            // Both below 128, as nearly always.
            [gap, count, ref rest @ ..] if (gap | count) < 0x80 => {
                self.rest = rest;
                (u32::from(gap), u32::from(count))
            }
            _ => (u32::try_from(take(&mut self.rest)?).ok()?, u32::try_from(take(&mut self.rest)?).ok()?),
        };
        let bucket = self.next.checked_add(gap).filter(|&bucket| bucket < BUCKETS as u32)?;
        self.next = bucket + 1;
        Some((bucket as u16, count))
    }
    /// At least a byte each for a gap and a count.
    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.rest.len() / 2))
    }
}

/// Append a number, seven bits a byte, the lowest first.
pub(crate) fn put(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Take such a number from the front; none if it is truncated or too long.
pub(crate) fn take(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

impl Serialize for Packed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return serializer.serialize_bytes(&self.0);
        }
        let mut text = String::with_capacity(2 * self.0.len());
        for byte in &self.0 {
            let _ = write!(text, "{byte:02x}");
        }
        serializer.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for Packed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return <&[u8]>::deserialize(deserializer).map(|bytes| Self(bytes.into()));
        }
        let text = String::deserialize(deserializer)?;
        let pairs = text.as_bytes().chunks(2);
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let bytes: Option<Vec<u8>> = pairs.map(byte).collect();
        let refuse = || serde::de::Error::custom("a histogram is pairs of hexadecimal digits");
        bytes.map(|bytes| Self(bytes.into_boxed_slice())).ok_or_else(refuse)
    }
}

/// Counts of every bucket, which can be added and subtracted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Packed", into = "Packed")]
pub struct Pool {
    counts: Vec<u32>,
    total: u64,
}

impl Default for Pool {
    fn default() -> Self {
        Self { counts: vec![0; BUCKETS], total: 0 }
    }
}

impl From<Packed> for Pool {
    fn from(packed: Packed) -> Self {
        let mut pool = Self::default();
        pool.add(&packed);
        pool
    }
}

impl From<Pool> for Packed {
    fn from(pool: Pool) -> Self {
        pool.packed()
    }
}

impl Pool {
    /// Heap size of a pool.
    pub const HEAP_BYTES: usize = BUCKETS * size_of::<u32>();

    /// Add a histogram.
    pub fn add(&mut self, packed: &Packed) {
        packed.iter().for_each(|(bucket, count)| self.put(bucket, count));
    }
    /// Add latencies of one bucket.
    pub fn put(&mut self, bucket: u16, count: u32) {
        let Some(had) = self.counts.get_mut(usize::from(bucket)) else { return };
        let more = count.min(u32::MAX - *had);
        *had += more;
        self.total += u64::from(more);
    }
    /// Subtract latencies of one bucket that were added.
    pub fn take(&mut self, bucket: u16, count: u32) {
        let Some(had) = self.counts.get_mut(usize::from(bucket)) else { return };
        let less = count.min(*had);
        *had -= less;
        self.total -= u64::from(less);
    }
    /// Count one latency.
    pub fn count(&mut self, bucket: u16) {
        self.put(bucket, 1);
    }
    /// Subtract a histogram that was added.
    pub fn remove(&mut self, packed: &Packed) {
        packed.iter().for_each(|(bucket, count)| self.take(bucket, count));
    }
    /// Number of latencies.
    pub fn total(&self) -> u64 {
        self.total
    }
    /// (bucket, count) of every bucket that is not empty.
    pub fn iter(&self) -> impl Iterator<Item = (u16, u32)> + '_ {
        self.counts.iter().enumerate().filter(|&(_, &n)| n > 0).map(|(bucket, &n)| (bucket as u16, n))
    }
    /// As `iter`, the slowest bucket first.
    pub fn descending(&self) -> impl Iterator<Item = (u16, u32)> + '_ {
        let all = self.counts.iter().enumerate().rev();
        all.filter(|&(_, &n)| n > 0).map(|(bucket, &n)| (bucket as u16, n))
    }
    /// As `iter`, for the sum of this pool and another one.
    pub fn with<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (u16, u32)> + 'a {
        let both = self.counts.iter().zip(&other.counts).enumerate();
        both.map(|(bucket, (&a, &b))| (bucket as u16, a.saturating_add(b))).filter(|&(_, n)| n > 0)
    }
    /// Packed copy.
    pub fn packed(&self) -> Packed {
        Packed::of(self.iter())
    }
}

/// Looks up ranks in a histogram.
#[derive(Debug)]
pub struct Cumulative {
    ends: Vec<(u64, u16)>,
}

impl Cumulative {
    /// From (bucket, count), ascending.
    pub fn of(counts: impl Iterator<Item = (u16, u32)>) -> Self {
        let mut seen = 0;
        let mut ends = Vec::with_capacity(counts.size_hint().1.unwrap_or(0).min(BUCKETS));
        ends.extend(counts.map(|(bucket, count)| {
            seen += u64::from(count);
            (seen, bucket)
        }));
        Self { ends }
    }
    /// Number of latencies.
    pub fn total(&self) -> u64 {
        self.ends.last().map_or(0, |&(seen, _)| seen)
    }
    /// The latency of 1-based `rank`; none outside.
    pub fn at_rank(&self, rank: u64) -> Option<f64> {
        let place = self.ends.partition_point(|&(seen, _)| seen < rank.max(1));
        self.ends.get(place).map(|&(_, bucket)| value_ns(bucket))
    }
    /// The q quantile by nearest rank; none when empty.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        self.at_rank((q * self.total() as f64).ceil() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Random;

    #[test]
    fn a_bucket_stands_for_its_latencies_within_one_percent() {
        let mut random = Random::stream(1, "buckets");
        for _ in 0..20_000 {
            let ns = ((random.unit() * 32.0).exp() as i64).max(1);
            let error = value_ns(bucket(ns)) / ns as f64 - 1.0;
            assert!(error.abs() <= 0.0101 || ns < 50, "{ns}: {error}");
        }
        assert_eq!((bucket(-5), bucket(0), bucket(1), bucket(i64::MAX)), (0, 0, 0, BUCKETS as u16 - 1));
    }

    #[test]
    fn the_first_bucket_above_is_where_values_exceed() {
        for k in 0..2_000 {
            let ns = (f64::from(k) * 0.011).exp() + 0.3;
            let from = first_above(ns);
            assert!(
                (from == BUCKETS as u16 || value_ns(from) > ns) && (from == 0 || value_ns(from - 1) <= ns),
                "{ns}: {from}"
            );
        }
    }

    #[test]
    fn packing_loses_nothing() {
        let mut random = Random::stream(2, "buckets");
        for _ in 0..200 {
            let mut values: Vec<i64> =
                (0..random.below(900)).map(|_| (1e6 * random.normal().exp()) as i64).collect();
            values.sort_unstable();
            let packed = Packed::of_sorted(&values);
            let mut pool = Pool::default();
            pool.add(&packed);
            assert_eq!((packed.total(), pool.total()), (values.len() as u64, values.len() as u64));
            assert_eq!(pool.packed(), packed);
            let text = serde_json::to_string(&packed).unwrap();
            assert_eq!(serde_json::from_str::<Packed>(&text).unwrap(), packed);
            pool.remove(&packed);
            assert_eq!(pool, Pool::default());
            let cumulative = Cumulative::of(packed.iter());
            for (i, &value) in values.iter().enumerate() {
                assert_eq!(cumulative.at_rank(i as u64 + 1), Some(value_ns(bucket(value))));
            }
            assert_eq!(cumulative.at_rank(values.len() as u64 + 1), None);
        }
    }

    #[test]
    fn damaged_bytes_end_early_and_never_panic() {
        let mut random = Random::stream(3, "buckets");
        for _ in 0..2_000 {
            let mut bytes = vec![0; random.below(30) as usize];
            random.fill(&mut bytes);
            let packed = Packed(bytes.into_boxed_slice());
            assert!(packed.iter().all(|(bucket, _)| usize::from(bucket) < BUCKETS));
        }
        assert!(serde_json::from_str::<Packed>("\"zz\"").is_err());
    }
}
