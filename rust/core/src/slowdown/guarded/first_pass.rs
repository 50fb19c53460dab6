//! The first pass over a young baseline: everything is judged against a low quantile of itself, then against what that leaves.

use super::{DAY_NS, Day, FIRST_FLAG_TYP, FIRST_QUANTILE, FLAG_LOST, FLAG_TAIL, FLAG_TYP, Kept};
use crate::slowdown::buckets::Pool;
use crate::slowdown::levels::{Levels, N, RankTable};
use crate::slowdown::modes::{Modes, modes};
use crate::slowdown::triple::{Expected, Factor, Triple};

/// Whether nothing is to be learnt from an interval with this slowdown.
pub(super) fn is_flagged(triple: &Triple, typ_limit: f64) -> bool {
    let above = |factor: Option<Factor>, limit: f64| factor.is_some_and(|f| f.value > limit);
    above(triple.typ, typ_limit) || above(triple.tail, FLAG_TAIL) || above(triple.lost, FLAG_LOST)
}

/// What a pass needs of an interval: single precision is enough to compare with a limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Points {
    service: [f32; N],
    tail: f32,
    lost: f32,
}

impl Points {
    fn of(kept: &Kept, ranks: &mut RankTable) -> Self {
        let levels = Levels::of_packed(&kept.service, kept.response.as_ref(), kept.n_due, kept.n_lost, ranks);
        let point = |ns: f64| ns as f32;
        Self {
            service: levels.service.map_or([f32::NAN; N], |service| service.map(|level| point(level.point))),
            tail: levels.response_q95.map_or(f32::NAN, |level| point(level.point)),
            lost: kept.n_lost as f32 / kept.n_due.max(1) as f32,
        }
    }
    fn is_flagged(&self, expected: &Expected, typ_limit: f64) -> bool {
        let mut ratios = [0.0_f32; N];
        let band = expected.band_from()..N;
        let ratios = &mut ratios[..band.len()];
        for (ratio, i) in ratios.iter_mut().zip(band) {
            *ratio = self.service[i] / expected.at[i].max(1.0) as f32;
        }
        let middle = ratios.len() / 2;
        let (_, &mut typ, _) = ratios.select_nth_unstable_by(middle, f32::total_cmp);
        let tail = f64::from(self.tail) / expected.q95().max(1.0);
        f64::from(typ) > typ_limit || tail > FLAG_TAIL || f64::from(self.lost) > FLAG_LOST
    }
}

/// Unflagged pools by day, and what they make us expect; modes are looked for unless they are given.
pub(super) fn first_pass(
    kept: &mut [Kept],
    given: Option<Option<Modes>>,
    ranks: &mut RankTable,
) -> Option<(Vec<Day>, Expected)> {
    for interval in kept.iter_mut().filter(|interval| interval.points.is_none()) {
        interval.points = Some(Points::of(interval, ranks));
    }
    let kept: &[Kept] = kept;
    let points: Vec<Points> = kept.iter().filter_map(|interval| interval.points).collect();
    let mut reference = Expected { at: [0.0; N], q99: f64::INFINITY, modes: given.flatten(), n: 0 };
    for (i, at) in reference.at.iter_mut().enumerate() {
        let mut column: Vec<f32> = points.iter().map(|point| point.service[i]).collect();
        let rank = ((FIRST_QUANTILE * column.len() as f64).ceil() as usize).max(1) - 1;
        *at = f64::from(*column.select_nth_unstable_by(rank, f32::total_cmp).1);
    }
    let first = sum(&calm(kept, &points, &reference, FIRST_FLAG_TYP));
    let first = Expected::of(first.iter(), given.unwrap_or_else(|| modes(first.iter())))?;
    let calm = calm(kept, &points, &first, FLAG_TYP);
    let all = sum(&calm);
    let expected = Expected::of(all.iter(), given.unwrap_or_else(|| modes(all.iter())))?;
    let day_of = |k: &Kept| k.start_ns.div_euclid(DAY_NS);
    let days = calm.chunk_by(|one, other| day_of(one) == day_of(other));
    let days = days.map(|day| Day { day: day_of(day[0]), pool: sum(day).packed() }).collect();
    Some((days, expected))
}

/// The intervals that are not flagged; all of them if none is left.
fn calm<'a>(kept: &'a [Kept], points: &[Points], expected: &Expected, limit: f64) -> Vec<&'a Kept> {
    let calm = kept.iter().zip(points).filter(|(_, point)| !point.is_flagged(expected, limit));
    let calm: Vec<&Kept> = calm.map(|(interval, _)| interval).collect();
    if calm.is_empty() { kept.iter().collect() } else { calm }
}

fn sum(of: &[&Kept]) -> Pool {
    let mut sum = Pool::default();
    of.iter().for_each(|interval| sum.add(&interval.service));
    sum
}
