//! One op of one target: wait until due, time it, record it, count what was missed.
//!
//! A lane has at most one operation open. Ticks that fall due meanwhile are rows too: skipped, never begun, and ended
//! when the operation that blocked them did, because a user who had wanted them would have waited that long.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rtrb::Producer;

use super::control::Control;
use super::operations::{Operation, Ready};
use crate::clock::{Clock, Stop, timed};
use crate::pace::Schedule;
use crate::sample::{Cache, Op, Outcome};

/// What a lane saw of one tick; monotonic nanoseconds, 0 = none.
#[derive(Debug, Clone, Copy)]
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
    /// How it ended.
    pub outcome: Outcome,
    /// What the cache could do.
    pub cache: Cache,
}

/// The open operation of a lane, readable by others while it hangs.
#[derive(Debug, Default)]
pub struct Board {
    due_ns: AtomicU64,
}

impl Board {
    /// When the open operation was due (monotonic); none while the lane is idle.
    pub fn open_since_due_ns(&self) -> Option<u64> {
        match self.due_ns.load(Ordering::Acquire) {
            0 => None,
            due => Some(due),
        }
    }
}

/// The lane of one op.
pub struct Lane {
    /// Which op.
    pub op: Op,
    operation: Box<dyn Operation>,
    schedule: Schedule,
    clock: Arc<dyn Clock>,
    board: Arc<Board>,
    ring: Producer<Tick>,
    overflow: VecDeque<Tick>,
    next: u64,
}

impl Lane {
    /// A lane whose first tick is the schedule's first.
    pub fn new(
        op: Op,
        operation: Box<dyn Operation>,
        schedule: Schedule,
        clock: Arc<dyn Clock>,
        board: Arc<Board>,
        ring: Producer<Tick>,
    ) -> Self {
        Self { op, operation, schedule, clock, board, ring, overflow: VecDeque::new(), next: 0 }
    }

    /// When the next tick is due.
    pub fn next_due_ns(&self) -> u64 {
        self.schedule.due_ns(self.next)
    }

    /// Work until asked to stop.
    pub fn run(mut self, stop: &Stop) {
        wake_precisely();
        let control = Control::of_this_thread();
        loop {
            // Made ready before the tick, so that nothing stands between the timer and the operation.
            let ready = self.operation.prepare();
            self.clock.sleep_until(self.next_due_ns(), stop);
            if stop.raised() {
                break;
            }
            self.tick(ready, &control);
        }
    }

    /// Prepare and do the next tick without waiting: for simulations, whose clock is set to its due time before.
    pub fn step(&mut self) {
        let ready = self.operation.prepare();
        self.tick(ready, &Control::default());
    }

    fn tick(&mut self, ready: Option<Ready>, control: &Control) {
        // Woken a whole period late or more: the machine or the process was stopped.
        let current = self.schedule.tick_at(self.clock.monotonic_ns()).max(self.next);
        self.skip_until(current, self.clock.monotonic_ns());
        let due_ns = self.schedule.due_ns(current);
        self.next = current + 1;
        let Some(ready) = ready else {
            self.record(Tick { due_ns, ..NEVER_BEGUN });
            return;
        };
        let queued_before = control.run_queue_ns();
        self.board.due_ns.store(due_ns, Ordering::Release);
        let (outcome, began_ns, ended_ns) = timed(self.clock.as_ref(), || self.operation.run());
        self.board.due_ns.store(0, Ordering::Release);
        let queued = control.run_queue_ns().zip(queued_before).map(|(after, before)| after - before);
        self.record(Tick {
            due_ns,
            began_ns,
            ended_ns,
            offset_bytes: ready.offset_bytes.unwrap_or(u64::MAX),
            run_queue_ns: queued.unwrap_or(u64::MAX),
            outcome,
            cache: ready.cache,
        });
        self.operation.settle(outcome);
        let now = self.clock.monotonic_ns();
        if now >= self.next_due_ns() {
            // The tick in whose period the operation ended is over too: the lane resumes at a future one.
            self.skip_until(self.schedule.tick_at(now) + 1, ended_ns);
        }
    }

