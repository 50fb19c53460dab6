//! The whole probe on simulated clocks: as fast as the CPU goes, the same every time.
//!
//! Every lane has a clock of its own, so that a slow operation holds up its own lane only, as threads would. An
//! operation's row, and everything else that follows from its end, becomes visible when the end comes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::ProbeError;
use super::collector::{OnNote, Summary};
use super::crew::{Crew, Worker};
use super::files::prepare::Prepared;
use super::lane::{Lane, Opened};
use super::region::Region;
use super::session::Session;
use super::supervisor::Supervisor;
use super::view::{Status, View, Watched};
use super::worker::{Begin, Order, Report, Task, schedule};
use crate::config::Config;
use crate::record::disk::{Disk, RealDisk};
use iosonde_core::clock::{Clock, SimClock, Stop};
use iosonde_core::sample::Outcome;

/// Number of times an ending session takes rows before it gives up on lanes that are still busy.
const LAST_LOOKS: usize = 250;

/// Why a simulation could not run.
#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] crate::config::ConfigError),
    /// A target could not be made ready.
    #[error(transparent)]
    Probe(#[from] ProbeError),
}

/// A lane between two instants.
enum Doing {
    /// Waits for its next tick, or for ticks at all.
    Waiting,
    /// Has an operation open that will have ended like this.
    Busy(Opened, Outcome, (u64, u64)),
}

struct SimLane {
    lane: Lane,
    clock: SimClock,
    doing: Doing,
}

impl SimLane {
    /// When something happens next; none while it has no ticks.
    fn next_ns(&mut self) -> Option<u64> {
        match &self.doing {
            Doing::Busy(_, _, (_, ended_ns)) => Some(*ended_ns),
            Doing::Waiting => self.lane.has_ticks().then(|| self.lane.next_due_ns()),
        }
    }

    fn step(&mut self, now_ns: u64) {
        self.clock.sleep_until(now_ns, &Stop::default());
        match std::mem::replace(&mut self.doing, Doing::Waiting) {
            Doing::Busy(opened, outcome, between) => self.lane.finish(opened, outcome, between, None),
            Doing::Waiting => {
                let ready = self.lane.prepare();
                if let Some(opened) = self.lane.open(ready) {
                    let (outcome, began_ns, ended_ns) = self.lane.execute();
                    self.doing = Doing::Busy(opened, outcome, (began_ns, ended_ns));
                }
            }
        }
    }
}

#[derive(Default)]
struct SimWorker {
    lanes: Vec<SimLane>,
    reports: Vec<Report>,
    prepared: Option<Prepared>,
    ending: bool,
    gone: bool,
}

type Shared = Arc<Mutex<SimWorker>>;

fn lock(worker: &Shared) -> MutexGuard<'_, SimWorker> {
    worker.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All workers of a simulation.
#[derive(Clone)]
struct SimCrew {
    clock: SimClock,
    workers: Arc<Mutex<Vec<Shared>>>,
}

struct Handle {
    worker: Shared,
    crew: SimCrew,
    region: Region,
    turn: u64,
}

impl Crew for SimCrew {
    fn spawn(&mut self, task: &Task, region: &Region) -> std::io::Result<Box<dyn Worker>> {
        let worker = Shared::default();
        let (plan, origin, region) = (task.plan.clone(), &task.origin, region.clone());
        let clock: Arc<dyn Clock> = Arc::new(self.clock.clone());
        let prepared = match &task.trial {
            Some(_) => Prepared::attach(plan, (origin, &clock), region.clone()),
            None => Prepared::new(plan, (origin, &clock), region.clone(), &mut |_, _, _, _| true),
        };
        let handle = Handle { worker: Arc::clone(&worker), crew: self.clone(), region, turn: task.turn };
        match prepared {
            Err(error) => lock(&worker).reports.push(Report::failed(&error)),
            Ok(prepared) => {
                if task.trial.is_none() {
                    let (notes, made) = (prepared.notes.clone(), prepared.made());
                    lock(&worker).reports.push(Report::Ready { notes, made });
                }
                lock(&worker).prepared = Some(prepared);
            }
        }
        if let Some(begin) = &task.trial {
            handle.begin(begin);
        }
        self.workers.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
        Ok(Box::new(handle))
    }
}

impl Handle {
    fn begin(&self, begin: &Begin) {
        let mut worker = lock(&self.worker);
        let Some(mut prepared) = worker.prepared.take() else { return };
        for &(op, number) in &begin.lanes {
            let clock = self.crew.clock.sibling();
            let shared: Arc<dyn Clock> = Arc::new(clock.clone());
            let slot = self.region.slot(number);
            match prepared.operation(op, self.turn, &shared, begin.start_ns) {
                Err(error) => worker.reports.push(Report::failed(&error)),
                Ok(operation) => {
                    slot.enter(1);
                    let schedule = schedule(&prepared.plan, begin.start_ns, op);
                    let lane = Lane::new(op, operation, schedule, shared, slot).paced_by(self.region.clone());
                    worker.lanes.push(SimLane { lane, clock, doing: Doing::Waiting });
                }
            }
        }
        worker.prepared = Some(prepared);
    }
}

