//! An expendable worker: makes a target ready and runs its lanes, in a process of its own that may get stuck.
//!
//! The supervisor gives it a [`Task`] as the first line of a socket and [`Order`]s as further lines; it answers with
//! [`Report`]s. What it measures goes through shared memory. When the socket closes the worker ends, so that none
//! outlives its supervisor for longer than the kernel holds it.

use std::io::{BufRead, BufReader, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{JoinHandle, Thread};

use serde::{Deserialize, Serialize};

use super::evidence::PREPARING;
use super::files::guard::{Displaced, Look};
use super::files::place;
use super::files::prepare::{Made, Prepared};
use super::lane::Lane;
use super::origin::Origin;
use super::region::Region;
use super::{ProbeError, Progress};
use crate::config::TargetPlan;
use iosonde_core::clock::{Clock, Stop};
use iosonde_core::pace::Schedule;
use iosonde_core::sample::Op;

/// Longest wait of an ending worker for lanes that are still in an operation.
const GRACE_NS: u64 = 1_000_000_000;
/// Longest time that another probe may hold a place before that is an error.
const HELD_NS: u64 = 2_000_000_000;

/// Task of a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// The supervisor's version; a worker of another one refuses.
    pub version: String,
    /// Plan of the target.
    pub plan: TargetPlan,
    /// For whom.
    pub origin: Origin,
    /// Numbers the workers of a target, so that no two make the same random choices.
    pub turn: u64,
    /// Lanes to begin at once on files that are there: a trial. None: make the files ready, then wait for the order.
    pub trial: Option<Begin>,
    /// The mount that the target was found on before: what lies below it is not the target.
    pub mount: Option<PathBuf>,
}

/// Lanes to run, and the time to begin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Begin {
    /// Origin of the schedule, monotonic.
    pub start_ns: u64,
    /// Ops and the numbers of their slots, which know the first tick.
    pub lanes: Vec<(Op, usize)>,
}

/// An order of the supervisor after the task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Run these lanes.
    Begin(Begin),
    /// End.
    End,
}

/// A report of a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Report {
    /// The files are ready.
    Ready {
        /// Notes for the user.
        notes: Vec<String>,
        /// The big file; none where nothing is stored.
        made: Option<Made>,
    },
    /// Mount point of the target's file system.
    Found {
        /// The mount point.
        mount: PathBuf,
    },
    /// The target's path leads elsewhere by now.
    Displaced(Displaced),
    /// It cannot be done.
    Failed {
        /// The trouble, the expectation, and the remedy to try.
        error: String,
        /// The system's error number, where there is one.
        errno: Option<i32>,
        /// True if another probe has the target.
        held: bool,
    },
}

impl Report {
    /// Reports an error.
    pub fn failed(error: &ProbeError) -> Self {
        Self::Failed {
            error: error.to_string(),
            errno: error.errno().map(|errno| errno.raw_os_error()),
            held: matches!(error, ProbeError::Held { .. }),
        }
    }
}

/// When the ops of a target are due: a sixth of the period apart.
pub fn schedule(plan: &TargetPlan, start_ns: u64, op: Op) -> Schedule {
    Schedule::new(start_ns, plan.period_ns / 6 * op as u64, plan.period_ns)
}

/// Work until told to end or until the supervisor is gone. What stops it before it has begun is a report, too.
pub fn serve(socket: UnixStream, memory: OwnedFd, clock: Arc<dyn Clock>) -> std::io::Result<()> {
    let answer = socket.try_clone()?;
    serve_on(socket, memory, clock).inspect_err(|error| {
        let (errno, held) = (error.raw_os_error(), false);
        say(&answer, &Report::Failed { error: format!("its worker cannot begin: {error}"), errno, held });
    })
}

