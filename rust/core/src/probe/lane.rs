//! One op of one target: wait until due, time it, record it, count what was missed.
//!
//! A lane has at most one operation open. Ticks that fall due meanwhile are rows too: skipped, never begun, and ended
//! when the operation that blocked them did, because a user who had wanted them would have waited that long. When an
//! operation is stuck the supervisor takes the later ticks away, see [`super::slot`].

use std::collections::VecDeque;
use std::sync::Arc;

use super::control::Control;
use super::operations::{Operation, Ready};
use super::region::Region;
use super::slot::{Claim, Slot, Tick};
use crate::clock::{Clock, Stop, timed};
use crate::pace::Schedule;
use crate::sample::{Op, Outcome};

/// A stuck lane accounts for this many ticks behind its open one, the supervisor for the rest: a hang of days must not
/// become a flood of rows when it ends.
pub const LIMBO: u64 = 4096;
/// How often a lane without ticks looks whether it was given some.
const LOOK_NS: u64 = 50_000_000;

/// The lane of one op.
pub struct Lane {
    /// Which op.
    pub op: Op,
    operation: Box<dyn Operation>,
    schedule: Schedule,
    clock: Arc<dyn Clock>,
    slot: Slot,
    region: Option<Region>,
    overflow: VecDeque<Tick>,
    next: u64,
    begun: u64,
}

/// An operation that was opened and is to be executed, or was and is to be closed.
#[derive(Debug, Clone, Copy)]
pub struct Opened {
    due_ns: u64,
    ready: Ready,
}

impl Lane {
    /// A lane whose first tick is the one its slot was reset to.
    pub fn new(
        op: Op,
        operation: Box<dyn Operation>,
        schedule: Schedule,
        clock: Arc<dyn Clock>,
        slot: Slot,
    ) -> Self {
        let next = slot.claim().end;
        let begun = next;
        Self { op, operation, schedule, clock, slot, region: None, overflow: VecDeque::new(), next, begun }
    }

    /// Work at the rate that a region's divider asks for.
    pub fn paced_by(mut self, region: Region) -> Self {
        self.region = Some(region);
        self
    }

    /// When the next tick that is worked on is due.
    pub fn next_due_ns(&self) -> u64 {
        let divider = self.region.as_ref().map_or(1, Region::divider);
        self.schedule.due_ns(self.next.next_multiple_of(divider))
    }

    /// Work until asked to stop.
    pub fn run(mut self, stop: &Stop) {
        wake_precisely();
        self.slot.enter(rustix::thread::gettid().as_raw_nonzero().get() as u32);
        let control = Control::of_this_thread();
        while !stop.raised() {
            if !self.has_ticks() {
                self.clock.sleep_until(self.clock.monotonic_ns() + LOOK_NS, stop);
                continue;
            }
            // Made ready before the tick, so that nothing stands between the timer and the operation.
            let ready = self.prepare();
            self.clock.sleep_until(self.next_due_ns(), stop);
            if stop.raised() {
                self.cancel(ready);
                break;
            }
            let Some(opened) = self.open(ready) else { continue };
            let queued_before = control.run_queue_ns();
            let (outcome, began_ns, ended_ns) = self.execute();
            let queued = control.run_queue_ns().zip(queued_before).map(|(after, before)| after - before);
            self.finish(opened, outcome, (began_ns, ended_ns), queued);
        }
    }

    /// Whether the lane may take ticks: a revoked one waits until it is given some again.
    pub fn has_ticks(&mut self) -> bool {
        let claim = self.slot.claim();
        if claim.revoked {
            self.slot.park(true);
            return false;
        }
        if self.slot.parked() {
            self.next = claim.end;
            self.slot.park(false);
        }
        true
    }

    /// Choose what the next operation will work on.
    pub fn prepare(&mut self) -> Option<Ready> {
        self.operation.prepare()
    }

    fn cancel(&mut self, ready: Option<Ready>) {
        if ready.is_some() {
            self.operation.cancel();
        }
    }

