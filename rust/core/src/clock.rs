//! The only module that reads a clock or sleeps. All other code gets a [`Clock`] as an argument.
//!
//! Durations and schedules use the monotonic clock; rows on disk carry UTC, obtained through an [`Anchor`].

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::thread::Thread;
use std::time::Duration;

/// A source of time. Two kinds exist: [`RealClock`] and [`SimClock`].
pub trait Clock: Send + Sync {
    /// Nanoseconds on a clock that never steps. Never zero.
    fn monotonic_ns(&self) -> u64;
    /// Nanoseconds since the Unix epoch, UTC. May step.
    fn wall_ns(&self) -> i64;
    /// Return at `deadline_ns` (monotonic) or soon after `stop` is raised, whichever is first.
    fn sleep_until(&self, deadline_ns: u64, stop: &Stop);
}

/// A stop request, shared with every sleeper.
#[derive(Debug, Default)]
pub struct Stop(AtomicBool);

impl Stop {
    /// A stop that is not raised.
    pub fn new() -> Arc<Self> {
        Arc::new(Self::default())
    }
    /// Raise the stop and wake the given sleepers.
    pub fn raise<'a>(&self, sleepers: impl IntoIterator<Item = &'a Thread>) {
        self.0.store(true, Ordering::SeqCst);
        for sleeper in sleepers {
            sleeper.unpark();
        }
    }
    /// Withdraw the stop.
    pub fn withdraw(&self) {
        self.0.store(false, Ordering::SeqCst);
    }
    /// True if the stop was raised.
    pub fn raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The machine's clocks.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealClock;

fn read(clock: libc::clockid_t) -> libc::timespec {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for writes; the clock ids used here exist on every Linux.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time
}

