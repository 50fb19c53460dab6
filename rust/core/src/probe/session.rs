//! A probe over several targets, from configuration to summary.
//!
//! ```text
//! lanes ──rings──► collector ──► live accounts ──► /metrics, snapshots
//!                      └──► writer ──► spool, states, baselines
//! ```

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{JoinHandle, Thread};

use rtrb::{Consumer, RingBuffer};
use serde::Serialize;

use super::lane::{Board, Lane, Tick};
use super::prepare::{Origin, Prepared, memory_bytes};
use super::state::{TargetState, slug};
use super::{ProbeError, Progress};
use crate::clock::{Anchor, Clock, Stop};
use crate::config::{Config, ConfigError, TargetPlan};
use crate::pace::Schedule;
use crate::record::spool;
use crate::record::writer::{Health, Job, Writer};
use crate::sample::{Op, Outcome, Sample};
use crate::slowdown::live::{ClosedWindow, InFlight, LiveOp};
use crate::slowdown::verdict::State;
use crate::{record, seed};

/// Ticks a lane may hold until the collector comes by.
const RING: usize = 1024;
/// A state file is at most this old.
const STATE_NS: u64 = 4_000_000_000;
/// How long an ending session waits for operations that are still open.
const GRACE_NS: u64 = 2_000_000_000;

/// What others may read of a running target.
pub struct Watched {
    /// What was asked for.
    pub plan: TargetPlan,
    /// What people should know.
    pub notes: Vec<String>,
    boards: [Arc<Board>; 6],
    accounts: Mutex<Vec<LiveOp>>,
}

impl Watched {
    /// The running accounts, in the order of [`Op::ALL`].
    pub fn accounts(&self) -> MutexGuard<'_, Vec<LiveOp>> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What others may read of a running session.
pub struct View {
    /// Its clock.
    pub clock: Arc<dyn Clock>,
    /// This host.
    pub host: String,
    /// One start of one probe.
    pub run_id: String,
    /// Its targets.
    pub targets: Vec<Watched>,
    /// How the writer fares; none without a store.
    pub health: Option<Arc<Health>>,
    window_ns: u64,
    trailing_ns: u64,
    anchor: Mutex<Anchor>,
}

impl View {
    fn anchor(&self) -> Anchor {
        *self.anchor.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The open operation of a lane.
    pub fn in_flight(&self, target: &Watched, op: Op) -> Option<InFlight> {
        let due_ns = target.boards[op as usize].open_since_due_ns()?;
        let age_ns = self.clock.monotonic_ns().saturating_sub(due_ns);
        Some(InFlight { due_ns: self.anchor().utc_ns(due_ns), age_ns })
    }

    /// Every target's state now.
    pub fn states(&self, running: bool) -> Vec<TargetState> {
        let now_ns = self.anchor().utc_ns(self.clock.monotonic_ns());
        self.targets.iter().map(|target| self.state(target, now_ns, running)).collect()
    }

    fn state(&self, target: &Watched, now_ns: i64, running: bool) -> TargetState {
        let open: Vec<_> = Op::ALL.iter().map(|&op| self.in_flight(target, op)).collect();
        let mut accounts = target.accounts();
        let ops: Vec<_> =
            accounts.iter_mut().zip(open).map(|(live, open)| live.assess(now_ns, open)).collect();
        TargetState {
            schema_version: spool::SCHEMA_VERSION,
            host: self.host.clone(),
            target: target.plan.name.clone(),
            path: target.plan.path.display().to_string(),
            run_id: self.run_id.clone(),
            written_ns: now_ns,
            period_ns: target.plan.period_ns,
            window_ns: self.window_ns,
            baseline_trailing_ns: self.trailing_ns,
            running,
            state: TargetState::worst(&ops, running),
            notes: target.notes.clone(),
            ops,
        }
    }
}

/// What a session amounts to when it ends.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// One start of one probe.
    pub run_id: String,
    /// Rows on disk.
    pub rows_written: u64,
    /// Rows that could not be written.
    pub rows_lost: u64,
    /// The last trouble with the store.
    pub store_error: Option<String>,
    /// The last states.
    pub targets: Vec<TargetState>,
}

/// Lanes before they run, and what collects from them.
pub struct Rig {
    /// One an op and target.
    pub lanes: Vec<Lane>,
    /// Takes what they saw.
    pub collector: Collector,
}

/// A probe over several targets.
pub struct Session {
    config: Config,
    clock: Arc<dyn Clock>,
    origin: Origin,
    plans: Vec<TargetPlan>,
    prepared: Vec<Prepared>,
    running: Option<Running>,
}

struct Running {
    view: Arc<View>,
    stop: Arc<Stop>,
    lanes: Vec<JoinHandle<()>>,
    collector: JoinHandle<Collector>,
}

impl Session {
    /// Check a configuration; touches nothing.
    pub fn new(config: Config, clock: Arc<dyn Clock>) -> Result<Self, ConfigError> {
        let plans = config.plans()?;
        let uname = rustix::system::uname();
        let host = config.host.clone().unwrap_or_else(|| uname.nodename().to_string_lossy().into_owned());
        let seed = config.seed.unwrap_or_else(seed::fresh);
        let origin = Origin { seed, host, memory_bytes: memory_bytes(), now_ns: clock.wall_ns() };
        Ok(Self { config, clock, origin, plans, prepared: Vec::new(), running: None })
    }

