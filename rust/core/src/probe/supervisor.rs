//! The thread that keeps the schedule of everything but the operations: it watches over the targets, collects what
//! their lanes saw, and hands it to the store. It touches no target.

use std::sync::Arc;

use super::collector::{Collector, Summary};
use super::crew::Crew;
use super::prepare::Origin;
use super::view::View;
use super::watch::Watch;
use crate::clock::{Clock, Stop};
use crate::config::TargetPlan;

/// How often the targets are looked at, at most and at least.
const BEAT_NS: (u64, u64) = (10_000_000, 500_000_000);
/// The same while a target is being made ready.
const PREPARING_BEAT_NS: u64 = 20_000_000;
/// Time between the beginning of a schedule and the decision to begin.
const LEAD_NS: u64 = 50_000_000;

/// Called by the thread that keeps the schedule, to show that it is alive.
pub type Beat = Box<dyn FnMut() + Send + Sync>;

/// Watches over all targets of a session.
pub struct Supervisor {
    clock: Arc<dyn Clock>,
    host: String,
    crew: Box<dyn Crew>,
    watches: Vec<Watch>,
    collector: Collector,
    flush_ns: u64,
    next_flush_ns: u64,
    ended_ns: Option<u64>,
    spread: bool,
}

impl Supervisor {
    /// Of the targets that the collector's view shows.
    pub fn new(
        collector: Collector,
        origin: &Origin,
        crew: Box<dyn Crew>,
        flush_ns: u64,
    ) -> Result<Self, rustix::io::Errno> {
        let clock = Arc::clone(&collector.view().clock);
        let watches = collector
            .view()
            .targets()
            .into_iter()
            .map(|watched| Watch::new(watched, origin.clone()))
            .collect::<Result<_, _>>()?;
        let next_flush_ns = clock.monotonic_ns();
        Ok(Self {
            clock,
            host: origin.host.clone(),
            crew,
            watches,
            collector,
            flush_ns,
            next_flush_ns,
            ended_ns: None,
            spread: true,
        })
    }

    /// Begin at once instead of at this host's moment of the period.
    pub fn begin_at_once(&mut self) {
        self.spread = false;
    }

    /// What others may read.
    pub fn view(&self) -> &Arc<View> {
        self.collector.view()
    }

    /// Work until asked to stop. Targets that are ready begin once `released` is raised.
    pub fn run(mut self, released: &Stop, stop: &Stop, mut beat: Beat) -> Self {
        while !stop.raised() {
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
        for (number, watch) in self.watches.iter_mut().enumerate() {
            let plan = &watch.watched().plan;
            let soonest = plan.deadline_ns.min(plan.retry_ns) / 4;
            next_ns = next_ns.min(now_ns + soonest.clamp(BEAT_NS.0, BEAT_NS.1));
            if !watch.watched().is_running() {
                next_ns = next_ns.min(now_ns + PREPARING_BEAT_NS);
            }
            let begin = released.then(|| match self.spread {
                true => aligned(&self.collector, &self.host, plan, now_ns + LEAD_NS),
                false => now_ns,
            });
            let mut desk = self.collector.desk(number as u16);
            watch.beat(now_ns, self.crew.as_mut(), begin, &mut desk);
        }
        if now_ns >= self.next_flush_ns {
            self.collect(true);
            self.next_flush_ns = now_ns + self.flush_ns;
        }
        next_ns.min(self.next_flush_ns)
    }

    /// Take what the lanes saw and hand it on.
    pub fn collect(&mut self, running: bool) {
        for (number, watch) in self.watches.iter_mut().enumerate() {
            watch.drain(&mut self.collector.desk(number as u16));
        }
        self.collector.round(running);
    }

    /// Ask all workers to end: what falls due from now on is nobody's.
    pub fn dismiss(&mut self) {
        self.ended_ns = Some(self.clock.monotonic_ns());
        self.watches.iter_mut().for_each(Watch::dismiss);
    }
    /// Whether all workers are gone.
    pub fn is_deserted(&mut self) -> bool {
        self.watches.iter_mut().all(Watch::is_deserted)
    }

    /// Account for what is still open, write everything.
    pub fn finish(mut self) -> Summary {
        let ended_ns = self.ended_ns.unwrap_or_else(|| self.clock.monotonic_ns());
        for (number, watch) in self.watches.iter_mut().enumerate() {
            watch.finish(ended_ns, &mut self.collector.desk(number as u16));
        }
        self.collector.finish()
    }
}

/// The first instant from `from_ns` (monotonic) on at which this host probes this target: hosts are spread over the
/// period by a hash, so that many agents do not strike at the same moment.
fn aligned(collector: &Collector, host: &str, plan: &TargetPlan, from_ns: u64) -> u64 {
    let hash = crc32fast::hash(format!("{host}\0{}", plan.name).as_bytes());
    let offset_ns = ((u128::from(hash) * u128::from(plan.period_ns)) >> 32) as i64;
    let utc_ns = collector.view().anchor().utc_ns(from_ns);
    from_ns + (offset_ns - utc_ns).rem_euclid(plan.period_ns as i64) as u64
}
