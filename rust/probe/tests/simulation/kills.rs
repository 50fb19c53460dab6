//! A life with a hang that is killed at each of its steps: at every call of the disk, in the middle of it, and after
//! everything that happens to a lane or the supervisor. What was written stays, once, and the next life finds order.

use std::sync::Arc;

use iosonde_core::clock::{Clock, SimClock};
use iosonde_probe::record::windows;

use crate::check;
use crate::faults;
use crate::world::{Life, SlowLog, World};

const END_NS: u64 = 7_000_000_000;
const FLUSH_MS: u64 = 50;

/// Where a life ends.
#[derive(Debug, Clone, Copy)]
pub enum Kill {
    /// After so many calls of the disk.
    Call(u64),
    /// After so many things have happened.
    Step(u64),
    /// At its end.
    Late,
}

/// Of so many kills number `i`: calls and steps in turn, spread over all that there are.
pub fn spread(i: u64, kills: u64, (calls, steps): (u64, u64)) -> Kill {
    let of = |all: u64| (i / 2) * all / kills.div_ceil(2);
    if i.is_multiple_of(2) { Kill::Call(of(calls)) } else { Kill::Step(of(steps)) }
}

impl World {
    /// One life that ends like this and, after a kill, another; returns calls of the disk and steps of the first.
    pub fn killed(mut self, kill: Kill) -> (u64, u64) {
        let spells = faults::long_hang(2, 2);
        let context = format!("IOSONDE_SEED={}, {kill:?}", self.seed);
        let clock = SimClock::new(self.wall_ns);
        let config = self.config(&self.targets, &faults::toml(&spells), FLUSH_MS);
        let calls = |world: &Self| world.disk.faults(|faults| faults.calls);
        let before = calls(&self);
        if let Kill::Call(after) = kill {
            self.disk.faults(|faults| faults.dies_after = Some(after));
        }
        let mut simulation = self.begin(config, &clock, &SlowLog::default());
        let view = Arc::clone(simulation.view());
        let mut life = Life::new(context, FLUSH_MS);
        (life.killed, life.disk_trouble) = (true, true);
        life.watches(&view, &self.targets, &spells, clock.wall_ns());
        let mut steps = 0;
        let last = if let Kill::Step(last) = kill { last } else { u64::MAX };
        while clock.monotonic_ns() < END_NS && steps < last {
            simulation.run_steps(1);
            steps += 1;
        }
        life.ends(clock.wall_ns(), 0);
        self.wall_ns = clock.wall_ns() + 1;
        let health = view.health.clone().expect("there is a store");
        drop(simulation);
        let calls = calls(&self) - before;
        check::life(&self, &life, &view, &health);
        self.readable();
        self.last_life();
        self.readable();
        (calls, steps)
    }

    /// Every file that a reader opens is whole, but for a tail that says so.
    fn readable(&self) {
        let entries = |kind: &str| {
            let folder = std::fs::read_dir(self.store().join(kind).join("h"));
            folder.into_iter().flatten().map(|entry| entry.expect("an entry").path()).collect::<Vec<_>>()
        };
        for path in entries("windows") {
            let bytes = std::fs::read(&path).expect("readable");
            assert!(bytes.is_empty() || windows::each(&bytes, 0, i64::MAX, &mut |_| {}).is_ok(), "{path:?}");
        }
        for path in entries("state").into_iter().chain(entries("baselines")) {
            if path.extension().is_some_and(|end| end == "json") {
                let text = std::fs::read(&path).expect("readable");
                assert!(serde_json::from_slice::<serde_json::Value>(&text).is_ok(), "{path:?}");
            }
        }
    }
}
