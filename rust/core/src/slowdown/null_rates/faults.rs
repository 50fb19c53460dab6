//! Intervals of a day that hold a fault: they teach no null rate, however often the fault comes back.
//!
//! - **sudden**: a run of intervals with `typ` at least [`FAULT_TYP`] times the day's median, reached within two intervals, and no
//!   longer than [`FAULT_RUN`] intervals. What lasts longer each day is a habit, a nightly backup for one;
//! - **partly slow**: a share above the limit of a sum that is [`FAULT_PART`] plus [`FAULT_TIMES`] times the day's 0.85 quantile:
//!   where shares vary of themselves, a large one is no fault.
//!
//! Either counts only while no more than [`FAULTS`] or [`PARTLY`] of the day's intervals hold it. What comes every hour is usual.

use super::exceedances::Exceedances;
use crate::slowdown::quantile::nearest_rank;

/// Least `typ` of a sudden fault, in the day's median, and least step into it.
pub const FAULT_TYP: f64 = 1.5;
/// Most intervals of a sudden fault.
pub const FAULT_RUN: usize = 9;
/// Most of a day that sudden faults take.
pub const FAULTS: f64 = 0.15;
/// Share of operations above the usual of an interval that is partly slow ...
pub const FAULT_PART: f64 = 0.01;
/// ... which is so many times what one interval of seven exceeds.
pub const FAULT_TIMES: f64 = 3.0;
/// That quantile.
pub const OFTEN: f64 = 0.85;
/// Most of a day that partly slow intervals take.
pub const PARTLY: f64 = 0.12;

/// The intervals of a day, in ascending order, of which none holds a fault. Each may be of `span` intervals put together.
pub fn without_faults(intervals: &[Exceedances], span: usize) -> Vec<Exceedances> {
    let (sudden, partly) =
        (at_most(FAULTS, sudden(intervals, span)), at_most(PARTLY, partly_slow(intervals)));
    let faults = sudden.into_iter().zip(partly).map(|(sudden, partly)| sudden || partly);
    intervals.iter().zip(faults).filter(|&(_, fault)| !fault).map(|(one, _)| *one).collect()
}

/// None of them where more than this share is marked.
fn at_most(share: f64, mut marks: Vec<bool>) -> Vec<bool> {
    let n = marks.iter().filter(|&&mark| mark).count();
    if n as f64 > share * marks.len() as f64 {
        marks.fill(false);
    }
    marks
}

fn sudden(intervals: &[Exceedances], span: usize) -> Vec<bool> {
    let typ: Vec<f64> = intervals.iter().map(|one| f64::from(one.typ)).collect();
    let usual = nearest_rank(typ.clone(), 0.5);
    let least = FAULT_TYP * usual;
    let mut marks = vec![false; typ.len()];
    let mut begin = 0;
    while begin < typ.len() {
        let end = begin + typ[begin..].iter().take_while(|&&typ| typ >= least).count();
        let before = typ[begin.saturating_sub(2)..begin].iter().copied().fold(usual, f64::min);
        let first = typ[begin..end].iter().take(2).copied().fold(0.0, f64::max);
        if (end - begin) * span <= FAULT_RUN && first >= FAULT_TYP * before {
            marks[begin..end].fill(true);
        }
        begin = end.max(begin + 1);
    }
    marks
}

fn partly_slow(intervals: &[Exceedances]) -> Vec<bool> {
    let mut marks = vec![false; intervals.len()];
    for k in 0..3 {
        let shares: Vec<f64> =
            intervals.iter().map(|one| f64::from(one.above[k]) / f64::from(one.n.max(1))).collect();
        let limit = FAULT_PART + FAULT_TIMES * nearest_rank(shares.clone(), OFTEN);
        marks.iter_mut().zip(shares).for_each(|(mark, share)| *mark |= share >= limit);
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(typ: impl Fn(usize) -> f32, above: impl Fn(usize) -> u32) -> Vec<Exceedances> {
        let one = |i| Exceedances {
            n: 600,
            above: [above(i), 2, 2],
            n_due: 600,
            n_lost: 0,
            typ: typ(i),
            slow: false,
        };
        (0..144).map(one).collect()
    }

    #[test]
    fn short_faults_go_and_what_lasts_or_comes_slowly_or_every_hour_stays() {
        let len = |typ: &dyn Fn(usize) -> f32| without_faults(&day(typ, |_| 60), 1).len();
        assert_eq!(len(&|_| 1.0), 144);
        assert_eq!(len(&|i| if i % 18 == 7 { 3.0 } else { 1.0 }), 136);
        assert_eq!(len(&|i| if i % 6 == 3 { 3.0 } else { 1.0 }), 144, "every hour");
        assert_eq!(len(&|i| if (40..52).contains(&i) { 3.0 } else { 1.0 }), 144, "two hours");
        let hill = |i: usize| (2.0 * (1.0 - (i as f32 - 72.0).abs() / 20.0).max(0.0) + 1.0).min(2.0);
        assert_eq!(len(&hill), 144, "a load that rises");
    }

    #[test]
    fn partly_slow_intervals_go_while_they_are_few() {
        let len = |above: &dyn Fn(usize) -> u32| without_faults(&day(|_| 1.0, above), 1).len();
        assert_eq!(len(&|i| if i % 18 == 7 { 240 } else { 60 }), 136);
        assert_eq!(len(&|i| if i % 6 == 3 { 240 } else { 60 }), 144, "every hour");
        assert_eq!(len(&|i| if i % 18 == 7 { 150 } else { 60 }), 144, "below the limit");
    }
}
