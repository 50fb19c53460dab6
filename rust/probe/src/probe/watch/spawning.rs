//! Workers come and go.

use super::{EventSink, Owner, Role, Spawned, Watch};
use crate::probe::crew::Crew;
use crate::probe::ledger::Account;
use crate::probe::view::Status;
use crate::probe::worker::{Begin, Order, Report, Task, schedule};
use iosonde_core::sample::{Op, Outcome};

impl Watch {
    pub(super) fn hear(&mut self, now_ns: u64, sink: &mut dyn EventSink) {
        for i in 0..self.spawned.len() {
            while let Some(report) = self.spawned[i].worker.hear() {
                match (report, self.spawned[i].role) {
                    (Report::Found { mount }, _) => self.mount = Some(mount),
                    (Report::Displaced(what), _) => self.displaced(i, what, now_ns, sink),
                    (Report::Ready { mut notes, made }, _) => {
                        self.spawned[i].ready = true;
                        notes.extend(self.displaced.take().map(|what| what.mended()));
                        notes.iter().for_each(|note| sink.note(note));
                        self.watched.set_notes(notes);
                        self.watched.set_made(made);
                        self.watched.set_progress(self.region.progress());
                        self.watched.set_ours(true);
                        self.watched.set_status(Status::Ready);
                    }
                    (Report::Failed { error, errno, held }, role) => {
                        self.dismiss_one(i);
                        let outcome = errno.map_or(Outcome::SKIPPED, |errno| {
                            Outcome::error(rustix::io::Errno::from_raw_os_error(errno))
                        });
                        if role == Role::Main {
                            self.watched.set_ours(!held);
                            self.main_failed(now_ns, error, outcome, sink);
                        }
                    }
                }
            }
        }
    }

    pub(super) fn main_failed(
        &mut self,
        now_ns: u64,
        error: String,
        outcome: Outcome,
        sink: &mut dyn EventSink,
    ) {
        let wait_ns = self.backoff.next_ns(&self.watched.plan);
        self.spawn_at_ns = now_ns + wait_ns;
        sink.warn(&format!("not probed: {error}; next attempt in {:.1} s", wait_ns as f64 / 1e9));
        self.watched.set_notes(vec![format!("not probed: {error}")]);
        self.watched.set_status(Status::Failed(error));
        for op in &mut self.ops {
            if let Owner::Nobody(from, _) = op.owner {
                op.owner = Owner::Nobody(from, outcome);
            }
        }
    }

    /// Workers that are gone: account for what they still owed.
    pub(super) fn reap(&mut self, now_ns: u64, sink: &mut dyn EventSink) {
        for i in (0..self.spawned.len()).rev() {
            if !self.spawned[i].worker.is_gone() {
                continue;
            }
            let mut gone = self.spawned.swap_remove(i);
            self.cpu_of_the_gone_ns += gone.cpu_ns;
            for &(op, number) in &gone.slots {
                self.abandon(op, number, now_ns, sink);
            }
            if gone.role == Role::Main && !gone.dismissed {
                let wait_ns = self.backoff.next_ns(&self.watched.plan);
                self.spawn_at_ns = now_ns + wait_ns;
                let ready = if gone.ready { "" } else { " before it was ready" };
                let how = gone.worker.ending().map(|how| format!(" ({how})")).unwrap_or_default();
                let error =
                    format!("its worker ended{ready}{how}; another starts in {:.1} s", wait_ns as f64 / 1e9);
                sink.warn(&error);
                self.watched.set_ours(true);
                self.watched.set_status(Status::Failed(error));
            }
        }
    }

    pub(super) fn main(&mut self) -> Option<&mut Spawned> {
        self.spawned.iter_mut().find(|spawned| spawned.role == Role::Main && !spawned.dismissed)
    }

    pub(super) fn spawn_main(&mut self, now_ns: u64, crew: &mut dyn Crew, sink: &mut dyn EventSink) {
        // A predecessor that is still stuck keeps its six slots; of a second one there is no room for a third.
        let stuck = self.spawned.iter().filter(|spawned| spawned.role == Role::Main).count();
        if self.main().is_some() || now_ns < self.spawn_at_ns || stuck > 1 || self.region.stopped() {
            return;
        }
        let task = self.task(None);
        match crew.spawn(&task, &self.region) {
            Ok(worker) => {
                self.watched.set_status(Status::Preparing);
                self.progress = (self.region.progress().steps, now_ns);
                let slots = Vec::new();
                self.spawned.push(Spawned {
                    worker,
                    role: Role::Main,
                    dismissed: false,
                    ready: false,
                    slots,
                    cpu_ns: 0,
                    still: None,
                });
            }
            Err(error) => {
                let error = format!("cannot start a worker: {error}");
                self.watched.set_ours(true);
                self.main_failed(now_ns, error, Outcome::SKIPPED, sink);
            }
        }
    }

    pub(super) fn task(&mut self, trial: Option<Begin>) -> Task {
        let turn = self.turn;
        self.turn += 1;
        Task {
            version: env!("CARGO_PKG_VERSION").into(),
            plan: self.plan().clone(),
            origin: self.origin.clone(),
            turn,
            trial,
            mount: self.mount.clone(),
        }
    }

    /// A worker that is ready gets all six ops.
    pub(super) fn begin(&mut self, now_ns: u64, start_ns: u64, sink: &mut dyn EventSink) {
        let Some(at) = self.spawned.iter().position(|spawned| {
            spawned.role == Role::Main && !spawned.dismissed && spawned.ready && spawned.slots.is_empty()
        }) else {
            return;
        };
        let start_ns = *self.start_ns.get_or_insert(start_ns);
        let free: Vec<usize> = (0..self.accounts.len()).filter(|&i| self.accounts[i].is_none()).collect();
        if free.len() < Op::ALL.len() {
            return;
        }
        let mut lanes = Vec::new();
        for (op, number) in Op::ALL.into_iter().zip(free) {
            let schedule = schedule(self.plan(), start_ns, op);
            let first = self.take_from_owner(op, now_ns, sink);
            let account = Account::open(self.region.slot(number), schedule, first);
            self.accounts[number] = Some((op, account));
            self.own(op, number, now_ns);
            lanes.push((op, number));
        }
        self.spawned[at].slots = lanes.clone();
        self.spawned[at].worker.send(&Order::Begin(Begin { start_ns, lanes }));
        self.watched.set_status(Status::Running);
        self.failing_since_ns = None;
        if std::mem::take(&mut self.stalled) {
            sink.closed(None, now_ns, None, 0);
        }
    }

    pub(super) fn dismiss_one(&mut self, i: usize) {
        self.spawned[i].worker.send(&Order::End);
        self.spawned[i].dismissed = true;
    }
}
