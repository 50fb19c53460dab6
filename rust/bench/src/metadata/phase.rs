//! A phase as it is ordered, and what one rank did in it.

use serde::{Deserialize, Serialize};

use super::account::{Account, OPS};
use super::survey::Survey;
use iosonde_core::sample::Op;

/// What to do.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "phase", rename_all = "lowercase", deny_unknown_fields)]
pub enum Work {
    /// Make what is missing of every data set, in the order of use.
    Precreate,
    /// The benchmark phase of a cycle.
    Benchmark {
        /// Which ops of each step; all four unless they are measured one by one.
        #[serde(with = "op_names")]
        ops: Vec<Op>,
        /// Number of the oldest object of every data set: set `d` of rank `r` at `r * D + d`.
        first: Vec<u64>,
    },
    /// One op for all objects.
    Bulk {
        /// Which.
        #[serde(with = "op_name")]
        op: Op,
        /// How many objects each rank has made.
        counts: Vec<u64>,
        /// How many times the offset this op is shifted by.
        shift: u32,
    },
    /// Delete all objects of all data sets, whoever made them.
    Cleanup,
}

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
    /// Time slept for the waiting factor.
    pub waited_ns: u64,
    /// Processor time used.
    pub cpu_ns: u64,
    /// In the order of create, stat, read, delete.
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
    /// All ops that were done or tried.
    pub fn of(account: &Account) -> Vec<Self> {
        let used = OPS.into_iter().zip(&account.ops).filter(|(_, op)| op.ok + op.failures() > 0);
        used.map(|(op, account)| Self {
            op: op.name(),
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

/// What a rank found in its own data sets, in their order.
#[derive(Debug, Clone, Serialize)]
pub struct Surveyed {
    /// Which rank.
    pub rank: u32,
    /// One a data set.
    pub sets: Vec<Survey>,
}

mod op_name {
    use super::Op;
    use serde::{Deserialize, Deserializer, de::Error};

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Op, D::Error> {
        let name = String::deserialize(from)?;
        Op::from_name(&name).ok_or_else(|| D::Error::custom(format!("there is no op `{name}`")))
    }
}

mod op_names {
    use super::Op;
    use serde::{Deserialize, Deserializer, de::Error};

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Op>, D::Error> {
        let known = |name: &String| Op::from_name(name).filter(|op| !op.is_data());
        let names = Vec::<String>::deserialize(from)?;
        names.iter().map(known).collect::<Option<_>>().ok_or_else(|| D::Error::custom("no metadata op"))
    }
}