    /// Take the tick that is due now; none if there is nothing to execute.
    pub fn open(&mut self, ready: Option<Ready>) -> Option<Opened> {
        let now = self.clock.monotonic_ns();
        let divider = self.region.as_ref().map_or(1, Region::divider);
        // Woken a whole period late or more: the machine or the process was stopped.
        let current = self.schedule.tick_at(now).max(self.next);
        let worked_on = current.is_multiple_of(divider);
        let shed_until = if worked_on { current } else { current + 1 };
        if !self.skip_until(shed_until, now, divider) || !worked_on {
            self.cancel(ready);
            return None;
        }
        let due_ns = self.schedule.due_ns(current);
        if !self.claim(current + 1, now) {
            self.cancel(ready);
            return None;
        }
        let Some(ready) = ready else {
            self.record(Tick::never_begun(due_ns, Outcome::SKIPPED));
            return None;
        };
        self.begun = current;
        self.slot.open(due_ns);
        Some(Opened { due_ns, ready })
    }

    /// The operation itself; returns how it ended, when it began and when it ended.
    pub fn execute(&mut self) -> (Outcome, u64, u64) {
        timed(self.clock.as_ref(), || self.operation.run())
    }

    /// Keep account of an operation that ended between two instants. What tidying up takes still counts as open:
    /// it may hang like the operation itself.
    pub fn finish(&mut self, opened: Opened, outcome: Outcome, between: (u64, u64), queued: Option<u64>) {
        let (began_ns, ended_ns) = between;
        self.record(Tick {
            due_ns: opened.due_ns,
            began_ns,
            ended_ns,
            offset_bytes: opened.ready.offset_bytes.unwrap_or(u64::MAX),
            run_queue_ns: queued.unwrap_or(u64::MAX),
            outcome,
            cache: opened.ready.cache,
        });
        self.operation.settle(outcome, self.slot.claim().revoked);
        let claim = self.slot.claim();
        if claim.end > self.next || claim.revoked {
            self.absorb(claim, ended_ns);
        }
        let now = self.clock.monotonic_ns();
        if !claim.revoked && now >= self.schedule.due_ns(self.next) {
            // The tick in whose period the operation ended is over too: the lane resumes at a future one.
            let divider = self.region.as_ref().map_or(1, Region::divider);
            self.skip_until(self.schedule.tick_at(now) + 1, ended_ns, divider);
        }
        self.slot.close(outcome);
    }

