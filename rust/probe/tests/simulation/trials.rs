//! Many tries of one kind from printed seeds: a violation ends its own try, and is counted.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// A number from the environment.
pub fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Try `count` times, from seed `first` on, on all processors; prints a line of the summary of `make mischief`, then
/// fails if any try did.
#[allow(clippy::print_stdout)]
pub fn tried(kind: &str, first: u64, count: u64, one: impl Fn(u64) + Sync) {
    let (next, violations) = (AtomicU64::new(first), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= first + count {
                return;
            }
            if catch_unwind(AssertUnwindSafe(|| one(seed))).is_err() {
                violations.lock().expect("nobody panics with it").push(seed);
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let violations = violations.into_inner().expect("nobody panics with it");
    println!("mischief: kind={kind} tried={count} violations={} seed={first}", violations.len());
    assert!(violations.is_empty(), "{kind}: {} of {count}, seeds {violations:?}", violations.len());
}
