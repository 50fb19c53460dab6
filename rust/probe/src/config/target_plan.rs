//! One target with every default filled in.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::budget::Budget;
use super::component::Component;
use super::options::{BackendKind, Direct};
use iosonde_core::backend::faulty::Fault;
use iosonde_core::backend::null::Latency;
use iosonde_core::sample::Op;

/// One target with every default filled in: what a worker gets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetPlan {
    /// What it is called.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// Which part of a target this is.
    pub component: Option<Component>,
    /// How often each op is due.
    pub period_ns: u64,
    /// How often it was asked to be due: shorter than the period when the budget stretches it.
    pub asked_period_ns: u64,
    /// What probing it may cost.
    pub budget: Budget,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// Bytes of the big file; none means choose.
    pub file_bytes: Option<u64>,
    /// Hosts begin to fill it at different moments of this time.
    pub spread_ns: u64,
    /// Bytes of a file of the pool.
    pub object_bytes: u64,
    /// Files in the pool.
    pub pool: usize,
    /// Whether to bypass the cache.
    pub direct: Direct,
    /// What performs the operations.
    pub backend: BackendKind,
    /// How long each op of the null backend takes.
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
