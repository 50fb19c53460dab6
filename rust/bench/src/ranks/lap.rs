//! Until when ranks go on, and what one of them did until then.

use serde::{Deserialize, Serialize};

use super::account::OpAccount;

/// Until when.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// Time since the phase began; none = to the end.
    pub after_ns: Option<u64>,
    /// Steps of each rank; none = all.
    pub steps: Option<u64>,
}

/// Why a rank stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// Everything was done.
    Done,
    /// The limit was reached.
    Limit,
    /// Somebody wanted an end.
    Stopped,
    /// Too many failures in a row.
    Failing,
}

/// What one rank did.
#[derive(Debug, Clone, Serialize)]
pub struct Lap {
    /// Which rank.
    pub rank: u32,
    /// When it began, UTC.
    pub began_ns: i64,
    /// Until its last operation or wait ended.
    pub duration_ns: u64,
    /// Why it stopped.
    pub end: End,
    /// Steps done.
    pub steps: u64,
    /// Of how many.
    pub of_steps: u64,
    /// Time slept between operations.
    pub waited_ns: u64,
    /// Processor time used.
    pub cpu_ns: u64,
    /// Ops that were done or tried.
    pub ops: Vec<OpLap>,
    /// Rows that found no room.
    pub rows_left_out: u64,
    /// What the storage said about the first failure of each kind.
    pub problems: Vec<(String, String)>,
}

/// One op of a lap.
#[derive(Debug, Clone, Serialize)]
pub struct OpLap {
    /// Which.
    pub op: &'static str,
    /// Ended ok.
    pub ok: u64,
    /// Sum of their latencies.
    pub sum_ns: u64,
    /// Smallest and largest, when there is one.
    pub range_ns: Option<(u64, u64)>,
    /// Bytes moved.
    pub bytes: u64,
    /// Outcomes other than ok.
    pub failed: Vec<(String, u64)>,
    /// Time spent in these.
    pub failed_ns: u64,
    /// Latencies and how many had them, ascending.
    pub buckets: Vec<(u64, u64)>,
}

impl OpLap {
    /// All ops that were done or tried, by name.
    pub fn of<'a>(ops: impl IntoIterator<Item = (&'static str, &'a OpAccount)>) -> Vec<Self> {
        let used = ops.into_iter().filter(|(_, op)| op.ok + op.failures() > 0);
        used.map(|(op, account)| Self {
            op,
            ok: account.ok,
            sum_ns: account.sum_ns,
            range_ns: (account.ok > 0).then_some((account.min_ns, account.max_ns)),
            bytes: account.bytes,
            failed: account.failed.iter().map(|(outcome, count)| (outcome.name(), *count)).collect(),
            failed_ns: account.failed_ns,
            buckets: account.buckets().collect(),
        })
        .collect()
    }
}
