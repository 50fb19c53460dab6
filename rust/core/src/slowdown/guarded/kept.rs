//! What a baseline keeps of intervals and days until it is decided, and when an interval is flagged.

use serde::{Deserialize, Serialize};

use crate::slowdown::buckets::Packed;
use crate::slowdown::levels::{Levels, N, RankTable};
use crate::slowdown::triple::{Expected, Factor, Triple};

pub(super) const DAY_NS: i64 = 24 * 3_600_000_000_000;
/// An interval is flagged above this typical slowdown ...
pub const FLAG_TYP: f64 = 1.5;
/// ... or this slowdown of the tail ...
pub const FLAG_TAIL: f64 = 3.0;
/// ... or this share of lost operations.
pub const FLAG_LOST: f64 = 0.01;

/// An interval that may be judged once more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) start_ns: i64,
    pub(super) n_due: u64,
    pub(super) n_lost: u64,
    pub(super) service: Packed,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) response: Option<Packed>,
    #[serde(skip)]
    pub(super) points: Option<Points>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Day {
    pub(super) day: i64,
    pub(super) pool: Packed,
}

/// Whether nothing is to be learnt from an interval with this slowdown.
pub(super) fn is_flagged(triple: &Triple, typ_limit: f64) -> bool {
    let above = |factor: Option<Factor>, limit: f64| factor.is_some_and(|f| f.value > limit);
    above(triple.typ, typ_limit) || above(triple.tail, FLAG_TAIL) || above(triple.lost, FLAG_LOST)
}

/// What a pass needs of an interval: single precision is enough to compare with a limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Points {
    pub(super) service: [f32; N],
    tail: f32,
    lost: f32,
}

impl Points {
    pub(super) fn of(kept: &Kept, ranks: &mut RankTable) -> Self {
        let levels = Levels::of_packed(&kept.service, kept.response.as_ref(), kept.n_due, kept.n_lost, ranks);
        let point = |ns: f64| ns as f32;
        Self {
            service: levels.service.map_or([f32::NAN; N], |service| service.map(|level| point(level.point))),
            tail: levels.response_q95.map_or(f32::NAN, |level| point(level.point)),
            lost: kept.n_lost as f32 / kept.n_due.max(1) as f32,
        }
    }
    /// The typical slowdown.
    pub(super) fn typ(&self, expected: &Expected) -> f64 {
        let mut ratios = [0.0_f32; N];
        let band = expected.band_from()..N;
        let ratios = &mut ratios[..band.len()];
        for (ratio, i) in ratios.iter_mut().zip(band) {
            *ratio = self.service[i] / expected.at[i].max(1.0) as f32;
        }
        let middle = ratios.len() / 2;
        f64::from(*ratios.select_nth_unstable_by(middle, f32::total_cmp).1)
    }
    pub(super) fn is_flagged(&self, expected: &Expected, typ_limit: f64) -> bool {
        let tail = f64::from(self.tail) / expected.q95().max(1.0);
        self.typ(expected) > typ_limit || tail > FLAG_TAIL || f64::from(self.lost) > FLAG_LOST
    }
}
