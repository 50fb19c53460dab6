//! The bandwidth benchmark over a real directory and over nothing: bytes, bins, instants, wrong bytes, limits, faults.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use iosonde_bench::bandwidth::parameters::{Fsync, Layout, Parameters, RankFault};
use iosonde_bench::bandwidth::team::{Order, Team};
use iosonde_bench::ranks::BenchError;
use iosonde_bench::ranks::lap::Limit;
use iosonde_core::backend::faulty::{Fault, FaultKind};
use iosonde_core::clock::RealClock;
use iosonde_core::sample::Op;
use iosonde_core::seed::fresh;
use rustix::io::Errno;
use serde_json::Value;

const ALL: Limit = Limit { after_ns: None, steps: None };

struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("iosonde-bandwidth-{}", fresh()));
        std::fs::create_dir(&folder).expect("a folder");
        Self(folder)
    }
    fn is_empty(&self) -> bool {
        std::fs::read_dir(&self.0).expect("it lists").next().is_none()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn small() -> Parameters {
    Parameters {
        ranks: 3,
        transfer_bytes: 8192,
        block_bytes: 32_768,
        segments: 2,
        verify: true,
        seed: 7,
        ..Parameters::default()
    }
}

fn team(parameters: &Parameters, place: Option<&Path>) -> Team {
    let place = place.map(Path::to_owned);
    let mut team =
        Team::new(parameters.clone(), place, 0, parameters.ranks, Arc::new(RealClock)).expect("it starts");
    answers(&mut team).expect("it works");
    team
}

fn answers(team: &mut Team) -> Result<Vec<Value>, BenchError> {
    assert!(team.wait(Duration::from_secs(60)), "a rank hangs");
    team.answers().into_iter().map(|answer| answer.expect("all answered")).collect()
}

fn ask(team: &mut Team, order: &Order) -> Vec<Value> {
    team.order(order);
    answers(team).expect("it works")
}

fn load(write: bool, counts: &[u64]) -> Order {
    Order::Load { write, counts: counts.to_vec(), repetition: 0, held: false }
}

fn phase(team: &mut Team, write: bool, counts: &[u64]) -> Vec<Value> {
    ask(team, &load(write, counts));
    ask(team, &Order::Go { limit: ALL })
}

fn end(team: &mut Team) {
    for order in [Order::Remove, Order::Sweep, Order::End] {
        ask(team, &order);
    }
}

#[test]
fn bytes_bins_and_instants_agree() {
    let manners = [
        small(),
        Parameters { layout: Layout::Segmented, shift: 1, ..small() },
        Parameters { layout: Layout::Strided, random_order: true, ..small() },
        Parameters { fsync: Fsync::Each, ..small() },
        Parameters { fsync: Fsync::End, shift: 2, random_order: true, ..small() },
    ];
    for parameters in manners {
        let folder = Folder::new();
        let mut team = team(&parameters, Some(&folder.0));
        ask(&mut team, &Order::Begin { hold: true });
        for write in [true, false] {
            for (rank, lap) in phase(&mut team, write, &[]).iter().enumerate() {
                let name = if write { "data_write" } else { "data_read" };
                assert_eq!((&lap["end"], &lap["steps"]), (&"done".into(), &8.into()), "{parameters:?}");
                assert_eq!((&lap["ops"][0]["op"], &lap["ops"][0]["ok"]), (&name.into(), &8.into()));
                let records = team.records(rank).expect("it is not at work");
                let (_, bins, left_out) = records.series();
                assert_eq!((bins.iter().sum::<u64>(), left_out, records.bytes()), (65_536, 0, 65_536));
                assert!(records.instants().is_sorted() && records.instants()[0] > 0);
                assert!(records.mismatches().is_empty());
            }
        }
        end(&mut team);
        assert!(folder.is_empty());
    }
}

#[test]
fn a_wrong_byte_is_found_by_the_rank_that_reads_it() {
    let folder = Folder::new();
    let parameters = Parameters { shift: 1, ..small() };
    let mut team = team(&parameters, Some(&folder.0));
    ask(&mut team, &Order::Begin { hold: true });
    phase(&mut team, true, &[]);
    let path = ask(&mut team, &Order::Path)[2].as_str().expect("a path").to_owned();
    let mut bytes = std::fs::read(&path).expect("it reads");
    assert_eq!(bytes.len(), 65_536);
    bytes[20_000] ^= 1;
    std::fs::write(&path, bytes).expect("it writes");
    let laps = phase(&mut team, false, &[]);
    let failed: Vec<&Value> = laps.iter().map(|lap| &lap["ops"][0]["failed"]).collect();
    assert_eq!(failed[1].to_string(), r#"[["corrupt",1]]"#);
    assert!(
        failed[0].as_array().is_some_and(Vec::is_empty) && failed[2].as_array().is_some_and(Vec::is_empty)
    );
    assert_eq!(team.records(1).expect("it is not at work").mismatches(), [20_000]);
    end(&mut team);
}

#[test]
fn a_rank_that_fails_stops_and_what_was_written_is_what_is_read() {
    let folder = Folder::new();
    let fault =
        Fault { op: Some(Op::DataWrite), after_ns: 0, for_ns: None, kind: FaultKind::Error(Errno::NOSPC) };
    let parameters = Parameters { faults: vec![RankFault { rank: Some(1), fault }], ..small() };
    let mut team = team(&parameters, Some(&folder.0));
    ask(&mut team, &Order::Begin { hold: true });
    let laps = phase(&mut team, true, &[]);
    assert_eq!((&laps[1]["end"], &laps[1]["steps"]), (&"failing".into(), &1.into()));
    assert_eq!(laps[1]["ops"][0]["failed"].to_string(), r#"[["ENOSPC",1]]"#);
    let read = phase(&mut team, false, &[8, 0, 3]);
    let ended: Vec<&Value> = read.iter().map(|lap| &lap["steps"]).collect();
    assert_eq!(ended, [&Value::from(8), &0.into(), &3.into()]);
    end(&mut team);
}

#[test]
fn a_rank_that_is_held_goes_on_where_it_stopped() {
    let folder = Folder::new();
    let mut team = team(&small(), Some(&folder.0));
    ask(&mut team, &Order::Begin { hold: true });
    ask(&mut team, &Order::Load { write: true, counts: vec![], repetition: 0, held: true });
    let now = Limit { after_ns: Some(0), steps: None };
    for lap in ask(&mut team, &Order::Go { limit: now }) {
        assert_eq!((&lap["end"], &lap["steps"]), (&"limit".into(), &0.into()));
    }
    for lap in ask(&mut team, &Order::Go { limit: Limit { after_ns: None, steps: Some(5) } }) {
        assert_eq!((&lap["end"], &lap["steps"]), (&"limit".into(), &5.into()));
    }
    assert!(team.records(0).expect("it is not at work").instants().is_sorted());
    for lap in phase(&mut team, false, &[5, 5, 5]) {
        assert_eq!((&lap["end"], &lap["ops"][0]["ok"]), (&"done".into(), &5.into()));
    }
    end(&mut team);
}

#[test]
fn a_file_that_is_missing_is_a_failure_with_words() {
    let folder = Folder::new();
    let mut team = team(&small(), Some(&folder.0));
    ask(&mut team, &Order::Begin { hold: true });
    for lap in phase(&mut team, false, &[]) {
        assert_eq!((&lap["end"], &lap["steps"]), (&"failing".into(), &0.into()));
        assert!(lap["problems"][0][1].as_str().is_some_and(|words| words.contains("cannot open data.")));
    }
    end(&mut team);
}

#[test]
fn nothing_is_written_nowhere() {
    let parameters = Parameters { verify: false, ..small() };
    let mut team = team(&parameters, None);
    ask(&mut team, &Order::Begin { hold: true });
    for lap in phase(&mut team, true, &[]) {
        assert_eq!((&lap["end"], &lap["ops"][0]["bytes"]), (&"done".into(), &65_536.into()));
    }
    end(&mut team);
}

#[test]
fn a_ring_moves_what_single_transfers_do() {
    let folder = Folder::new();
    let parameters = Parameters { depth: 4, random_order: true, shift: 1, ..small() };
    let mut team =
        Team::new(parameters, Some(folder.0.clone()), 0, 3, Arc::new(RealClock)).expect("it starts");
    if let Err(error) = answers(&mut team) {
        assert!(error.to_string().contains("io_uring") && error.is_wrong_request(), "{error}");
        return;
    }
    ask(&mut team, &Order::Begin { hold: true });
    for write in [true, false] {
        for lap in phase(&mut team, write, &[]) {
            assert_eq!((&lap["end"], &lap["ops"][0]["ok"]), (&"done".into(), &8.into()));
        }
    }
    end(&mut team);
    assert!(folder.is_empty());
}
