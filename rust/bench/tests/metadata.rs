//! The metadata benchmark over a real directory and over nothing: counts, pools, kills, faults.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use iosonde_bench::backend::location::Location;
use iosonde_bench::metadata::BenchError;
use iosonde_bench::metadata::parameters::{Parameters, Pattern};
use iosonde_bench::metadata::team::{Connector, Order, Team};
use iosonde_core::backend::faulty::{Fault, FaultKind};
use iosonde_core::backend::null::Latency;
use iosonde_core::clock::{Clock, RealClock};
use iosonde_core::sample::Op;
use iosonde_core::seed::{Random, fresh};
use rustix::io::Errno;
use serde_json::{Value, json};

const ALL: [&str; 4] = ["md_stat", "md_read", "md_delete", "md_create"];

struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("iosonde-metadata-{}", fresh()));
        std::fs::create_dir(&folder).expect("a folder");
        Self(folder)
    }
    fn objects(&self) -> usize {
        fn below(path: &Path) -> usize {
            let entries = std::fs::read_dir(path).expect("it lists").map(|entry| entry.expect("an entry"));
            entries
                .map(|entry| match entry.file_type().expect("a type").is_dir() {
                    true => below(&entry.path()),
                    false => usize::from(entry.file_name().len() == 16),
                })
                .sum()
        }
        below(&self.0)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn team(location: Location, parameters: &Parameters, faults: Vec<Fault>) -> Team {
    let clock: Arc<dyn Clock> = Arc::new(RealClock);
    let (clocks, size) = (Arc::clone(&clock), parameters.size_bytes);
    let connector: Connector =
        Arc::new(move |rank| location.connect(&clocks, size, Random::stream(u64::from(rank), "connect")));
    let mut team =
        Team::new(parameters.clone(), 0, parameters.ranks, faults, &connector, clock).expect("it works");
    answers(&mut team).expect("it works");
    team
}

fn answers(team: &mut Team) -> Result<Vec<Value>, BenchError> {
    while !team.wait(Duration::from_secs(60)) {}
    team.answers().into_iter().map(|answer| answer.expect("all have answered")).collect()
}

fn tell(team: &mut Team, order: Value) -> Result<Vec<Value>, BenchError> {
    team.order(&serde_json::from_value::<Order>(order).expect("an order"));
    answers(team)
}

fn lap(team: &mut Team, work: Value, iteration: u32) -> Vec<Value> {
    tell(team, json!({"do": "load", "work": work, "iteration": iteration})).expect("it works");
    let limit = json!({"after_ns": null, "steps": null});
    tell(team, json!({"do": "go", "limit": limit, "waiting_factor": 0.0})).expect("it works")
}

fn begin(team: &mut Team) {
    tell(team, json!({"do": "check"})).expect("it works");
    tell(team, json!({"do": "begin", "hold": true})).expect("it works");
    tell(team, json!({"do": "make_sets"})).expect("it works");
}

fn positions(team: &mut Team) -> Vec<u64> {
    let surveyed = tell(team, json!({"do": "survey", "full": true})).expect("it works");
    let sets = surveyed.iter().flat_map(|rank| rank["sets"].as_array().expect("it works").clone());
    sets.map(|set| set["first"].as_u64().expect("it works")).collect()
}

fn count(laps: &[Value], op: &str) -> u64 {
    let ops = laps.iter().flat_map(|lap| lap["ops"].as_array().expect("it works"));
    ops.filter(|each| each["op"] == op).map(|each| each["ok"].as_u64().expect("it works")).sum()
}

fn small(ranks: u32, offset: u32) -> Parameters {
    Parameters {
        ranks,
        offset,
        data_sets: 3,
        objects: 20,
        iterations: 8,
        verify: true,
        ..Parameters::default()
    }
}

#[test]
fn a_run_keeps_its_pool_and_leaves_nothing_after_cleanup() {
    for (ranks, offset) in [(1, 1), (4, 1), (3, 2), (2, 0)] {
        let folder = Folder::new();
        let parameters = small(ranks, offset);
        let mut team = team(Location::Posix { path: folder.0.clone() }, &parameters, Vec::new());
        begin(&mut team);
        let pool = 20 * 3 * u64::from(ranks);
        let made = lap(&mut team, json!({"phase": "precreate"}), 0);
        assert_eq!(count(&made, "md_create"), pool);
        for iteration in 0..5 {
            let first = positions(&mut team);
            assert!(first.iter().all(|&first| first == 8 * u64::from(iteration)), "{first:?}");
            let laps = lap(&mut team, json!({"phase": "benchmark", "ops": ALL, "first": first}), iteration);
            for op in ALL {
                assert_eq!(count(&laps, op), 8 * 3 * u64::from(ranks), "{op}");
            }
            assert!(
                laps.iter()
                    .all(|lap| lap["end"] == "done"
                        && lap["problems"].as_array().expect("it works").is_empty())
            );
            assert_eq!(folder.objects() as u64, pool);
        }
        let gone = lap(&mut team, json!({"phase": "cleanup"}), 0);
        assert_eq!(count(&gone, "md_delete"), pool);
        tell(&mut team, json!({"do": "remove_sets"})).expect("it works");
        tell(&mut team, json!({"do": "end"})).expect("it works");
        assert_eq!(std::fs::read_dir(&folder.0).expect("it works").count(), 0);
    }
}

#[test]
fn more_iterations_than_objects_touch_only_what_is_there() {
    for (ranks, offset) in [(1, 1), (2, 0)] {
        let folder = Folder::new();
        let parameters = Parameters { iterations: 47, ..small(ranks, offset) };
        let mut team = team(Location::Posix { path: folder.0.clone() }, &parameters, Vec::new());
        begin(&mut team);
        lap(&mut team, json!({"phase": "precreate"}), 0);
        for iteration in 0..2 {
            let first = positions(&mut team);
            assert!(first.iter().all(|&first| first == 47 * u64::from(iteration)), "{first:?}");
            let laps = lap(&mut team, json!({"phase": "benchmark", "ops": ALL, "first": first}), iteration);
            for op in ALL {
                assert_eq!(count(&laps, op), 47 * 3 * u64::from(ranks), "{op}: {laps:?}");
            }
        }
        let first = positions(&mut team);
        let stats = json!({"phase": "benchmark", "ops": ["md_stat"], "first": first});
        let refused = tell(&mut team, json!({"do": "load", "work": stats, "iteration": 2})).unwrap_err();
        assert!(refused.to_string().contains("at most as many iterations as objects"), "{refused}");
    }
}

#[test]
fn bulk_phases_do_every_object_once_with_own_and_with_shared_directories() {
    for shared in [false, true] {
        let folder = Folder::new();
        let parameters = Parameters { pattern: Pattern::Bulk, shared, random_order: true, ..small(3, 1) };
        let mut team = team(Location::Posix { path: folder.0.clone() }, &parameters, Vec::new());
        begin(&mut team);
        for (shift, op) in ["md_create", "md_stat", "md_read", "md_delete"].into_iter().enumerate() {
            let work = json!({"phase": "bulk", "op": op, "counts": [20, 20, 20], "shift": shift});
            let laps = lap(&mut team, work, 0);
            assert_eq!(count(&laps, op), 3 * 3 * 20, "{op}");
            assert!(
                laps.iter().all(|lap| lap["problems"].as_array().expect("it works").is_empty()),
                "{laps:?}"
            );
        }
        assert_eq!(folder.objects(), 0);
    }
}

#[test]
fn a_limit_stops_between_steps_and_the_rest_can_follow() {
    let latency = Latency { median_ns: [0, 0, 1_000_000, 1_000_000, 1_000_000, 1_000_000], sigma: 0.0 };
    let parameters = Parameters { objects: 500, iterations: 400, verify: false, ..small(2, 1) };
    let mut team = team(Location::Null { latency }, &parameters, Vec::new());
    begin(&mut team);
    let first = vec![0_u64; 6];
    let work = json!({"phase": "benchmark", "ops": ALL, "first": first});
    tell(&mut team, json!({"do": "load", "work": work, "iteration": 0})).expect("it works");
    let limit = json!({"after_ns": 100_000_000, "steps": null});
    let walled =
        tell(&mut team, json!({"do": "go", "limit": limit, "waiting_factor": 0.0})).expect("it works");
    let most = walled.iter().map(|lap| lap["steps"].as_u64().expect("it works")).max().expect("it works");
    assert!(walled.iter().all(|lap| lap["end"] == "limit"));
    assert!((1..30).contains(&most), "{most} steps of four milliseconds in a tenth of a second");
    let limit = json!({"after_ns": null, "steps": most});
    let even = tell(&mut team, json!({"do": "go", "limit": limit, "waiting_factor": 0.0})).expect("it works");
    assert!(even.iter().all(|lap| lap["steps"].as_u64() == Some(most)), "all have caught up");
    assert_eq!(count(&even, "md_read"), 2 * most);
}

#[test]
fn failures_are_counted_and_a_rank_that_only_fails_gives_up() {
    let folder = Folder::new();
    let parameters = Parameters { give_up: 10, ..small(2, 1) };
    let fault = |op, errno| Fault { op, after_ns: 0, for_ns: None, kind: FaultKind::Error(errno) };
    let location = Location::Posix { path: folder.0.clone() };
    let mut healthy = team(location.clone(), &parameters, Vec::new());
    begin(&mut healthy);
    lap(&mut healthy, json!({"phase": "precreate"}), 0);
    let first = positions(&mut healthy);
    drop(healthy);

    let work = json!({"phase": "benchmark", "ops": ALL, "first": first});
    let mut full = team(location.clone(), &parameters, vec![fault(Some(Op::MdCreate), Errno::NOSPC)]);
    tell(&mut full, json!({"do": "begin", "hold": false})).expect("it works");
    let laps = lap(&mut full, work.clone(), 0);
    let create = &laps[0]["ops"].as_array().expect("it works")[0];
    assert_eq!((create["ok"].as_u64(), &create["failed"]), (Some(0), &json!([["ENOSPC", 24]])));
    assert_eq!((count(&laps, "md_delete"), &laps[0]["end"]), (48, &json!("done")));
    drop(full);

    let mut repaired = team(location.clone(), &parameters, Vec::new());
    tell(&mut repaired, json!({"do": "begin", "hold": true})).expect("it works");
    assert!(positions(&mut repaired).iter().all(|&first| first == 8));
    assert_eq!(folder.objects(), 2 * 3 * 20);
    drop(repaired);

    let mut away = team(location, &parameters, vec![fault(None, Errno::CONNREFUSED)]);
    tell(&mut away, json!({"do": "begin", "hold": false})).expect("it works");
    let laps = lap(&mut away, json!({"phase": "benchmark", "ops": ALL, "first": vec![8_u64; 6]}), 0);
    assert!(laps.iter().all(|lap| lap["end"] == "failing" && lap["steps"] == 3), "{laps:?}");
}

#[test]
fn waits_are_as_long_as_the_operations_times_the_factor() {
    let latency = Latency { median_ns: [0, 0, 2_000_000, 500_000, 500_000, 1_000_000], sigma: 0.0 };
    let parameters = Parameters { verify: false, iterations: 20, ..small(2, 1) };
    let mut team = team(Location::Null { latency }, &parameters, Vec::new());
    begin(&mut team);
    let work = json!({"phase": "benchmark", "ops": ALL, "first": vec![0_u64; 6]});
    tell(&mut team, json!({"do": "load", "work": work, "iteration": 0})).expect("it works");
    let limit = json!({"after_ns": null, "steps": null});
    let laps = tell(&mut team, json!({"do": "go", "limit": limit, "waiting_factor": 0.5})).expect("it works");
    for lap in laps {
        let busy: u64 = lap["ops"]
            .as_array()
            .expect("it works")
            .iter()
            .map(|op| op["sum_ns"].as_u64().expect("it works"))
            .sum();
        let waited = lap["waited_ns"].as_u64().expect("it works");
        let factor = waited as f64 / busy as f64;
        assert!((0.45..0.8).contains(&factor), "{factor}");
        assert!(busy + waited <= lap["duration_ns"].as_u64().expect("it works"));
    }
}

#[test]
fn a_second_run_on_the_same_tree_is_refused_and_so_is_what_is_not_ours() {
    let folder = Folder::new();
    let location = Location::Posix { path: folder.0.clone() };
    let mut first = team(location.clone(), &small(1, 1), Vec::new());
    begin(&mut first);
    let mut second = team(location.clone(), &small(1, 1), Vec::new());
    let error = tell(&mut second, json!({"do": "begin", "hold": true})).unwrap_err().to_string();
    assert!(error.contains("another run"), "{error}");

    let missing = Location::Posix { path: folder.0.join("missing") };
    let error = tell(&mut team(missing, &small(1, 1), Vec::new()), json!({"do": "begin", "hold": true}));
    assert!(error.unwrap_err().to_string().contains("missing"));

    let other = Folder::new();
    let stranger =
        other.0.join(format!(".iosonde-{}", rustix::process::geteuid().as_raw())).join("bench-metadata");
    std::fs::create_dir_all(&stranger).expect("it works");
    std::fs::write(stranger.join("thesis.tex"), "mine").expect("it works");
    let mut refused = team(Location::Posix { path: other.0.clone() }, &small(1, 1), Vec::new());
    let error = tell(&mut refused, json!({"do": "begin", "hold": true})).unwrap_err().to_string();
    assert!(error.contains("thesis.tex"), "{error}");
    assert!(stranger.join("thesis.tex").exists());
}

#[test]
fn sizes_that_direct_cannot_do_are_refused_before_anything_is_made() {
    let folder = Folder::new();
    let mut parameters = small(1, 1);
    parameters.manner.direct = true;
    let mut team = team(Location::Posix { path: folder.0.clone() }, &parameters, Vec::new());
    let error = tell(&mut team, json!({"do": "begin", "hold": true})).unwrap_err().to_string();
    assert!(error.contains("O_DIRECT"), "{error}");
    assert_eq!(folder.objects(), 0);
}

#[test]
fn rows_are_kept_in_order_with_their_latencies() {
    let parameters = Parameters { rows: 1_000, verify: false, ..small(2, 1) };
    let mut team = team(Location::Null { latency: Latency::default() }, &parameters, Vec::new());
    begin(&mut team);
    let laps = lap(&mut team, json!({"phase": "benchmark", "ops": ALL, "first": vec![0_u64; 6]}), 0);
    let rows = team.rows(1).expect("it works");
    assert_eq!(rows.len(), 8 * 3 * 4);
    assert!(rows.windows(2).all(|pair| pair[0].began_ns + pair[0].latency_ns <= pair[1].began_ns));
    let sum: u64 = laps[1]["ops"]
        .as_array()
        .expect("it works")
        .iter()
        .map(|op| op["sum_ns"].as_u64().expect("it works"))
        .sum();
    assert_eq!(rows.iter().map(|row| row.latency_ns).sum::<u64>(), sum);
}
