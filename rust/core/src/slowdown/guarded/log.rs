//! Log of intervals that may be judged again, packed into a bounded number of bytes.
//!
//! ```text
//! entry = start, n_due, n_lost, intervals, tail, latencies, bytes (varints) | histogram of service times
//! ```
//! When a log grows beyond [`LOG_BYTES`], neighbours within a span of a day are put together: 20 minutes, 40 minutes, and so on.
//! Their counts add up without loss; only how finely they are judged changes.

use serde::{Deserialize, Serialize};

use super::code::{self, Counts};
use super::interval::{INTERVAL_NS, Interval};
use super::kept::DAY_NS;
use super::points::{NONE, Points, levels};
use crate::slowdown::buckets::{Pool, put, take};
use crate::slowdown::levels::N;

/// Most bytes of a log.
pub const LOG_BYTES: usize = 98_304;
/// Growth step in bytes.
const STEP_BYTES: usize = 4 << 10;
/// Longest span in intervals: a day.
const LONGEST: u32 = 144;

/// Packed intervals in ascending order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Log {
    #[serde(with = "blob")]
    bytes: Vec<u8>,
    entries: u32,
    intervals: u32,
    /// Most intervals of an entry.
    span: u32,
    /// Position of the last entry, its start and that of the one before.
    last_at: u32,
    starts: [i64; 2],
    /// Number of changes of existing entries.
    #[serde(skip)]
    rewritten: u32,
}

impl Default for Log {
    fn default() -> Self {
        Self {
            bytes: Vec::new(),
            entries: 0,
            intervals: 0,
            span: 1,
            last_at: 0,
            starts: [0; 2],
            rewritten: 0,
        }
    }
}

/// An entry of a log.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry<'a> {
    pub(super) start_ns: i64,
    pub(super) n_due: u64,
    pub(super) n_lost: u64,
    /// Number of its intervals.
    pub(super) intervals: u32,
    /// Bucket of the 0.95 quantile of responses ([`NONE`] without any); none if responses equal the service times.
    pub(super) tail: Option<u16>,
    /// Number of latencies.
    pub(super) n: u64,
    code: &'a [u8],
}

impl<'a> Entry<'a> {
    /// Service times by bucket, descending.
    pub(super) fn counts(&self) -> Counts<'a> {
        Counts::of(self.code, self.n)
    }
    pub(super) fn points(&self) -> Points {
        Points::of(self.counts(), self.n, self.tail, (self.n_due, self.n_lost))
    }
    pub(super) fn day(&self) -> i64 {
        self.start_ns.div_euclid(DAY_NS)
    }
}

