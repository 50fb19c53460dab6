//! The whole probe on simulated clocks: as fast as the CPU goes, the same every time.
//!
//! Every lane has a clock of its own, so that a slow operation holds up its own lane only, as threads would. An
//! operation's row, and everything else that follows from its end, becomes visible when the end comes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::ProbeError;
use super::collector::Summary;
use super::crew::{Crew, Worker};
use super::lane::{Lane, Opened};
use super::prepare::Prepared;
use super::region::Region;
use super::session::Session;
use super::supervisor::Supervisor;
use super::view::{Status, View, Watched};
use super::worker::{Begin, Order, Report, Task, schedule};
use crate::clock::{Clock, SimClock, Stop};
use crate::config::Config;
use crate::record::disk::{Disk, RealDisk};
use crate::sample::Outcome;

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
    fn hire(&mut self, task: &Task, region: &Region) -> std::io::Result<Box<dyn Worker>> {
        let worker = Shared::default();
        let (plan, origin, region) = (task.plan.clone(), &task.origin, region.clone());
        let prepared = match &task.trial {
            Some(_) => Prepared::attach(plan, origin, region.clone()),
            None => Prepared::new(plan, origin, region.clone(), &mut |_, _, _, _| true),
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
    fn tell(&mut self, order: &Order) {
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
        // Like a process: it goes when its last operation has returned.
        let idle = worker.lanes.iter().all(|lane| matches!(lane.doing, Doing::Waiting));
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
    /// Of a configuration, on this clock; the store is on `disk`.
    pub fn new(config: Config, clock: SimClock, disk: Box<dyn Disk>) -> Result<Self, SimulateError> {
        let crew = SimCrew { clock: clock.clone(), workers: Arc::default() };
        let mut session = Session::new(config, Arc::new(clock.clone()))?;
        session.write_to(disk);
        let supervisor = session.supervisor(Box::new(crew.clone()))?;
        let beat_ns = clock.monotonic_ns();
        Ok(Self { clock, crew, supervisor, beat_ns })
    }

    /// What can be read of it.
    pub fn view(&self) -> &Arc<View> {
        self.supervisor.view()
    }

    /// Let time pass until `until_ns` (monotonic).
    pub fn run_until(&mut self, until_ns: u64) {
        loop {
            let soonest = self.crew.soonest();
            let at_ns = soonest.as_ref().map_or(u64::MAX, |&(at_ns, ..)| at_ns);
            if at_ns.min(self.beat_ns) >= until_ns {
                break;
            }
            self.clock.sleep_until(at_ns.min(self.beat_ns), &Stop::default());
            match soonest {
                Some((at_ns, worker, number)) if at_ns < self.beat_ns => {
                    lock(&worker).lanes[number].step(at_ns);
                }
                _ => self.beat_ns = self.supervisor.beat(true),
            }
        }
        self.clock.sleep_until(until_ns, &Stop::default());
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
        // Those who are idle end at once, the others never.
        self.supervisor.is_deserted();
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
    // Hired, then heard of: both before time begins.
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
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;
    use crate::probe::breaker;
    use crate::sample::Op;
    use crate::slowdown::verdict::State;

    const START: i64 = 1_790_000_000_000_000_000;

    fn config(faults: &str) -> Config {
        let text = format!(
            "seed = 7\nwindow = '10s'\n[[target]]\npath = '/sim'\nname = 'sim'\nbackend = 'null'\n\
             [target.latency]\nsigma = 0.3\ndata_read = '5ms'\ndata_write = '4ms'\nmd_create = '1ms'\n\
             md_stat = '200us'\nmd_read = '400us'\nmd_delete = '600us'\n{faults}"
        );
        Config::from_toml(&text, "sim").unwrap()
    }

    fn run(faults: &str, seconds: u64) -> Summary {
        simulate(config(faults), START, seconds * 1_000_000_000).unwrap()
    }

    #[test]
    fn steps_of_the_wall_clock_are_counted() {
        let clock = SimClock::new(0);
        let mut simulation = Simulation::new(config(""), clock.clone(), Box::new(RealDisk)).unwrap();
        let steps = |simulation: &Simulation| simulation.view().clock_steps.load(Ordering::Relaxed);
        simulation.run_until(20_000_000_000);
        assert_eq!(steps(&simulation), 0);
        for by_ns in [-3_600_000_000_000, 2_000_000] {
            clock.step_wall(by_ns);
            simulation.run_until(clock.monotonic_ns() + 20_000_000_000);
        }
        assert_eq!(steps(&simulation), 2);
    }

    #[test]
    fn a_state_says_what_it_is_probed_with() {
        let state = run("", 5).targets.remove(0);
        assert_eq!(
            (state.files.pool, state.files.object_bytes, state.files.block_bytes),
            (1000, 3901, 1 << 20)
        );
        assert_eq!((state.files.access, state.files.file_bytes, state.keep), (None, None, None));
        let text = serde_json::to_value(&state).unwrap();
        assert_eq!((&text["backend"], &text["direct"]), (&"null".into(), &"auto".into()));
        assert_eq!(text["budget"]["ops_per_s"], serde_json::Value::Null);
    }

    #[test]
    fn a_quiet_storage_is_ok() {
        let summary = run("", 600);
        assert_eq!(summary.targets[0].state, State::Stopped);
        for op in &summary.targets[0].ops {
            assert_eq!(op.state, State::Ok, "{}", op.op);
            assert!((op.slowdown.unwrap() - 1.0).abs() < 0.5, "{}: {:?}", op.op, op.slowdown);
        }
    }

    #[test]
    fn a_tripled_read_is_found_and_dated() {
        let summary = run("[[target.fault]]\nop = 'data_read'\nafter = '500s'\nmultiply = 3.0", 600);
        let ops = &summary.targets[0].ops;
        assert_eq!(ops[0].state, State::Slow);
        let since = ops[0].since_ns.unwrap() - START;
        assert!((since - 500_000_000_000).abs() < 10_000_000_000, "{since}");
        assert!(ops[1..].iter().all(|op| op.state == State::Ok));
    }

    #[test]
    fn during_a_hang_the_breaker_opens_and_afterwards_one_worker_is_left() {
        let fault = "[[target.fault]]\nop = 'md_create'\nafter = '100s'\nfor = '60s'\nhang = true";
        let clock = SimClock::new(START);
        let begin = clock.monotonic_ns();
        let mut simulation = Simulation::new(config(fault), clock, Box::new(RealDisk)).unwrap();
        let at = |seconds: u64| begin + seconds * 1_000_000_000;
        simulation.run_until(at(130));
        let view = Arc::clone(simulation.view());
        let target = view.targets().remove(0);
        let age = |op: Op| view.in_flight(&target, op).map_or(0, |open| open.age_ns / 1_000_000_000);
        assert_ne!(target.breaker(Op::MdCreate), breaker::State::Closed);
        assert!((28..=31).contains(&age(Op::MdCreate)), "{}", age(Op::MdCreate));
        assert_eq!(age(Op::MdStat), 0);
        assert!(target.workers().1 > 0, "a trial is stuck too");
        let states = view.states(true);
        assert_eq!(states[0].ops[2].state, State::Hung);
        assert_eq!(states[0].ops[3].state, State::Ok);
        simulation.run_until(at(166));
        assert_eq!(target.breaker(Op::MdCreate), breaker::State::Closed);
        assert_eq!(target.workers(), (1, 0));
        simulation.run_until(at(180));
        assert_eq!(view.states(true)[0].ops[2].state, State::Ok);
    }
}
