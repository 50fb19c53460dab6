//! Preparations that hang, what it all costs, what others may see.

use super::{EventSink, GOVERN_NS, Role, Watch};
use crate::probe::breaker::State;
use crate::probe::view::Status;
use iosonde_core::clock::process_cpu_ns;
use iosonde_core::sample::Op;

impl Watch {
    /// Making ready shows no sign of life: the storage hangs before the first operation.
    pub(super) fn notice_a_stall(&mut self, now_ns: u64, sink: &mut dyn EventSink) {
        let progress = self.region.progress();
        if progress.steps != self.progress.0 {
            self.progress = (progress.steps, now_ns);
            self.watched.set_progress(progress);
            self.watched.set_ours(true);
        }
        let deadline_ns = self.plan().deadline_ns;
        let Some(pid) = self.main().filter(|spawned| !spawned.ready).map(|spawned| spawned.worker.pid())
        else {
            return;
        };
        let since_ns = self.progress.1;
        if !self.stalled && now_ns.saturating_sub(since_ns) > deadline_ns {
            self.stalled = true;
            self.watched.set_ours(true);
            self.watched.set_status(Status::Stalled { since_ns });
            sink.opened(None, since_ns, pid.map(|pid| self.evidence(pid, None, since_ns)));
        } else if self.stalled && since_ns == now_ns {
            self.stalled = false;
            self.watched.set_status(Status::Preparing);
            sink.closed(None, now_ns, None, 0);
        }
    }

    /// Compares the cost of the probe with its budget; lowers and raises its rate.
    pub(super) fn govern(&mut self, now_ns: u64, sink: &mut dyn EventSink) {
        self.interval.stuck |= self.ops.iter().any(|watch| watch.breaker.state() != State::Closed);
        if now_ns < self.interval_ns + GOVERN_NS {
            return;
        }
        for spawned in &mut self.spawned {
            spawned.cpu_ns = spawned.worker.pid().and_then(process_cpu_ns).unwrap_or(spawned.cpu_ns);
        }
        let cpu_ns = self.cpu_of_the_gone_ns + self.spawned.iter().map(|spawned| spawned.cpu_ns).sum::<u64>();
        self.watched.set_cpu_ns(cpu_ns);
        self.interval.cpu_ns = cpu_ns - std::mem::replace(&mut self.cpu_before_ns, cpu_ns);
        self.interval.elapsed_ns = now_ns - std::mem::replace(&mut self.interval_ns, now_ns);
        let interval = std::mem::take(&mut self.interval);
        if let Some(why) = self.governor.judge(interval) {
            let divider = self.governor.divider();
            self.region.divide(divider);
            match &why {
                Some(why) => sink.warn(why),
                None => sink.note("every tick is worked on again"),
            }
            self.watched.set_rate(divider, why);
        }
    }

    pub(super) fn publish(&self) {
        let stuck =
            self.spawned.iter().filter(|spawned| spawned.dismissed || spawned.role != Role::Main).count();
        self.watched.set_workers(self.spawned.len(), stuck);
        for op in Op::ALL {
            let breaker = &self.ops[op as usize].breaker;
            self.watched.set_breaker(op, breaker.state(), breaker.hung_since_ns());
        }
    }
}
