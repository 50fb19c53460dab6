//! Days in a baseline, and the rule for flagged intervals.

use serde::{Deserialize, Serialize};

use crate::slowdown::buckets::Packed;
use crate::slowdown::triple::{Factor, Triple};

pub(super) const DAY_NS: i64 = 24 * 3_600_000_000_000;
/// An interval is flagged above this typical slowdown ...
pub const FLAG_TYP: f64 = 1.5;
/// ... or this slowdown of the tail ...
pub const FLAG_TAIL: f64 = 3.0;
/// ... or this share of lost operations.
pub const FLAG_LOST: f64 = 0.01;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Day {
    pub(super) day: i64,
    pub(super) pool: Packed,
}

impl Day {
    /// Bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        self.pool.bytes()
    }
}

/// True if an interval with this slowdown is not to be learnt.
pub(super) fn is_flagged(triple: &Triple, typ_limit: f64) -> bool {
    let above = |factor: Option<Factor>, limit: f64| factor.is_some_and(|f| f.value > limit);
    above(triple.typ, typ_limit) || above(triple.tail, FLAG_TAIL) || above(triple.lost, FLAG_LOST)
}
