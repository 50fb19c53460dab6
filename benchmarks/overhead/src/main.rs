//! What recording costs over bare system calls, on tmpfs, alternately in one run.
//!
//! Bare: a loop of the same calls through libc and nothing else. Ours: the same calls through the POSIX backend, each
//! timed and recorded as a row that passes through a lane's ring. Back to back, the end of one operation is the
//! beginning of the next; the probe itself reads the clock twice. Rounds alternate bare, ours, ours, bare.

use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use iosonde_core::backend::posix::PosixDirectory;
use iosonde_core::backend::{Backend, ObjectName};
use iosonde_core::clock::{Clock, Laps, RealClock, SimClock, timed};
use iosonde_core::pace::Schedule;
use iosonde_core::sample::{Cache, Op, Outcome, Sample};
use iosonde_core::seed::Random;
use iosonde_core::slowdown::live::LiveOp;
use iosonde_probe::probe::files::operations::{Files, Stat};
use iosonde_probe::probe::files::pool::Pool;
use iosonde_probe::probe::lane::Lane;
use iosonde_probe::probe::slot::{RING_TICKS, Slot, Tick};

const FILES: u64 = 20_000;
const SIZE: usize = 3901;
const ROUNDS: usize = 9;
const OPS: [&str; 4] = ["create+write+close", "stat", "open+read+close", "unlink"];

fn main() {
    let root = PathBuf::from("/dev/shm").join(format!("iosonde-overhead-{}", std::process::id()));
    std::fs::create_dir(&root).expect("a directory on tmpfs");
    let names: Vec<ObjectName> = (0..FILES).map(ObjectName::new).collect();
    let mut bare_s: [Vec<f64>; 4] = Default::default();
    let mut ours_s: [Vec<f64>; 4] = Default::default();
    warm_up(&root, &names);
    for _ in 0..ROUNDS {
        for order in ["bare", "ours", "ours", "bare"] {
            let (into, times) = match order {
                "bare" => (&mut bare_s, bare_round(&root, &names)),
                _ => (&mut ours_s, our_round(&root, &names)),
            };
            into.iter_mut().zip(times).for_each(|(all, one)| all.push(one));
        }
    }
    std::fs::remove_dir(&root).expect("an empty directory");
    println!("tmpfs, {FILES} files of {SIZE} bytes, median of {} rounds, one thread", 2 * ROUNDS);
    println!("{:<20} {:>14} {:>14} {:>8} {:>14}", "op", "bare 1000/s", "ours 1000/s", "ratio", "cost ns/op");
    for (i, op) in OPS.iter().enumerate() {
        let (bare, ours) = (median(&mut bare_s[i]), median(&mut ours_s[i]));
        let rate = |seconds: f64| FILES as f64 / seconds / 1e3;
        let cost = (ours - bare) / FILES as f64 * 1e9;
        println!("{op:<20} {:>14.1} {:>14.1} {:>8.3} {cost:>14.0}", rate(bare), rate(ours), bare / ours);
    }
    println!();
    println!("recording alone, over a call that does nothing: {:.0} ns/op", recording_ns());
    println!("one reading of the clock: {:.0} ns", clock_ns());
    println!("a whole tick of a lane (choose, account, time, record), stat of nothing: {:.0} ns", tick_ns());
    let (mean_ns, longest_ns) = judging_ns();
    println!("judging a sample (window, baseline, detectors), four days at 1 Hz: {mean_ns:.0} ns on average");
    println!("the longest of them, which works out the baseline anew: {:.2} ms", longest_ns / 1e6);
}