    /// Own the ticks before `end`. False when the supervisor has taken them away meanwhile.
    fn claim(&mut self, end: u64, ended_ns: u64) -> bool {
        while self.next < end {
            let seen = Claim { end: self.next, revoked: false };
            match self.slot.move_claim(seen, Claim { end, revoked: false }) {
                Ok(()) => self.next = end,
                Err(claim) => {
                    self.absorb(claim, ended_ns);
                    if claim.revoked {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// The supervisor moved the claim while an operation was open: the first ticks behind it are still ours.
    fn absorb(&mut self, claim: Claim, ended_ns: u64) {
        for k in self.next..claim.end.min(self.begun + 1 + LIMBO) {
            self.skipped(k, ended_ns);
        }
        self.next = self.next.max(claim.end);
    }

    /// Ticks before `until` will never begin; what blocked them ended at `ended_ns`. Ticks that the divider leaves out
    /// were not missed. False when they were taken away.
    fn skip_until(&mut self, until: u64, ended_ns: u64, divider: u64) -> bool {
        let from = self.next;
        if until <= from {
            return true;
        }
        if !self.claim(until, ended_ns) {
            return false;
        }
        for k in from..until {
            if k.is_multiple_of(divider) {
                self.skipped(k, ended_ns);
            } else {
                self.record(Tick::never_begun(self.schedule.due_ns(k), Outcome::SHED));
            }
        }
        true
    }

    fn skipped(&mut self, k: u64, ended_ns: u64) {
        let due_ns = self.schedule.due_ns(k);
        // Tidying up after an operation may run past a tick that fell due after the operation's end.
        let ended_ns = ended_ns.max(due_ns);
        self.record(Tick { ended_ns, ..Tick::never_begun(due_ns, Outcome::SKIPPED) });
    }

    fn record(&mut self, tick: Tick) {
        while let Some(waiting) = self.overflow.front() {
            if !self.slot.push(waiting) {
                break;
            }
            self.overflow.pop_front();
        }
        if !self.overflow.is_empty() || !self.slot.push(&tick) {
            self.overflow.push_back(tick);
        }
    }
}

/// Linux lets timers be 50 us late to save power; a probe wants its tick.
fn wake_precisely() {
    // SAFETY: PR_SET_TIMERSLACK takes a number and touches no memory.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_usize, 0_usize, 0_usize, 0_usize) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SimClock;
    use crate::sample::Cache;

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
        fn settle(&mut self, _: Outcome, _: bool) {}
    }

    struct Rig {
        clock: SimClock,
        slot: Slot,
        lane: Lane,
        start: u64,
        seen: Vec<Tick>,
    }

    impl Rig {
        fn new(took_ns: &[u64]) -> Self {
            let clock = SimClock::new(0);
            let start = clock.monotonic_ns();
            let script = Scripted { clock: clock.clone(), took_ns: took_ns.iter().copied().collect() };
            let slot = Slot::alone().unwrap();
            slot.reset(0);
            let schedule = Schedule::new(start, 0, 100);
            let shared = Arc::new(clock.clone());
            let lane = Lane::new(Op::MdStat, Box::new(script), schedule, shared, slot.clone());
            Self { clock, slot, lane, start, seen: Vec::new() }
        }

        /// Do the next tick; `during` happens while its operation is open.
        fn step(&mut self, during: impl FnOnce(&Slot)) {
            assert!(self.lane.has_ticks());
            let ready = self.lane.prepare();
            self.clock.sleep_until(self.lane.next_due_ns(), &Stop::default());
            if let Some(opened) = self.lane.open(ready) {
                let (outcome, began_ns, ended_ns) = self.lane.execute();
                during(&self.slot);
                self.lane.finish(opened, outcome, (began_ns, ended_ns), None);
            }
            self.drain();
        }

        fn drain(&mut self) {
            while let Some(mut tick) = self.slot.pop() {
                tick.due_ns -= self.start;
                tick.ended_ns = tick.ended_ns.saturating_sub(self.start);
                self.seen.push(tick);
            }
        }
        fn due(&self) -> Vec<u64> {
            self.seen.iter().map(|tick| tick.due_ns / 100).collect()
        }
    }

    fn ticks(took_ns: &[u64], steps: usize) -> Vec<Tick> {
        let mut rig = Rig::new(took_ns);
        for _ in 0..steps {
            rig.step(|_| {});
        }
        rig.seen
    }

    #[test]
    fn ticks_taken_away_are_not_ours_and_those_before_them_are() {
        let mut rig = Rig::new(&[10, 950, 10]);
        rig.step(|_| {});
        // Stuck in tick 1: the supervisor takes everything from tick 6 on.
        rig.step(|slot| slot.move_claim(slot.claim(), Claim { end: 6, revoked: true }).unwrap());
        assert_eq!(rig.due(), [0, 1, 2, 3, 4, 5]);
        assert!(rig.seen[2..].iter().all(|tick| tick.outcome == Outcome::SKIPPED && tick.ended_ns == 1050));
        assert!(!rig.lane.has_ticks() && rig.slot.parked());
        // Given back from tick 20 on.
        rig.slot.move_claim(rig.slot.claim(), Claim { end: 20, revoked: false }).unwrap();
        rig.step(|_| {});
        assert_eq!(rig.due()[6..], [20]);
        assert!(!rig.slot.parked());
    }

    #[test]
    fn a_lane_stuck_for_long_accounts_for_a_bounded_number_of_ticks() {
        let mut rig = Rig::new(&[10 * LIMBO * 100]);
        let end = 9 * LIMBO;
        rig.step(|slot| slot.move_claim(slot.claim(), Claim { end, revoked: false }).unwrap());
        // The ring is small: the rest comes with the next ticks.
        while rig.lane.overflow.len() > 1 {
            rig.step(|_| {});
        }
        rig.drain();
        let due = rig.due();
        assert_eq!(due[..LIMBO as usize + 1], (0..=LIMBO).collect::<Vec<_>>());
        assert_eq!(due[LIMBO as usize + 1], end, "the supervisor's part is not ours");
        assert!(due[LIMBO as usize + 1..].windows(2).all(|pair| pair[1] == pair[0] + 1));
    }

    #[test]
    fn left_out_ticks_are_rows_that_say_so() {
        let region = Region::new(16, 1).unwrap();
        let mut rig = Rig::new(&[10, 10, 10]);
        rig.lane = rig.lane.paced_by(region.clone());
        region.divide(4);
        for _ in 0..3 {
            rig.step(|_| {});
        }
        let shed: Vec<bool> = rig.seen.iter().map(|tick| tick.outcome == Outcome::SHED).collect();
        assert_eq!(rig.due(), (0..9).collect::<Vec<_>>());
        assert_eq!(shed, [false, true, true, true, false, true, true, true, false]);
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
