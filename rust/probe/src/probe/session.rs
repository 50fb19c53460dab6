//! A probe over several targets, from configuration to summary.
//!
//! ```text
//! worker processes ──shared memory──► supervisor ──► live accounts ──► /metrics, snapshots
//!                                          └──► writer ──► spool, states, baselines, events
//! ```

use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::Duration;

use super::collector::{Collector, OnNote, Summary, spool_target};
use super::crew::{Crew, Processes, Threads};
use super::files::prepare::{boot_id, memory_bytes};
use super::origin::Origin;
use super::state::slug;
use super::state_writer::StateWriter;
pub use super::supervisor::Beat;
use super::supervisor::{Change, Changes, Supervisor};
use super::view::{Status, View, Watched};
use super::{ProbeError, Progress, region};
use crate::config::{Config, ConfigError, TargetPlan};
use crate::record::disk::Disk;
use crate::record::job::Setup;
use crate::record::spool;
use iosonde_core::clock::{Anchor, Clock, Stop};
use iosonde_core::seed;

/// Longest wait of an ending session for operations that are still open ...
const GRACE_NS: u64 = 1_500_000_000;
/// ... and for all that, the store's last rows included. Service managers give five seconds to the whole agent.
const END_NS: u64 = 3_000_000_000;
/// Interval between looks of a waiting caller.
const LOOK_NS: u64 = 10_000_000;

/// A probe over several targets.
pub struct Session {
    config: Config,
    clock: Arc<dyn Clock>,
    origin: Origin,
    plans: Vec<TargetPlan>,
    worker: Option<PathBuf>,
    running: Option<Running>,
    beat: Beat,
    on_note: OnNote,
    disk: Option<Box<dyn Disk>>,
}

struct Running {
    view: Arc<View>,
    released: Arc<Stop>,
    stop: Arc<Stop>,
    changes: Arc<Changes>,
    thread: JoinHandle<Supervisor>,
}

impl Session {
    /// Check a configuration; touches nothing.
    pub fn new(config: Config, clock: Arc<dyn Clock>) -> Result<Self, ConfigError> {
        let plans = config.plans()?;
        let uname = rustix::system::uname();
        let host = config.host.clone().unwrap_or_else(|| uname.nodename().to_string_lossy().into_owned());
        let now_ns = clock.wall_ns();
        let origin = Origin {
            run_id: format!("{:08x}{:08x}", now_ns / 1_000_000_000, seed::fresh() as u32),
            supervisor: rustix::process::getpid().as_raw_nonzero().get(),
            seed: config.seed.unwrap_or_else(seed::fresh),
            host,
            memory_bytes: memory_bytes(),
            now_ns,
        };
        let (beat, on_note): (Beat, OnNote) = (Box::new(|| {}), Box::new(|_| {}));
        Ok(Self { config, clock, origin, plans, worker: None, running: None, beat, on_note, disk: None })
    }

    /// Workers are processes: `binary worker`. Otherwise they are threads, which stay when they hang.
    pub fn with_worker(&mut self, binary: PathBuf) {
        self.worker = Some(binary);
    }
    /// Call this at least every half second once the session runs, from the thread that a hang would stop if any could.
    pub fn on_beat(&mut self, beat: Beat) {
        self.beat = beat;
    }
    /// Call this with what happens to targets.
    pub fn on_note(&mut self, on_note: OnNote) {
        self.on_note = on_note;
    }

    /// Write to this instead of the file system, at once instead of in a thread: for simulations.
    pub fn write_to(&mut self, disk: Box<dyn Disk>) {
        self.disk = Some(disk);
    }

