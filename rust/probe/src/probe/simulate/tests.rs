use std::sync::atomic::Ordering;

use super::*;
use crate::probe::breaker;
use iosonde_core::sample::Op;
use iosonde_core::slowdown::verdict::State;

const START: i64 = 1_790_000_000_000_000_000;

const TARGET: &str = "window = '10s'\n[[target]]\npath = '/sim'\nname = 'sim'\nbackend = 'null'\n\
    [target.latency]\nsigma = 0.3\ndata_read = '5ms'\ndata_write = '4ms'\nmd_create = '1ms'\n\
    md_stat = '200us'\nmd_read = '400us'\nmd_delete = '600us'\n";

fn config(faults: &str) -> Config {
    Config::from_toml(&format!("seed = 7\n{TARGET}{faults}"), "sim").unwrap()
}

fn run(faults: &str, seconds: u64) -> Summary {
    simulate(config(faults), START, seconds * 1_000_000_000).unwrap()
}

#[test]
fn steps_of_the_wall_clock_are_counted() {
    let clock = SimClock::new(0);
    let mut simulation = Simulation::new(config(""), clock.clone(), Box::new(RealDisk)).unwrap();
    let steps = |simulation: &Simulation| simulation.view().clock_steps.load(Ordering::Relaxed);
    simulation.run_until(20_000_000_000);
    assert_eq!(steps(&simulation), 0);
    for by_ns in [-3_600_000_000_000, 2_000_000] {
        clock.step_wall(by_ns);
        simulation.run_until(clock.monotonic_ns() + 20_000_000_000);
    }
    assert_eq!(steps(&simulation), 2);
}

#[test]
fn a_clock_that_steps_by_56_years_closes_the_windows_that_have_rows_and_no_others() {
    const YEARS_NS: i64 = 56 * 365 * 86_400 * 1_000_000_000;
    for (start, by_ns) in [(0, YEARS_NS), (YEARS_NS, -YEARS_NS)] {
        let root = std::env::temp_dir().join(format!("iosonde-years-{}", iosonde_core::seed::fresh()));
        let store = format!("store = '{}'\nhost = 'h'\nkeep = {{ free = 0 }}\n", root.display());
        let config = Config::from_toml(&(store + TARGET), "sim").unwrap();
        let clock = SimClock::new(start);
        let mut simulation = Simulation::new(config, clock.clone(), Box::new(RealDisk)).unwrap();
        simulation.run_until(clock.monotonic_ns() + 65_000_000_000);
        clock.step_wall(by_ns);
        simulation.run_until(clock.monotonic_ns() + 65_000_000_000);
        let view = Arc::clone(simulation.view());
        assert_eq!(view.clock_steps.load(Ordering::Relaxed), 1);
        // Asked right after the step and later: what is known of the windows is that of the rows that are there.
        assert!(view.states(true)[0].ops.iter().all(|op| op.median_n.is_some_and(|n| n <= 100)));
        let summary = simulation.finish();
        assert!(summary.rows_lost == 0 && summary.rows_written >= 6 * 120, "{summary:?}");
        let kept = kept_windows(&root);
        // 13 or 14 windows of ten seconds before and after the step, of each of six ops.
        assert!((6 * 12..=6 * 16).contains(&kept), "{kept} windows");
        std::fs::remove_dir_all(root).unwrap();
    }
}

/// Number of windows a store has kept.
fn kept_windows(root: &std::path::Path) -> usize {
    let files = std::fs::read_dir(root.join("windows/h")).unwrap();
    let read = |file: std::io::Result<std::fs::DirEntry>| {
        let mut number = 0;
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        crate::record::windows::each(&bytes, i64::MIN, i64::MAX, &mut |_| number += 1).unwrap();
        number
    };
    files.map(read).sum()
}

#[test]
fn a_state_says_what_it_is_probed_with() {
    let state = run("", 5).targets.remove(0);
    assert_eq!((state.files.pool, state.files.object_bytes, state.files.block_bytes), (1000, 3901, 1 << 20));
    assert_eq!((state.files.access, state.files.file_bytes, state.keep), (None, None, None));
    let text = serde_json::to_value(&state).unwrap();
    assert_eq!((&text["backend"], &text["direct"]), (&"null".into(), &"auto".into()));
    assert_eq!(text["budget"]["ops_per_s"], serde_json::Value::Null);
}

#[test]
fn a_quiet_storage_is_ok() {
    let summary = run("", 600);
    assert_eq!(summary.targets[0].state, State::Stopped);
    for op in &summary.targets[0].ops {
        assert_eq!(op.state, State::Ok, "{}", op.op);
        assert!((op.slowdown.unwrap() - 1.0).abs() < 0.5, "{}: {:?}", op.op, op.slowdown);
    }
}

