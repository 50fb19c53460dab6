//! Slot of a lane in the shared memory: the ticks it owns, its open operation, its results.
//!
//! ```text
//! claim   first tick this lane does not own; top bit: revoked, the lane takes no more
//! due     when the open operation was due (monotonic); 0 = none is open
//! ended   operations that ended      failed  of those, how many of the latest failed in a row
//! last    outcome of the latest      thread  id of the lane's thread; 0 before it runs
//! parked  1 while a revoked lane waits to be given ticks again
//! ring    what the lane saw, one writer, one reader
//! ```
//! A tick belongs to exactly one lane: the lane takes ticks by moving `claim` on, the supervisor takes the rest away
//! by moving it on itself or by setting the top bit. Both do it with compare-and-exchange on the one word.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

use super::memory::Memory;
use iosonde_core::sample::{Cache, Outcome};

const CLAIM: usize = 0;
const DUE: usize = 8;
const ENDED: usize = 16;
const FAILED: usize = 24;
const LAST: usize = 32;
const THREAD: usize = 40;
const PARKED: usize = 48;
const HEAD: usize = 64;
const TAIL: usize = 128;
const RING: usize = 192;
const TICK: usize = 48;
/// Ticks a ring holds until the supervisor comes by; more wait in the lane.
pub const RING_TICKS: u64 = 256;
/// Bytes of a slot.
pub const SLOT: usize = (RING + RING_TICKS as usize * TICK).next_multiple_of(4096);
const REVOKED: u64 = 1 << 63;

/// Result of one tick as a lane saw it; monotonic nanoseconds, 0 = none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tick {
    /// When it was due.
    pub due_ns: u64,
    /// When it began.
    pub began_ns: u64,
    /// When it ended.
    pub ended_ns: u64,
    /// Place in the big file; `u64::MAX` = none.
    pub offset_bytes: u64,
    /// Time waited for a CPU; `u64::MAX` = unknown.
    pub run_queue_ns: u64,
    /// Outcome of the operation.
    pub outcome: Outcome,
    /// Part the cache could play.
    pub cache: Cache,
    /// So many ticks behind it fared the same: what a long operation blocked takes one place in the ring.
    pub more: u32,
}

impl Tick {
    /// A tick that never began.
    pub fn never_begun(due_ns: u64, outcome: Outcome) -> Self {
        let (offset_bytes, run_queue_ns) = (u64::MAX, u64::MAX);
        Self {
            due_ns,
            began_ns: 0,
            ended_ns: 0,
            offset_bytes,
            run_queue_ns,
            outcome,
            cache: Cache::Unknown,
            more: 0,
        }
    }

    fn words(&self) -> [u64; 6] {
        let small = u64::from(self.outcome.code()) | (self.cache as u64) << 16 | u64::from(self.more) << 32;
        [self.due_ns, self.began_ns, self.ended_ns, self.offset_bytes, self.run_queue_ns, small]
    }

    fn from_words([due_ns, began_ns, ended_ns, offset_bytes, run_queue_ns, small]: [u64; 6]) -> Self {
        let outcome = Outcome::from_code(small as u16);
        let cache = Cache::from_code((small >> 16) as u8);
        let more = (small >> 32) as u32;
        Self { due_ns, began_ns, ended_ns, offset_bytes, run_queue_ns, outcome, cache, more }
    }
}

/// Range of ticks a lane owns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// The first tick that is not the lane's.
    pub end: u64,
    /// True if it may take no more.
    pub revoked: bool,
}

impl Claim {
    fn word(self) -> u64 {
        self.end | if self.revoked { REVOKED } else { 0 }
    }
    fn from_word(word: u64) -> Self {
        Self { end: word & !REVOKED, revoked: word & REVOKED != 0 }
    }
}

/// A lane's slot in a target's shared memory.
#[derive(Debug, Clone)]
pub struct Slot {
    memory: Arc<Memory>,
    base: usize,
}

impl Slot {
    /// The slot that begins at byte `base`.
    pub fn new(memory: Arc<Memory>, base: usize) -> Self {
        Self { memory, base }
    }
    /// A slot of its own, for tests and benchmarks.
    pub fn alone() -> Result<Self, rustix::io::Errno> {
        Ok(Self::new(Arc::new(Memory::new(SLOT)?), 0))
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        self.memory.word(self.base + at)
    }

    /// Make it ready for a lane whose first tick is `first`. Nobody may be using it.
    pub fn reset(&self, first: u64) {
        for at in [DUE, ENDED, FAILED, LAST, THREAD, PARKED, HEAD, TAIL] {
            self.word(at).store(0, Relaxed);
        }
        self.word(CLAIM).store(first, SeqCst);
    }

    /// Ticks the lane owns now.
    pub fn claim(&self) -> Claim {
        Claim::from_word(self.word(CLAIM).load(Acquire))
    }
    /// Move the claim from what it was seen to be; the error is what it is instead.
    pub fn move_claim(&self, seen: Claim, to: Claim) -> Result<(), Claim> {
        let moved = self.word(CLAIM).compare_exchange(seen.word(), to.word(), SeqCst, Acquire);
        moved.map(|_| ()).map_err(Claim::from_word)
    }

