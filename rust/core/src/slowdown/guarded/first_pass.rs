//! First pass over a young baseline: judge all against a low quantile of itself, then against the remainder.

use super::kept::{Day, FLAG_TYP};
use super::log::{Entry, Log};
use super::points::{Points, Thresholds};
use crate::slowdown::buckets::{Pool, value_ns};
use crate::slowdown::levels::N;
use crate::slowdown::modes::{Modes, modes};
use crate::slowdown::null_rates::DayRates;
use crate::slowdown::null_rates::exceedances::{Above, Exceedances};
use crate::slowdown::triple::Expected;

/// Intervals in a day.
const DAY_INTERVALS: usize = 144;
/// Flag limit of the first pass, relative to its reference.
pub const FIRST_FLAG_TYP: f64 = 1.6;
/// Reference of the first pass: this quantile, over the intervals, of each level.
pub const FIRST_QUANTILE: f64 = 0.30;

/// State that a pass leaves for the next one, which has a few more intervals.
#[derive(Debug, Default)]
pub(super) struct FirstPass {
    /// Version of the log.
    rewritten: u32,
    points: Vec<Points>,
    /// Mask of entries in the pool.
    pooled: Vec<bool>,
    pool: Pool,
    /// Counts of each entry above the limits, and the first buckets: these rarely change.
    counted: Vec<Above>,
}

/// Result of a first pass.
pub(super) struct Found {
    /// Expected latencies.
    pub(super) expected: Expected,
    /// Exceedances of the resulting limits by ordinary operations, by parts of a day.
    pub(super) rates: Vec<DayRates>,
}

impl FirstPass {
    /// Judge young intervals; searches for modes unless they are given.
    pub(super) fn judge(&mut self, log: &Log, given: Option<Option<Modes>>) -> Option<Found> {
        if self.rewritten != log.rewritten() || self.points.len() > log.len() {
            *self = Self { rewritten: log.rewritten(), ..Self::default() };
        }
        let entries: Vec<Entry<'_>> = log.iter().collect();
        self.points.extend(entries[self.points.len()..].iter().map(Entry::points));
        let reference = self.reference(given.flatten())?;
        let calm = self.calm(&reference, FIRST_FLAG_TYP);
        self.fill(&entries, calm);
        let sought = |pool: &Pool| given.unwrap_or_else(|| modes(pool.iter()));
        let first = Expected::of(self.pool.iter(), sought(&self.pool))?;
        let calm = self.calm(&first, FLAG_TYP);
        // The same intervals make one expect the same.
        let same = !self.fill(&entries, calm);
        let expected = if same { first } else { Expected::of(self.pool.iter(), sought(&self.pool))? };
        let rates = self.rates(&entries, &expected, log.span());
        Some(Found { expected, rates })
    }

    /// Days to learn after a pass.
    pub(super) fn days(&self, log: &Log) -> Vec<Day> {
        let mut days: Vec<Day> = Vec::new();
        let mut pool = Pool::default();
        let entries: Vec<Entry<'_>> =
            log.iter().zip(&self.pooled).filter(|pair| *pair.1).map(|pair| pair.0).collect();
        for some in entries.chunk_by(|one, other| one.day() == other.day()) {
            some.iter().for_each(|entry| entry.counts().for_each(|(bucket, n)| pool.put(bucket, n)));
            days.push(Day { day: some[0].day(), pool: std::mem::take(&mut pool).packed() });
        }
        days
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.points.capacity() * size_of::<Points>()
            + self.counted.capacity() * size_of::<Above>()
            + self.pooled.capacity()
            + Pool::HEAP_BYTES
    }

    fn reference(&self, modes: Option<Modes>) -> Option<Expected> {
        let rank = ((FIRST_QUANTILE * self.points.len() as f64).ceil() as usize).max(1) - 1;
        let mut column = Vec::with_capacity(self.points.len());
        let mut at = [0.0; N];
        for (i, at) in at.iter_mut().enumerate() {
            column.clear();
            column.extend(self.points.iter().map(|point| point.service[i]));
            let bucket = (rank < column.len()).then(|| *column.select_nth_unstable(rank).1)?;
            *at = f64::from(value_ns(bucket) as f32);
        }
        Some(Expected { at, q99: f64::INFINITY, modes, n: 0, limits_ns: [0.0; 3], null: None, misses: None })
    }

    /// Mask of unflagged intervals; all of them if none is left.
    fn calm(&self, expected: &Expected, limit: f64) -> Vec<bool> {
        let thresholds = Thresholds::of(expected, limit);
        let mut calm: Vec<bool> = self.points.iter().map(|point| !thresholds.are_exceeded(point)).collect();
        if !calm.contains(&true) {
            calm.fill(true);
        }
        calm
    }

    /// Set the pool to these entries; true if it changed.
    fn fill(&mut self, entries: &[Entry<'_>], calm: Vec<bool>) -> bool {
        self.pooled.resize(entries.len(), false);
        let mut changed = false;
        for ((entry, &was), &is) in entries.iter().zip(&self.pooled).zip(&calm) {
            if was == is {
                continue;
            }
            changed = true;
            for (bucket, count) in entry.counts() {
                if is { self.pool.put(bucket, count) } else { self.pool.take(bucket, count) }
            }
        }
        self.pooled = calm;
        changed
    }

    fn rates(&mut self, entries: &[Entry<'_>], expected: &Expected, span: usize) -> Vec<DayRates> {
        let thresholds = Thresholds::of(expected, FLAG_TYP);
        self.counted.resize(entries.len(), Above::default());
        let points = self.points.iter().zip(&mut self.counted);
        let above = entries.iter().zip(points).map(|(entry, (point, counted))| {
            let (due, slow) = ((entry.n_due, entry.n_lost), thresholds.are_exceeded(point));
            let typ = point.typ(expected);
            counted.update(|| entry.counts(), typ, expected.limits_ns);
            counted.exceedances(entry.n, due, typ, slow)
        });
        let above: Vec<Exceedances> = above.collect();
        above.chunks((DAY_INTERVALS / span).max(1)).filter_map(|day| DayRates::of(day, span)).collect()
    }
}
