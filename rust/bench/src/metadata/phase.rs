//! A phase as it is ordered.

use serde::{Deserialize, Serialize};

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
