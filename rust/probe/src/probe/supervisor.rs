//! The thread that keeps the schedule of everything but the operations: it watches over the targets, collects what
//! their lanes saw, and hands it to the store. It touches no target.

use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::collector::{Collector, Summary};
use super::crew::{Crew, Worker};
use super::origin::Origin;
use super::slot::RING_TICKS;
use super::view::View;
use super::watch::Watch;
use crate::config::TargetPlan;
use iosonde_core::clock::{Clock, Stop};

/// Interval between looks at the targets, at most and at least.
const BEAT_NS: (u64, u64) = (10_000_000, 500_000_000);
/// The same while a target is being made ready.
const PREPARING_BEAT_NS: u64 = 20_000_000;
/// Time between the beginning of a schedule and the decision to begin.
const LEAD_NS: u64 = 50_000_000;

/// Operations of a target that is no longer watched may take so long to end; the others wait meanwhile.
const LEAVE_NS: u64 = 300_000_000;

/// The store has so long to take the last rows, unless told otherwise.
const STORE_PATIENCE: Duration = Duration::from_secs(10);
/// So many rows are handed on before their round is due: what waits is bounded whatever the flush interval is.
const ROUND_ROWS: usize = 20_000;

/// Called by the thread that keeps the schedule, to show that it is alive.
pub type Beat = Box<dyn FnMut() + Send + Sync>;

/// Other targets are to be watched.
pub struct Change {
    /// These.
    pub plans: Vec<TargetPlan>,
    /// Told when they are.
    pub done: Sender<Result<(), rustix::io::Errno>>,
}

/// A change of configuration left for the supervisor.
pub type Changes = Mutex<Option<Change>>;

/// Watches over all targets of a session.
pub struct Supervisor {
    clock: Arc<dyn Clock>,
    origin: Origin,
    crew: Box<dyn Crew>,
    watches: Vec<Watch>,
    /// Workers of targets that are watched no more, stuck as they left: reaped when their storage lets them go.
    left: Vec<Box<dyn Worker>>,
    /// Everything that was ever watched, by its number in rows.
    listed: Vec<TargetPlan>,
    collector: Collector,
    flush_ns: u64,
    next_flush_ns: u64,
    ended_ns: Option<u64>,
    spread: bool,
}

impl Supervisor {
    /// Makes a supervisor of these targets.
    pub fn new(
        collector: Collector,
        plans: &[TargetPlan],
        origin: Origin,
        crew: Box<dyn Crew>,
        flush_ns: u64,
    ) -> Result<Self, rustix::io::Errno> {
        let clock = Arc::clone(&collector.view().clock);
        let next_flush_ns = clock.monotonic_ns();
        let mut supervisor = Self {
            clock,
            origin,
            crew,
            watches: Vec::new(),
            left: Vec::new(),
            listed: Vec::new(),
            collector,
            flush_ns,
            next_flush_ns,
            ended_ns: None,
            spread: true,
        };
        supervisor.watch(plans)?;
        Ok(supervisor)
    }

    /// Begin at once instead of at this host's moment of the period.
    pub fn begin_at_once(&mut self) {
        self.spread = false;
    }

    /// View for other threads.
    pub fn view(&self) -> &Arc<View> {
        self.collector.view()
    }

    /// Watch these from now on. A target whose plan is the same goes on as if nothing had been; the others end, and
    /// what is new begins.
    pub fn watch(&mut self, plans: &[TargetPlan]) -> Result<(), rustix::io::Errno> {
        let mut new = Vec::new();
        for plan in plans.iter().filter(|plan| self.watches.iter().all(|w| w.watched().plan != **plan)) {
            let number = u16::try_from(self.listed.len()).map_err(|_| rustix::io::Errno::OVERFLOW)?;
            self.listed.push(plan.clone());
            new.push(Watch::new(self.collector.watched(number, plan), self.origin.clone())?);
        }
        let stays = |watch: &Watch| plans.contains(&watch.watched().plan);
        let (mut staying, mut leaving): (Vec<Watch>, Vec<Watch>) =
            std::mem::take(&mut self.watches).into_iter().partition(stays);
        self.end(&mut leaving);
        staying.extend(new);
        let place = |watch: &Watch| plans.iter().position(|plan| *plan == watch.watched().plan);
        staying.sort_by_key(place);
        self.watches = staying;
        let watched = self.watches.iter().map(|watch| Arc::clone(watch.watched())).collect();
        self.collector.watch(watched, &self.listed);
        Ok(())
    }

    /// Let targets go: their operations have a moment to end, then everything about them is accounted for.
    fn end(&mut self, leaving: &mut [Watch]) {
        if leaving.is_empty() {
            return;
        }
        leaving.iter_mut().for_each(Watch::dismiss);
        let ended_ns = self.clock.monotonic_ns();
        let never = Stop::default();
        while !leaving.iter_mut().all(Watch::is_deserted) && self.clock.monotonic_ns() < ended_ns + LEAVE_NS {
            drain(leaving, &mut self.collector);
            self.clock.sleep_until(self.clock.monotonic_ns() + LEAVE_NS / 100, &never);
        }
        for watch in leaving.iter_mut() {
            let target = Arc::clone(watch.watched());
            watch.finish(ended_ns, &mut self.collector.sink(&target));
        }
        self.collector.round(true);
        leaving.iter().for_each(|watch| self.collector.leave(watch.watched()));
        self.left.extend(leaving.iter_mut().flat_map(Watch::leave_workers));
    }

