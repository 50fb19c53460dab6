//! The supervisor of one target: spawns workers, watches every op's breaker, moves ops from lane to lane.
//!
//! It never opens, stats or lists a path on the target: it reads shared memory and `/proc`.

mod afresh;
mod ownership;
mod spawning;
mod still;
mod trials;
mod upkeep;

use std::path::PathBuf;
use std::sync::Arc;

use super::breaker::{Backoff, Breaker};
use super::crew::{Crew, Worker};
use super::evidence::Evidence;
use super::files::guard::Displaced;
use super::governor::{Governor, Interval};
use super::ledger::Account;
use super::origin::Origin;
use super::region::Region;
use super::slot::Tick;
use super::view::{Status, Watched};
use super::worker::{Order, schedule};
use crate::config::TargetPlan;
use iosonde_core::pace::Schedule;
use iosonde_core::sample::{Op, Outcome};
use still::Still;

/// Every operation of a target must fail this often in a row before its worker is replaced.
const FAILURES: u64 = 5;
/// Interval at which the cost is judged.
const GOVERN_NS: u64 = 10_000_000_000;
/// Lanes that may exist at a time: those of a worker, of its predecessor that is still stuck, and trials.
fn slots(plan: &TargetPlan) -> usize {
    12 + 6 * plan.replacements
}

/// Receiver of what a target's supervisor learns.
pub trait EventSink {
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
    spawned_ns: u64,
    /// The slot whose operation was the first that did not return, and when it did.
    first_stuck: Option<usize>,
    returned_ns: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Main,
    Trial,
}

struct Spawned {
    worker: Box<dyn Worker>,
    role: Role,
    dismissed: bool,
    ready: bool,
    slots: Vec<(Op, usize)>,
    cpu_ns: u64,
    still: Option<Still>,
}

/// The supervisor of one target.
pub struct Watch {
    watched: Arc<Watched>,
    origin: Origin,
    region: Region,
    accounts: Vec<Option<(Op, Account)>>,
    spawned: Vec<Spawned>,
    ops: [OpWatch; 6],
    start_ns: Option<u64>,
    turn: u64,
    backoff: Backoff,
    spawn_at_ns: u64,
    failing_since_ns: Option<u64>,
    progress: (u64, u64),
    stalled: bool,
    /// The mount that the target was found on.
    mount: Option<PathBuf>,
    /// Change of the probe's directory, until it is made anew.
    displaced: Option<Displaced>,
    governor: Governor,
    interval: Interval,
    interval_ns: u64,
    cpu_of_the_gone_ns: u64,
    cpu_before_ns: u64,
}

impl Watch {
    /// No worker yet.
    pub fn new(watched: Arc<Watched>, origin: Origin) -> Result<Self, rustix::io::Errno> {
        let region = Region::new(watched.plan.pool, slots(&watched.plan))?;
        let accounts = (0..slots(&watched.plan)).map(|_| None).collect();
        let ops = Op::ALL.map(|_| OpWatch {
            owner: Owner::Nobody(0, Outcome::SKIPPED),
            breaker: Breaker::new(&watched.plan),
            spawned_ns: 0,
            first_stuck: None,
            returned_ns: None,
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
            spawned: Vec::new(),
            ops,
            start_ns: None,
            turn: 0,
            backoff: Backoff::default(),
            spawn_at_ns: 0,
            failing_since_ns: None,
            progress: (0, 0),
            stalled: false,
            mount: None,
            displaced: None,
        })
    }

    /// View of the target for other threads.
    pub fn watched(&self) -> &Arc<Watched> {
        &self.watched
    }

    /// Memory it shares with its workers.
    pub fn region(&self) -> &Region {
        &self.region
    }

    fn evidence(&self, pid: u32, thread: Option<u32>, since_ns: u64) -> Evidence {
        Evidence::gather(pid, thread, (&self.plan().path, self.mount.as_deref()), since_ns)
    }

    fn plan(&self) -> &TargetPlan {
        &self.watched.plan
    }

    fn schedule(&self, op: Op) -> Option<Schedule> {
        self.start_ns.map(|start_ns| schedule(self.plan(), start_ns, op))
    }

    /// Look at everything once. `begin` says whether a target that is ready may begin, and when its schedule starts.
    pub fn beat(&mut self, now_ns: u64, crew: &mut dyn Crew, begin: Option<u64>, sink: &mut dyn EventSink) {
        self.hear(now_ns, sink);
        self.reap(now_ns, sink);
        self.replace_stopped(now_ns, sink);
        if let Some(start_ns) = begin {
            if matches!(self.watched.status(), Status::Failed(_) | Status::Stalled { .. }) {
                // Nothing can be measured yet: that is what the rows will say.
                self.start_ns.get_or_insert(start_ns);
            }
            self.begin(now_ns, start_ns, sink);
        }
        if self.start_ns.is_some() {
            let due: Vec<Op> = Op::ALL.into_iter().filter(|&op| self.look(op, now_ns, sink)).collect();
            self.try_again(&due, now_ns, crew, sink);
            self.give_up_on_failing(now_ns, sink);
        }
        self.spawn_main(now_ns, crew, sink);
        self.notice_a_stall(now_ns, sink);
        self.pass_unowned(now_ns, sink);
        self.govern(now_ns, sink);
        self.publish();
    }

    /// Take what the lanes saw.
    pub fn drain(&mut self, sink: &mut dyn EventSink) {
        let (watched, interval) = (&self.watched, &mut self.interval);
        for (op, account) in self.accounts.iter_mut().flatten() {
            account.drain(&mut |tick| {
                interval.due += u64::from(tick.outcome != Outcome::SHED);
                interval.missed += u64::from(tick.outcome == Outcome::SKIPPED);
                if tick.outcome == Outcome::OK {
                    watched.moved(watched.plan.bytes_of(*op));
                }
                sink.row(*op, tick);
            });
        }
    }

    /// Ask every worker to end.
    pub fn dismiss(&mut self) {
        self.region.stop();
        for spawned in &mut self.spawned {
            spawned.worker.send(&Order::End);
            spawned.dismissed = true;
        }
    }

    /// True if every worker is gone.
    pub fn is_deserted(&mut self) -> bool {
        self.spawned.iter_mut().all(|spawned| spawned.worker.is_gone())
    }

    /// The workers that are still there, for whoever waits for their end.
    pub fn leave_workers(&mut self) -> impl Iterator<Item = Box<dyn Worker>> {
        self.spawned.drain(..).map(|spawned| spawned.worker)
    }

    /// Account for everything up to the end and let go of those who are still there.
    pub fn finish(&mut self, ended_ns: u64, sink: &mut dyn EventSink) {
        // A tick due at the very end is not of this run.
        let ended_ns = ended_ns.saturating_sub(1);
        self.pass_last(ended_ns, sink);
        let divider = self.region.divider();
        for (number, account) in self.accounts.iter_mut().enumerate() {
            let Some((op, account)) = account else { continue };
            let from = account.settle(ended_ns, &mut |tick| sink.row(*op, tick));
            if self.ops[*op as usize].owner == Owner::Slot(number) {
                account.left(from, ended_ns, divider, &mut |tick| sink.row(*op, tick));
            }
        }
        for spawned in &mut self.spawned {
            spawned.worker.kill();
        }
    }
}
