//! View of a running session for other threads: accounts, open operations, states.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use super::breaker;
use super::evidence::Evidence;
use super::files::prepare::Made;
use super::region::Progress;
use super::slot::Slot;
use super::state::{Files, OpHealth, TargetState};
use crate::config::{Keep, TargetPlan};
use crate::record::health::Health;
use crate::record::spool;
use iosonde_core::clock::{Anchor, Clock};
use iosonde_core::sample::Op;
use iosonde_core::slowdown::live::{InFlight, LiveOp, OpState};
use iosonde_core::slowdown::verdict::{Lateness, State};

/// Stage of a target between start and end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// Its files are being made or looked at.
    Preparing,
    /// They are ready.
    Ready,
    /// It is being probed.
    Running,
    /// It cannot be made ready; it will be tried again.
    Failed(String),
    /// Making it ready hangs.
    Stalled {
        /// Since when, monotonic.
        since_ns: u64,
    },
}

#[derive(Default)]
struct Lane {
    slot: Mutex<Option<Slot>>,
    breaker: AtomicU8,
    hung_since_ns: AtomicU64,
    hangs: AtomicU64,
    evidence: Mutex<Option<Evidence>>,
}

/// Whose the place of a target is.
const UNKNOWN: u8 = 0;
const OURS: u8 = 1;
const THEIRS: u8 = 2;

/// View of a running target for other threads.
pub struct Watched {
    /// Its number in rows.
    pub number: u16,
    /// The plan asked for.
    pub plan: TargetPlan,
    accounts: Mutex<Vec<LiveOp>>,
    notes: Mutex<Vec<String>>,
    status: Mutex<Status>,
    /// `UNKNOWN`, `OURS` or `THEIRS`.
    place: AtomicU8,
    progress: Mutex<Progress>,
    lanes: [Lane; 6],
    workers: AtomicUsize,
    stuck_workers: AtomicUsize,
    cpu_ns: AtomicU64,
    bytes: AtomicU64,
    rate: Mutex<(u64, Option<String>)>,
    made: Mutex<Option<Made>>,
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Watched {
    /// Nothing known yet.
    pub fn new(number: u16, plan: TargetPlan, accounts: Vec<LiveOp>) -> Self {
        Self {
            number,
            plan,
            accounts: Mutex::new(accounts),
            notes: Mutex::default(),
            status: Mutex::new(Status::Preparing),
            place: AtomicU8::new(UNKNOWN),
            progress: Mutex::default(),
            lanes: Default::default(),
            workers: AtomicUsize::new(0),
            stuck_workers: AtomicUsize::new(0),
            cpu_ns: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            rate: Mutex::new((1, None)),
            made: Mutex::default(),
        }
    }
    /// The running accounts, in the order of [`Op::ALL`].
    pub fn accounts(&self) -> MutexGuard<'_, Vec<LiveOp>> {
        lock(&self.accounts)
    }
    /// Notes for the user.
    pub fn notes(&self) -> Vec<String> {
        lock(&self.notes).iter().cloned().chain(lock(&self.rate).1.clone()).collect()
    }
    /// Stage of the target.
    pub fn status(&self) -> Status {
        lock(&self.status).clone()
    }
    /// True if it is being probed.
    pub fn is_running(&self) -> bool {
        *lock(&self.status) == Status::Running
    }
    /// True if what is written of it is ours to write: not before its place was taken or it is known why it cannot be,
    /// and not while another probe has it, which writes the same files.
    pub fn is_ours(&self) -> bool {
        self.place.load(Relaxed) == OURS
    }
    /// True if another probe has its place, whose rows say what happens there.
    pub fn is_theirs(&self) -> bool {
        self.place.load(Relaxed) == THEIRS
    }
    /// Worker processes it has, and those of them that are stuck or on trial.
    pub fn workers(&self) -> (usize, usize) {
        (self.workers.load(Relaxed), self.stuck_workers.load(Relaxed))
    }
    /// State of an op's breaker.
    pub fn breaker(&self, op: Op) -> breaker::State {
        let number = self.lanes[op as usize].breaker.load(Relaxed);
        breaker::State::ALL.get(usize::from(number)).copied().unwrap_or(breaker::State::Closed)
    }

