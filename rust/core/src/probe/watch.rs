//! The supervisor of one target: hires workers, watches every op's breaker, moves ops from lane to lane.
//!
//! It never opens, stats or lists a path on the target: it reads shared memory and `/proc`.

use std::sync::Arc;

use super::breaker::{Backoff, Breaker, Look, State, Step};
use super::crew::{Crew, Worker};
use super::evidence::Evidence;
use super::governor::{Governor, Interval};
use super::ledger::{Account, unowned};
use super::prepare::Origin;
use super::region::Region;
use super::slot::Tick;
use super::view::{Status, Watched};
use super::worker::{Begin, Order, Report, Task, schedule};
use crate::clock::process_cpu_ns;
use crate::config::TargetPlan;
use crate::pace::Schedule;
use crate::sample::{Op, Outcome};

/// Every operation of a target must fail this often in a row before its worker is replaced.
const FAILURES: u64 = 5;
/// How often the cost is judged.
const GOVERN_NS: u64 = 10_000_000_000;
/// Lanes that may exist at a time: those of a worker, of its predecessor that is still stuck, and trials.
fn slots(plan: &TargetPlan) -> usize {
    12 + 6 * plan.replacements
}

/// Where a target's supervisor puts what it learns.
pub trait Desk {
    /// A row of a tick.
    fn row(&mut self, op: Op, tick: Tick);
    /// Something about the target that people should know.
    fn note(&mut self, text: &str);
    /// The same of something that is not as it should be.
    fn warn(&mut self, text: &str);
    /// An op is stuck, or the target cannot be made ready (no op), since an instant (monotonic).
    fn opened(&mut self, op: Option<Op>, since_ns: u64, evidence: Option<Evidence>);
    /// That is over: when, how the stuck operation ended, how many trials it took.
    fn closed(&mut self, op: Option<Op>, ended_ns: u64, outcome: Option<Outcome>, attempts: u32);
}

/// Who works on an op.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// The lane of a slot.
    Slot(usize),
    /// Nobody, from this tick on; its rows end like this.
    Nobody(u64, Outcome),
}

struct OpWatch {
    owner: Owner,
    breaker: Breaker,
    hired_ns: u64,
    returned: Option<(u64, Outcome)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Main,
    Trial(Op),
}

struct Staff {
    worker: Box<dyn Worker>,
    role: Role,
    dismissed: bool,
    ready: bool,
    slots: Vec<(Op, usize)>,
    cpu_ns: u64,
}

/// The supervisor of one target.
pub struct Watch {
    watched: Arc<Watched>,
    origin: Origin,
    region: Region,
    accounts: Vec<Option<(Op, Account)>>,
    staff: Vec<Staff>,
    ops: [OpWatch; 6],
    start_ns: Option<u64>,
    turn: u64,
    backoff: Backoff,
    hire_at_ns: u64,
    failing_since_ns: Option<u64>,
    progress: (u64, u64),
    stalled: bool,
    governor: Governor,
    interval: Interval,
    interval_ns: u64,
    cpu_of_the_gone_ns: u64,
    cpu_before_ns: u64,
}

impl Watch {
    /// Nobody hired yet.
    pub fn new(watched: Arc<Watched>, origin: Origin) -> Result<Self, rustix::io::Errno> {
        let region = Region::new(watched.plan.pool, slots(&watched.plan))?;
        let accounts = (0..slots(&watched.plan)).map(|_| None).collect();
        let ops = Op::ALL.map(|_| OpWatch {
            owner: Owner::Nobody(0, Outcome::SKIPPED),
            breaker: Breaker::new(&watched.plan),
            hired_ns: 0,
            returned: None,
        });
        let governor = Governor::new(watched.plan.budget.cpu_ns_per_s);
        Ok(Self {
            governor,
            interval: Interval::default(),
            interval_ns: 0,
            cpu_of_the_gone_ns: 0,
            cpu_before_ns: 0,
            watched,
            origin,
            region,
            accounts,
            staff: Vec::new(),
            ops,
            start_ns: None,
            turn: 0,
            backoff: Backoff::default(),
            hire_at_ns: 0,
            failing_since_ns: None,
            progress: (0, 0),
            stalled: false,
        })
    }

