//! A lane, which runs one op of one target: waits until it is due, times it, records it, counts missed ticks.
//!
//! A lane has at most one operation open. Ticks that fall due meanwhile are rows too: skipped, never begun, and ended
//! when the operation that blocked them did, because a user who had wanted them would have waited that long. Ticks for
//! which the lane was free but for this host, which kept its thread from a CPU, are left out: they say nothing of the
//! storage. When an operation is stuck the supervisor takes the later ticks away, see [`super::slot`].

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use super::control::Control;
use super::files::operations::{Operation, Ready};
use super::region::Region;
use super::slot::{Claim, Slot, Tick};
use iosonde_core::clock::{Clock, Stop, precise_sleeps, timed};
use iosonde_core::pace::Schedule;
use iosonde_core::sample::{Op, Outcome};

/// A stuck lane accounts for this many ticks behind its open one, the supervisor for the rest: a hang of days must not
/// become a flood of rows when it ends.
pub const LIMBO: u64 = 4096;
/// Interval at which a lane without ticks looks for new ones.
const LOOK_NS: u64 = 50_000_000;
/// Longest wait of an ending lane for its last rows to be taken.
const LEAVE_NS: u64 = 500_000_000;

/// The lane of one op.
pub struct Lane {
    /// The op of the lane.
    pub op: Op,
    operation: Box<dyn Operation>,
    schedule: Schedule,
    clock: Arc<dyn Clock>,
    slot: Slot,
    region: Option<Region>,
    control: Control,
    /// True once it began an operation since it was given ticks: until then its worker may have been made ready late.
    working: bool,
    overflow: VecDeque<Tick>,
    next: u64,
    begun: u64,
}

