//! Plan of one target: its options with every default filled in.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::budget::Budget;
use super::component::Component;
use super::options::{BackendKind, Direct};
use iosonde_core::backend::faulty::Fault;
use iosonde_core::backend::null::Latency;
use iosonde_core::sample::Op;

/// Plan of one target, with every default filled in: what a worker gets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetPlan {
    /// Name of the target.
    pub name: String,
    /// Path of the target.
    pub path: PathBuf,
    /// Part of a larger target that it is, if it is one.
    pub component: Option<Component>,
    /// Time between two operations of an op.
    pub period_ns: u64,
    /// Period asked for: shorter than the period when the budget stretches it.
    pub asked_period_ns: u64,
    /// Budget of the probing.
    pub budget: Budget,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// Bytes of the big file; none means choose.
    pub file_bytes: Option<u64>,
    /// Random start delay for filling the big file, at most this long.
    pub spread_ns: u64,
    /// Bytes of a file of the pool.
    pub object_bytes: u64,
    /// Files in the pool.
    pub pool: usize,
    /// The O_DIRECT setting.
    pub direct: Direct,
    /// Backend that performs the operations.
    pub backend: BackendKind,
    /// Latency of each op of the null backend.
    pub latency: Latency,
    /// Misbehaviour.
    pub faults: Vec<Fault>,
    /// An operation open for longer is stuck.
    pub deadline_ns: u64,
    /// Wait before the first trial of a stuck op.
    pub retry_ns: u64,
    /// Longest wait between trials.
    pub retry_max_ns: u64,
    /// Workers that may get stuck on trials of one op.
    pub replacements: usize,
}

impl TargetPlan {
    /// Bytes that one operation moves; none for those that only touch a name.
    pub fn bytes_of(&self, op: Op) -> u64 {
        match op {
            Op::DataRead | Op::DataWrite => self.block_bytes,
            Op::MdCreate | Op::MdRead => self.object_bytes,
            Op::MdStat | Op::MdDelete => 0,
        }
    }
}
