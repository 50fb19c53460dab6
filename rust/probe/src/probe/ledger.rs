//! Ledger of the ticks of an op that still lack a row, and of the lane that owes it: every tick becomes one row.
//!
//! ```text
//! lane's slot      first ────► claim.end          its own, in the ring or still to come
//! stuck lane       k | k+1 .. k+LIMBO | ... now   the lane's | the supervisor's, written as they pass
//! nobody's         from ────────► now             the supervisor's
//! ```
//! The invariant: a tick enters at most one account's set of owed ticks, once, when its lane has claimed it; and a row
//! of a lane's tick passes only by taking the tick out of that set, whether the row came through the ring or the
//! supervisor writes it for a lane that is gone. What a lane sends that is not owed (any more) is no row. The supervisor
//! writes of other ticks only as it takes them from a claim, and claims only move on: no tick counts twice, none is lost.

mod owed;

use self::owed::Owed;
use super::lane::LIMBO;
use super::slot::{Claim, Slot, Tick};
use iosonde_core::pace::Schedule;
use iosonde_core::sample::Outcome;

/// The account of one slot while a lane uses it.
#[derive(Debug)]
pub struct Account {
    slot: Slot,
    schedule: Schedule,
    /// The lane's ticks whose rows have not come.
    owed: Owed,
    /// The first tick that was never shared out: not to the lane, not to the supervisor.
    shared: u64,
}

impl Account {
    /// Open the account of a lane whose first tick is `first`; makes the slot ready for it.
    pub fn open(slot: Slot, schedule: Schedule, first: u64) -> Self {
        slot.reset(first);
        Self { slot, schedule, owed: Owed::default(), shared: first }
    }
    /// The slot.
    pub fn slot(&self) -> &Slot {
        &self.slot
    }

    /// Since when something is expected of the lane: what it has open was due, or the next tick that it has not taken.
    /// None while it may take none.
    pub fn waits_since_ns(&self, divider: u64) -> Option<u64> {
        let open_ns = self.slot.open_since_due_ns();
        let claim = self.slot.claim();
        let next_ns = (!claim.revoked && self.slot.thread().is_some())
            .then(|| self.schedule.due_ns(claim.end.next_multiple_of(divider)));
        open_ns.or(next_ns)
    }

    /// Take what the lane saw.
    pub fn drain(&mut self, row: &mut dyn FnMut(Tick)) {
        while let Some(tick) = self.slot.pop() {
            let first = self.schedule.tick_at(tick.due_ns);
            let (last, schedule) = (first.saturating_add(u64::from(tick.more)), self.schedule);
            // A lane claims ticks before it sends a row of them.
            if last >= self.shared {
                self.share(self.slot.claim().end);
            }
            if self.schedule.due_ns(first) == tick.due_ns {
                self.owed.take_each(first..=last, &mut |k| row(alone(schedule, tick, k)));
            }
        }
    }

    fn open_tick(&self) -> Option<u64> {
        self.slot.open_since_due_ns().map(|due_ns| self.schedule.tick_at(due_ns))
    }

    /// Ticks before `end` are the lane's: it has claimed them.
    fn share(&mut self, end: u64) {
        self.owed.add(self.shared..end);
        self.shared = self.shared.max(end);
    }

    /// Ticks before `end` were taken from a lane that is stuck in `open`: some behind it stay its own.
    fn share_stuck(&mut self, open: u64, end: u64, row: &mut dyn FnMut(Tick)) {
        self.share(end.min(open + 1 + LIMBO));
        unowned(self.schedule, self.shared, end, Outcome::SKIPPED, row);
        self.shared = self.shared.max(end);
    }

    /// The lane has something open: take over the ticks that lie too far behind it.
    pub fn relieve(&mut self, now_ns: u64, row: &mut dyn FnMut(Tick)) {
        // The claim first: as long as it does not move, the lane opens nothing else.
        let (seen, now) = (self.slot.claim(), self.schedule.tick_at(now_ns));
        let Some(open) = self.open_tick() else { return };
        if seen.revoked || now <= open + LIMBO || seen.end >= now {
            return;
        }
        let to = Claim { end: now, revoked: false };
        // Lost the race: the operation has just returned.
        if self.slot.move_claim(seen, to).is_ok() {
            self.share(seen.end);
            self.share_stuck(open, now, row);
        }
    }

