//! Ten minutes of one series, the input of a baseline.

use crate::slowdown::buckets::Packed;

/// Length of an interval.
pub const INTERVAL_NS: i64 = 600_000_000_000;

/// Ten minutes of one series.
#[derive(Debug, Clone, PartialEq)]
pub struct Interval {
    /// Its start, UTC.
    pub start_ns: i64,
    /// Number of rows due.
    pub n_due: u64,
    /// Number of late or missing ones.
    pub n_lost: u64,
    /// Service times.
    pub service: Packed,
    /// Response times; none if equal to the service times.
    pub response: Option<Packed>,
}
