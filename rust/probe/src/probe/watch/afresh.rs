//! When a worker is replaced by one that begins afresh by path: what it works on is gone, everything fails, it stands still.

use rustix::io::Errno;

use super::{EventSink, FAILURES, OpWatch, Owner, Role, Watch};
use crate::probe::evidence::process_state;
use crate::probe::files::guard::Displaced;
use iosonde_core::sample::{Op, Outcome};

impl Watch {
    /// Every op fails, or one in a way that says that what it works on is gone: perhaps the mount was replaced under us.
    pub(super) fn give_up_on_failing(&mut self, now_ns: u64, sink: &mut dyn EventSink) {
        let failing: Vec<(Op, Outcome)> =
            Op::ALL.into_iter().filter_map(|op| Some((op, self.failing(&self.ops[op as usize])?))).collect();
        let gone = failing.iter().find(|&&(op, outcome)| is_gone(op, outcome));
        if failing.len() < self.ops.len() && gone.is_none() {
            self.failing_since_ns = None;
            let well = self.ops.iter().any(|watch| matches!(watch.owner, Owner::Slot(_)));
            if well && self.watched.is_running() && self.accounts_are_well() {
                self.backoff.reset();
            }
            return;
        }
        let since_ns = *self.failing_since_ns.get_or_insert(now_ns);
        let Some(at) = self.working() else { return };
        if now_ns - since_ns < self.plan().retry_ns {
            return;
        }
        let text = match gone {
            Some((op, outcome)) => format!("{} fails ({}): starting afresh", op.name(), outcome.name()),
            None => format!("every operation fails ({}): starting afresh", failing[0].1.name()),
        };
        sink.warn(&text);
        let outcome =
            |op| failing.iter().find(|&&(failed, _)| failed == op).map_or(Outcome::SKIPPED, |f| f.1);
        self.start_afresh(at, now_ns, &outcome, sink);
    }

    /// Outcome of an op that has failed often enough in a row.
    fn failing(&self, watch: &OpWatch) -> Option<Outcome> {
        let Owner::Slot(number) = watch.owner else { return None };
        let (failures, outcome) = self.accounts[number].as_ref()?.1.slot().failures();
        (failures >= FAILURES).then_some(outcome)
    }

    fn accounts_are_well(&self) -> bool {
        self.accounts.iter().flatten().any(|(_, a)| a.slot().ended() > FAILURES && a.slot().failures().0 == 0)
    }

    /// The worker that the ops of the target belong to.
    fn working(&self) -> Option<usize> {
        self.spawned.iter().position(|s| s.role == Role::Main && !s.dismissed)
    }

    /// Let a worker go and begin anew at once; ticks meanwhile end as `outcome` says.
    fn start_afresh(
        &mut self,
        at: usize,
        now_ns: u64,
        outcome: &dyn Fn(Op) -> Outcome,
        sink: &mut dyn EventSink,
    ) {
        self.failing_since_ns = None;
        for op in Op::ALL {
            let first = self.take_from_owner(op, now_ns, sink);
            self.ops[op as usize].owner = Owner::Nobody(first, outcome(op));
            self.watched.set_lane(op, None);
        }
        self.dismiss_one(at);
        self.spawn_at_ns = now_ns;
    }

    /// The worker says that its directory is no longer where the target is.
    pub(super) fn displaced(&mut self, at: usize, what: Displaced, now_ns: u64, sink: &mut dyn EventSink) {
        if self.spawned[at].role != Role::Main || self.spawned[at].dismissed {
            return;
        }
        sink.warn(&format!("{}: starting afresh", what.happened));
        self.displaced = Some(what);
        self.start_afresh(at, now_ns, &|_| Outcome::SKIPPED, sink);
    }

    /// A worker that takes no ticks though they are due, or that somebody stopped: it is killed, and another one takes over.
    pub(super) fn replace_stopped(&mut self, now_ns: u64, sink: &mut dyn EventSink) {
        for i in 0..self.spawned.len() {
            if !self.is_still(i, now_ns) {
                self.spawned[i].still = None;
                continue;
            }
            let most_ns = self.plan().deadline_ns / 4;
            let waited_ns = self.spawned[i].still.get_or_insert_default().go_on(now_ns, most_ns);
            let stopped = waited_ns > 0 && self.spawned[i].worker.pid().is_some_and(is_stopped);
            let standing = self.spawned[i].ready && waited_ns > self.plan().deadline_ns && !self.is_open(i);
            if !stopped && !standing {
                continue;
            }
            let why = if stopped { "is stopped (SIGSTOP)" } else { "takes no ticks" };
            sink.warn(&format!("its worker {why}: it is killed, another one starts"));
            self.spawned[i].still = None;
            self.spawned[i].worker.kill();
            if self.spawned[i].role == Role::Main {
                self.start_afresh(i, now_ns, &|_| Outcome::SKIPPED, sink);
            } else {
                self.dismiss_one(i);
            }
        }
    }

    /// True if a worker that should be at work has shown no sign of it for half the deadline.
    fn is_still(&self, i: usize, now_ns: u64) -> bool {
        let spawned = &self.spawned[i];
        let late_ns = self.plan().deadline_ns / 2;
        if spawned.dismissed {
            return false;
        }
        if !spawned.ready {
            return now_ns.saturating_sub(self.progress.1) > late_ns;
        }
        let divider = self.region.divider();
        let owned = spawned.slots.iter().filter(|&&(op, n)| self.ops[op as usize].owner == Owner::Slot(n));
        let mut accounts = owned.filter_map(|&(_, number)| self.accounts[number].as_ref());
        accounts.any(|(_, account)| account.waits_since_ns(divider).is_some_and(|due| now_ns > due + late_ns))
    }

    /// True if it has an operation open: then the breaker watches over it.
    fn is_open(&self, i: usize) -> bool {
        let mut accounts = self.spawned[i].slots.iter().filter_map(|&(_, n)| self.accounts[n].as_ref());
        accounts.any(|(_, account)| account.slot().open_since_due_ns().is_some())
    }
}

/// True if the op's failure says that its files are gone. A file of the pool may be missing; the pool may not.
fn is_gone(op: Op, outcome: Outcome) -> bool {
    outcome == Outcome::error(Errno::STALE) || op == Op::MdCreate && outcome == Outcome::error(Errno::NOENT)
}

fn is_stopped(pid: u32) -> bool {
    matches!(process_state(pid), Some('T' | 't'))
}