    /// When the open operation was due (monotonic); none while the lane is idle.
    pub fn open_since_due_ns(&self) -> Option<u64> {
        Some(self.word(DUE).load(Acquire)).filter(|&due| due != 0)
    }
    /// An operation begins.
    pub fn open(&self, due_ns: u64) {
        self.word(DUE).store(due_ns, Release);
    }
    /// It ended.
    pub fn close(&self, outcome: Outcome) {
        let failed = self.word(FAILED);
        failed.store(if outcome == Outcome::OK { 0 } else { failed.load(Relaxed) + 1 }, Relaxed);
        self.word(LAST).store(u64::from(outcome.code()), Relaxed);
        self.word(ENDED).store(self.ended() + 1, Relaxed);
        self.word(DUE).store(0, Release);
    }
    /// Number of operations that have ended.
    pub fn ended(&self) -> u64 {
        self.word(ENDED).load(Relaxed)
    }
    /// Number of latest operations that failed in a row, and the outcome of the latest.
    pub fn failures(&self) -> (u64, Outcome) {
        (self.word(FAILED).load(Relaxed), Outcome::from_code(self.word(LAST).load(Relaxed) as u16))
    }

    /// Say which thread works here.
    pub fn enter(&self, thread: u32) {
        self.word(THREAD).store(u64::from(thread), Relaxed);
    }
    /// Identifier of the thread that works here, once one does.
    pub fn thread(&self) -> Option<u32> {
        u32::try_from(self.word(THREAD).load(Relaxed)).ok().filter(|&thread| thread != 0)
    }
    /// A revoked lane waits, or stops waiting, for ticks.
    pub fn park(&self, parked: bool) {
        self.word(PARKED).store(u64::from(parked), Release);
    }
    /// True if a revoked lane waits for ticks.
    pub fn parked(&self) -> bool {
        self.word(PARKED).load(Acquire) == 1
    }

    /// Put a tick into the ring, unless it is full. Only the lane may.
    pub fn push(&self, tick: &Tick) -> bool {
        let head = self.word(HEAD).load(Relaxed);
        if head.wrapping_sub(self.word(TAIL).load(Acquire)) >= RING_TICKS {
            return false;
        }
        for (cell, word) in self.cells(head).iter().zip(tick.words()) {
            cell.store(word, Relaxed);
        }
        self.word(HEAD).store(head.wrapping_add(1), Release);
        true
    }
    /// Take the oldest tick out of the ring. Only the supervisor may.
    pub fn pop(&self) -> Option<Tick> {
        let tail = self.word(TAIL).load(Relaxed);
        if tail == self.word(HEAD).load(Acquire) {
            return None;
        }
        let cells = self.cells(tail);
        let words = std::array::from_fn(|i| cells[i].load(Relaxed));
        self.word(TAIL).store(tail.wrapping_add(1), Release);
        Some(Tick::from_words(words))
    }
    fn cells(&self, number: u64) -> &[AtomicU64] {
        self.memory.words(self.base + RING + (number % RING_TICKS) as usize * TICK, TICK / 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::Errno;

    fn tick(due_ns: u64) -> Tick {
        Tick {
            began_ns: 5,
            cache: Cache::Evicted,
            more: u32::MAX,
            ..Tick::never_begun(due_ns, Outcome::error(Errno::STALE))
        }
    }

    #[test]
    fn ticks_come_out_as_they_went_in_and_none_beyond_the_ring() {
        let slot = Slot::alone().unwrap();
        slot.reset(0);
        for round in 0..3 {
            let sent = (0..).take_while(|&k| slot.push(&tick(round * 1000 + k))).count();
            assert_eq!(sent as u64, RING_TICKS);
            for k in 0..RING_TICKS {
                assert_eq!(slot.pop(), Some(tick(round * 1000 + k)));
            }
            assert_eq!(slot.pop(), None);
        }
    }

    #[test]
    fn two_threads_exchange_every_tick_in_order() {
        let slot = Slot::alone().unwrap();
        slot.reset(0);
        let writer = std::thread::spawn({
            let slot = slot.clone();
            move || {
                for k in 0..100_000 {
                    while !slot.push(&tick(k)) {
                        std::thread::yield_now();
                    }
                }
            }
        });
        for k in 0..100_000 {
            let got = std::iter::repeat_with(|| slot.pop()).flatten().next();
            assert_eq!(got, Some(tick(k)));
        }
        writer.join().unwrap();
    }

    #[test]
    fn of_two_who_want_a_tick_one_gets_it() {
        let slot = Slot::alone().unwrap();
        slot.reset(5);
        let seen = slot.claim();
        let revoked = Claim { end: 9, revoked: true };
        slot.move_claim(seen, revoked).unwrap();
        let refused = slot.move_claim(seen, Claim { end: 6, revoked: false });
        assert_eq!(refused, Err(revoked));
    }

    #[test]
    fn failures_in_a_row_are_counted() {
        let slot = Slot::alone().unwrap();
        slot.reset(0);
        for outcome in [Outcome::OK, Outcome::error(Errno::IO), Outcome::error(Errno::STALE)] {
            slot.open(1);
            slot.close(outcome);
        }
        assert_eq!((slot.ended(), slot.failures()), (3, (2, Outcome::error(Errno::STALE))));
        slot.close(Outcome::OK);
        assert_eq!(slot.failures().0, 0);
    }
}
