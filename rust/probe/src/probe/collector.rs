//! Takes ticks from the lanes, makes samples of them, and passes them on.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::Serialize;

use super::past::{Awaited, Past};
use super::slot::Tick;
use super::state::TargetState;
use super::state_writer::StateWriter;
use super::store_watch::StoreWatch;
use super::view::{View, Watched};
use crate::config::TargetPlan;
use crate::record::event::Event;
use crate::record::health::Health;
use crate::record::job::Job;
use crate::record::spool;
use iosonde_core::clock::Anchor;
use iosonde_core::sample::{Op, Sample};
use iosonde_core::slowdown::live::LiveOp;
use iosonde_core::slowdown::verdict::State;

/// A state file is at most this old.
const STATE_NS: u64 = 4_000_000_000;
/// Verdicts are this often found in a window, and at least this often: one costs more than the rows of a round.
const ASSESSMENTS: (u64, u64) = (30, 2_000_000_000);

/// Result of a session.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Identifier of one start of one probe.
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

/// A note for the user about a target.
#[derive(Debug, Clone, Copy)]
pub struct Note<'a> {
    /// Name of the target.
    pub target: &'a str,
    /// Text of the note.
    pub text: &'a str,
    /// True if it is a warning.
    pub warning: bool,
}

/// Takes notes as they are made.
pub type OnNote = Box<dyn FnMut(Note<'_>) + Send + Sync>;

/// Makes samples of ticks, and passes them on.
pub struct Collector {
    pub(super) view: Arc<View>,
    pub(super) store: Option<StateWriter>,
    pub(super) waiting: Vec<Sample>,
    pub(super) saved: (i64, Vec<State>),
    /// When verdicts were found (monotonic); zero when something happened that changes them.
    assessed_ns: u64,
    pub(super) events: HashMap<(u16, Option<Op>), Event>,
    pub(super) alarms: HashMap<(u16, Op), Event>,
    pub(super) event_number: u64,
    pub(super) store_full: Option<Event>,
    pub(super) store_watch: StoreWatch,
    /// Targets whose past the store has not told yet, by number.
    awaited: HashMap<u16, Awaited>,
    pub(super) on_note: OnNote,
}

impl Collector {
    /// Nothing collected yet; without a store rows only reach the accounts. `on_note` gets the notes.
    pub fn new(view: Arc<View>, store: Option<StateWriter>, on_note: OnNote) -> Self {
        Self {
            view,
            store,
            waiting: Vec::new(),
            saved: Default::default(),
            assessed_ns: 0,
            events: HashMap::new(),
            alarms: HashMap::new(),
            event_number: 0,
            store_full: None,
            store_watch: StoreWatch::default(),
            awaited: HashMap::new(),
            on_note,
        }
    }

    /// View of the session.
    pub fn view(&self) -> &Arc<View> {
        &self.view
    }

    /// A plan with new accounts; its rows get this number. What the store knows of it comes later.
    pub fn watched(&mut self, number: u16, plan: &TargetPlan) -> Arc<Watched> {
        let mut accounts = self.new_accounts(plan);
        if let Some(store) = &self.store {
            let awaited = store.ask(plan, self.view.trailing_ns);
            match awaited.answered() {
                Some(past) => self.begin_with(past, plan, &mut accounts),
                None => drop(self.awaited.insert(number, awaited)),
            }
        }
        Arc::new(Watched::new(number, plan.clone(), accounts))
    }

    fn begin_with(&mut self, past: Past, plan: &TargetPlan, accounts: &mut [LiveOp]) {
        if let Some(text) = &past.lacking {
            (self.on_note)(Note { target: &plan.name, text, warning: true });
        }
        past.tell(accounts);
    }

    fn new_accounts(&self, plan: &TargetPlan) -> Vec<LiveOp> {
        let (window_ns, trailing_ns) = (self.view.window_ns, self.view.trailing_ns);
        Op::ALL.map(|op| LiveOp::new(op, plan.period_ns, window_ns, trailing_ns)).into()
    }

    /// Catches up with the past that the store has told, as if it had been known from the beginning.
    fn catch_up(&mut self) {
        for target in self.view.targets() {
            let Some(past) = self.awaited.get(&target.number).and_then(Awaited::answered) else { continue };
            let Some(awaited) = self.awaited.remove(&target.number) else { continue };
            self.assess_next();
            let mut accounts = self.new_accounts(&target.plan);
            self.begin_with(past, &target.plan, &mut accounts);
            let caught = awaited.catch_up(&target, accounts);
            if let Some(store) = self.store.as_ref().filter(|_| caught.learnt) {
                store.save_baselines(&target.plan, &target.accounts());
            }
            for op in Op::ALL {
                match caught.alarms.get(&op) {
                    Some((alarm, since_ns)) => self.alarmed(&target, op, alarm, *since_ns),
                    None => self.disarm(&target, op),
                }
            }
        }
    }

    /// Keep what is usual of a target, unless what is in the store is not known yet: it must not be overwritten.
    fn save_baselines(&self, target: &Watched) {
        if let Some(store) = self.store.as_ref().filter(|_| !self.awaited.contains_key(&target.number)) {
            store.save_baselines(&target.plan, &target.accounts());
        }
    }

    /// Watches these targets from now on; `listed` are all that rows may be of.
    pub fn watch(&mut self, targets: Vec<Arc<Watched>>, listed: &[TargetPlan]) {
        self.assess_next();
        self.view.set_targets(targets);
        if let Some(store) = &self.store {
            store.writer.send(Job::Targets(listed.iter().map(spool_target).collect()));
        }
    }

    /// The last word about a target that is no longer watched; everything it measured has been handed on.
    pub fn leave(&mut self, target: &Watched) {
        self.last_words(target);
        self.awaited.remove(&target.number);
    }

    fn last_words(&self, target: &Watched) {
        let Some(store) = self.store.as_ref().filter(|_| target.is_ours()) else { return };
        let closed: Vec<_> = target.accounts().iter_mut().filter_map(LiveOp::close).collect();
        store.remember(&target.plan, &closed);
        self.save_baselines(target);
        let now_ns = self.view.anchor().utc_ns(self.view.clock.monotonic_ns());
        store.save_state(&self.view.state(target, now_ns, false));
    }

    /// Hand what was taken to the accounts and the store. What was taken belongs to the clock as it was before any step.
    pub fn round(&mut self, running: bool) {
        let view = Arc::clone(&self.view);
        let stepped_ns = view.anchor.lock().ok().and_then(|mut anchor| anchor.follow(view.clock.as_ref()));
        if stepped_ns.is_some() {
            view.clock_steps.fetch_add(1, Ordering::Relaxed);
        }
        self.catch_up();
        self.account();
        if stepped_ns.is_some_and(|by_ns| by_ns < 0) {
            for target in view.targets() {
                target.accounts().iter_mut().for_each(|account| account.set_back());
            }
        }
        // Often enough for an onset to be dated while its samples are still at hand.
        let states = self.must_assess(running).then(|| view.states(running));
        let samples = std::mem::take(&mut self.waiting);
        let Some(store) = &self.store else { return };
        let now_ns = view.anchor().utc_ns(view.clock.monotonic_ns());
        store.writer.send(Job::Rows { samples, now_ns });
        self.notice_a_full_store(now_ns);
        self.notice_a_store_in_trouble();
        if let Some(states) = states {
            self.save_states(&states, now_ns, running);
        }
    }

    /// Finds verdicts in the next round, because something happened that changes them.
    pub fn assess_next(&mut self) {
        self.assessed_ns = 0;
    }

    fn must_assess(&mut self, running: bool) -> bool {
        let now_ns = self.view.clock.monotonic_ns();
        let (parts, most_ns) = ASSESSMENTS;
        let due_ns = self.assessed_ns + (self.view.window_ns / parts).min(most_ns);
        let must = !running || self.assessed_ns == 0 || now_ns >= due_ns;
        if must {
            self.assessed_ns = now_ns;
        }
        must
    }

    fn save_states(&mut self, states: &[TargetState], now_ns: i64, running: bool) {
        let Some(store) = &self.store else { return };
        let targets = self.view.targets();
        let ours = states.iter().zip(&targets).filter(|(_, target)| target.is_ours()).map(|(state, _)| state);
        let words: Vec<State> = ours.clone().flat_map(|s| s.ops.iter().map(|op| op.state)).collect();
        // A file is replaced at once when a word changes, else less often: that costs more than a round.
        let due = now_ns.saturating_sub(self.saved.0).unsigned_abs() >= STATE_NS;
        if due || !running || words != self.saved.1 {
            ours.for_each(|state| store.save_state(state));
            self.saved = (now_ns, words);
        }
    }

    /// Rows not yet accounted for go into the live accounts.
    fn account(&mut self) {
        for target in self.view.targets() {
            let mut closed = VecDeque::new();
            let (mut alarms, mut learnt) = (Vec::new(), false);
            let mut accounts = target.accounts();
            for sample in self.waiting.iter().filter(|sample| sample.target == target.number) {
                let taken = accounts[sample.op as usize].take(sample);
                closed.extend(taken.window);
                alarms.extend(taken.alarm.map(|(alarm, since_ns)| (sample.op, alarm, since_ns)));
                learnt |= taken.learnt;
                if let Some(awaited) = self.awaited.get_mut(&target.number) {
                    awaited.hold(*sample);
                }
            }
            drop(accounts);
            if learnt {
                self.save_baselines(&target);
            }
            if let Some(store) = &self.store {
                store.remember(&target.plan, closed.make_contiguous());
            }
            alarms.into_iter().for_each(|(op, alarm, since_ns)| self.alarmed(&target, op, &alarm, since_ns));
        }
    }

    /// The windows that the end cut short are kept as far as they went.
    fn close_windows(&mut self) {
        let Some(store) = &self.store else { return };
        for target in self.view.targets().iter().filter(|target| target.is_ours()) {
            let closed: Vec<_> = target.accounts().iter_mut().filter_map(LiveOp::close).collect();
            store.remember(&target.plan, &closed);
            self.save_baselines(target);
        }
    }

    /// Last round; closes the store, which has so long to take what waits.
    pub fn finish(mut self, patience: Duration) -> Summary {
        self.round(false);
        self.close_windows();
        let targets = self.view.states(false);
        let health = self.store.take().map(|store| store.writer.finish_within(patience));
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

pub(super) fn sample(tick: &Tick, target: u16, op: Op, anchor: &Anchor) -> Sample {
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

/// Entry of a plan in a segment's header.
pub fn spool_target(plan: &TargetPlan) -> spool::Target {
    let size = |op: Op| if op.is_data() { plan.block_bytes } else { plan.object_bytes };
    spool::Target { name: plan.name.clone(), period_ns: plan.period_ns, size_bytes: Op::ALL.map(size).into() }
}