    /// Let the lane take no more ticks. Returns the first that is not its own: the one behind `now` while it is stuck, else the
    /// first it has not taken.
    pub fn revoke(&mut self, now_ns: u64, row: &mut dyn FnMut(Tick)) -> u64 {
        loop {
            let seen = self.slot.claim();
            if seen.revoked {
                return seen.end;
            }
            let open = self.open_tick();
            let end = open.map_or(seen.end, |_| seen.end.max(self.schedule.tick_at(now_ns) + 1));
            if self.slot.move_claim(seen, Claim { end, revoked: true }).is_ok() {
                self.share(seen.end);
                if let Some(open) = open {
                    self.share_stuck(open, end, row);
                }
                return end;
            }
        }
    }

    /// Give ticks from `first` on to a lane that is parked. What it owed before it still owes.
    pub fn give(&mut self, first: u64) {
        let seen = self.slot.claim();
        // Only the supervisor moves a revoked claim, so this cannot fail.
        let _ = self.slot.move_claim(seen, Claim { end: first, revoked: false });
        self.shared = self.shared.max(first);
    }

    /// The lane is gone for good: what it still owes. Returns the first tick that was not its own.
    pub fn settle(&mut self, now_ns: u64, row: &mut dyn FnMut(Tick)) -> u64 {
        let end = self.revoke(now_ns, row);
        self.drain(row);
        let open = self.open_tick();
        for k in self.owed.take_all() {
            let due_ns = self.schedule.due_ns(k);
            row(if open == Some(k) {
                Tick { began_ns: due_ns, ..Tick::never_begun(due_ns, Outcome::PENDING) }
            } else {
                Tick::never_begun(due_ns, Outcome::SKIPPED)
            });
        }
        end
    }

    /// Ticks from `from` on that were due before the end and that the lane had not taken: most were to be left out.
    pub fn left(&self, from: u64, ended_ns: u64, divider: u64, row: &mut dyn FnMut(Tick)) {
        if ended_ns < self.schedule.due_ns(from) {
            return;
        }
        for k in from..=self.schedule.tick_at(ended_ns) {
            let outcome = if k.is_multiple_of(divider) { Outcome::SKIPPED } else { Outcome::SHED };
            row(Tick::never_begun(self.schedule.due_ns(k), outcome));
        }
    }
}

/// Tick `k` of a run, as a row of its own.
fn alone(schedule: Schedule, run: Tick, k: u64) -> Tick {
    let due_ns = schedule.due_ns(k);
    // Tidying up after an operation may run past a tick that fell due after the operation's end.
    let ended_ns =
        if run.began_ns == 0 && run.ended_ns != 0 { run.ended_ns.max(due_ns) } else { run.ended_ns };
    // What this host kept the lane from is shorter for the later ticks of a run.
    let later_ns = if run.began_ns == 0 { due_ns - run.due_ns } else { 0 };
    let run_queue_ns = match run.run_queue_ns {
        u64::MAX => u64::MAX,
        waited_ns => waited_ns.saturating_sub(later_ns),
    };
    Tick { due_ns, ended_ns, run_queue_ns, more: 0, ..run }
}

