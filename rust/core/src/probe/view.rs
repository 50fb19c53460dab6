//! What others may read of a running session: accounts, open operations, states.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::lane::Board;
use super::state::TargetState;
use crate::clock::{Anchor, Clock};
use crate::config::TargetPlan;
use crate::record::spool;
use crate::record::writer::Health;
use crate::sample::Op;
use crate::slowdown::live::{InFlight, LiveOp};

/// What others may read of a running target.
pub struct Watched {
    /// What was asked for.
    pub plan: TargetPlan,
    /// What people should know.
    pub notes: Vec<String>,
    pub(super) boards: [Arc<Board>; 6],
    pub(super) accounts: Mutex<Vec<LiveOp>>,
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
    pub(super) window_ns: u64,
    pub(super) trailing_ns: u64,
    pub(super) anchor: Mutex<Anchor>,
}

impl View {
    /// How its monotonic clock maps to UTC now.
    pub(super) fn anchor(&self) -> Anchor {
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