impl Log {
    /// Number of entries.
    pub(super) fn len(&self) -> usize {
        self.entries as usize
    }
    /// Number of intervals.
    pub(super) fn intervals(&self) -> usize {
        self.intervals as usize
    }
    /// Most intervals of an entry.
    pub(super) fn span(&self) -> usize {
        self.span as usize
    }
    /// Counter of changes of existing entries.
    pub(super) fn rewritten(&self) -> u32 {
        self.rewritten
    }
    /// True if every entry is readable: detects damage that a checksum missed.
    pub(super) fn is_whole(&self) -> bool {
        let intervals = self.iter().fold(0, |sum: u32, entry| sum.saturating_add(entry.intervals));
        let last = self.iter().last().map_or((0, 0), |last| (last.start_ns, last.n));
        let known = (1..=LONGEST * 2).contains(&self.span) && (self.last_at as usize) <= self.bytes.len();
        let counts = self.iter().all(|entry| {
            entry.n > 0 && entry.counts().map(|(_, count)| u64::from(count)).sum::<u64>() == entry.n
        });
        let same = (self.iter().count(), intervals) == (self.len(), self.intervals);
        known && counts && same && (self.entries == 0 || last.0 == self.starts[1])
    }
    pub(super) fn heap_bytes(&self) -> usize {
        self.bytes.capacity()
    }
    /// Entries in ascending order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Entry<'_>> {
        let (mut rest, mut before) = (self.bytes.as_slice(), 0);
        std::iter::from_fn(move || {
            let entry = entry(&mut rest, before)?;
            before = entry.start_ns;
            Some(entry)
        })
    }
    pub(super) fn clear(&mut self) {
        let rewritten = self.rewritten.wrapping_add(1);
        *self = Self { rewritten, ..Self::default() };
    }
    /// Drop entries.
    pub(super) fn retain(&mut self, stays: impl Fn(&Entry<'_>) -> bool) {
        if self.iter().all(|entry| stays(&entry)) {
            return;
        }
        let mut rest = Self { span: self.span, ..Self::default() };
        self.iter().filter(stays).for_each(|entry| rest.append(&entry));
        if rest.entries == 0 {
            rest.span = 1;
        }
        rest.rewritten = self.rewritten.wrapping_add(1);
        *self = rest;
    }

    /// Append an interval that starts after the last one and has rows.
    pub(super) fn push(&mut self, interval: &Interval) {
        let mut code = Vec::with_capacity(interval.service.bytes() + 8);
        code::encode(interval.service.descending(), &mut code);
        let tail = interval.response.as_ref().map(|response| {
            let n = response.total();
            if n == 0 { NONE } else { levels(response.descending(), n)[N - 1] }
        });
        let (start_ns, n_due, n_lost) = (interval.start_ns, interval.n_due, interval.n_lost);
        let n = interval.service.total();
        self.put(&Entry { start_ns, n_due, n_lost, intervals: 1, tail, n, code: &code });
        while self.bytes.len() > LOG_BYTES && self.span < LONGEST {
            self.widen();
        }
    }

    /// Merge entries within the same span of twice the length.
    fn widen(&mut self) {
        let mut wider = Self { span: self.span * 2, ..Self::default() };
        self.iter().for_each(|entry| wider.put(&entry));
        wider.rewritten = self.rewritten.wrapping_add(1);
        *self = wider;
    }

    /// Merge an entry into the last one if they are in one span, else append it.
    fn put(&mut self, entry: &Entry<'_>) {
        let place = |start_ns: i64| {
            let day = start_ns.div_euclid(DAY_NS);
            (day, (start_ns - day * DAY_NS) / INTERVAL_NS / i64::from(self.span))
        };
        if self.span == 1 || self.entries == 0 || place(self.starts[1]) != place(entry.start_ns) {
            return self.append(entry);
        }
        let last = self.bytes.split_off(self.last_at as usize);
        let before = if self.entries > 1 { self.starts[0] } else { 0 };
        let Some(first) = self::entry(&mut last.as_slice(), before) else { return };
        self.entries -= 1;
        self.intervals = self.intervals.saturating_sub(first.intervals);
        self.starts = [before; 2];
        let mut pool = Pool::default();
        let both = [&first, entry];
        both.iter().for_each(|one| one.counts().for_each(|(bucket, count)| pool.put(bucket, count)));
        let mut code = Vec::with_capacity(first.code.len() + entry.code.len());
        code::encode(pool.descending(), &mut code);
        self.append(&Entry {
            start_ns: first.start_ns,
            n_due: first.n_due.saturating_add(entry.n_due),
            n_lost: first.n_lost.saturating_add(entry.n_lost),
            intervals: first.intervals.saturating_add(entry.intervals),
            tail: tail_of(both),
            n: pool.total(),
            code: &code,
        });
        self.rewritten = self.rewritten.wrapping_add(1);
    }

    fn append(&mut self, entry: &Entry<'_>) {
        let before = if self.entries == 0 { 0 } else { self.starts[1] };
        let needed = self.bytes.len() + entry.code.len() + 64;
        if needed > self.bytes.capacity() {
            self.bytes.reserve_exact(entry.code.len().max(STEP_BYTES) + 64);
        }
        self.last_at = self.bytes.len() as u32;
        let tail = entry.tail.map_or(0, |bucket| if bucket == NONE { 1 } else { u64::from(bucket) + 2 });
        let (start, intervals) =
            (start_code(entry.start_ns.wrapping_sub(before)), u64::from(entry.intervals));
        let head = [start, entry.n_due, entry.n_lost, intervals, tail, entry.n, entry.code.len() as u64];
        head.into_iter().for_each(|number| put(&mut self.bytes, number));
        self.bytes.extend_from_slice(entry.code);
        self.entries += 1;
        self.intervals = self.intervals.saturating_add(entry.intervals);
        self.starts = [before, entry.start_ns];
    }
}

/// Code of a step: whole intervals take a byte, others nine.
fn start_code(step_ns: i64) -> u64 {
    let zigzag = |value: i64| ((value << 1) ^ (value >> 63)) as u64;
    if step_ns % INTERVAL_NS == 0 { zigzag(step_ns / INTERVAL_NS) << 1 } else { (zigzag(step_ns) << 1) | 1 }
}

fn step_of(code: u64) -> i64 {
    let zigzag = code >> 1;
    let value = (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
    if code & 1 == 0 { value.wrapping_mul(INTERVAL_NS) } else { value }
}

fn entry<'a>(rest: &mut &'a [u8], before: i64) -> Option<Entry<'a>> {
    let start_ns = before.wrapping_add(step_of(take(rest)?));
    let (n_due, n_lost) = (take(rest)?, take(rest)?);
    let intervals = u32::try_from(take(rest)?).ok()?;
    let tail = match take(rest)? {
        0 => None,
        1 => Some(NONE),
        bucket => Some(u16::try_from(bucket - 2).ok()?.min(NONE - 1)),
    };
    let n = take(rest)?;
    let length = usize::try_from(take(rest)?).ok()?;
    let (code, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(Entry { start_ns, n_due, n_lost, intervals, tail, n, code })
}

/// Tail of merged entries: the mean of the logarithms, weighted by latencies.
fn tail_of(entries: [&Entry<'_>; 2]) -> Option<u16> {
    if entries.iter().all(|entry| entry.tail.is_none()) {
        return None;
    }
    let tails = entries.map(|entry| (entry.points().tail, entry.n));
    let known = tails.iter().filter(|&&(bucket, n)| bucket != NONE && n > 0);
    let (sum, n) = known.fold((0, 0), |(sum, all), &(bucket, n)| (sum + u64::from(bucket) * n, all + n));
    Some((sum + n / 2).checked_div(n).map_or(NONE, |mean| mean as u16))
}

/// Bytes serialised as such, not as a list of numbers.
mod blob {
    use serde::{Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(bytes)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        struct Bytes;
        impl de::Visitor<'_> for Bytes {
            type Value = Vec<u8>;
            fn expecting(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                to.write_str("bytes")
            }
            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
                Ok(bytes.to_vec())
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}
