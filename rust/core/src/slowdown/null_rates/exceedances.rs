//! Operations above the limits of one interval.

use serde::{Deserialize, Serialize};

use crate::slowdown::buckets::{Packed, first_above};
use crate::slowdown::rules::load;

/// Contribution of one interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Exceedances {
    pub(super) n: u32,
    pub(super) above: [u32; 3],
    pub(super) n_due: u32,
    pub(super) n_lost: u32,
    pub(super) typ: f32,
    pub(super) slow: bool,
}

impl Exceedances {
    /// Misses of an interval whose latencies have two modes, in the place of all three limits.
    pub fn of_misses(service: &Packed, between_ns: f64) -> Self {
        let mut above = Above { from: from_buckets(1.0, [between_ns; 3]), n: [0; 3] };
        let n = service.iter().map(|(bucket, count)| {
            above.add(bucket, count);
            u64::from(count)
        });
        let n = n.sum();
        above.exceedances(n, (n, 0), 1.0, false)
    }
    /// Exceedances of an interval with the typical slowdown `typ`; `slow`: the rest of it is not learnt.
    pub fn of(service: &Packed, due: (u64, u64), typ: f64, slow: bool, limits_ns: [f64; 3]) -> Self {
        let mut above = Above { from: from_buckets(typ, limits_ns), n: [0; 3] };
        let mut n = 0;
        for (bucket, count) in service.iter() {
            n += u64::from(count);
            above.add(bucket, count);
        }
        above.exceedances(n, due, typ, slow)
    }
}

/// Numbers of latencies above the limits.
#[derive(Debug, Clone, Copy)]
pub struct Above {
    /// The first buckets above.
    from: [u16; 3],
    n: [u32; 3],
}

impl Default for Above {
    fn default() -> Self {
        Self { from: [u16::MAX; 3], n: [0; 3] }
    }
}

impl Above {
    /// Recount if the limits have moved: only latencies above them are examined, the slowest first.
    pub fn update<I: Iterator<Item = (u16, u32)>>(
        &mut self,
        descending: impl Fn() -> I,
        typ: f64,
        limits_ns: [f64; 3],
    ) {
        let from = from_buckets(typ, limits_ns);
        if from == self.from {
            return;
        }
        *self = Self { from, n: [0; 3] };
        let least = from.into_iter().min().unwrap_or(0);
        descending()
            .take_while(|&(bucket, _)| bucket >= least)
            .for_each(|(bucket, count)| self.add(bucket, count));
    }
    /// Convert to exceedances of an interval of `n` latencies.
    pub fn exceedances(&self, n: u64, due: (u64, u64), typ: f64, slow: bool) -> Exceedances {
        let whole = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        let (n_due, n_lost) = (whole(due.0), whole(due.1));
        Exceedances { n: whole(n), above: self.n, n_due, n_lost, typ: typ as f32, slow }
    }
    fn add(&mut self, bucket: u16, count: u32) {
        for (n, from) in self.n.iter_mut().zip(self.from) {
            *n = n.saturating_add(if bucket >= from { count } else { 0 });
        }
    }
}

fn from_buckets(typ: f64, limits_ns: [f64; 3]) -> [u16; 3] {
    let load = load(typ);
    limits_ns.map(|limit_ns| first_above(limit_ns * load))
}