    /// What others may read of it.
    pub fn watched(&self) -> &Arc<Watched> {
        &self.watched
    }
    /// What it shares with its workers.
    pub fn region(&self) -> &Region {
        &self.region
    }
    fn plan(&self) -> &TargetPlan {
        &self.watched.plan
    }
    fn schedule(&self, op: Op) -> Option<Schedule> {
        self.start_ns.map(|start_ns| schedule(self.plan(), start_ns, op))
    }

    /// Look at everything once. `begin` says whether a target that is ready may begin, and when its schedule starts.
    pub fn beat(&mut self, now_ns: u64, crew: &mut dyn Crew, begin: Option<u64>, desk: &mut dyn Desk) {
        self.hear(now_ns, desk);
        self.bury(now_ns, desk);
        if let Some(start_ns) = begin {
            if matches!(self.watched.status(), Status::Failed(_) | Status::Stalled { .. }) {
                // Nothing can be measured yet: that is what the rows will say.
                self.start_ns.get_or_insert(start_ns);
            }
            self.begin(now_ns, start_ns, desk);
        }
        if self.start_ns.is_some() {
            for op in Op::ALL {
                self.look(op, now_ns, crew, desk);
            }
            self.give_up_on_failing(now_ns, desk);
        }
        self.hire_main(now_ns, crew, desk);
        self.notice_a_stall(now_ns, desk);
        self.pass_unowned(now_ns, desk);
        self.govern(now_ns, desk);
        self.publish();
    }

    /// Take what the lanes saw.
    pub fn drain(&mut self, desk: &mut dyn Desk) {
        let (watched, interval) = (&self.watched, &mut self.interval);
        for (op, account) in self.accounts.iter_mut().flatten() {
            account.drain(&mut |tick| {
                interval.due += u64::from(tick.outcome != Outcome::SHED);
                interval.missed += u64::from(tick.outcome == Outcome::SKIPPED);
                if tick.outcome == Outcome::OK {
                    watched.moved(watched.plan.bytes_of(*op));
                }
                desk.row(*op, tick);
            });
        }
    }

    /// Whether the probe costs what it may; lowers and raises its rate.
    fn govern(&mut self, now_ns: u64, desk: &mut dyn Desk) {
        self.interval.stuck |= self.ops.iter().any(|watch| watch.breaker.state() != State::Closed);
        if now_ns < self.interval_ns + GOVERN_NS {
            return;
        }
        for staff in &mut self.staff {
            staff.cpu_ns = staff.worker.pid().and_then(process_cpu_ns).unwrap_or(staff.cpu_ns);
        }
        let cpu_ns = self.cpu_of_the_gone_ns + self.staff.iter().map(|staff| staff.cpu_ns).sum::<u64>();
        self.watched.set_cpu_ns(cpu_ns);
        self.interval.cpu_ns = cpu_ns - std::mem::replace(&mut self.cpu_before_ns, cpu_ns);
        self.interval.elapsed_ns = now_ns - std::mem::replace(&mut self.interval_ns, now_ns);
        let interval = std::mem::take(&mut self.interval);
        if let Some(why) = self.governor.judge(interval) {
            let divider = self.governor.divider();
            self.region.divide(divider);
            match &why {
                Some(why) => desk.warn(why),
                None => desk.note("every tick is worked on again"),
            }
            self.watched.set_rate(divider, why);
        }
    }

    /// Ask every worker to end.
    pub fn dismiss(&mut self) {
        self.region.stop();
        for staff in &mut self.staff {
            staff.worker.tell(&Order::End);
            staff.dismissed = true;
        }
    }

    /// Whether every worker is gone.
    pub fn is_deserted(&mut self) -> bool {
        self.staff.iter_mut().all(|staff| staff.worker.is_gone())
    }

