//! An op that is stuck: noticing it, trying again, coming home.

use super::{EventSink, Owner, Role, Spawned, Watch};
use crate::probe::breaker::{Look, State, Step};
use crate::probe::crew::Crew;
use crate::probe::ledger::Account;
use crate::probe::worker::{Begin, schedule};
use iosonde_core::sample::Op;

impl Watch {
    /// Watch over one op; true when it is time for a trial.
    pub(super) fn look(&mut self, op: Op, now_ns: u64, sink: &mut dyn EventSink) -> bool {
        let Owner::Slot(number) = self.ops[op as usize].owner else { return false };
        let Some((_, account)) = &mut self.accounts[number] else { return false };
        account.relieve(now_ns, &mut |tick| sink.row(op, tick));
        let slot = account.slot().clone();
        let watch = &mut self.ops[op as usize];
        let not_there = slot.thread().is_none().then_some(watch.spawned_ns);
        let open_since_ns = slot.open_since_due_ns().or(not_there);
        match watch.breaker.observe(Look { now_ns, open_since_ns, ended: slot.ended() }) {
            Step::None => {}
            Step::Try => return true,
            Step::Opened => {
                watch.first_stuck = Some(number);
                let since_ns = watch.breaker.hung_since_ns().unwrap_or(now_ns);
                let pid = self.worker_of(number).and_then(|spawned| spawned.worker.pid());
                let evidence = pid.map(|pid| self.evidence(pid, slot.thread(), since_ns));
                self.watched.set_evidence(op, evidence.clone());
                self.watched.hung(op);
                sink.opened(Some(op), since_ns, evidence);
            }
            Step::Returned => watch.returned_ns = Some(now_ns),
            Step::Closed => self.recovered(op, now_ns, sink),
        }
        if self.ops[op as usize].breaker.state() == State::Closed {
            self.send_home(op, now_ns, sink);
        }
        false
    }

    pub(super) fn recovered(&mut self, op: Op, now_ns: u64, sink: &mut dyn EventSink) {
        let watch = &mut self.ops[op as usize];
        let ended_ns = watch.returned_ns.take().unwrap_or(now_ns);
        let first = watch.first_stuck.take().and_then(|number| self.accounts[number].as_ref());
        // It may still be in the kernel, while a trial has shown that the storage answers.
        let first =
            first.map(|(_, account)| account.slot()).filter(|slot| slot.open_since_due_ns().is_none());
        let outcome = first.map(|slot| slot.failures().1);
        self.watched.set_evidence(op, None);
        sink.closed(Some(op), ended_ns, outcome, watch.breaker.attempts());
    }

    /// Trials: by lanes that have come back meanwhile, else by one worker for all ops that are due for one.
    pub(super) fn try_again(
        &mut self,
        due: &[Op],
        now_ns: u64,
        crew: &mut dyn Crew,
        sink: &mut dyn EventSink,
    ) {
        let mut lanes = Vec::new();
        for &op in due {
            if let Some(number) = self.parked(op) {
                let first = self.take_from_owner(op, now_ns, sink);
                let ended = self.hand_over(op, number, first, now_ns);
                self.ops[op as usize].breaker.replaced(now_ns, ended);
                continue;
            }
            let taken = |number: usize| lanes.iter().any(|&(_, other)| other == number);
            let mut free = (0..self.accounts.len()).filter(|&i| self.accounts[i].is_none() && !taken(i));
            match free.next().filter(|_| self.trials(op) < self.plan().replacements) {
                Some(number) => lanes.push((op, number)),
                None => self.ops[op as usize].breaker.postpone(now_ns),
            }
        }
        let Some(start_ns) = self.start_ns.filter(|_| !lanes.is_empty()) else { return };
        for &(op, number) in &lanes {
            let first = self.take_from_owner(op, now_ns, sink);
            let schedule = schedule(self.plan(), start_ns, op);
            self.accounts[number] = Some((op, Account::open(self.region.slot(number), schedule, first)));
            self.own(op, number, now_ns);
            self.ops[op as usize].breaker.replaced(now_ns, 0);
        }
        let task = self.task(Some(Begin { start_ns, lanes: lanes.clone() }));
        match crew.spawn(&task, &self.region) {
            Ok(worker) => {
                let role = Role::Trial;
                self.spawned.push(Spawned {
                    worker,
                    role,
                    dismissed: false,
                    ready: true,
                    slots: lanes,
                    cpu_ns: 0,
                    still: None,
                });
            }
            Err(error) => {
                sink.warn(&format!("cannot start a worker for a trial: {error}"));
                for (op, number) in lanes {
                    self.abandon(op, number, now_ns, sink);
                }
            }
        }
    }

    /// Workers that are, or are stuck, on trials of an op.
    pub(super) fn trials(&self, op: Op) -> usize {
        let on_it = |spawned: &&Spawned| spawned.slots.iter().any(|&(of, _)| of == op);
        self.spawned.iter().filter(|spawned| spawned.role == Role::Trial).filter(on_it).count()
    }

    /// All is well: the op goes back to the target's own worker, trials go.
    pub(super) fn send_home(&mut self, op: Op, now_ns: u64, sink: &mut dyn EventSink) {
        let Some(number) = self.parked(op) else { return };
        let home = self
            .spawned
            .iter()
            .any(|spawned| spawned.role == Role::Main && spawned.slots.contains(&(op, number)));
        if home {
            let first = self.take_from_owner(op, now_ns, sink);
            self.hand_over(op, number, first, now_ns);
        }
        for i in 0..self.spawned.len() {
            let spawned = &self.spawned[i];
            let idle = |&(op, slot): &(Op, usize)| {
                self.ops[op as usize].owner != Owner::Slot(slot) && self.is_parked(slot)
            };
            if spawned.role == Role::Trial && !spawned.dismissed && spawned.slots.iter().all(idle) {
                self.dismiss_one(i);
            }
        }
    }
}
