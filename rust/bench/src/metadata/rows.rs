//! Every operation as 16 bytes, in memory that was touched before the phase began.
//!
//! What ended goes into a short ring; when that is full it is added up, and kept if that was asked for. Between two
//! operations only one line of memory is written: histograms would be fetched anew after every system call.

use super::account::{Account, place};
use iosonde_core::sample::{Op, Outcome};

/// An operation as it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Since the phase began.
    pub began_ns: u64,
    /// How long it took.
    pub latency_ns: u64,
    /// Which.
    pub op: Op,
    /// How it ended.
    pub outcome: Outcome,
}

/// Slower than this is kept even when there is no room for others.
pub const SLOW_NS: u64 = 100_000_000;
const SLOW_ROWS: usize = 1 << 16;
const LATENCY_BITS: u32 = 45;
const RING: usize = 512;

/// The rows of one phase.
#[derive(Debug, Default)]
pub struct Rows {
    ring: Vec<[u64; 2]>,
    rows: Vec<[u64; 2]>,
    room: usize,
    slow: Vec<[u64; 2]>,
    left_out: u64,
}

impl Rows {
    /// Room for `room` rows, and for some slow ones more.
    pub fn new(room: usize) -> Self {
        let touched = |n: usize| {
            // Ones, not zeros: pages that are only zero are not there yet.
            let mut rows = vec![[1_u64; 2]; n];
            rows.clear();
            rows
        };
        let slow = if room > 0 { SLOW_ROWS } else { 0 };
        Self { ring: touched(RING), rows: touched(room), room, slow: touched(slow), left_out: 0 }
    }

    /// One operation ended. Whether the ring is full now.
    #[inline]
    pub fn push(&mut self, row: Row) -> bool {
        self.ring.push(pack(row));
        self.ring.len() >= RING
    }

    /// Add up what is in the ring; an object has `size_bytes`.
    pub fn settle(&mut self, account: &mut Account, size_bytes: u64) {
        for at in 0..self.ring.len() {
            let packed = self.ring[at];
            let row = unpack(packed);
            let op = &mut account.ops[place(row.op)];
            if row.outcome == Outcome::OK {
                let moved = matches!(row.op, Op::MdCreate | Op::MdRead);
                op.succeed(row.latency_ns, if moved { size_bytes } else { 0 });
            } else {
                op.fail(row.outcome, row.latency_ns);
            }
            if self.room > 0 {
                self.keep(packed, row.latency_ns);
            }
        }
        self.ring.clear();
    }

    fn keep(&mut self, packed: [u64; 2], latency_ns: u64) {
        if self.rows.len() < self.room {
            self.rows.push(packed);
        } else if latency_ns >= SLOW_NS && self.slow.len() < SLOW_ROWS {
            self.slow.push(packed);
        } else {
            self.left_out += 1;
        }
    }

    /// What was kept, in the order in which it happened.
    pub fn iter(&self) -> impl Iterator<Item = Row> + '_ {
        self.rows.iter().chain(&self.slow).copied().map(unpack)
    }

    /// How many found no room.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Begin afresh.
    pub fn clear(&mut self) {
        self.ring.clear();
        self.rows.clear();
        self.slow.clear();
        self.left_out = 0;
    }
}

fn pack(row: Row) -> [u64; 2] {
    let latency = row.latency_ns.min((1 << LATENCY_BITS) - 1);
    let kind = u64::from(row.outcome.code()) << 3 | row.op as u64;
    [row.began_ns, kind << LATENCY_BITS | latency]
}

fn unpack([began_ns, packed]: [u64; 2]) -> Row {
    let kind = packed >> LATENCY_BITS;
    Row {
        began_ns,
        latency_ns: packed & ((1 << LATENCY_BITS) - 1),
        op: Op::ALL[(kind & 7) as usize % 6],
        outcome: Outcome::from_code((kind >> 3) as u16),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::Errno;

    fn row(began_ns: u64, latency_ns: u64) -> Row {
        Row { began_ns, latency_ns, op: Op::MdDelete, outcome: Outcome::OK }
    }

    #[test]
    fn rows_come_back_as_they_were() {
        let mut rows = Rows::new(100);
        let given: Vec<Row> = Op::ALL
            .into_iter()
            .flat_map(|op| {
                [Outcome::OK, Outcome::SHORT, Outcome::error(Errno::from_raw_os_error(133))].map(|outcome| {
                    Row { began_ns: u64::MAX, latency_ns: 86_400_000_000_000 / 3, op, outcome }
                })
            })
            .collect();
        let mut account = Account::default();
        given.iter().for_each(|&row| assert!(!rows.push(row)));
        assert_eq!(rows.iter().count(), 0, "not before they were added up");
        rows.settle(&mut account, 7);
        assert!(rows.iter().eq(given));
        assert_eq!(account.ops.iter().map(|op| (op.ok, op.bytes)).max(), Some((2, 7)));
    }

    #[test]
    fn when_full_slow_ones_are_still_kept() {
        let mut rows = Rows::new(2);
        for (began, latency) in [(1, 5), (2, 6), (3, 7), (4, SLOW_NS), (5, 8)] {
            rows.push(row(began, latency));
        }
        rows.settle(&mut Account::default(), 1);
        let kept: Vec<u64> = rows.iter().map(|row| row.began_ns).collect();
        assert_eq!((kept, rows.left_out()), (vec![1, 2, 4], 2));
        rows.clear();
        assert_eq!((rows.iter().count(), rows.left_out()), (0, 0));
    }

    #[test]
    fn nothing_is_kept_when_nothing_was_asked() {
        let mut rows = Rows::new(0);
        let mut account = Account::default();
        while !rows.push(row(1, SLOW_NS)) {}
        rows.settle(&mut account, 1);
        assert_eq!(account.ops[3].ok, RING as u64);
        assert_eq!((rows.iter().count(), rows.left_out()), (0, 0));
    }
}