    /// Account for everything up to now and let go of those who are still there.
    pub fn finish(&mut self, now_ns: u64, desk: &mut dyn Desk) {
        self.pass_unowned(now_ns, desk);
        for (op, account) in self.accounts.iter_mut().flatten() {
            account.settle(now_ns, &mut |tick| desk.row(*op, tick));
        }
        for staff in &mut self.staff {
            staff.worker.kill();
        }
    }

    fn hear(&mut self, now_ns: u64, desk: &mut dyn Desk) {
        for i in 0..self.staff.len() {
            while let Some(report) = self.staff[i].worker.hear() {
                match (report, self.staff[i].role) {
                    (Report::Ready { notes }, _) => {
                        self.staff[i].ready = true;
                        notes.iter().for_each(|note| desk.note(note));
                        self.watched.set_notes(notes);
                        self.watched.set_status(Status::Ready);
                    }
                    (Report::Failed { error, errno }, role) => {
                        self.dismiss_one(i);
                        let outcome = errno.map_or(Outcome::SKIPPED, |errno| {
                            Outcome::error(rustix::io::Errno::from_raw_os_error(errno))
                        });
                        if role == Role::Main {
                            self.main_failed(now_ns, error, outcome, desk);
                        }
                    }
                }
            }
        }
    }

    fn main_failed(&mut self, now_ns: u64, error: String, outcome: Outcome, desk: &mut dyn Desk) {
        let wait_ns = self.backoff.next_ns(&self.watched.plan);
        self.hire_at_ns = now_ns + wait_ns;
        desk.warn(&format!("not probed: {error}; next attempt in {:.1} s", wait_ns as f64 / 1e9));
        self.watched.set_notes(vec![format!("not probed: {error}")]);
        self.watched.set_status(Status::Failed(error));
        for op in &mut self.ops {
            if let Owner::Nobody(from, _) = op.owner {
                op.owner = Owner::Nobody(from, outcome);
            }
        }
    }

    /// Workers that are gone: account for what they still owed.
    fn bury(&mut self, now_ns: u64, desk: &mut dyn Desk) {
        for i in (0..self.staff.len()).rev() {
            if !self.staff[i].worker.is_gone() {
                continue;
            }
            let gone = self.staff.swap_remove(i);
            self.cpu_of_the_gone_ns += gone.cpu_ns;
            for &(op, number) in &gone.slots {
                let Some((_, mut account)) = self.accounts[number].take() else { continue };
                let end = account.settle(now_ns, &mut |tick| desk.row(op, tick));
                if self.ops[op as usize].owner == Owner::Slot(number) {
                    self.ops[op as usize].owner = Owner::Nobody(end, Outcome::SKIPPED);
                }
            }
            if gone.role == Role::Main && !gone.dismissed {
                let wait_ns = self.backoff.next_ns(&self.watched.plan);
                self.hire_at_ns = now_ns + wait_ns;
                let ready = if gone.ready { "" } else { " before it was ready" };
                let error =
                    format!("its worker ended{ready}; another starts in {:.1} s", wait_ns as f64 / 1e9);
                desk.warn(&error);
                self.watched.set_status(Status::Failed(error));
            }
        }
    }

    fn main(&mut self) -> Option<&mut Staff> {
        self.staff.iter_mut().find(|staff| staff.role == Role::Main && !staff.dismissed)
    }

    fn hire_main(&mut self, now_ns: u64, crew: &mut dyn Crew, desk: &mut dyn Desk) {
        // A predecessor that is still stuck keeps its six slots; of a second one there is no room for a third.
        let stuck = self.staff.iter().filter(|staff| staff.role == Role::Main).count();
        if self.main().is_some() || now_ns < self.hire_at_ns || stuck > 1 || self.region.stopped() {
            return;
        }
        let task = self.task(None);
        match crew.hire(&task, &self.region) {
            Ok(worker) => {
                self.watched.set_status(Status::Preparing);
                self.progress = (self.region.progress().steps, now_ns);
                let slots = Vec::new();
                self.staff.push(Staff {
                    worker,
                    role: Role::Main,
                    dismissed: false,
                    ready: false,
                    slots,
                    cpu_ns: 0,
                });
            }
            Err(error) => {
                let error = format!("cannot start a worker: {error}");
                self.main_failed(now_ns, error, Outcome::SKIPPED, desk);
            }
        }
    }