impl Worker for Handle {
    fn send(&mut self, order: &Order) {
        match order {
            Order::Begin(begin) => self.begin(begin),
            Order::End => lock(&self.worker).ending = true,
        }
    }
    fn hear(&mut self) -> Option<Report> {
        lock(&self.worker).reports.pop()
    }
    fn is_gone(&mut self) -> bool {
        let mut worker = lock(&self.worker);
        // Like a process: it goes when its last operation has returned and its last rows were taken.
        let mut waiting = worker.lanes.iter_mut().filter(|lane| matches!(lane.doing, Doing::Waiting));
        let handed_on = waiting.all(|lane| lane.lane.flush());
        let idle = handed_on && worker.lanes.iter().all(|lane| matches!(lane.doing, Doing::Waiting));
        if worker.ending && idle {
            *worker = SimWorker { ending: true, gone: true, ..SimWorker::default() };
        }
        worker.gone
    }
    fn kill(&mut self) {
        lock(&self.worker).ending = true;
    }
    fn pid(&self) -> Option<u32> {
        None
    }
}

/// A running simulation.
pub struct Simulation {
    clock: SimClock,
    crew: SimCrew,
    supervisor: Supervisor,
    beat_ns: u64,
}

impl Simulation {
    /// Simulates a configuration on this clock; the store is on `disk`.
    pub fn new(config: Config, clock: SimClock, disk: Box<dyn Disk>) -> Result<Self, SimulateError> {
        Self::noted(config, clock, disk, Box::new(|_| {}))
    }

    /// The same; notes go to `on_note`, which may take its time on the clock, as a log that blocks does.
    pub fn noted(
        config: Config,
        clock: SimClock,
        disk: Box<dyn Disk>,
        on_note: OnNote,
    ) -> Result<Self, SimulateError> {
        let crew = SimCrew { clock: clock.clone(), workers: Arc::default() };
        let mut session = Session::new(config, Arc::new(clock.clone()))?;
        session.write_to(disk);
        session.on_note(on_note);
        let supervisor = session.supervisor(Box::new(crew.clone()))?;
        let beat_ns = clock.monotonic_ns();
        Ok(Self { clock, crew, supervisor, beat_ns })
    }

    /// View of the simulated session.
    pub fn view(&self) -> &Arc<View> {
        self.supervisor.view()
    }

    /// Let time pass until `until_ns` (monotonic), or as far as the supervisor was blocked beyond.
    pub fn run_until(&mut self, until_ns: u64) {
        while self.step(until_ns.max(self.clock.monotonic_ns())) {}
        self.clock.sleep_until(until_ns, &Stop::default());
    }

    /// Let the next `steps` things happen: a tick is taken, an operation ends, the supervisor looks.
    pub fn run_steps(&mut self, steps: u64) {
        for _ in 0..steps {
            self.step(u64::MAX);
        }
    }

    /// Let one thing happen; false if none does before `until_ns`.
    fn step(&mut self, until_ns: u64) -> bool {
        let soonest = self.crew.soonest();
        let at_ns = soonest.as_ref().map_or(u64::MAX, |&(at_ns, ..)| at_ns);
        if at_ns.min(self.beat_ns) >= until_ns {
            return false;
        }
        self.clock.sleep_until(at_ns.min(self.beat_ns), &Stop::default());
        match soonest {
            Some((at_ns, worker, number)) if at_ns < self.beat_ns => lock(&worker).lanes[number].step(at_ns),
            _ => self.beat_ns = self.supervisor.beat(true),
        }
        true
    }

    /// Watch the targets of another configuration from now on.
    pub fn reload(&mut self, config: &Config) -> Result<(), SimulateError> {
        let plans = config.plans()?;
        let watched = self.supervisor.watch(&plans);
        Ok(watched.map_err(|errno| ProbeError::Refused(format!("cannot watch more targets: {errno}")))?)
    }

    /// End it as a session ends. Dropping it instead is what a kill does.
    pub fn finish(mut self) -> Summary {
        self.supervisor.dismiss();
        // Those who are idle end once their rows were taken, the others never.
        for _ in 0..LAST_LOOKS {
            if self.supervisor.is_deserted() {
                break;
            }
        }
        self.supervisor.finish()
    }
}

impl SimCrew {
    /// The lane where something happens next, and when.
    fn soonest(&self) -> Option<(u64, Shared, usize)> {
        let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        workers.retain(|worker| !lock(worker).gone);
        let mut soonest: Option<(u64, Shared, usize)> = None;
        for worker in workers.iter() {
            let mut inside = lock(worker);
            let ending = inside.ending;
            for (number, lane) in inside.lanes.iter_mut().enumerate() {
                // An ending worker begins nothing more.
                if ending && matches!(lane.doing, Doing::Waiting) {
                    continue;
                }
                let Some(at_ns) = lane.next_ns() else { continue };
                if soonest.as_ref().is_none_or(|&(other, ..)| at_ns < other) {
                    soonest = Some((at_ns, Arc::clone(worker), number));
                }
            }
        }
        soonest
    }
}

/// Run a session from `start_ns` (UTC) for `duration_ns`.
pub fn simulate(config: Config, start_ns: i64, duration_ns: u64) -> Result<Summary, SimulateError> {
    let clock = SimClock::new(start_ns);
    let end_ns = clock.monotonic_ns() + duration_ns;
    let mut simulation = Simulation::new(config, clock, Box::new(RealDisk))?;
    simulation.supervisor.begin_at_once();
    // Spawned, then heard of: both before time begins.
    simulation.supervisor.beat(true);
    simulation.run_until(end_ns);
    let failed = |target: &Arc<Watched>| match target.status() {
        Status::Failed(error) => Some(error),
        _ => None,
    };
    if let Some(error) = simulation.view().targets().iter().find_map(failed) {
        return Err(ProbeError::Refused(error).into());
    }
    Ok(simulation.finish())
}

#[cfg(test)]
mod tests;