/// Why ticks were never begun.
#[derive(Debug, Clone, Copy)]
enum Missed {
    /// An operation went on until this instant, or the lane was not ready before.
    Blocked(u64),
    /// This host kept the lane from working until this instant.
    ByHost(u64),
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
        let (region, control, overflow) = (None, Control::default(), VecDeque::new());
        Self { op, operation, schedule, clock, slot, region, control, working: false, overflow, next, begun }
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
        precise_sleeps();
        self.slot.enter(rustix::thread::gettid().as_raw_nonzero().get() as u32);
        self.control = Control::of_this_thread();
        while !stop.raised() {
            if !self.has_ticks() {
                self.clock.sleep_until(self.clock.monotonic_ns() + LOOK_NS, stop);
                continue;
            }
            // Made ready before the tick, so that nothing stands between the timer and the operation.
            let ready = self.prepare();
            self.await_tick(stop);
            if stop.raised() {
                self.cancel(ready);
                break;
            }
            let Some(opened) = self.open(ready) else { continue };
            let before = self.control.run_queue_ns();
            let (outcome, began_ns, ended_ns) = self.execute();
            let queue = before.zip(self.control.run_queue_ns());
            self.finish(opened, outcome, (began_ns, ended_ns), queue);
        }
        self.leave();
    }

    /// Sleep until the next tick. What the ring could not take goes out meanwhile.
    fn await_tick(&mut self, stop: &Stop) {
        let due_ns = self.next_due_ns();
        while !self.flush() && !stop.raised() && self.clock.monotonic_ns() + LOOK_NS < due_ns {
            self.clock.sleep_until(self.clock.monotonic_ns() + LOOK_NS, stop);
        }
        self.clock.sleep_until(due_ns, stop);
    }

    /// The last rows, as far as somebody takes them.
    fn leave(&mut self) {
        let (never, patience) = (Stop::default(), self.clock.monotonic_ns() + LEAVE_NS);
        while !self.flush() && self.clock.monotonic_ns() < patience {
            self.clock.sleep_until(self.clock.monotonic_ns() + LEAVE_NS / 100, &never);
        }
    }

    /// True if the lane may take ticks: a revoked one waits until it is given some again.
    pub fn has_ticks(&mut self) -> bool {
        self.flush();
        let claim = self.slot.claim();
        if claim.revoked {
            if !self.slot.parked() {
                // Taken away just when an operation had returned: what was ours of it still is.
                self.absorb(claim, self.clock.monotonic_ns());
                self.slot.park(true);
            }
            return false;
        }
        if self.slot.parked() {
            self.next = claim.end;
            self.working = false;
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
        let missed = if self.working { Missed::ByHost(now) } else { Missed::Blocked(now) };
        if !self.skip_until(shed_until, missed, divider) || !worked_on {
            self.cancel(ready);
            return None;
        }
        let due_ns = self.schedule.due_ns(current);
        if self.next != current || !self.claim(current + 1, now) {
            self.cancel(ready);
            return None;
        }
        let Some(ready) = ready else {
            // A delete while creates hang, or a create while deletes do: nothing to work on, which says nothing about it.
            self.record(Tick::never_begun(due_ns, Outcome::SHED));
            return None;
        };
        (self.begun, self.working) = (current, true);
        self.slot.open(due_ns);
        Some(Opened { due_ns, ready })
    }

    /// The operation itself; returns how it ended, when it began and when it ended.
    pub fn execute(&mut self) -> (Outcome, u64, u64) {
        timed(self.clock.as_ref(), || self.operation.run())
    }

    /// Keep account of an operation that ended between two instants. What tidying up takes still counts as open:
    /// it may hang like the operation itself. `queue`: what its thread had waited for a CPU before and after, where that is known.
    pub fn finish(
        &mut self,
        opened: Opened,
        outcome: Outcome,
        between: (u64, u64),
        queue: Option<(u64, u64)>,
    ) {
        let (began_ns, ended_ns) = between;
        self.record(Tick {
            due_ns: opened.due_ns,
            began_ns,
            ended_ns,
            offset_bytes: opened.ready.offset_bytes.unwrap_or(u64::MAX),
            run_queue_ns: queue.map_or(u64::MAX, |(before, after)| after - before),
            outcome,
            cache: opened.ready.cache,
            more: 0,
        });
        self.operation.settle(outcome, self.slot.claim().revoked);
        let claim = self.slot.claim();
        self.absorb(claim, ended_ns);
        let now = self.clock.monotonic_ns();
        if !claim.revoked && now >= self.schedule.due_ns(self.next) {
            // The tick in whose period the operation ended is over too: the lane resumes at a future one.
            let divider = self.region.as_ref().map_or(1, Region::divider);
            let waited_ns = queue.map_or(0, |(before, after)| {
                self.control.run_queue_ns().unwrap_or(after).saturating_sub(before)
            });
            // Without its waits for a CPU the lane would have been free for the later ones.
            let blocked = self.schedule.tick_at(now.saturating_sub(waited_ns)) + 1;
            self.skip_until(blocked, Missed::Blocked(ended_ns), divider);
            self.skip_until(self.schedule.tick_at(now) + 1, Missed::ByHost(now), divider);
        }
        self.slot.close(outcome);
    }

    /// Own the ticks before `end`. False when the supervisor has moved the claim meanwhile: its ticks are passed over.
    fn claim(&mut self, end: u64, ended_ns: u64) -> bool {
        let seen = Claim { end: self.next, revoked: false };
        match self.slot.move_claim(seen, Claim { end, revoked: false }) {
            Ok(()) => {
                self.next = end;
                true
            }
            Err(claim) => {
                self.absorb(claim, ended_ns);
                false
            }
        }
    }

    /// The supervisor moved the claim while an operation was open: the first ticks behind it are still ours.
    fn absorb(&mut self, claim: Claim, ended_ns: u64) {
        self.skipped(self.next..claim.end.min(self.begun + 1 + LIMBO), ended_ns);
        self.next = self.next.max(claim.end);
    }

    /// Ticks before `until` will never begin. Those that the divider leaves out were not missed. False when they were taken
    /// away.
    fn skip_until(&mut self, until: u64, missed: Missed, divider: u64) -> bool {
        let (Missed::Blocked(ended_ns) | Missed::ByHost(ended_ns)) = missed;
        while self.next < until {
            let mut k = self.next;
            if self.claim(until, ended_ns) {
                while k < until {
                    let worked_on = k.next_multiple_of(divider).min(until);
                    self.run_of(k..worked_on, Tick::never_begun(0, Outcome::SHED));
                    k = (worked_on + 1).min(until);
                    // With nothing left out all of them are one run.
                    k = if divider == 1 { until } else { k };
                    match missed {
                        Missed::Blocked(_) => self.skipped(worked_on..k, ended_ns),
                        Missed::ByHost(_) => self.missed_by_host(worked_on..k, ended_ns),
                    }
                }
            } else if self.slot.claim().revoked {
                return false;
            }
        }
        true
    }

    fn skipped(&mut self, ticks: Range<u64>, ended_ns: u64) {
        self.run_of(ticks, Tick { ended_ns, ..Tick::never_begun(0, Outcome::SKIPPED) });
    }

    /// Left out, with how long this host kept the lane from working on them.
    fn missed_by_host(&mut self, ticks: Range<u64>, until_ns: u64) {
        let waited_ns = until_ns.saturating_sub(self.schedule.due_ns(ticks.start));
        self.run_of(ticks, Tick { run_queue_ns: waited_ns, ..Tick::never_begun(0, Outcome::SHED) });
    }

    /// Ticks that fared the same.
    fn run_of(&mut self, ticks: Range<u64>, tick: Tick) {
        let mut from = ticks.start;
        while from < ticks.end {
            let more = u32::try_from(ticks.end - from - 1).unwrap_or(u32::MAX);
            self.record(Tick { due_ns: self.schedule.due_ns(from), more, ..tick });
            from += 1 + u64::from(more);
        }
    }

    fn record(&mut self, tick: Tick) {
        if !self.flush() || !self.slot.push(&tick) {
            self.overflow.push_back(tick);
        }
    }

    /// Put what waits into the ring; whether all of it fitted.
    pub fn flush(&mut self) -> bool {
        while let Some(waiting) = self.overflow.front() {
            if !self.slot.push(waiting) {
                return false;
            }
            self.overflow.pop_front();
        }
        self.overflow = VecDeque::new();
        true
    }
}

#[cfg(test)]
mod tests;
