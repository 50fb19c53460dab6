//! What the live accounts of an agent take in memory and on disk after days of different histories, simulated.
//!
//! `memory [--store FOLDER HOST TARGET DAYS KIND]`: the table, or one file of baselines for an agent to go on from.

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use histories::{DAY, Kind, interval};
use iosonde_core::clock::{Clock, RealClock};
use iosonde_core::sample::{Cache, Op, Outcome, Sample};
use iosonde_core::seed::Random;
use iosonde_core::slowdown::guarded::{Guarded, INTERVAL_NS};
use iosonde_core::slowdown::live::LiveOp;
use iosonde_probe::record::baselines::{self, Series};

#[path = "../histories.rs"]
mod histories;

const TARGETS: usize = 4;
const OPS: usize = 6;
const HZ: u32 = 10;
const ROWS: u32 = 600 * HZ;
const PERIOD_NS: u64 = 1_000_000_000 / HZ as u64;
const WINDOW_NS: u64 = 60_000_000_000;
const DAYS: [i64; 5] = [0, 1, 3, 13, 40];
const MIB: f64 = (1 << 20) as f64;

struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size(), Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() {
    let given: Vec<String> = std::env::args().skip(1).collect();
    match given.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => table(),
        ["--store", folder, host, target, days, kind] => {
            let kind = Kind::ALL.into_iter().find(|one| one.name() == kind).expect("the name of a history");
            store(Path::new(folder), host, target, days.parse().expect("days"), kind);
        }
        _ => panic!("no arguments, or --store FOLDER HOST TARGET DAYS KIND"),
    }
}

fn table() {
    println!(
        "{TARGETS} targets of {OPS} ops at {HZ} Hz: MiB on the heap, KiB of a target's file, ms to encode it"
    );
    print!("{:<18}", "");
    DAYS.iter().for_each(|day| print!("{:>23}", format!("day {day}")));
    println!();
    for kind in Kind::ALL {
        print!("{:<18}", kind.name());
        let (mut random, mut guarded, mut day) = (Random::stream(1, kind.name()), Guarded::default(), 0);
        for upto in DAYS {
            learn(&mut guarded, &mut random, kind, day..upto);
            day = upto;
            let (heap, file, encode_ms) = cost(&guarded, kind, &mut random, day);
            print!("{:>8.2} {:>7.1} {:>6.2}", heap / MIB, file / 1024.0, encode_ms);
        }
        println!();
    }
}

fn learn(guarded: &mut Guarded, random: &mut Random, kind: Kind, days: std::ops::Range<i64>) {
    for k in days.start * DAY..days.end * DAY {
        guarded.learn(&interval(random, kind, k, ROWS));
    }
}

/// Of all accounts, after an hour more: bytes on the heap, bytes of a file, time to make one.
fn cost(guarded: &Guarded, kind: Kind, random: &mut Random, day: i64) -> (f64, f64, f64) {
    let saved = guarded.encode();
    let before = LIVE.load(Relaxed);
    let mut account = LiveOp::new(Op::MdStat, PERIOD_NS, WINDOW_NS, 7 * 86_400 * 1_000_000_000);
    account.resume(Guarded::decode(&saved).expect("what was just encoded"));
    let start_ns = interval(random, kind, day * DAY, 1).start_ns;
    for k in 0..i64::from(ROWS) * 6 {
        let due_ns = start_ns + k * PERIOD_NS as i64;
        let ended_ns = due_ns + 60_000 + (1.5e6 * (0.4 * random.normal()).exp()) as i64;
        account.take(&Sample {
            due_ns,
            began_ns: Some(due_ns + 60_000),
            ended_ns: Some(ended_ns),
            offset_bytes: None,
            control_runq_ns: Some(0),
            target: 0,
            op: Op::MdStat,
            outcome: Outcome::OK,
            cache: Cache::Unknown,
        });
        if k % i64::from(HZ) == 0 {
            std::hint::black_box(account.assess(due_ns, None));
        }
    }
    let heap = (LIVE.load(Relaxed) - before) * TARGETS * OPS;
    let began_ns = RealClock.monotonic_ns();
    let series = Series { host: "h".into(), target: "t".into(), period_ns: PERIOD_NS };
    let file = baselines::encode(&series, Op::ALL.into_iter().map(|op| (op, account.guarded())));
    let took_ms = (RealClock.monotonic_ns() - began_ns) as f64 / 1e6;
    (heap as f64, file.len() as f64, took_ms)
}

/// Write what an agent would have learnt until now.
fn store(folder: &Path, host: &str, target: &str, days: i64, kind: Kind) {
    let mut random = Random::stream(1, kind.name());
    let mut guarded = Guarded::default();
    let first_ns = interval(&mut random, kind, 0, 1).start_ns;
    let now = RealClock.wall_ns() / INTERVAL_NS;
    let begin = now - days * DAY;
    for k in 0..days * DAY {
        let simulated = interval(&mut random, kind, k, ROWS);
        let start_ns = (simulated.start_ns - first_ns) + begin * INTERVAL_NS;
        guarded.learn(&iosonde_core::slowdown::guarded::Interval { start_ns, ..simulated });
    }
    let series = Series { host: host.into(), target: target.into(), period_ns: PERIOD_NS };
    let bytes = baselines::encode(&series, Op::ALL.into_iter().map(|op| (op, &guarded)));
    std::fs::create_dir_all(folder).expect("a folder for baselines");
    let path = folder.join(format!("{target}.{}ms.baseline", PERIOD_NS / 1_000_000));
    std::fs::write(path, bytes).expect("a file of baselines");
}