    /// Work until asked to stop. Targets that are ready begin once `released` is raised.
    pub fn run(mut self, released: &Stop, stop: &Stop, changes: &Changes, mut beat: Beat) -> Self {
        while !stop.raised() {
            if let Some(change) = changes.lock().unwrap_or_else(PoisonError::into_inner).take() {
                // Whoever asked may have gone.
                let _ = change.done.send(self.watch(&change.plans));
            }
            let next = self.beat(released.raised());
            beat();
            self.clock.sleep_until(next, stop);
        }
        self
    }

    /// Look at everything once; returns when to look again.
    pub fn beat(&mut self, released: bool) -> u64 {
        let now_ns = self.clock.monotonic_ns();
        let mut next_ns = now_ns + BEAT_NS.1;
        let ours = self.ours();
        for watch in &mut self.watches {
            let plan = &watch.watched().plan;
            let soonest = plan.deadline_ns.min(plan.retry_ns) / 4;
            next_ns = next_ns.min(now_ns + soonest.clamp(BEAT_NS.0, BEAT_NS.1));
            // A ring is half full at most when it is emptied, however far apart rounds are.
            next_ns = next_ns.min(now_ns + plan.period_ns.saturating_mul(RING_TICKS / 2).max(BEAT_NS.0));
            if !watch.watched().is_running() {
                next_ns = next_ns.min(now_ns + PREPARING_BEAT_NS);
            }
            let begin = released.then(|| match self.spread {
                true => aligned(&self.collector, &self.origin.host, plan, now_ns + LEAD_NS),
                false => now_ns,
            });
            let mut sink = self.collector.sink(&Arc::clone(watch.watched()));
            watch.beat(now_ns, self.crew.as_mut(), begin, &mut sink);
            watch.drain(&mut sink);
        }
        // Whoever is told that a target is ready may look for its state at once.
        let ready = self.ours() > ours;
        if ready {
            self.collector.assess_next();
        }
        let many = self.collector.waiting.len() >= ROUND_ROWS;
        if now_ns >= self.next_flush_ns || many || ready {
            self.collect(true);
            self.left.retain_mut(|worker| !worker.is_gone());
            self.next_flush_ns = now_ns + self.flush_ns;
        }
        next_ns.min(self.next_flush_ns)
    }

    fn ours(&self) -> usize {
        self.watches.iter().filter(|watch| watch.watched().is_ours()).count()
    }

    /// Take what the lanes saw and hand it on.
    pub fn collect(&mut self, running: bool) {
        drain(&mut self.watches, &mut self.collector);
        self.collector.round(running);
    }

    /// Ask all workers to end: what falls due from now on is nobody's.
    pub fn dismiss(&mut self) {
        self.ended_ns = Some(self.clock.monotonic_ns());
        self.watches.iter_mut().for_each(Watch::dismiss);
    }
    /// True if all workers are gone. Takes their last rows meanwhile.
    pub fn is_deserted(&mut self) -> bool {
        drain(&mut self.watches, &mut self.collector);
        self.watches.iter_mut().all(Watch::is_deserted)
    }

    /// Account for what is still open, write everything.
    pub fn finish(self) -> Summary {
        self.finish_within(STORE_PATIENCE)
    }

    /// The same; the store has so long to take it.
    pub fn finish_within(mut self, patience: Duration) -> Summary {
        let ended_ns = self.ended_ns.unwrap_or_else(|| self.clock.monotonic_ns());
        for watch in &mut self.watches {
            watch.finish(ended_ns, &mut self.collector.sink(&Arc::clone(watch.watched())));
        }
        self.collector.finish(patience)
    }
}

/// Take what lanes saw.
fn drain(watches: &mut [Watch], collector: &mut Collector) {
    for watch in watches {
        watch.drain(&mut collector.sink(&Arc::clone(watch.watched())));
    }
}

/// The first instant from `from_ns` (monotonic) on at which this host probes this target: hosts are spread over the
/// period by a hash, so that many agents do not strike at the same moment.
fn aligned(collector: &Collector, host: &str, plan: &TargetPlan, from_ns: u64) -> u64 {
    let utc_ns = collector.view().anchor().utc_ns(from_ns);
    from_ns + (moment_ns(host, &plan.name, plan.period_ns) - utc_ns).rem_euclid(plan.period_ns as i64) as u64
}

/// The moment in the period at which a host probes a target.
fn moment_ns(host: &str, target: &str, period_ns: u64) -> i64 {
    let hash = crc32fast::hash(format!("{host}\0{target}").as_bytes());
    ((u128::from(hash) * u128::from(period_ns)) >> 32) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_targets_are_spread_over_the_period() {
        const PERIOD_NS: u64 = 1_000_000_000;
        let mut tenths = [0; 10];
        for host in 0..100 {
            for target in ["/home", "/work"] {
                let moment_ns = moment_ns(&format!("node{host}"), target, PERIOD_NS);
                tenths[(moment_ns / 100_000_000) as usize] += 1;
            }
        }
        assert!(tenths.iter().all(|&n| (5..=40).contains(&n)), "{tenths:?}");
        assert_ne!(moment_ns("a", "/home", PERIOD_NS), moment_ns("a", "/work", PERIOD_NS));
        assert_eq!(moment_ns("a", "/home", PERIOD_NS), moment_ns("a", "/home", PERIOD_NS));
    }
}