    /// Ticks before `until` will never begin; what blocked them ended at `ended_ns`.
    fn skip_until(&mut self, until: u64, ended_ns: u64) {
        for k in self.next..until {
            let due_ns = self.schedule.due_ns(k);
            // Tidying up after an operation may run past a tick that fell due after the operation's end.
            self.record(Tick { due_ns, ended_ns: ended_ns.max(due_ns), ..NEVER_BEGUN });
        }
        self.next = self.next.max(until);
    }

    fn record(&mut self, tick: Tick) {
        while let Some(&waiting) = self.overflow.front() {
            if self.ring.push(waiting).is_err() {
                break;
            }
            self.overflow.pop_front();
        }
        if !self.overflow.is_empty() || self.ring.push(tick).is_err() {
            self.overflow.push_back(tick);
        }
    }
}

const NEVER_BEGUN: Tick = Tick {
    due_ns: 0,
    began_ns: 0,
    ended_ns: 0,
    offset_bytes: u64::MAX,
    run_queue_ns: u64::MAX,
    outcome: Outcome::SKIPPED,
    cache: Cache::Unknown,
};

/// Linux lets timers be 50 us late to save power; a probe wants its tick.
fn wake_precisely() {
    // SAFETY: PR_SET_TIMERSLACK takes a number and touches no memory.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_usize, 0_usize, 0_usize, 0_usize) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SimClock;

    /// Takes a set time, op by op.
    struct Scripted {
        clock: SimClock,
        took_ns: VecDeque<u64>,
    }

    impl Operation for Scripted {
        fn prepare(&mut self) -> Option<Ready> {
            Some(Ready { offset_bytes: None, cache: Cache::Unknown })
        }
        fn run(&mut self) -> Outcome {
            self.clock.advance(self.took_ns.pop_front().unwrap_or(1));
            Outcome::OK
        }
        fn settle(&mut self, _: Outcome) {}
    }

    fn ticks(took_ns: &[u64], steps: usize) -> Vec<Tick> {
        let clock = SimClock::new(0);
        let start = clock.monotonic_ns();
        let script = Scripted { clock: clock.clone(), took_ns: took_ns.iter().copied().collect() };
        let (ring, mut out) = rtrb::RingBuffer::new(4);
        let schedule = Schedule::new(start, 0, 100);
        let shared = Arc::new(clock.clone());
        let mut lane = Lane::new(Op::MdStat, Box::new(script), schedule, shared, Arc::default(), ring);
        let mut seen = Vec::new();
        for _ in 0..steps {
            clock.sleep_until(lane.next_due_ns(), &Stop::default());
            lane.step();
            while let Ok(tick) = out.pop() {
                seen.push(tick);
            }
        }
        for tick in &mut seen {
            tick.due_ns -= start;
            tick.ended_ns -= start;
        }
        seen
    }

    #[test]
    fn a_stall_leaves_one_row_a_tick_and_truthful_felt_latencies() {
        let rows = ticks(&[10, 450, 10], 3);
        let due: Vec<u64> = rows.iter().map(|row| row.due_ns).collect();
        assert_eq!(due, [0, 100, 200, 300, 400, 500, 600]);
        let felt: Vec<u64> = rows.iter().map(|row| row.ended_ns - row.due_ns).collect();
        assert_eq!(felt, [10, 450, 350, 250, 150, 50, 10]);
        let skipped = rows.iter().filter(|row| row.outcome == Outcome::SKIPPED).count();
        assert_eq!(skipped, 4);
    }

    #[test]
    fn an_operation_that_ends_just_before_the_next_tick_skips_none() {
        let rows = ticks(&[99, 100, 10], 3);
        let due: Vec<u64> = rows.iter().map(|row| row.due_ns).collect();
        assert_eq!(due, [0, 100, 200, 300]);
        assert_eq!(rows[2].outcome, Outcome::SKIPPED);
    }

    #[test]
    fn a_full_ring_delays_rows_and_loses_none() {
        let rows = ticks(&[2_000], 24);
        let mut due: Vec<u64> = rows.iter().map(|row| row.due_ns).collect();
        let sent = due.len();
        due.dedup();
        assert_eq!((sent, due[0]), (due.len(), 0));
        assert!(due.windows(2).all(|pair| pair[1] - pair[0] == 100));
    }
}
