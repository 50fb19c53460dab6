//! Ten minutes of one series, as a baseline takes them.

use crate::slowdown::buckets::Packed;

/// Length of an interval.
pub const INTERVAL_NS: i64 = 600_000_000_000;

/// Ten minutes of one series.
#[derive(Debug, Clone, PartialEq)]
pub struct Interval {
    /// Its start, UTC.
    pub start_ns: i64,
    /// Rows that were due.
    pub n_due: u64,
    /// Those that came late or not at all.
    pub n_lost: u64,
    /// Service times.
    pub service: Packed,
    /// Response times; none when they are the service times.
    pub response: Option<Packed>,
}
