//! Recent rows of an op in memory: input of detectors, onset and state, in 25 bytes per row.

use std::collections::VecDeque;

use super::seen::free_again_ns;
use crate::sample::{Cache, Op, Outcome, Sample};

const CLASS: u8 = 7;
const BEGAN: u8 = 8;
const ENDED: u8 = 16;
const QUEUED: u8 = 32;
const BY_HOST: u8 = 64;
/// Outcomes distinguished by the live account; any other equals the last one.
const CLASSES: [Outcome; 6] =
    [Outcome::OK, Outcome::SKIPPED, Outcome::PENDING, Outcome::TIMEOUT, Outcome::SHED, Outcome::SHORT];
/// Growth step in rows, in addition to an eighth of the present ones.
const STEP: usize = 32;

/// Start and end of a row relative to its due time, and its outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    late: [u8; 6],
    response: [u8; 6],
    queued: [u8; 4],
    kind: u8,
}

/// Encode durations to the nanosecond below 19 hours, to 16 us above, at most a month.
fn long(ns: i64) -> [u8; 6] {
    let scaled = scaled(ns.max(0) as u64, 47, 14);
    let mut bytes = [0; 6];
    bytes.copy_from_slice(&scaled.to_le_bytes()[..6]);
    bytes
}

fn of_long(bytes: [u8; 6]) -> i64 {
    let mut eight = [0; 8];
    eight[..6].copy_from_slice(&bytes);
    unscaled(u64::from_le_bytes(eight), 47, 14)
}

/// Scale a number: unchanged below so many bits, above without its lowest `shift`.
fn scaled(value: u64, bits: u32, shift: u32) -> u64 {
    let most = (1 << bits) - 1;
    if value <= most { value } else { (value >> shift).min(most) | 1 << bits }
}

fn unscaled(code: u64, bits: u32, shift: u32) -> i64 {
    let least = code & ((1 << bits) - 1);
    (if code == least { code } else { least << shift }) as i64
}