    /// Make every target ready. A target that cannot be probed becomes a note, unless none can; one that hangs is left
    /// behind, to be probed when it answers.
    pub fn prepare(&mut self, progress: &mut Progress<'_>) -> Result<Vec<String>, ProbeError> {
        self.launch()?;
        let Some(running) = &self.running else { return Ok(Vec::new()) };
        let targets = running.view.targets();
        let never = Stop::default();
        let mut reported = vec![None; targets.len()];
        let mut preparing = true;
        while preparing {
            self.clock.sleep_until(self.clock.monotonic_ns() + LOOK_NS, &never);
            // Asked for before the last look: what was made by the end is reported, too.
            preparing = targets.iter().any(|target| target.status() == Status::Preparing);
            for (target, reported) in targets.iter().zip(&mut reported) {
                if !report_progress(target, reported, progress) {
                    let path = target.plan.path.clone();
                    self.stop();
                    return Err(ProbeError::Stopped { path });
                }
            }
        }
        let mut notes = Vec::new();
        let mut error = None;
        for target in &targets {
            let name = &target.plan.name;
            notes.extend(target.notes().iter().map(|note| format!("{name}: {note}")));
            match target.status() {
                Status::Failed(why) => drop(error.get_or_insert(why)),
                Status::Stalled { .. } => notes.push(format!("{name}: hangs; it is probed once it answers")),
                _ => {}
            }
        }
        let failed = targets.iter().all(|target| matches!(target.status(), Status::Failed(_)));
        match error {
            Some(error) if failed => {
                self.stop();
                Err(ProbeError::Refused(error))
            }
            _ => Ok(notes),
        }
    }

    /// Start the supervisor, whose workers make the targets ready. A second launch does nothing.
    fn launch(&mut self) -> Result<(), ProbeError> {
        if self.running.is_some() {
            return Ok(());
        }
        let crew: Box<dyn Crew> = match &self.worker {
            Some(binary) => Box::new(Processes::new(binary.clone()).map_err(no_thread)?),
            None => Box::new(Threads::new(Arc::clone(&self.clock))),
        };
        let supervisor = self.supervisor(crew)?;
        let view = Arc::clone(supervisor.view());
        let (released, stop) = (Stop::new(), Stop::new());
        let changes = Arc::<Changes>::default();
        let beat = std::mem::replace(&mut self.beat, Box::new(|| {}));
        let thread = std::thread::Builder::new().name("supervisor".into()).stack_size(512 << 10).spawn({
            let (released, stop, changes) = (Arc::clone(&released), Arc::clone(&stop), Arc::clone(&changes));
            move || supervisor.run(&released, &stop, &changes, beat)
        });
        let thread = thread.map_err(no_thread)?;
        self.running = Some(Running { view, released, stop, changes, thread });
        Ok(())
    }

    /// A supervisor for these targets, with workers from `crew`.
    pub fn supervisor(&mut self, crew: Box<dyn Crew>) -> Result<Supervisor, ProbeError> {
        let store = self.open_store().map_err(|error| ProbeError::Failed {
            path: self.config.store.clone().unwrap_or_default(),
            what: "cannot start the writer",
            errno: rustix::io::Errno::from_io_error(&error).unwrap_or(rustix::io::Errno::IO),
        })?;
        let view = Arc::new(self.new_view(store.as_ref()));
        let on_note = std::mem::replace(&mut self.on_note, Box::new(|_| {}));
        let collector = Collector::new(view, store, on_note);
        Supervisor::new(collector, &self.plans, self.origin.clone(), crew, self.config.flush)
            .map_err(|errno| ProbeError::Refused(format!("cannot have shared memory: {errno}")))
    }

    fn new_view(&self, store: Option<&StateWriter>) -> View {
        View {
            clock: Arc::clone(&self.clock),
            host: self.origin.host.clone(),
            run_id: self.origin.run_id.clone(),
            targets: RwLock::default(),
            boot_id: boot_id(),
            health: store.map(|store| Arc::clone(store.writer.health())),
            keep: store.map(|_| self.config.keep),
            clock_steps: AtomicU64::new(0),
            window_ns: self.config.window,
            trailing_ns: self.config.baseline,
            anchor: Mutex::new(Anchor::take(self.clock.as_ref())),
        }
    }

