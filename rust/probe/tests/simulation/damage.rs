//! A store in which somebody damaged a file that the agent reads: it starts, measures, and no row is lost or twice.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use iosonde_core::clock::{Clock, SimClock};
use iosonde_core::seed::Random;

use crate::check;
use crate::faults;
use crate::world::{Life, SlowLog, World};

/// Folders of files that the agent reads when it starts, or when it makes room.
pub const KINDS: [&str; 5] = ["spool", "windows", "baselines", "events", "state"];
const SECOND: u64 = 1_000_000_000;

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

/// Some changes: bits, a piece gone, doubled or noise, an end cut off, nothing left.
fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(4) {
        let at = |random: &mut Random, bytes: &[u8]| random.below(bytes.len() as u64 + 1) as usize;
        let (a, b) = (at(random, bytes), at(random, bytes));
        let (from, to) = (a.min(b), a.max(b).min(a.min(b) + 60));
        match random.below(7) {
            0 if from < to => bytes[from] ^= 1 << random.below(8),
            1 => drop(bytes.drain(from..to)),
            2 => {
                let piece = bytes[from..to].to_vec();
                drop(bytes.splice(a..a, piece));
            }
            3 => random.fill(&mut bytes[from..to]),
            4 => bytes.truncate(a),
            5 if random.below(20) == 0 => bytes.clear(),
            _ => bytes.insert(a, [0, 0xff, b'{', b'"', b'9', b'-'][random.below(6) as usize]),
        }
    }
}

impl World {
    /// A life, damage to one kind of file that it left, another life.
    pub fn damaged(mut self, kind: &str) {
        let mut random = Random::stream(self.seed, kind);
        self.short_life("before");
        for path in files(&self.store().join(kind).join("h")) {
            let mut bytes = std::fs::read(&path).expect("readable");
            mutate(&mut bytes, &mut random);
            std::fs::write(&path, bytes).expect("writable");
        }
        self.short_life(&format!("with damaged {kind}"));
    }

    fn short_life(&mut self, what: &str) {
        let clock = SimClock::new(self.wall_ns);
        // Something to say in events, and a limit that makes the agent look at segments.
        let spells = faults::long_hang(1, 2);
        let mut config = self.config(&self.targets, &faults::toml(&spells), 500);
        (config.keep.max_bytes, config.keep.max_age_ns) = (Some(1 << 30), Some(1 << 60));
        let mut simulation = self.begin(config, &clock, &SlowLog::default());
        let view = Arc::clone(simulation.view());
        let mut life = Life::new(format!("IOSONDE_SEED={}, {what}", self.seed), 500);
        life.watches(&view, &self.targets, &spells, clock.wall_ns());
        simulation.run_until(13 * SECOND);
        life.ends(clock.wall_ns(), 0);
        self.wall_ns = clock.wall_ns() + 1;
        let health = view.health.clone().expect("there is a store");
        simulation.finish();
        let rows = check::life(self, &life, &view, &health);
        assert!(rows > 0 && health.last_error().is_none(), "{:?}: {}", health.last_error(), life.context);
    }
}
