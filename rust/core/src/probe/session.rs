//! A probe over several targets, from configuration to summary.
//!
//! ```text
//! lanes ──rings──► collector ──► live accounts ──► /metrics, snapshots
//!                      └──► writer ──► spool, states, baselines
//! ```

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::{JoinHandle, Thread};

use rtrb::RingBuffer;

use super::collector::{Collector, Outlet, Summary};
use super::keeper::Keeper;
use super::lane::{Board, Lane};
use super::prepare::{Origin, Prepared, memory_bytes};
use super::state::slug;
use super::view::{View, Watched};
use super::{ProbeError, Progress};
use crate::clock::{Anchor, Clock, Stop};
use crate::config::{Config, ConfigError, TargetPlan};
use crate::pace::Schedule;
use crate::record::spool;
use crate::record::writer::Setup;
use crate::sample::Op;
use crate::seed;
use crate::slowdown::live::LiveOp;

/// Ticks a lane may hold until the collector comes by.
const RING: usize = 1024;
/// How long an ending session waits for operations that are still open.
const GRACE_NS: u64 = 2_000_000_000;

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
    beat: Beat,
    inline: bool,
}

/// Called by the thread that keeps the schedule, to show that it is alive.
pub type Beat = Box<dyn FnMut() + Send + Sync>;

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
        Ok(Self {
            config,
            clock,
            origin,
            plans,
            prepared: Vec::new(),
            running: None,
            beat: Box::new(|| {}),
            inline: false,
        })
    }

    /// Call this every flush interval once the session runs, from the thread that a hang would stop if any could.
    pub fn on_beat(&mut self, beat: Beat) {
        self.beat = beat;
    }

    /// Write to the store at once instead of in a thread, so that a simulation repeats itself.
    pub fn write_inline(&mut self) {
        self.inline = true;
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
        let collector = Collector::new(view, rings, store);
        Ok(Rig { lanes, collector })
    }

    fn new_view(
        &self,
        run_id: String,
        targets: Vec<(&Prepared, [Arc<Board>; 6])>,
        store: Option<&Keeper>,
    ) -> View {
        let (window_ns, trailing_ns) = (self.config.window, self.config.baseline);
        let watched = targets.into_iter().map(|(prepared, boards)| {
            let plan = prepared.plan.clone();
            let mut accounts: Vec<LiveOp> =
                Op::ALL.map(|op| LiveOp::new(op, plan.period_ns, window_ns, trailing_ns)).into();
            if let Some(store) = store {
                for window in store.remembered(&plan, trailing_ns) {
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

    fn open_store(&self, root: &Path, run_id: &str) -> std::io::Result<Keeper> {
        let target = |prepared: &Prepared| spool::Target {
            name: prepared.plan.name.clone(),
            period_ns: prepared.plan.period_ns,
            size_bytes: Op::ALL
                .map(|op| if op.is_data() { prepared.plan.block_bytes } else { prepared.plan.object_bytes })
                .into(),
        };
        let header = spool::Header {
            schema_version: spool::SCHEMA_VERSION,
            run_id: run_id.to_owned(),
            host: self.origin.host.clone(),
            seed: self.origin.seed,
            segment: 0,
            opened_ns: 0,
            targets: self.prepared.iter().map(target).collect(),
        };
        let setup = Setup::new(root.to_owned(), slug(&header.host), header);
        Keeper::start(setup, self.config.window, self.inline)
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
        let view = Arc::clone(rig.collector.view());
        let collector = std::thread::Builder::new().name("collector".into()).stack_size(256 << 10).spawn({
            let (stop, flush_ns) = (Arc::clone(&stop), self.config.flush);
            let beat = std::mem::replace(&mut self.beat, Box::new(|| {}));
            move || rig.collector.run(start_ns, flush_ns, &stop, beat)
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