/// Rows for ticks that nobody could work on.
pub fn unowned(schedule: Schedule, from: u64, to: u64, outcome: Outcome, row: &mut dyn FnMut(Tick)) {
    for k in from..to {
        row(Tick::never_begun(schedule.due_ns(k), outcome));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: u64 = 100;

    fn account(first: u64) -> Account {
        Account::open(Slot::alone().unwrap(), Schedule::new(0, 0, PERIOD), first)
    }

    fn rows(work: impl FnOnce(&mut dyn FnMut(Tick))) -> Vec<(u64, Outcome)> {
        let mut rows = Vec::new();
        work(&mut |tick| rows.push((tick.due_ns / PERIOD, tick.outcome)));
        rows
    }

    fn lane_takes(account: &Account, tick: u64) {
        let seen = account.slot.claim();
        account.slot.move_claim(seen, Claim { end: tick + 1, revoked: false }).unwrap();
        account.slot.open((tick * PERIOD).max(1));
    }

    #[test]
    fn a_dead_lane_owes_its_open_tick_and_those_it_covered() {
        let mut account = account(3);
        lane_takes(&account, 3);
        let mut end = 0;
        let owed = rows(|row| end = account.settle(7 * PERIOD, row));
        assert_eq!(owed[0], (3, Outcome::PENDING));
        assert_eq!(owed[1..].iter().map(|&(k, _)| k).collect::<Vec<_>>(), [4, 5, 6, 7]);
        assert_eq!(end, 8);
        assert_eq!(rows(|row| end = account.settle(9 * PERIOD, row)), []);
    }

    #[test]
    fn a_healthy_lane_that_is_revoked_keeps_what_it_took() {
        let mut account = account(0);
        lane_takes(&account, 0);
        account.slot.close(Outcome::OK);
        account.slot.push(&Tick::never_begun(0, Outcome::OK));
        let mut end = 0;
        assert_eq!(rows(|row| end = account.revoke(50 * PERIOD, row)), []);
        assert_eq!(end, 1);
        assert_eq!(rows(|row| account.drain(row)), [(0, Outcome::OK)]);
        assert_eq!(rows(|row| end = account.settle(60 * PERIOD, row)), []);
    }

    #[test]
    fn what_a_lane_sends_twice_or_never_claimed_is_no_row() {
        let mut account = account(3);
        lane_takes(&account, 3);
        account.slot.close(Outcome::OK);
        for due_ns in [3 * PERIOD, 3 * PERIOD, 2 * PERIOD, 4 * PERIOD, 3 * PERIOD + 1, u64::MAX] {
            account.slot.push(&Tick::never_begun(due_ns, Outcome::OK));
        }
        assert_eq!(rows(|row| account.drain(row)), [(3, Outcome::OK)]);
    }

    #[test]
    fn rows_from_before_a_lane_was_parked_still_come_once() {
        let mut account = account(0);
        lane_takes(&account, 0);
        let first = account.revoke(5 * PERIOD, &mut |_| {});
        account.slot.close(Outcome::OK);
        account.give(first + 10);
        // Tick 0 came, then the lane died: what it covered is owed as before.
        account.slot.push(&Tick::never_begun(0, Outcome::OK));
        let mut seen = rows(|row| account.drain(row));
        seen.extend(rows(|row| assert_eq!(account.settle(20 * PERIOD, row), first + 10)));
        let skipped = (1..=5).map(|k| (k, Outcome::SKIPPED));
        assert_eq!(seen, [(0, Outcome::OK)].into_iter().chain(skipped).collect::<Vec<_>>());
    }

    #[test]
    fn ticks_far_behind_a_stuck_one_are_written_as_they_pass_and_none_twice() {
        let mut account = account(1);
        lane_takes(&account, 1);
        let mut seen = Vec::new();
        for now in [LIMBO / 2, LIMBO + 10, LIMBO + 20, LIMBO + 20] {
            seen.extend(rows(|row| account.relieve(now * PERIOD, row)));
        }
        let mut end = 0;
        seen.extend(rows(|row| end = account.settle((LIMBO + 30) * PERIOD, row)));
        assert_eq!(end, LIMBO + 31);
        let mut ticks: Vec<u64> = seen.iter().map(|&(k, _)| k).collect();
        ticks.sort_unstable();
        assert_eq!(ticks, (1..=LIMBO + 30).collect::<Vec<_>>());
        assert_eq!(seen.iter().filter(|&&(_, outcome)| outcome == Outcome::PENDING).count(), 1);
    }
}