    fn task(&mut self, trial: Option<Begin>) -> Task {
        self.turn += 1;
        Task {
            version: env!("CARGO_PKG_VERSION").into(),
            plan: self.plan().clone(),
            origin: self.origin.clone(),
            turn: self.turn,
            trial,
        }
    }

    /// A worker that is ready gets all six ops.
    fn begin(&mut self, now_ns: u64, start_ns: u64, desk: &mut dyn Desk) {
        let Some(at) = self.staff.iter().position(|staff| {
            staff.role == Role::Main && !staff.dismissed && staff.ready && staff.slots.is_empty()
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
            let first = self.take_from_owner(op, now_ns, desk);
            let account = Account::open(self.region.slot(number), schedule, first);
            self.accounts[number] = Some((op, account));
            self.own(op, number, now_ns);
            lanes.push((op, number));
        }
        self.staff[at].slots = lanes.clone();
        self.staff[at].worker.tell(&Order::Begin(Begin { start_ns, lanes }));
        self.watched.set_status(Status::Running);
        self.failing_since_ns = None;
        if std::mem::take(&mut self.stalled) {
            desk.closed(None, now_ns, None, 0);
        }
    }

    /// Nobody else takes ticks of an op any more; returns the first for whoever comes next.
    fn take_from_owner(&mut self, op: Op, now_ns: u64, desk: &mut dyn Desk) -> u64 {
        let Some(schedule) = self.schedule(op) else { return 0 };
        match self.ops[op as usize].owner {
            Owner::Slot(number) => match &mut self.accounts[number] {
                Some((_, account)) => account.revoke(now_ns, &mut |tick| desk.row(op, tick)),
                None => schedule.tick_at(now_ns) + 1,
            },
            Owner::Nobody(from, outcome) => {
                let began = now_ns >= schedule.due_ns(0);
                let first = if began { from.max(schedule.tick_at(now_ns) + 1) } else { from };
                unowned(schedule, from, first, outcome, &mut |tick| desk.row(op, tick));
                first
            }
        }
    }

    fn own(&mut self, op: Op, number: usize, now_ns: u64) {
        self.ops[op as usize].owner = Owner::Slot(number);
        self.ops[op as usize].hired_ns = now_ns;
        let slot = self.accounts[number].as_ref().map(|(_, account)| account.slot().clone());
        self.watched.set_lane(op, slot);
    }

    fn look(&mut self, op: Op, now_ns: u64, crew: &mut dyn Crew, desk: &mut dyn Desk) {
        let Owner::Slot(number) = self.ops[op as usize].owner else { return };
        let Some((_, account)) = &mut self.accounts[number] else { return };
        account.relieve(now_ns, &mut |tick| desk.row(op, tick));
        let slot = account.slot().clone();
        let watch = &mut self.ops[op as usize];
        let not_there = slot.thread().is_none().then_some(watch.hired_ns);
        let look =
            Look { now_ns, open_since_ns: slot.open_since_due_ns().or(not_there), ended: slot.ended() };
        match watch.breaker.observe(look) {
            Step::None => {}
            Step::Opened => {
                let pid = self.worker_of(number).and_then(|staff| staff.worker.pid());
                let since_ns = self.ops[op as usize].breaker.hung_since_ns().unwrap_or(now_ns);
                let evidence = pid.map(|pid| Evidence::gather(pid, slot.thread(), since_ns));
                self.watched.set_evidence(op, evidence.clone());
                self.watched.hung(op);
                desk.opened(Some(op), since_ns, evidence);
            }
            Step::Try => self.try_again(op, now_ns, crew, desk),
            Step::Returned => watch.returned = Some((now_ns, slot.failures().1)),
            Step::Closed => {
                let attempts = watch.breaker.attempts();
                // By a trial: what was stuck has not returned.
                let (ended_ns, outcome) = watch.returned.take().unzip();
                self.watched.set_evidence(op, None);
                desk.closed(Some(op), ended_ns.unwrap_or(now_ns), outcome, attempts);
            }
        }
        if self.ops[op as usize].breaker.state() == State::Closed {
            self.send_home(op, now_ns, desk);
        }
    }

    fn worker_of(&mut self, number: usize) -> Option<&mut Staff> {
        self.staff.iter_mut().find(|staff| staff.slots.iter().any(|&(_, slot)| slot == number))
    }

    /// A trial: by a lane that has come back meanwhile, else by a worker of its own.
    fn try_again(&mut self, op: Op, now_ns: u64, crew: &mut dyn Crew, desk: &mut dyn Desk) {
        if let Some(number) = self.parked(op) {
            let first = self.take_from_owner(op, now_ns, desk);
            let ended = self.hand_over(op, number, first, now_ns);
            self.ops[op as usize].breaker.replaced(now_ns, ended);
            return;
        }
        let trials = self.staff.iter().filter(|staff| staff.role == Role::Trial(op)).count();
        let free = self.accounts.iter().position(Option::is_none);
        let (Some(number), Some(start_ns)) =
            (free.filter(|_| trials < self.plan().replacements), self.start_ns)
        else {
            self.ops[op as usize].breaker.postpone(now_ns);
            return;
        };
        let task = self.task(Some(Begin { start_ns, lanes: vec![(op, number)] }));
        let first = self.take_from_owner(op, now_ns, desk);
        let schedule = schedule(self.plan(), start_ns, op);
        self.accounts[number] = Some((op, Account::open(self.region.slot(number), schedule, first)));
        match crew.hire(&task, &self.region) {
            Ok(worker) => {
                let (role, slots) = (Role::Trial(op), vec![(op, number)]);
                self.staff.push(Staff { worker, role, dismissed: false, ready: true, slots, cpu_ns: 0 });
                self.own(op, number, now_ns);
            }
            Err(error) => {
                desk.warn(&format!("cannot start a worker for a trial of {}: {error}", op.name()));
                self.accounts[number] = None;
                self.ops[op as usize].owner = Owner::Nobody(first, Outcome::SKIPPED);
                self.watched.set_lane(op, None);
            }
        }
        self.ops[op as usize].breaker.replaced(now_ns, 0);
    }

    /// A lane of this op that was stuck, has returned and waits for ticks.
    fn parked(&self, op: Op) -> Option<usize> {
        let mut mine = self.staff.iter().filter(|staff| !staff.dismissed).flat_map(|staff| &staff.slots);
        mine.find_map(|&(of, number)| {
            let (_, account) = self.accounts[number].as_ref()?;
            (of == op && self.ops[op as usize].owner != Owner::Slot(number) && account.slot().parked())
                .then_some(number)
        })
    }

    /// Give an op to a lane that is parked; returns how many operations that one has ended.
    fn hand_over(&mut self, op: Op, number: usize, first: u64, now_ns: u64) -> u64 {
        let Some((_, account)) = &mut self.accounts[number] else { return 0 };
        account.give(first);
        let ended = account.slot().ended();
        self.own(op, number, now_ns);
        ended
    }

    /// All is well: the op goes back to the target's own worker, trials go.
    fn send_home(&mut self, op: Op, now_ns: u64, desk: &mut dyn Desk) {
        let Some(number) = self.parked(op) else { return };
        let home =
            self.staff.iter().any(|staff| staff.role == Role::Main && staff.slots.contains(&(op, number)));
        if home {
            let first = self.take_from_owner(op, now_ns, desk);
            self.hand_over(op, number, first, now_ns);
        }
        for i in 0..self.staff.len() {
            let staff = &self.staff[i];
            let working =
                staff.slots.iter().any(|&(_, slot)| self.ops[op as usize].owner == Owner::Slot(slot));
            let done = staff.slots.iter().all(|&(_, slot)| self.is_parked(slot));
            if staff.role == Role::Trial(op) && !working && done {
                self.dismiss_one(i);
            }
        }
    }

    fn is_parked(&self, number: usize) -> bool {
        self.accounts[number].as_ref().is_some_and(|(_, account)| account.slot().parked())
    }

    fn dismiss_one(&mut self, i: usize) {
        self.staff[i].worker.tell(&Order::End);
        self.staff[i].dismissed = true;
    }

    /// Every op fails: perhaps the mount was replaced under us, so begin afresh by path.
    fn give_up_on_failing(&mut self, now_ns: u64, desk: &mut dyn Desk) {
        let failed = |watch: &OpWatch| match watch.owner {
            Owner::Slot(number) => self.accounts[number]
                .as_ref()
                .map(|(_, account)| account.slot().failures())
                .filter(|(failures, _)| *failures >= FAILURES)
                .map(|(_, outcome)| outcome),
            Owner::Nobody(..) => None,
        };
        let outcomes: Vec<Outcome> = self.ops.iter().filter_map(failed).collect();
        if outcomes.len() < self.ops.len() {
            self.failing_since_ns = None;
            let well = self.ops.iter().any(|watch| matches!(watch.owner, Owner::Slot(_)));
            if well && self.watched.is_running() && self.accounts_are_well() {
                self.backoff.reset();
            }
            return;
        }
        let since_ns = *self.failing_since_ns.get_or_insert(now_ns);
        let Some(at) = self.staff.iter().position(|s| s.role == Role::Main && !s.dismissed) else { return };
        if now_ns - since_ns < self.plan().retry_ns {
            return;
        }
        self.failing_since_ns = None;
        desk.warn(&format!("every operation fails ({}): starting afresh", outcomes[0].name()));
        for op in Op::ALL {
            let first = self.take_from_owner(op, now_ns, desk);
            self.ops[op as usize].owner = Owner::Nobody(first, outcomes[op as usize]);
            self.watched.set_lane(op, None);
        }
        self.dismiss_one(at);
        self.hire_at_ns = now_ns;
    }

    fn accounts_are_well(&self) -> bool {
        self.accounts.iter().flatten().any(|(_, a)| a.slot().ended() > FAILURES && a.slot().failures().0 == 0)
    }

    /// Making ready shows no sign of life: the storage hangs before the first operation.
    fn notice_a_stall(&mut self, now_ns: u64, desk: &mut dyn Desk) {
        let progress = self.region.progress();
        if progress.steps != self.progress.0 {
            self.progress = (progress.steps, now_ns);
            self.watched.set_progress(progress);
        }
        let deadline_ns = self.plan().deadline_ns;
        let Some(pid) = self.main().filter(|staff| !staff.ready).map(|staff| staff.worker.pid()) else {
            return;
        };
        let since_ns = self.progress.1;
        if !self.stalled && now_ns.saturating_sub(since_ns) > deadline_ns {
            self.stalled = true;
            self.watched.set_status(Status::Stalled { since_ns });
            desk.opened(None, since_ns, pid.map(|pid| Evidence::gather(pid, None, since_ns)));
        } else if self.stalled && since_ns == now_ns {
            self.stalled = false;
            self.watched.set_status(Status::Preparing);
            desk.closed(None, now_ns, None, 0);
        }
    }

    /// Rows for ticks that are nobody's.
    fn pass_unowned(&mut self, now_ns: u64, desk: &mut dyn Desk) {
        for op in Op::ALL {
            let Some(schedule) = self.schedule(op).filter(|schedule| now_ns >= schedule.due_ns(0)) else {
                continue;
            };
            if let Owner::Nobody(from, outcome) = self.ops[op as usize].owner {
                let now = schedule.tick_at(now_ns);
                unowned(schedule, from, now, outcome, &mut |tick| desk.row(op, tick));
                self.ops[op as usize].owner = Owner::Nobody(from.max(now), outcome);
            }
        }
    }

    fn publish(&self) {
        let stuck = self.staff.iter().filter(|staff| staff.dismissed || staff.role != Role::Main).count();
        self.watched.set_workers(self.staff.len(), stuck);
        for op in Op::ALL {
            let breaker = &self.ops[op as usize].breaker;
            self.watched.set_breaker(op, breaker.state(), breaker.hung_since_ns());
        }
    }
}