    /// Make every target ready. A target that cannot be probed becomes a note, unless none can.
    pub fn prepare(&mut self, progress: &mut Progress<'_>) -> Result<Vec<String>, ProbeError> {
        let mut notes = Vec::new();
        let mut first_error = None;
        for plan in std::mem::take(&mut self.plans) {
            let name = plan.name.clone();
            match Prepared::new(plan, &self.origin, progress) {
                Ok(prepared) => {
                    notes.extend(prepared.notes.iter().map(|note| format!("{name}: {note}")));
                    self.prepared.push(prepared);
                }
                Err(stopped @ ProbeError::Stopped { .. }) => return Err(stopped),
                Err(error) => {
                    notes.push(format!("not probed: {error}"));
                    first_error.get_or_insert(error);
                }
            }
        }
        match first_error {
            Some(error) if self.prepared.is_empty() => Err(error),
            _ => Ok(notes),
        }
    }

    /// Build lanes that start at `start_ns` (monotonic). `clock_of` gives each lane its clock.
    pub fn rig(
        &mut self,
        start_ns: u64,
        clock_of: &mut dyn FnMut() -> Arc<dyn Clock>,
    ) -> Result<Rig, ProbeError> {
        let run_id = format!("{:08x}{:08x}", self.clock.wall_ns() / 1_000_000_000, seed::fresh() as u32);
        let mut lanes = Vec::new();
        let mut rings = Vec::new();
        let mut targets = Vec::new();
        for (number, prepared) in self.prepared.iter().enumerate() {
            let boards: [Arc<Board>; 6] = Default::default();
            for op in Op::ALL {
                let clock = clock_of();
                let phase = prepared.plan.period_ns / 6 * op as u64;
                let schedule = Schedule::new(start_ns, phase, prepared.plan.period_ns);
                let (ring, out) = RingBuffer::new(RING);
                let operation = prepared.operation(op, &clock, start_ns)?;
                let board = Arc::clone(&boards[op as usize]);
                lanes.push(Lane::new(op, operation, schedule, clock, board, ring));
                rings.push(Outlet { target: number as u16, op, schedule, out });
            }
            targets.push((prepared, boards));
        }
        let store = self.config.store.as_ref().map(|root| self.open_store(root, &run_id));
        let store = store.transpose().map_err(|error| ProbeError::Failed {
            path: self.config.store.clone().unwrap_or_default(),
            what: "cannot start the writer",
            errno: rustix::io::Errno::from_io_error(&error).unwrap_or(rustix::io::Errno::IO),
        })?;
        let view = Arc::new(self.new_view(run_id, targets, store.as_ref()));
        let collector = Collector { view, rings, store, waiting: Vec::new(), saved: Default::default() };
        Ok(Rig { lanes, collector })
    }