fn serve_on(socket: UnixStream, memory: OwnedFd, clock: Arc<dyn Clock>) -> std::io::Result<()> {
    let mut lines = BufReader::new(socket.try_clone()?).lines();
    let Some(first) = lines.next().transpose()? else { return Ok(()) };
    let task: Task = serde_json::from_str(&first).map_err(std::io::Error::other)?;
    let region = Region::attach(memory, task.plan.pool)?;
    let hands = Arc::new(Hands { region, clock, stop: Stop::new(), lanes: Mutex::default() });
    let (begin, begins) = channel();
    // Making ready may hang: orders are heard all the same.
    let preparing = std::thread::Builder::new().name(PREPARING.into()).stack_size(256 << 10).spawn({
        let hands = Arc::clone(&hands);
        move || {
            if let Err(error) = hands.work(task, &begins, &socket) {
                say(&socket, &Report::failed(&error));
            }
        }
    })?;
    for line in lines.map_while(Result::ok) {
        match serde_json::from_str(&line) {
            // Nobody listens once the preparation has failed.
            Ok(Order::Begin(lanes)) => drop(begin.send(lanes)),
            Ok(Order::End) | Err(_) => break,
        }
    }
    drop(begin);
    // It gives back what it holds of the target.
    hands.lanes().push(preparing);
    hands.end();
    Ok(())
}

/// State shared by the threads of a worker.
struct Hands {
    region: Region,
    clock: Arc<dyn Clock>,
    stop: Arc<Stop>,
    /// Lanes, and the guard.
    lanes: Mutex<Vec<JoinHandle<()>>>,
}

impl Hands {
    fn work(&self, task: Task, begins: &Receiver<Begin>, socket: &UnixStream) -> Result<(), ProbeError> {
        let version = env!("CARGO_PKG_VERSION");
        if task.version != version {
            let what = format!("the worker is version {version}, the supervisor {}", task.version);
            return Err(ProbeError::Refused(format!("{what}; expected the same: restart the agent")));
        }
        let (mut prepared, begin) = match task.trial {
            Some(begin) => {
                (Prepared::attach(task.plan, (&task.origin, &self.clock), self.region.clone())?, begin)
            }
            None => {
                let mut progress = |_: &str, what: &str, done: u64, all: u64| {
                    self.region.report(what, done, all);
                    !self.stop.raised() && !self.region.stopped()
                };
                if let Some(mount) = place::mount_of(&task.plan, task.mount.as_deref())? {
                    say(socket, &Report::Found { mount });
                }
                let mut prepared = self.prepare(&task, &mut progress)?;
                if let Some(guard) = prepared.guard() {
                    self.guard(guard, socket, prepared.plan.retry_ns)?;
                }
                let made = prepared.made();
                say(socket, &Report::Ready { notes: std::mem::take(&mut prepared.notes), made });
                let Ok(begin) = begins.recv() else { return Ok(()) };
                (prepared, begin)
            }
        };
        for &(op, number) in &begin.lanes {
            let lane = self.lane(&mut prepared, op, number, task.turn, begin.start_ns)?;
            self.run(lane)?;
        }
        // What was made ready, its lock included, is held until the end.
        while begins.recv().is_ok() {}
        Ok(())
    }

    /// Notice, well within `retry`, that the target's path leads elsewhere, and say so.
    fn guard(&self, mut guard: Box<dyn Look>, socket: &UnixStream, retry_ns: u64) -> Result<(), ProbeError> {
        let no_thread = |error| ProbeError::Refused(format!("cannot start a thread: {error}"));
        let socket = socket.try_clone().map_err(no_thread)?;
        let (clock, stop) = (Arc::clone(&self.clock), Arc::clone(&self.stop));
        let thread = std::thread::Builder::new().name("guard".into()).stack_size(128 << 10);
        let watching = thread.spawn(move || {
            while !stop.raised() {
                clock.sleep_until(clock.monotonic_ns() + retry_ns / 4 * 3, &stop);
                let Some(displaced) = (!stop.raised()).then(|| guard.look()).flatten() else { continue };
                return say(&socket, &Report::Displaced(displaced));
            }
        });
        self.lanes().push(watching.map_err(no_thread)?);
        Ok(())
    }