    /// Progress of its preparation.
    pub fn progress(&self) -> Progress {
        *lock(&self.progress)
    }
    pub(super) fn set_progress(&self, progress: Progress) {
        *lock(&self.progress) = progress;
    }
    /// Number of times the breaker of an op has opened.
    pub fn hangs(&self, op: Op) -> u64 {
        self.lanes[op as usize].hangs.load(Relaxed)
    }
    /// Processor time that its workers have used.
    pub fn cpu_ns(&self) -> u64 {
        self.cpu_ns.load(Relaxed)
    }
    /// Bytes that its operations have moved.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }
    /// Divider of the rate: every n-th tick is worked on.
    pub fn divider(&self) -> u64 {
        lock(&self.rate).0
    }
    pub(super) fn hung(&self, op: Op) {
        self.lanes[op as usize].hangs.fetch_add(1, Relaxed);
    }
    pub(super) fn set_cpu_ns(&self, cpu_ns: u64) {
        self.cpu_ns.store(cpu_ns, Relaxed);
    }
    pub(super) fn moved(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Relaxed);
    }
    pub(super) fn set_rate(&self, divider: u64, why: Option<String>) {
        *lock(&self.rate) = (divider, why);
    }
    pub(super) fn set_made(&self, made: Option<Made>) {
        *lock(&self.made) = made;
    }
    pub(super) fn set_notes(&self, notes: Vec<String>) {
        *lock(&self.notes) = notes;
    }
    pub(super) fn set_ours(&self, ours: bool) {
        self.place.store(if ours { OURS } else { THEIRS }, Relaxed);
    }
    pub(super) fn set_status(&self, status: Status) {
        *lock(&self.status) = status;
    }
    pub(super) fn set_lane(&self, op: Op, slot: Option<Slot>) {
        *lock(&self.lanes[op as usize].slot) = slot;
    }
    pub(super) fn set_evidence(&self, op: Op, evidence: Option<Evidence>) {
        *lock(&self.lanes[op as usize].evidence) = evidence;
    }
    pub(super) fn set_breaker(&self, op: Op, state: breaker::State, hung_since_ns: Option<u64>) {
        let number = breaker::State::ALL.iter().position(|&other| other == state).unwrap_or(0);
        self.lanes[op as usize].breaker.store(number as u8, Relaxed);
        self.lanes[op as usize].hung_since_ns.store(hung_since_ns.unwrap_or(0), Relaxed);
    }
    pub(super) fn set_workers(&self, all: usize, stuck: usize) {
        self.workers.store(all, Relaxed);
        self.stuck_workers.store(stuck, Relaxed);
    }

    /// When the operation that an op waits for was due (monotonic).
    fn open_since_due_ns(&self, op: Op) -> Option<u64> {
        let lane = &self.lanes[op as usize];
        if let Status::Stalled { since_ns } = *lock(&self.status) {
            return Some(since_ns);
        }
        match lane.hung_since_ns.load(Relaxed) {
            0 => lock(&lane.slot).as_ref().and_then(Slot::open_since_due_ns),
            since => Some(since),
        }
    }
    /// Files it is probed with.
    fn files(&self) -> Files {
        let (plan, made) = (&self.plan, *lock(&self.made));
        Files {
            backend: plan.backend,
            direct: plan.direct,
            access: made.map(|made| made.access),
            block_bytes: plan.block_bytes,
            file_bytes: made.map(|made| made.file_bytes),
            object_bytes: plan.object_bytes,
            pool: plan.pool,
        }
    }
    fn health(&self, op: Op) -> OpHealth {
        let evidence = lock(&self.lanes[op as usize].evidence).clone();
        OpHealth { breaker: self.breaker(op).name(), evidence }
    }
}