impl Times {
    /// Encode a row.
    pub fn of(sample: &Sample) -> Self {
        let class = CLASSES.iter().position(|&class| class == sample.outcome).unwrap_or(CLASSES.len() - 1);
        let flag = |known: bool, flag: u8| if known { flag } else { 0 };
        let (late, response) =
            (sample.began_ns.map(|ns| ns - sample.due_ns), sample.ended_ns.map(|ns| ns - sample.due_ns));
        let queued = sample.control_runq_ns;
        let known =
            flag(late.is_some(), BEGAN) | flag(response.is_some(), ENDED) | flag(queued.is_some(), QUEUED);
        Self {
            late: long(late.unwrap_or(0)),
            response: long(response.unwrap_or(0)),
            queued: (scaled(queued.unwrap_or(0).max(0) as u64, 31, 10) as u32).to_le_bytes(),
            kind: class as u8 | known,
        }
    }
    /// Decode the row, as far as the live account needs it.
    pub fn sample(&self, op: Op, due_ns: i64) -> Sample {
        let known = |flag: u8, value: i64| (self.kind & flag != 0).then_some(value);
        Sample {
            due_ns,
            began_ns: known(BEGAN, due_ns + of_long(self.late)),
            ended_ns: known(ENDED, due_ns + of_long(self.response)),
            offset_bytes: None,
            control_runq_ns: known(QUEUED, unscaled(u64::from(u32::from_le_bytes(self.queued)), 31, 10)),
            target: 0,
            op,
            outcome: CLASSES[usize::from(self.kind & CLASS).min(CLASSES.len() - 1)],
            cache: Cache::Unknown,
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Row {
    due_ns: [u8; 8],
    times: Times,
}

/// Rows in the order of their due times.
#[derive(Debug)]
pub struct Recent {
    op: Op,
    rows: VecDeque<Row>,
}

impl Recent {
    /// An empty list for this op.
    pub fn new(op: Op) -> Self {
        Self { op, rows: VecDeque::new() }
    }
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }
    /// True without rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.rows.capacity() * size_of::<Row>()
    }
    /// Forget all.
    pub fn clear(&mut self) {
        self.rows = VecDeque::new();
    }
    /// Number of rows due before an instant.
    pub fn before(&self, due_ns: i64) -> usize {
        self.rows.partition_point(|row| i64::from_le_bytes(row.due_ns) < due_ns)
    }
    /// Row by index.
    pub fn get(&self, place: usize) -> Option<Sample> {
        self.rows.get(place).map(|row| self.sample(row))
    }
    /// Rows from an index on.
    pub fn from(&self, place: usize) -> impl DoubleEndedIterator<Item = Sample> + Clone + '_ {
        self.judged(place).map(|(sample, _)| sample)
    }
    /// As `from`, each with true if the probing host alone made it late.
    pub fn judged(&self, place: usize) -> impl DoubleEndedIterator<Item = (Sample, bool)> + Clone + '_ {
        let rows = self.rows.range(place.min(self.rows.len())..);
        rows.map(|row| (self.sample(row), row.times.kind & BY_HOST != 0))
    }
    /// Add a row, which the probing host alone made late or not. An operation that was stuck comes in after the trials that
    /// took over from it: it, and not the host, held these up.
    pub fn insert(&mut self, sample: &Sample, by_host: bool) {
        if self.rows.len() == self.rows.capacity() {
            self.rows.reserve_exact(STEP + self.rows.len() / 8);
        }
        let place = self.before(sample.due_ns.saturating_add(1));
        let mut times = Times::of(sample);
        times.kind |= if by_host { BY_HOST } else { 0 };
        self.rows.insert(place, Row { due_ns: sample.due_ns.to_le_bytes(), times });
        if let Some(free_ns) = free_again_ns(sample).filter(|_| place + 1 < self.rows.len()) {
            let until = self.before(free_ns);
            self.rows.range_mut(place + 1..until.max(place + 1)).for_each(|row| row.times.kind &= !BY_HOST);
        }
    }
    /// Keep at most so many rows, due at most so long before the last one.
    pub fn trim(&mut self, most: usize, span_ns: i64) {
        let newest = self.rows.back().map_or(0, |row| i64::from_le_bytes(row.due_ns));
        let old = self.before(newest - span_ns).max(self.rows.len().saturating_sub(most));
        self.rows.drain(..old);
    }

    fn sample(&self, row: &Row) -> Sample {
        row.times.sample(self.op, i64::from_le_bytes(row.due_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Random;

    #[test]
    fn a_row_comes_back_to_the_nanosecond() {
        let mut random = Random::stream(1, "recent");
        let mut recent = Recent::new(Op::MdStat);
        for k in 0..2_000 {
            let some = |random: &mut Random, most: f64| {
                (random.unit() < 0.9).then(|| (random.unit() * most).exp() as i64)
            };
            let due_ns = 1_700_000_000_000_000_000 + k;
            let sample = Sample {
                due_ns,
                began_ns: some(&mut random, 30.0).map(|ns| due_ns + ns),
                ended_ns: some(&mut random, 31.5).map(|ns| due_ns + ns),
                offset_bytes: None,
                control_runq_ns: some(&mut random, 21.0),
                target: 0,
                op: Op::MdStat,
                outcome: CLASSES[random.below(6) as usize],
                cache: Cache::Unknown,
            };
            recent.insert(&sample, false);
            assert_eq!(recent.get(recent.len() - 1), Some(sample));
        }
        recent.trim(100, i64::MAX);
        assert_eq!((recent.len(), recent.get(0).unwrap().due_ns), (100, 1_700_000_000_000_000_000 + 1_900));
        recent.trim(100, 9);
        assert_eq!(recent.len(), 10);
        assert!(size_of::<Row>() == 25);
    }

    #[test]
    fn what_a_stuck_operation_held_up_is_its_own_once_it_returns() {
        let row = |due_ns: i64, ended_ns: i64| Sample {
            due_ns,
            began_ns: Some(due_ns),
            ended_ns: Some(ended_ns),
            offset_bytes: None,
            control_runq_ns: None,
            target: 0,
            op: Op::MdStat,
            outcome: Outcome::OK,
            cache: Cache::Unknown,
        };
        let mut recent = Recent::new(Op::MdStat);
        for due_ns in [0, 20, 30, 40] {
            recent.insert(&row(due_ns, due_ns + 1), due_ns > 0);
        }
        recent.insert(&row(10, 35), false);
        let by_host: Vec<bool> = recent.judged(0).map(|(_, by_host)| by_host).collect();
        assert_eq!(by_host, [false, false, false, false, true]);
    }

    #[test]
    fn hangs_of_days_keep_their_length_and_other_errors_are_errors() {
        let long = Sample {
            due_ns: 5,
            began_ns: Some(6),
            ended_ns: Some(5 + 10 * 86_400_000_000_000),
            offset_bytes: None,
            control_runq_ns: Some(60_000_000_000),
            target: 3,
            op: Op::MdStat,
            outcome: Outcome::error(rustix::io::Errno::IO),
            cache: Cache::Direct,
        };
        let again = Times::of(&long).sample(Op::MdStat, 5);
        let off = again.ended_ns.unwrap() - long.ended_ns.unwrap();
        assert!((-16_384..=0).contains(&off) && again.outcome != Outcome::OK, "{again:?}");
        assert!((60_000_000_000 - again.control_runq_ns.unwrap()) < 1_024);
    }
}
