//! Takes ticks from the lanes, makes samples of them, and passes them on.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rtrb::Consumer;
use serde::Serialize;

use super::keeper::Keeper;
use super::lane::Tick;
use super::session::Beat;
use super::state::TargetState;
use super::view::View;
use crate::clock::{Anchor, Stop};
use crate::pace::Schedule;
use crate::record::writer::{Health, Job};
use crate::sample::{Cache, Op, Outcome, Sample};
use crate::slowdown::live::LiveOp;
use crate::slowdown::verdict::State;

/// A state file is at most this old.
const STATE_NS: u64 = 4_000_000_000;

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

/// The end of a lane's ring.
pub struct Outlet {
    /// Number of its target.
    pub target: u16,
    /// Its op.
    pub op: Op,
    /// When its ticks are due.
    pub schedule: Schedule,
    /// What it saw.
    pub out: Consumer<Tick>,
}

/// Takes ticks from the lanes, makes samples of them, and passes them on.
pub struct Collector {
    view: Arc<View>,
    rings: Vec<Outlet>,
    store: Option<Keeper>,
    waiting: Vec<Sample>,
    saved: (i64, Vec<State>),
}

impl Collector {
    /// Nothing collected yet; without a store rows only reach the accounts.
    pub fn new(view: Arc<View>, rings: Vec<Outlet>, store: Option<Keeper>) -> Self {
        Self { view, rings, store, waiting: Vec::new(), saved: Default::default() }
    }

    /// Work until asked to stop.
    pub fn run(mut self, start_ns: u64, flush_ns: u64, stop: &Stop, mut beat: Beat) -> Self {
        let rounds = Schedule::new(start_ns, 0, flush_ns);
        while !stop.raised() {
            let next = rounds.due_ns(rounds.tick_at(self.view.clock.monotonic_ns()) + 1);
            self.view.clock.sleep_until(next, stop);
            self.round(true);
            beat();
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

    /// The windows that the end cut short are kept as far as they went.
    fn close_windows(&mut self) {
        let Some(store) = &self.store else { return };
        for target in &self.view.targets {
            let closed: Vec<_> = target.accounts().iter_mut().filter_map(LiveOp::close).collect();
            store.remember(&target.plan, &closed);
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
                    cache: Cache::Unknown,
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
        self.close_windows();
        let targets = self.view.states(false);
        let health = self.store.take().map(|store| store.writer.finish());
        let number =
            |of: fn(&Health) -> &AtomicU64| health.as_ref().map_or(0, |h| of(h).load(Ordering::Relaxed));
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