/// What the live account takes of a sample: window, ten-minute interval, baseline, detectors. Mean and longest.
fn judging_ns() -> (f64, f64) {
    const SECOND: i64 = 1_000_000_000;
    let mut random = Random::stream(1, "judging");
    let sample = |k: i64, service_ns: i64| Sample {
        due_ns: k * SECOND,
        began_ns: Some(k * SECOND + 60_000),
        ended_ns: Some(k * SECOND + 60_000 + service_ns),
        offset_bytes: None,
        control_runq_ns: Some(0),
        target: 0,
        op: Op::MdStat,
        outcome: Outcome::OK,
        cache: Cache::Unknown,
    };
    let samples: Vec<Sample> =
        (0..4 * 86_400).map(|k| sample(k, (1e6 * (0.4 * random.normal()).exp()) as i64)).collect();
    let mut live = LiveOp::new(Op::MdStat, SECOND as u64, 60 * SECOND as u64, 7 * 86_400 * SECOND as u64);
    let mut longest_ns = 0.0_f64;
    let began_ns = RealClock.monotonic_ns();
    let mut before_ns = began_ns;
    for sample in &samples {
        std::hint::black_box(live.take(sample));
        let now_ns = RealClock.monotonic_ns();
        longest_ns = longest_ns.max((now_ns - before_ns) as f64);
        before_ns = now_ns;
    }
    ((before_ns - began_ns) as f64 / samples.len() as f64, longest_ns)
}

fn seconds(work: impl FnOnce()) -> f64 {
    let began = RealClock.monotonic_ns();
    work();
    (RealClock.monotonic_ns() - began) as f64 / 1e9
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn directory(root: &Path) -> OwnedFd {
    OwnedFd::from(File::open(root).expect("the directory opens"))
}

fn warm_up(root: &Path, names: &[ObjectName]) {
    for _ in 0..2 {
        bare_round(root, names);
        our_round(root, names);
    }
}

/// Seconds for each op, by bare calls.
fn bare_round(root: &Path, names: &[ObjectName]) -> [f64; 4] {
    let directory = directory(root);
    let fd: RawFd = directory.as_raw_fd();
    let content = vec![7_u8; SIZE];
    let mut buffer = vec![0_u8; SIZE];
    // SAFETY: names are NUL-terminated, buffers are valid for the lengths given, descriptors are closed once.
    unsafe {
        let create = seconds(|| {
            for name in names {
                let flags =
                    libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW | libc::O_CLOEXEC;
                let file = libc::openat(fd, name.as_c_str().as_ptr(), flags, 0o600);
                assert_eq!(libc::write(file, content.as_ptr().cast(), SIZE), SIZE as isize);
                libc::close(file);
            }
        });
        let stat = seconds(|| {
            let mut status: libc::stat = std::mem::zeroed();
            for name in names {
                let path = name.as_c_str().as_ptr();
                assert_eq!(libc::fstatat(fd, path, &mut status, libc::AT_SYMLINK_NOFOLLOW), 0);
            }
        });
        let read = seconds(|| {
            for name in names {
                let flags = libc::O_RDONLY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
                let file = libc::openat(fd, name.as_c_str().as_ptr(), flags);
                assert_eq!(libc::read(file, buffer.as_mut_ptr().cast(), SIZE), SIZE as isize);
                libc::close(file);
            }
        });
        let unlink = seconds(|| {
            for name in names {
                assert_eq!(libc::unlinkat(fd, name.as_c_str().as_ptr(), 0), 0);
            }
        });
        [create, stat, read, unlink]
    }
}

/// Seconds for each op, through the backend, timed and recorded.
fn our_round(root: &Path, names: &[ObjectName]) -> [f64; 4] {
    let mut backend = PosixDirectory::new(directory(root));
    let content = vec![7_u8; SIZE];
    let mut buffer = vec![0_u8; SIZE];
    let create = recorded(names, |name| backend.create(name, &content).is_ok());
    let stat = recorded(names, |name| backend.stat(name).is_ok());
    let read = recorded(names, |name| backend.read(name, &mut buffer).is_ok());
    let unlink = recorded(names, |name| backend.delete(name).is_ok());
    [create, stat, read, unlink]
}

/// Rows pass through a ring as in the probe; they are drained half a ring at a time.
fn recorded(names: &[ObjectName], mut call: impl FnMut(&ObjectName) -> bool) -> f64 {
    let slot = fresh_slot();
    let mut laps = Laps::new(&RealClock);
    let mut good = 0;
    let taken = seconds(|| {
        for some in names.chunks(RING_TICKS as usize) {
            for name in some {
                let (ok, began_ns, ended_ns) = laps.lap(|| call(name));
                assert!(slot.push(&row(ok, began_ns, ended_ns)), "the ring was drained");
            }
            while let Some(row) = slot.pop() {
                good += usize::from(row.outcome == Outcome::OK);
            }
        }
    });
    assert_eq!(good, names.len());
    taken
}

fn row(ok: bool, began_ns: u64, ended_ns: u64) -> Tick {
    Tick {
        due_ns: began_ns,
        began_ns,
        ended_ns,
        offset_bytes: u64::MAX,
        run_queue_ns: u64::MAX,
        outcome: if ok { Outcome::OK } else { Outcome::SHORT },
        cache: Cache::Cached,
        more: 0,
    }
}

/// The probe's timed section, two readings of the clock, and the row around nothing.
fn recording_ns() -> f64 {
    const CALLS: usize = 1_000_000;
    let slot = fresh_slot();
    let clock: Arc<dyn Clock> = Arc::new(RealClock);
    let once = || {
        seconds(|| {
            for i in 0..CALLS {
                let (ok, began_ns, ended_ns) = timed(clock.as_ref(), || std::hint::black_box(i) == i);
                assert!(slot.push(&row(ok, began_ns, ended_ns)), "the ring was drained");
                std::hint::black_box(slot.pop().is_some());
            }
        })
    };
    let mut times: Vec<f64> = (0..ROUNDS).map(|_| once()).collect();
    median(&mut times) / CALLS as f64 * 1e9
}

fn clock_ns() -> f64 {
    const READS: usize = 1_000_000;
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            seconds(|| {
                for _ in 0..READS {
                    std::hint::black_box(RealClock.monotonic_ns());
                }
            })
        })
        .collect();
    median(&mut times) / READS as f64 * 1e9
}