    fn new_view(
        &self,
        run_id: String,
        targets: Vec<(&Prepared, [Arc<Board>; 6])>,
        store: Option<&Store>,
    ) -> View {
        let (window_ns, trailing_ns) = (self.config.window, self.config.baseline);
        let watched = targets.into_iter().map(|(prepared, boards)| {
            let plan = prepared.plan.clone();
            let mut accounts: Vec<LiveOp> =
                Op::ALL.map(|op| LiveOp::new(op, plan.period_ns, window_ns, trailing_ns)).into();
            if let Some(store) = store {
                for window in store.remembered(&plan) {
                    accounts[window.op as usize].learn(window.start_ns, window.median_ns);
                }
            }
            Watched { plan, notes: prepared.notes.clone(), boards, accounts: Mutex::new(accounts) }
        });
        View {
            clock: Arc::clone(&self.clock),
            host: self.origin.host.clone(),
            run_id,
            targets: watched.collect(),
            health: store.map(|store| Arc::clone(store.writer.health())),
            window_ns,
            trailing_ns,
            anchor: Mutex::new(Anchor::take(self.clock.as_ref())),
        }
    }

    fn open_store(&self, root: &std::path::Path, run_id: &str) -> std::io::Result<Store> {
        let target = |prepared: &Prepared| spool::Target {
            name: prepared.plan.name.clone(),
            period_ns: prepared.plan.period_ns,
            size_bytes: Op::ALL
                .map(|op| if op.is_data() { prepared.plan.block_bytes } else { prepared.plan.object_bytes })
                .into(),
        };
        let host = slug(&self.origin.host);
        let header = spool::Header {
            schema_version: spool::SCHEMA_VERSION,
            run_id: run_id.to_owned(),
            host: self.origin.host.clone(),
            seed: self.origin.seed,
            segment: 0,
            opened_ns: 0,
            targets: self.prepared.iter().map(target).collect(),
        };
        let writer = Writer::start(root.join("spool").join(&host), header)?;
        Ok(Store { writer, states: root.join("state").join(host), window_ns: self.config.window })
    }

    /// Start the lanes. A second start does nothing.
    pub fn start(&mut self) -> Result<(), ProbeError> {
        if self.running.is_some() {
            return Ok(());
        }
        const LEAD_NS: u64 = 50_000_000;
        let start_ns = self.clock.monotonic_ns() + LEAD_NS;
        let clock = Arc::clone(&self.clock);
        let rig = self.rig(start_ns, &mut || Arc::clone(&clock))?;
        let stop = Stop::new();
        let failed = |_| ProbeError::Failed {
            path: PathBuf::from("/proc/self"),
            what: "cannot start a thread",
            errno: rustix::io::Errno::AGAIN,
        };
        let mut lanes = Vec::new();
        for lane in rig.lanes {
            let stop = Arc::clone(&stop);
            let thread = std::thread::Builder::new().name(lane.op.name().into()).stack_size(128 << 10);
            lanes.push(thread.spawn(move || lane.run(&stop)).map_err(failed)?);
        }
        let view = Arc::clone(&rig.collector.view);
        let collector = std::thread::Builder::new().name("collector".into()).stack_size(256 << 10).spawn({
            let (stop, flush_ns) = (Arc::clone(&stop), self.config.flush);
            move || rig.collector.run(start_ns, flush_ns, &stop)
        });
        let collector = collector.map_err(failed)?;
        self.running = Some(Running { view, stop, lanes, collector });
        Ok(())
    }

    /// What can be read while it runs.
    pub fn view(&self) -> Option<Arc<View>> {
        self.running.as_ref().map(|running| Arc::clone(&running.view))
    }

