//! Serialised baseline for the next run: version, then fields in order, numbers as varints (the postcard format).
//!
//! Whoever stores them adds a checksum. Files of before were JSON, or ended before the misses; they are read still.

use std::collections::VecDeque;

use serde::Deserialize;

use super::kept::Day;
use super::log::Log;
use super::{Expected, Guarded, Held, Interval, Misses, Modes, Today};
use crate::slowdown::buckets::{Packed, Pool};
use crate::slowdown::null_rates::DayRates;
use crate::slowdown::null_rates::exceedances::Exceedances;

/// Layout of the bytes.
const VERSION: u8 = 3;
/// A layout without misses, which came last.
const WITHOUT_MISSES: u8 = 2;

/// Reason why bytes are no baseline.
#[derive(Debug, thiserror::Error)]
pub enum BadBaseline {
    /// Another layout version.
    #[error("the baseline has layout {0}; expected {VERSION}")]
    Version(u8),
    /// Malformed data.
    #[error("the baseline cannot be decoded: {0}")]
    Malformed(#[from] postcard::Error),
    /// Contradictory parts.
    #[error("the baseline contradicts itself: {0}")]
    Contradiction(&'static str),
}

impl Guarded {
    /// Serialise the state.
    pub fn encode(&self) -> Vec<u8> {
        // Lists and numbers in memory can always be encoded.
        postcard::to_extend(self, vec![VERSION]).unwrap_or_default()
    }

    /// Inverse of [`encode`](Self::encode).
    pub fn decode(bytes: &[u8]) -> Result<Self, BadBaseline> {
        let (&version, rest) = bytes.split_first().ok_or(BadBaseline::Contradiction("it is empty"))?;
        let mut found: Self = match version {
            VERSION => postcard::from_bytes(rest)?,
            WITHOUT_MISSES => {
                let none = postcard::to_extend(&Misses::default(), rest.to_vec())?;
                postcard::from_bytes(&none)?
            }
            other => return Err(BadBaseline::Version(other)),
        };
        if !found.log.is_whole() {
            return Err(BadBaseline::Contradiction("its intervals cannot be read"));
        }
        found.sum_days();
        let misses = found.misses.rates();
        found.expected.iter_mut().for_each(|expected| expected.misses = misses);
        Ok(found)
    }

    /// Parse the JSON format that preceded [`encode`](Self::encode).
    pub fn from_json<'de, D: serde::Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        Json::deserialize(json).map(Self::from)
    }

    /// Bytes on the heap, without ranks.
    pub fn heap_bytes(&self) -> usize {
        self.log.heap_bytes()
            + self.days.iter().chain(self.held.iter().map(|held| &held.day)).map(Day::bytes).sum::<usize>()
            + self.rates.capacity() * size_of::<DayRates>()
            + self.today.typ.capacity() * size_of::<f32>()
            + self.today.above.capacity() * size_of::<Exceedances>()
            + self.held.capacity() * size_of::<Held>()
            + self.days.capacity() * size_of::<Day>()
            + 2 * Pool::HEAP_BYTES
            + self.misses.heap_bytes()
            + self.first_pass.heap_bytes()
    }
}

#[derive(Deserialize)]
struct Json {
    epoch: u32,
    epoch_began_ns: Option<i64>,
    last_ns: Option<i64>,
    young: Vec<JsonInterval>,
    young_seen: usize,
    modes_seen: usize,
    reliable: bool,
    days: VecDeque<Day>,
    #[serde(default)]
    rates: VecDeque<DayRates>,
    today: JsonToday,
    held: Vec<JsonHeld>,
    modes: Option<Modes>,
    modes_day: Option<i64>,
    expected: Option<Expected>,
    reference: Option<Expected>,
    version: u32,
    intervals: u64,
    changes: Vec<super::EpochChange>,
}

#[derive(Deserialize)]
struct JsonInterval {
    start_ns: i64,
    n_due: u64,
    n_lost: u64,
    service: Packed,
    #[serde(default)]
    response: Option<Packed>,
}

#[derive(Deserialize)]
struct JsonToday {
    day: i64,
    pool: Pool,
    typ: Vec<f32>,
    flagged: usize,
    kept: Vec<JsonInterval>,
    #[serde(default)]
    above: Vec<Exceedances>,
}

#[derive(Deserialize)]
struct JsonHeld {
    verdict: bool,
    missed: bool,
    day: Day,
    kept: Vec<JsonInterval>,
}

impl From<Json> for Guarded {
    fn from(json: Json) -> Self {
        let mut log = Log::default();
        let held = json.held.iter().flat_map(|held| &held.kept).chain(&json.today.kept);
        let kept: Vec<&JsonInterval> =
            if json.reliable { held.collect() } else { json.young.iter().collect() };
        for one in kept.into_iter().filter(|one| !one.service.is_empty()) {
            let (start_ns, n_due, n_lost) = (one.start_ns, one.n_due, one.n_lost);
            let (service, response) = (one.service.clone(), one.response.clone());
            log.push(&Interval { start_ns, n_due, n_lost, service, response });
        }
        let JsonToday { day, pool, typ, flagged, above, .. } = json.today;
        let held = json.held.into_iter().map(|held| {
            let JsonHeld { verdict, missed, day, .. } = held;
            Held { verdict, missed, day }
        });
        let mut guarded = Self {
            epoch: json.epoch,
            epoch_began_ns: json.epoch_began_ns,
            last_ns: json.last_ns,
            log,
            young_seen: json.young_seen,
            modes_seen: json.modes_seen,
            reliable: json.reliable,
            days: json.days,
            rates: json.rates,
            today: Today { day, pool, typ, flagged, above },
            held: held.collect(),
            modes: json.modes,
            modes_day: json.modes_day,
            expected: json.expected,
            reference: json.reference,
            version: json.version,
            intervals: json.intervals,
            changes: json.changes,
            ..Self::default()
        };
        guarded.sum_days();
        guarded
    }
}