/// A backend that answers at once.
struct Nothing;

impl Backend for Nothing {
    fn create(&mut self, _: &ObjectName, _: &[u8]) -> Result<(), rustix::io::Errno> {
        Ok(())
    }
    fn stat(&mut self, _: &ObjectName) -> Result<u64, rustix::io::Errno> {
        Ok(SIZE as u64)
    }
    fn read(&mut self, _: &ObjectName, buffer: &mut [u8]) -> Result<usize, rustix::io::Errno> {
        Ok(buffer.len())
    }
    fn delete(&mut self, _: &ObjectName) -> Result<(), rustix::io::Errno> {
        Ok(())
    }
}

fn fresh_slot() -> Slot {
    let slot = Slot::alone().expect("memory");
    slot.reset(0);
    slot
}

/// A lane stepped as fast as it goes.
fn tick_ns() -> f64 {
    const TICKS: usize = 200_000;
    let clock = SimClock::new(0);
    let pool = Pool::new(1000, 0..1000).expect("memory");
    let files = Files { backend: Box::new(Nothing), pool, object_bytes: SIZE, cache: Some(Cache::Cached) };
    let slot = fresh_slot();
    let schedule = Schedule::new(clock.monotonic_ns(), 0, 1);
    let shared = Arc::new(clock.clone());
    let mut lane = Lane::new(Op::MdStat, Box::new(Stat::new(files)), schedule, shared, slot.clone());
    let taken = seconds(|| {
        for _ in 0..TICKS {
            clock.advance(1);
            let ready = lane.prepare();
            let opened = lane.open(ready).expect("a tick is due");
            let (outcome, began_ns, ended_ns) = lane.execute();
            lane.finish(opened, outcome, (began_ns, ended_ns), None);
            while slot.pop().is_some() {}
        }
    });
    taken / TICKS as f64 * 1e9
}