    fn header(&self) -> spool::Header {
        spool::Header {
            schema_version: spool::SCHEMA_VERSION,
            run_id: self.origin.run_id.clone(),
            host: self.origin.host.clone(),
            seed: self.origin.seed,
            segment: 0,
            opened_ns: 0,
            targets: self.plans.iter().map(spool_target).collect(),
        }
    }

    fn open_store(&mut self) -> std::io::Result<Option<StateWriter>> {
        let Some(root) = self.config.store.clone() else { return Ok(None) };
        let (host, header) = (slug(&self.origin.host), self.header());
        let clock = Arc::clone(&self.clock);
        let mut setup = Setup { keep: self.config.keep, clock, ..Setup::new(root, host, header) };
        let simulated = self.disk.take();
        let inline = simulated.is_some();
        if let Some(disk) = simulated {
            setup.disk = disk;
        }
        StateWriter::start(setup, self.config.window, inline).map(Some)
    }

    /// Begin with the targets that are ready, and with the others as soon as they are.
    pub fn start(&mut self) -> Result<(), ProbeError> {
        self.launch()?;
        if let Some(running) = &self.running {
            running.released.raise([running.thread.thread()]);
        }
        Ok(())
    }

    /// Watch the targets of another configuration. Those that are the same go on without missing a tick; everything
    /// but targets is left as it was.
    pub fn reload(&mut self, config: &Config) -> Result<(), ProbeError> {
        let plans = config.plans().map_err(|error| ProbeError::Refused(error.to_string()))?;
        let Some(running) = &self.running else {
            self.plans = plans;
            return Ok(());
        };
        let (done, finished) = channel();
        let change = Change { plans: plans.clone(), done };
        *running.changes.lock().unwrap_or_else(PoisonError::into_inner) = Some(change);
        running.thread.thread().unpark();
        match finished.recv() {
            Ok(Ok(())) => {
                self.plans = plans;
                Ok(())
            }
            Ok(Err(errno)) => Err(ProbeError::Refused(format!("cannot watch more targets: {errno}"))),
            Err(_) => Err(ProbeError::Refused("the supervisor has ended".into())),
        }
    }

    /// View of the session while it runs.
    pub fn view(&self) -> Option<Arc<View>> {
        self.running.as_ref().map(|running| Arc::clone(&running.view))
    }

    /// End the schedule, account for what is still open, write everything. None if it never ran.
    pub fn stop(&mut self) -> Option<Summary> {
        let running = self.running.take()?;
        running.stop.raise([running.thread.thread()]);
        let asked_ns = self.clock.monotonic_ns();
        let mut supervisor = running.thread.join().ok()?;
        supervisor.dismiss();
        let patience = asked_ns + GRACE_NS;
        let never = Stop::default();
        while !supervisor.is_deserted() && self.clock.monotonic_ns() < patience {
            self.clock.sleep_until(self.clock.monotonic_ns() + 2_000_000, &never);
        }
        // A worker that is still in a system call stays behind; its operation becomes a pending row.
        let left_ns = (asked_ns + END_NS).saturating_sub(self.clock.monotonic_ns());
        Some(supervisor.finish_within(Duration::from_nanos(left_ns.max(END_NS - GRACE_NS))))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.stop();
    }
}

fn no_thread(error: std::io::Error) -> ProbeError {
    ProbeError::Refused(format!("cannot start a thread: {error}"))
}

/// Passes news of a preparation to the caller, who answers each time if it should go on.
fn report_progress(
    target: &Watched,
    reported: &mut Option<region::Progress>,
    progress: &mut Progress<'_>,
) -> bool {
    let seen = target.progress();
    let before = reported.replace(seen).unwrap_or_default();
    let mut go_on = true;
    for ((part, now), before) in region::PARTS.iter().zip(seen.parts).zip(before.parts) {
        if now != before {
            go_on &= progress(&target.plan.name, part, now.0, now.1);
        }
    }
    go_on && (seen != before || progress(&target.plan.name, "", 0, 0))
}
