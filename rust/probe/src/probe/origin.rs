//! Origin of a run, host and start: workers name and seed their files by it.

use serde::{Deserialize, Serialize};

/// Source of a run's names and random numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// Identifier of one start of one probe.
    pub run_id: String,
    /// The process that watches over the workers.
    pub supervisor: i32,
    /// Seed of the run.
    pub seed: u64,
    /// Name of this host.
    pub host: String,
    /// Memory of this host.
    pub memory_bytes: u64,
    /// Now, UTC.
    pub now_ns: i64,
}