#[test]
fn a_tripled_read_is_found_and_dated() {
    let summary = run("[[target.fault]]\nop = 'data_read'\nafter = '500s'\nmultiply = 3.0", 600);
    let ops = &summary.targets[0].ops;
    assert_eq!(ops[0].state, State::Slow);
    let since = ops[0].since_ns.unwrap() - START;
    assert!((since - 500_000_000_000).abs() < 10_000_000_000, "{since}");
    assert!(ops[1..].iter().all(|op| op.state == State::Ok));
}

#[test]
fn during_a_hang_the_breaker_opens_and_afterwards_one_worker_is_left() {
    let fault = "[[target.fault]]\nop = 'md_create'\nafter = '100s'\nfor = '60s'\nhang = true";
    let clock = SimClock::new(START);
    let begin = clock.monotonic_ns();
    let mut simulation = Simulation::new(config(fault), clock, Box::new(RealDisk)).unwrap();
    let at = |seconds: u64| begin + seconds * 1_000_000_000;
    simulation.run_until(at(130));
    let view = Arc::clone(simulation.view());
    let target = view.targets().remove(0);
    let age = |op: Op| view.in_flight(&target, op).map_or(0, |open| open.age_ns / 1_000_000_000);
    assert_ne!(target.breaker(Op::MdCreate), breaker::State::Closed);
    assert!((28..=31).contains(&age(Op::MdCreate)), "{}", age(Op::MdCreate));
    assert_eq!(age(Op::MdStat), 0);
    assert!(target.workers().1 > 0, "a trial is stuck too");
    let states = view.states(true);
    assert_eq!(states[0].ops[2].state, State::Hung);
    assert_eq!(states[0].ops[3].state, State::Ok);
    simulation.run_until(at(166));
    assert_eq!(target.breaker(Op::MdCreate), breaker::State::Closed);
    assert_eq!(target.workers(), (1, 0));
    simulation.run_until(at(180));
    assert_eq!(view.states(true)[0].ops[2].state, State::Ok);
}

#[test]
fn trials_of_ops_that_hang_together_share_workers_and_are_few() {
    let faults: String = Op::ALL
        .map(|op| {
            format!("[[target.fault]]\nop = '{}'\nafter = '20s'\nfor = '600s'\nhang = true\n", op.name())
        })
        .concat();
    let clock = SimClock::new(START);
    let begin = clock.monotonic_ns();
    let mut simulation = Simulation::new(config(&faults), clock, Box::new(RealDisk)).unwrap();
    let target = simulation.view().targets().remove(0);
    let mut most = 0;
    for seconds in (0..600).step_by(2) {
        simulation.run_until(begin + seconds * 1_000_000_000);
        most = most.max(target.workers().0);
    }
    // The worker that is stuck and, of each op, as many trials as may be: several ops that are due for one share a worker.
    assert!((4..1 + 6 * target.plan.replacements).contains(&most), "{most} workers");
    simulation.run_until(begin + 1_000_000_000_000);
    assert_eq!(target.workers(), (1, 0));
}

#[test]
fn however_seldom_rounds_are_no_tick_of_a_fast_and_healthy_storage_is_lost() {
    for (period, flush) in [("1ms", "60s"), ("2ms", "10s")] {
        let root = std::env::temp_dir().join(format!("iosonde-rounds-{}", iosonde_core::seed::fresh()));
        let text = format!(
            "seed = 7\nstore = '{}'\nhost = 'h'\nflush = '{flush}'\nwindow = '10s'\nkeep = {{ free = 0 }}\n\
             [[target]]\npath = '/sim'\nname = 'sim'\nbackend = 'null'\nperiod = '{period}'\n",
            root.display()
        );
        let summary = simulate(Config::from_toml(&text, "sim").unwrap(), START, 35_000_000_000).unwrap();
        let folder = std::fs::read_dir(root.join("spool/h")).unwrap();
        let read = |entry: std::io::Result<std::fs::DirEntry>| {
            crate::record::spool::read(&entry.unwrap().path(), 0).unwrap().samples
        };
        let rows: Vec<_> = folder.flat_map(read).collect();
        let per_op = 35_000 / period.trim_end_matches("ms").parse::<usize>().unwrap();
        assert!((6 * per_op - 12..=6 * per_op).contains(&rows.len()), "{} of {}", rows.len(), 6 * per_op);
        assert_eq!((summary.rows_written, summary.rows_lost), (rows.len() as u64, 0));
        let skipped = rows.iter().filter(|row| row.outcome != iosonde_core::sample::Outcome::OK).count();
        assert_eq!(skipped, 0, "of {} at {period}", rows.len());
        std::fs::remove_dir_all(root).unwrap();
    }
}
