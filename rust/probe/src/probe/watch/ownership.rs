//! Who works on which op, and who accounts for ticks that nobody works on.

use super::{EventSink, Owner, Spawned, Watch};
use crate::probe::ledger::unowned;
use iosonde_core::sample::{Op, Outcome};

impl Watch {
    /// Nobody else takes ticks of an op any more; returns the first for whoever comes next.
    pub(super) fn take_from_owner(&mut self, op: Op, now_ns: u64, sink: &mut dyn EventSink) -> u64 {
        let Some(schedule) = self.schedule(op) else { return 0 };
        match self.ops[op as usize].owner {
            Owner::Slot(number) => match &mut self.accounts[number] {
                Some((_, account)) => account.revoke(now_ns, &mut |tick| sink.row(op, tick)),
                None => schedule.tick_at(now_ns) + 1,
            },
            Owner::Nobody(from, outcome) => {
                let began = now_ns > schedule.due_ns(0);
                let first = if began { from.max(schedule.tick_at(now_ns) + 1) } else { from };
                unowned(schedule, from, first, outcome, &mut |tick| sink.row(op, tick));
                first
            }
        }
    }

    pub(super) fn own(&mut self, op: Op, number: usize, now_ns: u64) {
        self.ops[op as usize].owner = Owner::Slot(number);
        self.ops[op as usize].spawned_ns = now_ns;
        let slot = self.accounts[number].as_ref().map(|(_, account)| account.slot().clone());
        self.watched.set_lane(op, slot);
    }

    pub(super) fn worker_of(&mut self, number: usize) -> Option<&mut Spawned> {
        self.spawned.iter_mut().find(|spawned| spawned.slots.iter().any(|&(_, slot)| slot == number))
    }

    /// A lane of this op that was stuck, has returned and waits for ticks.
    pub(super) fn parked(&self, op: Op) -> Option<usize> {
        let mut mine =
            self.spawned.iter().filter(|spawned| !spawned.dismissed).flat_map(|spawned| &spawned.slots);
        mine.find_map(|&(of, number)| {
            let (_, account) = self.accounts[number].as_ref()?;
            (of == op && self.ops[op as usize].owner != Owner::Slot(number) && account.slot().parked())
                .then_some(number)
        })
    }

    pub(super) fn is_parked(&self, number: usize) -> bool {
        self.accounts[number].as_ref().is_some_and(|(_, account)| account.slot().parked())
    }

    /// Give an op to a lane that is parked; returns how many operations that one has ended.
    pub(super) fn hand_over(&mut self, op: Op, number: usize, first: u64, now_ns: u64) -> u64 {
        let Some((_, account)) = &mut self.accounts[number] else { return 0 };
        account.give(first);
        let ended = account.slot().ended();
        self.own(op, number, now_ns);
        ended
    }

    /// The lane of a slot is gone: what it still owed, and who owns its op now.
    pub(super) fn abandon(&mut self, op: Op, number: usize, now_ns: u64, sink: &mut dyn EventSink) {
        let Some((_, mut account)) = self.accounts[number].take() else { return };
        let end = account.settle(now_ns, &mut |tick| sink.row(op, tick));
        if self.ops[op as usize].owner == Owner::Slot(number) {
            self.ops[op as usize].owner = Owner::Nobody(end, Outcome::SKIPPED);
            self.watched.set_lane(op, None);
        }
        self.ops[op as usize].first_stuck.take_if(|first| *first == number);
    }

    /// Rows for ticks that are nobody's.
    pub(super) fn pass_unowned(&mut self, now_ns: u64, sink: &mut dyn EventSink) {
        self.pass_until(now_ns, 0, sink);
    }

    /// The same at the end: the tick that is due now will not be given to anybody any more.
    pub(super) fn pass_last(&mut self, ended_ns: u64, sink: &mut dyn EventSink) {
        self.pass_until(ended_ns, 1, sink);
    }

    fn pass_until(&mut self, now_ns: u64, beyond: u64, sink: &mut dyn EventSink) {
        for op in Op::ALL {
            let Some(schedule) = self.schedule(op).filter(|schedule| now_ns >= schedule.due_ns(0)) else {
                continue;
            };
            if let Owner::Nobody(from, outcome) = self.ops[op as usize].owner {
                let now = schedule.tick_at(now_ns) + beyond;
                unowned(schedule, from, now, outcome, &mut |tick| sink.row(op, tick));
                self.ops[op as usize].owner = Owner::Nobody(from.max(now), outcome);
            }
        }
    }
}