/// CPU time of a process, over all its threads; none if it is gone or not accessible.
pub fn process_cpu_ns(pid: u32) -> Option<u64> {
    let mut clock = 0;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: both results are valid for writes; a process that does not exist is an error.
    let known = unsafe {
        libc::clock_getcpuclockid(libc::pid_t::try_from(pid).ok()?, &mut clock) == 0
            && libc::clock_gettime(clock, &mut time) == 0
    };
    known.then_some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// CPU time of the calling thread.
pub fn thread_cpu_ns() -> u64 {
    let time = read(libc::CLOCK_THREAD_CPUTIME_ID);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Let the kernel wake this thread on time, without the usual slack of 50 us.
pub fn precise_sleeps() {
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}

impl Clock for RealClock {
    #[inline]
    fn monotonic_ns(&self) -> u64 {
        let time = read(libc::CLOCK_MONOTONIC);
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    }

    fn wall_ns(&self) -> i64 {
        let time = read(libc::CLOCK_REALTIME);
        time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    #[allow(clippy::disallowed_methods)]
    fn sleep_until(&self, deadline_ns: u64, stop: &Stop) {
        while !stop.raised() {
            let now = self.monotonic_ns();
            if now >= deadline_ns {
                return;
            }
            std::thread::park_timeout(Duration::from_nanos(deadline_ns - now));
        }
    }
}

/// A clock that moves only when somebody sleeps on it or [`advances`](SimClock::advance) it.
///
/// Each lane of a simulation has its own, so that a slow operation delays its own lane only; they share the
/// wall clock's steps.
#[derive(Debug, Clone)]
pub struct SimClock {
    now_ns: Arc<AtomicU64>,
    wall_offset_ns: Arc<AtomicI64>,
}

impl SimClock {
    /// A clock at monotonic one second, whose wall clock reads `wall_ns`.
    pub fn new(wall_ns: i64) -> Self {
        const START: u64 = 1_000_000_000;
        Self {
            now_ns: Arc::new(AtomicU64::new(START)),
            wall_offset_ns: Arc::new(AtomicI64::new(wall_ns - START as i64)),
        }
    }
    /// Another clock with the same time that advances independently and shares the wall clock's steps.
    pub fn sibling(&self) -> Self {
        Self {
            now_ns: Arc::new(AtomicU64::new(self.monotonic_ns())),
            wall_offset_ns: Arc::clone(&self.wall_offset_ns),
        }
    }
    /// Advance the clock.
    pub fn advance(&self, by_ns: u64) {
        self.now_ns.fetch_add(by_ns, Ordering::SeqCst);
    }
    /// Step the wall clock, as an administrator or a bad time server would.
    pub fn step_wall(&self, by_ns: i64) {
        self.wall_offset_ns.fetch_add(by_ns, Ordering::SeqCst);
    }
}

impl Clock for SimClock {
    fn monotonic_ns(&self) -> u64 {
        self.now_ns.load(Ordering::SeqCst)
    }
    fn wall_ns(&self) -> i64 {
        self.monotonic_ns() as i64 + self.wall_offset_ns.load(Ordering::SeqCst)
    }
    fn sleep_until(&self, deadline_ns: u64, _stop: &Stop) {
        self.now_ns.fetch_max(deadline_ns, Ordering::SeqCst);
    }
}

/// Maps monotonic instants to UTC. Kept constant while the two clocks agree within a millisecond, so that the
/// due times of a series stay exactly one period apart; adjusted when they diverge.
#[derive(Debug, Clone, Copy)]
pub struct Anchor {
    offset_ns: i64,
    /// Uncertainty of `offset_ns`: the thread may have waited between reading one clock and the other.
    unsure_ns: i64,
}

/// Divergence of wall and monotonic clock at which the anchor follows.
pub const ANCHOR_TOLERANCE_NS: i64 = 1_000_000;

/// Distance of readings of both clocks that count as simultaneous.
const CLOSE_NS: i64 = 20_000;
const MOST_READINGS: usize = 5;

impl Anchor {
    /// Read both clocks: the wall clock between two readings of the other, the closest pair of a few.
    pub fn take(clock: &dyn Clock) -> Self {
        let mut best = Self::read(clock);
        for _ in 1..MOST_READINGS {
            if best.unsure_ns <= CLOSE_NS {
                break;
            }
            let next = Self::read(clock);
            if next.unsure_ns < best.unsure_ns {
                best = next;
            }
        }
        best
    }
    fn read(clock: &dyn Clock) -> Self {
        let before = clock.monotonic_ns() as i64;
        let wall = clock.wall_ns();
        let between = clock.monotonic_ns() as i64 - before;
        Self { offset_ns: wall - before - between / 2, unsure_ns: between / 2 }
    }
    /// UTC nanoseconds of a monotonic instant.
    pub fn utc_ns(&self, monotonic_ns: u64) -> i64 {
        monotonic_ns as i64 + self.offset_ns
    }
    /// Follow the wall clock if it has diverged. Returns the size of the step.
    pub fn follow(&mut self, clock: &dyn Clock) -> Option<i64> {
        let now = Self::take(clock);
        let step = now.offset_ns - self.offset_ns;
        (step.abs() > ANCHOR_TOLERANCE_NS + now.unsure_ns).then(|| {
            *self = now;
            step
        })
    }
}

/// Time a call: two readings of the clock and the call between them, nothing else.
#[inline]
pub fn timed<R>(clock: &dyn Clock, call: impl FnOnce() -> R) -> (R, u64, u64) {
    let began_ns = clock.monotonic_ns();
    let result = call();
    let ended_ns = clock.monotonic_ns();
    (result, began_ns, ended_ns)
}

/// Times consecutive operations with one reading of the clock each: an end is the next start.
/// What lies between two operations counts to the later one, so keep it to choosing a name.
pub struct Laps<'a> {
    clock: &'a dyn Clock,
    last_ns: u64,
}

impl<'a> Laps<'a> {
    /// Start the first lap now.
    pub fn new(clock: &'a dyn Clock) -> Self {
        Self { clock, last_ns: clock.monotonic_ns() }
    }
    /// Run one operation; returns its result, its start and its end.
    #[inline]
    pub fn lap<R>(&mut self, call: impl FnOnce() -> R) -> (R, u64, u64) {
        let began_ns = self.last_ns;
        let result = call();
        self.last_ns = self.clock.monotonic_ns();
        (result, began_ns, self.last_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn siblings_move_alone_and_share_wall_steps() {
        let first = SimClock::new(1_700_000_000_000_000_000);
        let second = first.sibling();
        first.advance(5);
        assert_eq!(first.monotonic_ns(), second.monotonic_ns() + 5);
        second.step_wall(-1_000);
        assert_eq!(first.wall_ns(), 1_700_000_000_000_000_000 + 5 - 1_000);
    }

    #[test]
    fn processor_time_of_this_process_only_grows() {
        let first = process_cpu_ns(std::process::id()).unwrap();
        assert!(process_cpu_ns(std::process::id()).unwrap() >= first);
        assert_eq!(process_cpu_ns(u32::MAX), None);
    }

    #[test]
    fn anchor_ignores_jitter_and_follows_steps() {
        let clock = SimClock::new(0);
        let mut anchor = Anchor::take(&clock);
        clock.step_wall(ANCHOR_TOLERANCE_NS);
        assert_eq!(anchor.follow(&clock), None);
        clock.step_wall(3_600_000_000_000);
        assert_eq!(anchor.follow(&clock), Some(3_600_000_000_000 + ANCHOR_TOLERANCE_NS));
        assert_eq!(anchor.utc_ns(clock.monotonic_ns()), clock.wall_ns());
    }

    /// Time passes at each reading of the wall clock, as when another thread runs first: so long, in turn.
    struct Preempted {
        clock: SimClock,
        waits_ns: Vec<u64>,
        turn: AtomicU64,
    }

    impl Preempted {
        fn new(waits_ns: &[u64]) -> Self {
            Self { clock: SimClock::new(0), waits_ns: waits_ns.to_vec(), turn: AtomicU64::new(0) }
        }
        fn wait(&self) {
            let turn = self.turn.fetch_add(1, Ordering::Relaxed) as usize;
            self.clock.advance(self.waits_ns[turn % self.waits_ns.len()]);
        }
    }

    impl Clock for Preempted {
        fn monotonic_ns(&self) -> u64 {
            self.clock.monotonic_ns()
        }
        fn wall_ns(&self) -> i64 {
            self.wait();
            let now = self.clock.wall_ns();
            self.wait();
            now
        }
        fn sleep_until(&self, deadline_ns: u64, stop: &Stop) {
            self.clock.sleep_until(deadline_ns, stop);
        }
    }

    #[test]
    fn a_thread_that_waits_between_the_clocks_sees_no_step() {
        const LONG: u64 = 30_000_000;
        for waits in [&[LONG, 0][..], &[0, LONG], &[LONG, 0, 0, LONG, 10, 10], &[LONG, 7 * LONG]] {
            let clock = Preempted::new(waits);
            let mut anchor = Anchor::take(&SimClock::new(0));
            for _ in 0..20 {
                assert_eq!(anchor.follow(&clock), None, "{waits:?}");
            }
            clock.clock.step_wall(3_600_000_000_000);
            let step = anchor.follow(&clock).expect("an hour is more than any wait");
            assert!((step - 3_600_000_000_000).unsigned_abs() <= 4 * LONG, "{step} {waits:?}");
        }
    }

    #[test]
    fn of_several_readings_the_closest_counts() {
        let clock = Preempted::new(&[40_000_000, 0, 3_000, 1_000]);
        let anchor = Anchor::take(&clock);
        let off = anchor.utc_ns(clock.monotonic_ns()) - clock.clock.wall_ns();
        assert_eq!(off.abs(), 1_000);
    }

    #[test]
    fn laps_touch_and_timed_sections_do_not() {
        let clock = SimClock::new(0);
        let mut laps = Laps::new(&clock);
        let ((), _, first_end) = laps.lap(|| clock.advance(5));
        clock.advance(2);
        let ((), second_began, second_end) = laps.lap(|| clock.advance(7));
        assert_eq!((second_began, second_end - second_began), (first_end, 9));
        let ((), began, ended) = timed(&clock, || clock.advance(3));
        assert_eq!(ended - began, 3);
    }

    #[test]
    fn a_raised_stop_ends_a_sleep() {
        let stop = Stop::new();
        let sleeper = std::thread::spawn({
            let stop = Arc::clone(&stop);
            move || RealClock.sleep_until(RealClock.monotonic_ns() + 3_600_000_000_000, &stop)
        });
        stop.raise([sleeper.thread()]);
        sleeper.join().unwrap();
    }
}
