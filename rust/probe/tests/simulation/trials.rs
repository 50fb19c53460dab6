//! Many tries of one kind from printed seeds: a violation ends its own try, and is counted.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// A number from the environment.
pub fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Try `count` times, from seed `first` on; prints a line of the summary of `make mischief`, then fails if any try did.
pub fn tried(kind: &str, first: u64, count: u64, mut one: impl FnMut(u64)) {
    let violates = |seed: &u64| catch_unwind(AssertUnwindSafe(|| one(*seed))).is_err();
    let violations: Vec<u64> = (first..first + count).filter(violates).collect();
    println!("mischief: kind={kind} tried={count} violations={} seed={first}", violations.len());
    assert!(violations.is_empty(), "{kind}: {} of {count}, seeds {violations:?}", violations.len());
}
