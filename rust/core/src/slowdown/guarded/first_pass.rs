//! The first pass over a young baseline: everything is judged against a low quantile of itself, then against what that leaves.

use super::kept::{DAY_NS, Day, FLAG_TYP, Kept, Points};
use crate::slowdown::buckets::Pool;
use crate::slowdown::levels::{N, RankTable};
use crate::slowdown::modes::{Modes, modes};
use crate::slowdown::null_rates::{DayRates, Exceedances};
use crate::slowdown::triple::Expected;

/// Intervals in a day.
const DAY_INTERVALS: usize = 144;
/// In the first pass, against the reference of the first pass, above this.
pub const FIRST_FLAG_TYP: f64 = 1.6;
/// The reference of the first pass: this quantile, over the intervals, of each level.
pub const FIRST_QUANTILE: f64 = 0.30;

/// What a first pass leaves.
pub(super) struct FirstPass {
    /// Unflagged pools by day.
    pub(super) days: Vec<Day>,
    /// What they make us expect.
    pub(super) expected: Expected,
    /// How often ordinary operations exceed the limits that follow from it, by stretches of a day.
    pub(super) rates: Vec<DayRates>,
}

/// The first pass over young intervals; modes are looked for unless they are given.
pub(super) fn first_pass(
    kept: &mut [Kept],
    given: Option<Option<Modes>>,
    ranks: &mut RankTable,
) -> Option<FirstPass> {
    for interval in kept.iter_mut().filter(|interval| interval.points.is_none()) {
        interval.points = Some(Points::of(interval, ranks));
    }
    let kept: &[Kept] = kept;
    let points: Vec<Points> = kept.iter().filter_map(|interval| interval.points).collect();
    let modes_given = given.flatten();
    let mut reference = Expected {
        at: [0.0; N],
        q99: f64::INFINITY,
        modes: modes_given,
        n: 0,
        limits_ns: [0.0; 3],
        null: None,
    };
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
    Some(FirstPass { days, expected, rates: rates(kept, &points, &expected) })
}

fn rates(kept: &[Kept], points: &[Points], expected: &Expected) -> Vec<DayRates> {
    let above = kept.iter().zip(points).map(|(interval, point)| {
        let (due, slow) = ((interval.n_due, interval.n_lost), point.is_flagged(expected, FLAG_TYP));
        Exceedances::of(&interval.service, due, point.typ(expected), slow, expected.limits_ns)
    });
    let above: Vec<Exceedances> = above.collect();
    above.chunks(DAY_INTERVALS).filter_map(DayRates::of).collect()
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