    /// End the schedule, account for what is still open, write everything. None if it never ran.
    pub fn stop(&mut self) -> Option<Summary> {
        let running = self.running.take()?;
        let threads: Vec<Thread> = running.lanes.iter().map(|lane| lane.thread().clone()).collect();
        let collector_thread = running.collector.thread().clone();
        running.stop.raise(threads.iter().chain([&collector_thread]));
        let patience = self.clock.monotonic_ns() + GRACE_NS;
        let never = Stop::default();
        while running.lanes.iter().any(|lane| !lane.is_finished()) && self.clock.monotonic_ns() < patience {
            self.clock.sleep_until(self.clock.monotonic_ns() + 2_000_000, &never);
        }
        // A lane that is still in a system call stays behind; its operation becomes a pending row.
        let collector = running.collector.join().ok()?;
        Some(collector.finish())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.stop();
    }
}

struct Store {
    writer: Writer,
    states: PathBuf,
    window_ns: u64,
}

impl Store {
    fn baseline_file(&self, plan: &TargetPlan) -> PathBuf {
        let (period_ms, window_s) = (plan.period_ns / 1_000_000, self.window_ns as f64 / 1e9);
        self.states.join(format!("{}.{period_ms}ms-{window_s}s.baseline", slug(&plan.name)))
    }
    fn remembered(&self, plan: &TargetPlan) -> Vec<ClosedWindow> {
        let path = self.baseline_file(plan);
        let Ok(bytes) = std::fs::read(path) else { return Vec::new() };
        record::frames::Frames::new(&bytes, 0)
            .flat_map(|payload| payload.chunks_exact(17))
            .filter_map(window)
            .collect()
    }
    fn remember(&self, plan: &TargetPlan, windows: &[ClosedWindow]) {
        let payload: Vec<u8> = windows
            .iter()
            .flat_map(|window| {
                let mut bytes = vec![window.op as u8];
                bytes.extend(window.start_ns.to_le_bytes());
                bytes.extend(window.median_ns.to_le_bytes());
                bytes
            })
            .collect();
        if !payload.is_empty() {
            self.writer.send(Job::Frame { path: self.baseline_file(plan), payload });
        }
    }
    fn save_state(&self, state: &TargetState) {
        if let Ok(bytes) = serde_json::to_vec(state) {
            let path = self.states.join(slug(&state.target)).with_extension("json");
            self.writer.send(Job::Replace { path, bytes });
        }
    }
}

fn window(bytes: &[u8]) -> Option<ClosedWindow> {
    let word = |at: usize| Some(i64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    Some(ClosedWindow {
        op: *Op::ALL.get(usize::from(*bytes.first()?))?,
        start_ns: word(1)?,
        median_ns: word(9)?,
    })
}

struct Outlet {
    target: u16,
    op: Op,
    schedule: Schedule,
    out: Consumer<Tick>,
}

/// Takes ticks from the lanes, makes samples of them, and passes them on.
pub struct Collector {
    view: Arc<View>,
    rings: Vec<Outlet>,
    store: Option<Store>,
    waiting: Vec<Sample>,
    saved: (i64, Vec<State>),
}

impl Collector {
    fn run(mut self, start_ns: u64, flush_ns: u64, stop: &Stop) -> Self {
        let rounds = Schedule::new(start_ns, 0, flush_ns);
        while !stop.raised() {
            let next = rounds.due_ns(rounds.tick_at(self.view.clock.monotonic_ns()) + 1);
            self.view.clock.sleep_until(next, stop);
            self.round(true);
        }
        self
    }

    /// What is being collected.
    pub fn view(&self) -> &Arc<View> {
        &self.view
    }

    /// Take what there is and hand it to the store.
    pub fn round(&mut self, running: bool) {
        let view = Arc::clone(&self.view);
        // Ticks taken now ended before now, so they belong to the clock as it was before any step.
        self.drain(&view.anchor());
        if let Ok(mut anchor) = view.anchor.lock() {
            anchor.follow(view.clock.as_ref());
        }
        self.account();
        // Assessed every round, so that an onset is dated while its samples are still at hand.
        let states = view.states(running);
        let samples = std::mem::take(&mut self.waiting);
        let Some(store) = &self.store else { return };
        let now_ns = view.anchor().utc_ns(view.clock.monotonic_ns());
        store.writer.send(Job::Rows { samples, now_ns });
        let words: Vec<State> = states.iter().flat_map(|s| s.ops.iter().map(|op| op.state)).collect();
        // A file is replaced at once when a word changes, else less often: that costs more than a round.
        let due = now_ns.saturating_sub(self.saved.0).unsigned_abs() >= STATE_NS;
        if due || !running || words != self.saved.1 {
            states.iter().for_each(|state| store.save_state(state));
            self.saved = (now_ns, words);
        }
    }

    fn drain(&mut self, anchor: &Anchor) {
        for outlet in &mut self.rings {
            while let Ok(tick) = outlet.out.pop() {
                self.waiting.push(sample(&tick, outlet.target, outlet.op, anchor));
            }
        }
    }

    /// Rows not yet accounted for go into the live accounts.
    fn account(&mut self) {
        for (number, target) in self.view.targets.iter().enumerate() {
            let mut closed = VecDeque::new();
            let mut accounts = target.accounts();
            for sample in self.waiting.iter().filter(|sample| usize::from(sample.target) == number) {
                closed.extend(accounts[sample.op as usize].take(sample));
            }
            drop(accounts);
            if let Some(store) = &self.store {
                store.remember(&target.plan, closed.make_contiguous());
            }
        }
    }

    /// Rows for what is still open: one pending, the ticks it covers skipped without an end.
    fn abandon(&mut self) {
        let anchor = self.view.anchor();
        let now = self.view.clock.monotonic_ns();
        for outlet in &self.rings {
            let board = &self.view.targets[usize::from(outlet.target)].boards[outlet.op as usize];
            let Some(due_ns) = board.open_since_due_ns() else { continue };
            let k = outlet.schedule.tick_at(due_ns);
            for tick in k..=outlet.schedule.tick_at(now) {
                let outcome = if tick == k { Outcome::PENDING } else { Outcome::SKIPPED };
                let tick = Tick {
                    due_ns: outlet.schedule.due_ns(tick),
                    began_ns: if tick == k { due_ns } else { 0 },
                    ended_ns: 0,
                    offset_bytes: u64::MAX,
                    run_queue_ns: u64::MAX,
                    outcome,
                    cache: crate::sample::Cache::Unknown,
                };
                self.waiting.push(sample(&tick, outlet.target, outlet.op, &anchor));
            }
        }
    }

    /// Last round; closes the store.
    pub fn finish(mut self) -> Summary {
        let anchor = self.view.anchor();
        self.drain(&anchor);
        self.abandon();
        self.round(false);
        let targets = self.view.states(false);
        let health = self.store.take().map(|store| store.writer.finish());
        let number = |of: fn(&Health) -> &std::sync::atomic::AtomicU64| {
            health.as_ref().map_or(0, |h| of(h).load(std::sync::atomic::Ordering::Relaxed))
        };
        Summary {
            run_id: self.view.run_id.clone(),
            rows_written: number(|h| &h.rows_written),
            rows_lost: number(|h| &h.rows_dropped) + number(|h| &h.rows_waiting),
            store_error: health.as_ref().and_then(|h| h.last_error()),
            targets,
        }
    }
}

fn sample(tick: &Tick, target: u16, op: Op, anchor: &Anchor) -> Sample {
    let instant = |ns: u64| (ns != 0).then(|| anchor.utc_ns(ns));
    let known = |value: u64| (value != u64::MAX).then_some(value as i64);
    Sample {
        due_ns: anchor.utc_ns(tick.due_ns),
        began_ns: instant(tick.began_ns),
        ended_ns: instant(tick.ended_ns),
        offset_bytes: known(tick.offset_bytes),
        control_runq_ns: known(tick.run_queue_ns),
        target,
        op,
        outcome: tick.outcome,
        cache: tick.cache,
    }
}
