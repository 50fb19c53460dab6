//! Which run of which host this is: what its workers name and seed their files by.

use serde::{Deserialize, Serialize};

/// Where a run's randomness and names come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// One start of one probe.
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
