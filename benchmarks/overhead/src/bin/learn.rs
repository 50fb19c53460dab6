//! What it costs to learn a baseline from a week of roll-ups, and a digest of everything learnt.
//!
//! `learn [ROUNDS]`: processor time of `History::of` on five targets of six ops each. Two builds that print the same digest judge
//! alike to the bit; run them in turns to compare their time.

use std::hash::{DefaultHasher, Hash, Hasher};

use histories::{DAY, Kind, interval};
use iosonde_core::seed::Random;
use iosonde_core::slowdown::guarded::Interval;
use iosonde_core::slowdown::history::History;

#[path = "../histories.rs"]
mod histories;

const TARGETS: usize = 5;
const OPS: usize = 6;
const DAYS: i64 = 7;
const ROWS: u32 = 600;

fn main() {
    let mut given = std::env::args().skip(1);
    let rounds: usize = given.next().and_then(|n| n.parse().ok()).unwrap_or(5);
    let days: i64 = given.next().and_then(|n| n.parse().ok()).unwrap_or(DAYS);
    let mut random = Random::stream(7, "learn");
    let series: Vec<Vec<Interval>> = (0..TARGETS * OPS)
        .map(|i| {
            let kind = Kind::ALL[i % Kind::ALL.len()];
            // A row now and then is missing, so that counts differ as they do in a store.
            let rows = |random: &mut Random| ROWS - random.below(12) as u32;
            (0..days * DAY)
                .map(|k| {
                    let n = rows(&mut random);
                    interval(&mut random, kind, k, n)
                })
                .collect()
        })
        .collect();
    let mut times: Vec<f64> = Vec::new();
    let mut found: Vec<History> = Vec::new();
    for _ in 0..rounds {
        let began_ms = cpu_ms();
        found = series.iter().map(|intervals| History::of(intervals.iter().cloned(), None)).collect();
        times.push(cpu_ms() - began_ms);
    }
    times.sort_by(f64::total_cmp);
    let middle = times[times.len() / 2];
    let digest = digest_of(&found);
    println!(
        "{} series of {days} days: {middle:.1} ms of processor time, digest {digest:016x}",
        series.len()
    );
}

fn cpu_ms() -> f64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the structure is ours and large enough.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    let ms = |time: libc::timeval| time.tv_sec as f64 * 1e3 + time.tv_usec as f64 / 1e3;
    ms(usage.ru_utime) + ms(usage.ru_stime)
}

fn digest_of(found: &[History]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for history in found {
        format!("{history:?}").hash(&mut hasher);
    }
    hasher.finish()
}
