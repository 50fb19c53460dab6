//! Files of baselines: of each op of a target what is usual, replaced as a whole.
//!
//! ```text
//! "IOSBASE1" | frame: header as JSON | frame: baseline | frame: baseline | ...       one an op, in the header's order
//! ```
//! Before, they were JSON; such files are read still.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

use super::frames::{self, Frames};
use iosonde_core::sample::Op;
use iosonde_core::slowdown::guarded::Guarded;

/// First bytes of every file.
pub const MAGIC: &[u8; 8] = b"IOSBASE1";
/// Layout of the files that this code writes; JSON was 1.
pub const SCHEMA_VERSION: u32 = 2;

/// Whose baselines a file holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Series {
    /// The probing host.
    pub host: String,
    /// The watched target.
    pub target: String,
    /// Its period.
    pub period_ns: u64,
}

#[derive(Serialize, Deserialize)]
struct Header {
    schema_version: u32,
    #[serde(flatten)]
    series: Series,
    ops: Vec<Op>,
}

/// Baselines of the ops.
pub type Learnt = Vec<(Op, Guarded)>;

/// A file.
pub fn encode<'a>(series: &Series, learnt: impl Iterator<Item = (Op, &'a Guarded)>) -> Vec<u8> {
    let (ops, frames): (Vec<Op>, Vec<Vec<u8>>) =
        learnt.map(|(op, guarded)| (op, frames::encode(&guarded.encode()))).unzip();
    let header = Header { schema_version: SCHEMA_VERSION, series: series.clone(), ops };
    // Strings and numbers in memory can always be encoded.
    let header = frames::encode(&serde_json::to_vec(&header).unwrap_or_default());
    [MAGIC.as_slice(), &header, &frames.concat()].concat()
}

/// Read a file of this series. The error says what is wrong with it: then nothing of it is believed.
pub fn decode(series: &Series, bytes: &[u8]) -> Result<Learnt, String> {
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        return Err("the first 8 bytes are not IOSBASE1".into());
    };
    let mut all = Frames::new(rest, 0);
    let header = all.next().ok_or_else(|| all.torn().unwrap_or("it has no header").to_owned())?;
    let header: Header =
        serde_json::from_slice(header).map_err(|error| format!("its header is unreadable ({error})"))?;
    check(series, SCHEMA_VERSION, header.schema_version, &header.series)?;
    let mut learnt = Vec::new();
    for op in &header.ops {
        let name = op.name();
        let payload = all.next().ok_or_else(|| {
            format!("{name}: {}", all.torn().unwrap_or("the file ends before its baseline"))
        })?;
        learnt.push((*op, Guarded::decode(payload).map_err(|error| format!("{name}: {error}"))?));
    }
    match all.next() {
        None if all.torn().is_none() => Ok(learnt),
        _ => Err("something follows the last baseline".into()),
    }
}

fn check(series: &Series, version: u32, found: u32, of: &Series) -> Result<(), String> {
    if found != version {
        return Err(format!("it has version {found}; expected {version}"));
    }
    let Series { host, target, period_ns } = of;
    let other = || format!("it is of {target} probed by {host} every {period_ns} ns");
    if of == series { Ok(()) } else { Err(other()) }
}

#[derive(Deserialize)]
struct Json {
    schema_version: u32,
    #[serde(flatten)]
    series: Series,
    ops: BTreeMap<String, OfJson>,
}

struct OfJson(Guarded);

impl<'de> Deserialize<'de> for OfJson {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        Guarded::from_json(json).map(Self)
    }
}

/// The same of a file of before.
pub fn decode_json(series: &Series, bytes: &[u8]) -> Result<Learnt, String> {
    let found: Json = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    check(series, 1, found.schema_version, &found.series)?;
    Ok(found.ops.into_iter().filter_map(|(name, guarded)| Some((Op::from_name(&name)?, guarded.0))).collect())
}

#[cfg(test)]
mod tests;
