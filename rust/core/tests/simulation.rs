//! The whole probe on simulated clocks, from printed seeds: whatever the storage does, every tick is one row.

use iosonde_core::clock::{Clock, SimClock};
use iosonde_core::config::Config;
use iosonde_core::probe::simulate::{Simulation, simulate};
use iosonde_core::record::spool;
use iosonde_core::sample::{Op, Outcome, Sample};
use iosonde_core::seed::{Random, fresh};
use std::path::{Path, PathBuf};

const START: i64 = 1_790_000_000_000_000_000;
const SECOND: i64 = 1_000_000_000;
const SCHEDULES: u64 = 200;
const SECONDS: u64 = 120;

struct Store(PathBuf);

impl Store {
    fn new() -> Self {
        Self(std::env::temp_dir().join(format!("iosonde-simulation-{}", fresh())))
    }
    fn samples(&self) -> Vec<Sample> {
        let mut segments: Vec<PathBuf> = files(&self.0.join("spool"));
        segments.sort();
        segments.iter().flat_map(|path| spool::read(path, 0).expect("a readable segment").samples).collect()
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn config(store: &Store, faults: &str) -> Config {
    let text = format!(
        "store = '{}'\nseed = 3\nwindow = '10s'\nflush = '1s'\n[[target]]\npath = '/sim'\nbackend = 'null'\n\
         pool = 32\nperiod = '200ms'\n[target.latency]\nsigma = 0.5\ndata_read = '5ms'\ndata_write = '4ms'\n\
         md_create = '1ms'\nmd_stat = '200us'\nmd_read = '400us'\nmd_delete = '600us'\n{faults}",
        store.0.display()
    );
    Config::from_toml(&text, "simulation").expect("a valid configuration")
}

fn random_faults(random: &mut Random) -> String {
    let kinds = ["hang = true", "delay = '700ms'", "multiply = 300.0", "error = 'EIO'", "error = 'ESTALE'"];
    (0..random.below(5))
        .map(|_| {
            let op = Op::NAMES[random.below(6) as usize];
            let (after, lasts) = (random.below(SECONDS), 1 + random.below(40));
            let kind = kinds[random.below(5) as usize];
            format!("[[target.fault]]\nop = '{op}'\nafter = '{after}s'\nfor = '{lasts}s'\n{kind}\n")
        })
        .collect()
}

/// Due times of one op must be an unbroken grid: no tick lost, none twice.
fn assert_unbroken(samples: &[Sample], period_ns: i64, context: &str) {
    for op in Op::ALL {
        let mut due: Vec<i64> = samples.iter().filter(|s| s.op == op).map(|s| s.due_ns).collect();
        due.sort_unstable();
        assert!(due.len() >= 2, "{context}: {} has no rows", op.name());
        for pair in due.windows(2) {
            assert_eq!(pair[1] - pair[0], period_ns, "{context}: {} at {}", op.name(), pair[0]);
        }
    }
}

#[test]
fn every_tick_is_one_row_whatever_the_storage_does() {
    let first = fresh();
    println!("seeds {first} to {}", first + SCHEDULES);
    for seed in first..first + SCHEDULES {
        let faults = random_faults(&mut Random::stream(seed, "faults"));
        let store = Store::new();
        let summary = simulate(config(&store, &faults), START, SECONDS * SECOND as u64).expect("it runs");
        let samples = store.samples();
        let context = format!("seed {seed}, faults:\n{faults}");
        assert_eq!(summary.rows_written as usize, samples.len(), "{context}");
        assert_unbroken(&samples, SECOND / 5, &context);
        for sample in &samples {
            let skipped = sample.outcome == Outcome::SKIPPED;
            assert_eq!(sample.began_ns.is_none(), skipped, "{context}: {sample:?}");
            // While create fails, the pool has nothing to spare for delete, and the other way round.
            let starved = skipped && matches!(sample.op, Op::MdCreate | Op::MdDelete);
            assert!(sample.felt_ns().map_or(starved, |felt| felt >= 0), "{context}: {sample:?}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_samples() {
    let faults = "[[target.fault]]\nop = 'md_stat'\nafter = '20s'\nfor = '5s'\nhang = true\n";
    let run = || {
        let store = Store::new();
        simulate(config(&store, faults), START, 60 * SECOND as u64).expect("it runs");
        store.samples()
    };
    assert_eq!(run(), run());
}

#[test]
fn a_clock_that_jumps_bends_no_latency_and_loses_no_row() {
    for step_s in [3600, -3600, 86_400, -5] {
        let store = Store::new();
        let clock = SimClock::new(START);
        let mut simulation =
            Simulation::new(config(&store, ""), clock.clone()).expect("a valid configuration");
        let begin = clock.monotonic_ns();
        simulation.run_until(begin + 10 * SECOND as u64);
        clock.step_wall(step_s * SECOND);
        simulation.run_until(begin + 20 * SECOND as u64);
        simulation.finish();
        let samples = store.samples();
        assert!((6 * 5 * 20 - 12..=6 * 5 * 20).contains(&samples.len()), "step {step_s}: {}", samples.len());
        assert!(samples.iter().all(|s| s.service_ns().is_some_and(|ns| (1..100_000_000).contains(&ns))));
        let stepped = samples.iter().filter(|s| s.due_ns - START >= 20 * SECOND || s.due_ns < START).count();
        let half = samples.len() as i64 / 2 - stepped as i64;
        assert!(step_s == -5 || half.abs() < 12, "step {step_s}: {stepped} rows after it");
    }
}
