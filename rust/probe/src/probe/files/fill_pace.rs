//! Pace of filling a big file: hosts one after the other, each within the budget of its target.
//!
//! ```text
//! at once       up to AT_ONCE_BYTES
//! else          wait for this host's moment of `spread`, then write at the budget's rate, or FILL_BYTES_PER_S
//! ```
//! The moment is a hash of host and target: a host that starts again waits for the same one.

use crate::config::TargetPlan;
use crate::config::first_start::AT_ONCE_BYTES;
use crate::probe::Progress;
use iosonde_core::clock::{Clock, Stop};

/// Progress is told at least this often, so that nobody takes a wait for a hang.
const TELL_NS: u64 = 500_000_000;
const SECOND_NS: u64 = 1_000_000_000;

/// The pace of one filling.
pub struct FillPace<'a> {
    clock: &'a dyn Clock,
    plan: &'a TargetPlan,
    began_ns: u64,
    written: u64,
    /// Size of the whole file, for the progress.
    all: u64,
}

impl<'a> FillPace<'a> {
    /// Begins filling a file of `all` bytes that lacks `missing`: waits for the moment of this host.
    pub fn begin(
        plan: &'a TargetPlan,
        host: &str,
        clock: &'a dyn Clock,
        (missing, all): (u64, u64),
        progress: &mut Progress<'_>,
    ) -> Option<Self> {
        let mut pace = Self { clock, plan, began_ns: 0, written: 0, all };
        if missing > AT_ONCE_BYTES {
            let wait_ns = wait_ns(plan, host, clock.wall_ns());
            pace.wait_until(clock.monotonic_ns() + wait_ns, "waits for its turn", 0, progress)?;
        }
        pace.began_ns = clock.monotonic_ns();
        Some(pace)
    }

    /// `bytes` more were written, `done` are there: wait as long as the rate asks for. None: told to stop.
    pub fn wrote(&mut self, bytes: u64, done: u64, progress: &mut Progress<'_>) -> Option<()> {
        self.written += bytes;
        let rate = self.plan.fill_bytes_per_s();
        let due_ns = u128::from(self.written) * u128::from(SECOND_NS) / u128::from(rate);
        self.wait_until(self.began_ns.saturating_add(due_ns as u64), "big file", done, progress)
    }

    fn wait_until(&self, due_ns: u64, what: &str, done: u64, progress: &mut Progress<'_>) -> Option<()> {
        let stop = Stop::default();
        loop {
            if !progress(&self.plan.name, what, done, self.all) {
                return None;
            }
            let now_ns = self.clock.monotonic_ns();
            if now_ns >= due_ns {
                return Some(());
            }
            self.clock.sleep_until(due_ns.min(now_ns + TELL_NS), &stop);
        }
    }
}

/// Time until the moment of `spread` at which this host fills this target.
fn wait_ns(plan: &TargetPlan, host: &str, wall_ns: i64) -> u64 {
    if plan.spread_ns == 0 {
        return 0;
    }
    let hash = crc32fast::hash(format!("{host}\0{}", plan.name).as_bytes());
    let offset_ns = ((u128::from(hash) * u128::from(plan.spread_ns)) >> 32) as i64;
    (offset_ns - wall_ns).rem_euclid(plan.spread_ns as i64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use iosonde_core::clock::SimClock;

    const GIB: u64 = 1 << 30;

    fn plan(keys: &str) -> TargetPlan {
        let text = format!("[[target]]\npath='/t'\n{keys}");
        Config::from_toml(&text, "t").unwrap().plans().unwrap().remove(0)
    }

    /// Seconds that filling takes, the wait before it included.
    fn seconds(plan: &TargetPlan, host: &str, missing: u64) -> f64 {
        let clock = SimClock::new(1_790_000_000_000_000_000);
        let began_ns = clock.monotonic_ns();
        let mut told_ns = began_ns;
        let mut progress = |_: &str, _: &str, _: u64, _: u64| {
            assert!(clock.monotonic_ns() - told_ns <= TELL_NS);
            told_ns = clock.monotonic_ns();
            true
        };
        let mut pace = FillPace::begin(plan, host, &clock, (missing, missing), &mut progress).unwrap();
        let mut done = 0;
        while done < missing {
            done += (missing - done).min(4 << 20);
            pace.wrote(4 << 20, done, &mut progress).unwrap();
        }
        (clock.monotonic_ns() - began_ns) as f64 / 1e9
    }

    #[test]
    fn filling_keeps_to_the_budget() {
        let near = |seconds: f64, expected: f64| (seconds - expected).abs() < 1e-6;
        assert!(near(seconds(&plan(""), "h", GIB), 16.0));
        assert!(near(seconds(&plan("budget = { bytes = '4MiB' }"), "h", GIB), 256.0));
        assert!(near(seconds(&plan("budget = { ops = 8 }"), "h", GIB), 16.0));
    }

    #[test]
    fn hosts_begin_at_different_moments_of_the_spread_and_at_the_same_one_again() {
        let plan = plan("spread = '1h'");
        let waits: Vec<u64> =
            (0..1000).map(|n| wait_ns(&plan, &format!("node{n}"), 1_790_000_000_000_000_000)).collect();
        assert!(waits.iter().all(|&wait| wait < 3600 * SECOND_NS));
        for tenth in 0..10 {
            let inside = |wait: &&u64| **wait / (360 * SECOND_NS) == tenth;
            let hosts = waits.iter().filter(inside).count();
            assert!((60..150).contains(&hosts), "{hosts} of 1000 hosts begin in tenth {tenth}");
        }
        let later_ns = 100 * SECOND_NS;
        let again = wait_ns(&plan, "node7", 1_790_000_000_000_000_000 + later_ns as i64);
        assert_eq!((again + later_ns) % (3600 * SECOND_NS), waits[7]);
    }

    #[test]
    fn little_is_written_at_once_and_a_stop_ends_a_wait() {
        let plan = plan("spread = '1h'");
        assert!(seconds(&plan, "h", AT_ONCE_BYTES) <= 1.0);
        let clock = SimClock::new(0);
        let mut asked = 0;
        let mut progress = |_: &str, _: &str, _: u64, _: u64| {
            asked += 1;
            asked < 3
        };
        assert!(FillPace::begin(&plan, "h", &clock, (GIB, GIB), &mut progress).is_none());
        assert_eq!(asked, 3);
    }
}