    /// Make the files ready. The lock of a supervisor that was killed goes with its worker, a moment later.
    fn prepare(&self, task: &Task, progress: &mut Progress<'_>) -> Result<Prepared, ProbeError> {
        let patience = self.clock.monotonic_ns() + HELD_NS;
        loop {
            let made =
                Prepared::new(task.plan.clone(), (&task.origin, &self.clock), self.region.clone(), progress);
            let held = matches!(made, Err(ProbeError::Held { .. }));
            if !held || self.clock.monotonic_ns() >= patience || self.stop.raised() {
                return made;
            }
            self.clock.sleep_until(self.clock.monotonic_ns() + HELD_NS / 20, &self.stop);
        }
    }

    fn lane(
        &self,
        prepared: &mut Prepared,
        op: Op,
        number: usize,
        turn: u64,
        start_ns: u64,
    ) -> Result<Lane, ProbeError> {
        let operation = prepared.operation(op, turn, &self.clock, start_ns)?;
        let (schedule, slot) = (schedule(&prepared.plan, start_ns, op), self.region.slot(number));
        let lane = Lane::new(op, operation, schedule, Arc::clone(&self.clock), slot);
        Ok(lane.paced_by(self.region.clone()))
    }

    fn run(&self, lane: Lane) -> Result<(), ProbeError> {
        let stop = Arc::clone(&self.stop);
        let thread = std::thread::Builder::new().name(lane.op.name().into()).stack_size(128 << 10);
        let thread = thread
            .spawn(move || lane.run(&stop))
            .map_err(|error| ProbeError::Refused(format!("cannot start a thread: {error}")))?;
        self.lanes().push(thread);
        Ok(())
    }

    fn lanes(&self) -> std::sync::MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ask the lanes to end and give them a moment; one that is in a system call stays behind.
    fn end(&self) {
        let lanes = self.lanes();
        let threads: Vec<Thread> = lanes.iter().map(|lane| lane.thread().clone()).collect();
        self.stop.raise(&threads);
        let patience = self.clock.monotonic_ns() + GRACE_NS;
        let never = Stop::default();
        while lanes.iter().any(|lane| !lane.is_finished()) && self.clock.monotonic_ns() < patience {
            self.clock.sleep_until(self.clock.monotonic_ns() + 1_000_000, &never);
        }
    }
}

/// A report that cannot be delivered has nobody who would want it.
fn say(mut socket: &UnixStream, report: &Report) {
    if let Ok(mut line) = serde_json::to_string(report) {
        line.push('\n');
        let _ = socket.write_all(line.as_bytes());
    }
}

/// The whole life of a worker process: its socket is standard input, its shared memory standard output.
pub fn process(clock: Arc<dyn Clock>) -> std::io::Result<()> {
    // The supervisor decides when to end; a terminal's Ctrl-C reaches it too.
    [libc::SIGINT, libc::SIGTERM, libc::SIGHUP].into_iter().for_each(ignore);
    large_files_fail();
    frugal();
    // For ps: the agent starts its workers as /proc/self/exe.
    let _ = rustix::thread::set_name(c"iosonde-worker");
    let socket = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let memory = std::io::stdout().as_fd().try_clone_to_owned()?;
    serve(socket, memory, clock)
}

/// A file that would exceed the limit of sizes is an error of the write, with words, instead of the end of the process.
pub fn large_files_fail() {
    ignore(libc::SIGXFSZ);
}

fn ignore(signal: i32) {
    // SAFETY: ignoring a signal installs no handler.
    unsafe { libc::signal(signal, libc::SIG_IGN) };
}

/// Give memory that nobody uses any more back to the system: a burst of rows after a hang leaves holes behind.
pub fn trim() {
    #[cfg(target_env = "gnu")]
    // SAFETY: hands free pages back; nothing that is in use moves.
    unsafe {
        libc::malloc_trim(0)
    };
}

/// Makes all threads share one heap: they allocate next to nothing, and every heap of its own would cost memory.
pub fn frugal() {
    #[cfg(target_env = "gnu")]
    // SAFETY: sets a parameter of the allocator.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1)
    };
}