/// View of a running session for other threads.
pub struct View {
    /// Its clock.
    pub clock: Arc<dyn Clock>,
    /// This host.
    pub host: String,
    /// Identifier of one start of one probe.
    pub run_id: String,
    /// Identifier of the kernel's boot: locks reach as far as that.
    pub boot_id: String,
    /// Health of the writer; none without a store.
    pub health: Option<Arc<Health>>,
    /// Limits of the store; none without a store.
    pub keep: Option<Keep>,
    /// Number of steps of the wall clock found.
    pub clock_steps: AtomicU64,
    pub(super) targets: RwLock<Vec<Arc<Watched>>>,
    pub(super) window_ns: u64,
    pub(super) trailing_ns: u64,
    pub(super) anchor: Mutex<Anchor>,
}

impl View {
    /// Its targets.
    pub fn targets(&self) -> Vec<Arc<Watched>> {
        self.targets.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
    pub(super) fn set_targets(&self, targets: Vec<Arc<Watched>>) {
        *self.targets.write().unwrap_or_else(PoisonError::into_inner) = targets;
    }
    /// Map from its monotonic clock to UTC as of now.
    pub(super) fn anchor(&self) -> Anchor {
        *lock(&self.anchor)
    }

    /// The operation that an op waits for.
    pub fn in_flight(&self, target: &Watched, op: Op) -> Option<InFlight> {
        let due_ns = target.open_since_due_ns(op)?;
        let age_ns = self.clock.monotonic_ns().saturating_sub(due_ns);
        Some(InFlight { due_ns: self.anchor().utc_ns(due_ns), age_ns })
    }

    /// Every target's state now.
    pub fn states(&self, running: bool) -> Vec<TargetState> {
        let now_ns = self.anchor().utc_ns(self.clock.monotonic_ns());
        self.targets().iter().map(|target| self.state(target, now_ns, running)).collect()
    }

    /// State of one target, for its file.
    pub(super) fn state(&self, target: &Watched, now_ns: i64, running: bool) -> TargetState {
        let open: Vec<_> = Op::ALL.iter().map(|&op| self.in_flight(target, op)).collect();
        let mut accounts = target.accounts();
        let ops = assessed(&mut accounts, &open, now_ns);
        let (workers, stuck_workers) = target.workers();
        TargetState {
            schema_version: spool::SCHEMA_VERSION,
            host: self.host.clone(),
            target: target.plan.name.clone(),
            path: target.plan.path.display().to_string(),
            component: target.plan.component.clone(),
            run_id: self.run_id.clone(),
            boot_id: self.boot_id.clone(),
            written_ns: now_ns,
            namesake_ns: self.health.as_ref().and_then(|health| health.namesake_ns(now_ns)),
            period_ns: target.plan.period_ns,
            window_ns: self.window_ns,
            baseline_trailing_ns: self.trailing_ns,
            running,
            state: TargetState::worst(&ops, running),
            notes: target.notes(),
            files: target.files(),
            budget: target.plan.budget,
            keep: self.keep,
            workers,
            stuck_workers,
            ops,
            health: Op::ALL.map(|op| target.health(op)).into(),
        }
    }
}

/// The verdict of each op. Where one is slow, what this host does to all of them is asked for, which costs more than the verdicts.
fn assessed(accounts: &mut [LiveOp], open: &[Option<InFlight>], now_ns: i64) -> Vec<OpState> {
    let assess = |accounts: &mut [LiveOp]| -> Vec<OpState> {
        accounts.iter_mut().zip(open).map(|(live, open)| live.assess(now_ns, *open)).collect()
    };
    let ops = assess(accounts);
    let is_slow = |op: &OpState| op.state == State::Slow && !op.partly;
    let host = match ops.iter().any(is_slow) {
        true => Lateness::of(accounts.iter().flat_map(|live| live.late_ns(now_ns)).collect()),
        false => Lateness::default(),
    };
    accounts.iter_mut().for_each(|live| live.hear_of_host(host));
    if host.is_contended() { assess(accounts) } else { ops }
}
