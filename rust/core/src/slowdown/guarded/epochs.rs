//! Candidate days of a new epoch: held out of the pool until it is decided.

use super::kept::{DAY_NS, Day};
use super::{
    DAY_INTERVALS, DAYS, DayRates, EPOCH_FACTOR, EPOCH_FLAGGED, EpochChange, FASTER_DAYS, Guarded,
    HORIZON_DAYS, Held, MODES_DAYS, Misses, NEARLY_FACTOR, SLOWER_DAYS, SLOWER_MISSES, Today,
};
use crate::slowdown::buckets::Pool;
use crate::slowdown::levels::N;
use crate::slowdown::modes::modes;

impl Guarded {
    /// Close the day: check for a new epoch, and whether this day decides it.
    pub(super) fn close_day(&mut self, next: i64) -> Option<EpochChange> {
        let today = std::mem::replace(&mut self.today, Today { day: next, ..Today::default() });
        self.misses.close_day();
        if !self.reliable {
            return None;
        }
        let day = Day { day: today.day, pool: today.pool.packed() };
        self.rates.extend(DayRates::of(&today.above, 1));
        while self.rates.len() > DAYS {
            self.rates.pop_front();
        }
        let (verdict, nearly) = verdict(today.typ, today.flagged);
        if self.held.first().is_some_and(|first| Some(first.verdict) == verdict.map(|slower| !slower)) {
            self.release();
            self.log.retain(|known| known.day() >= day.day);
        }
        match (verdict, self.held.first().map(|first| first.verdict)) {
            // A day or two of chance do not end a slow fortnight.
            (None, Some(true)) if nearly && self.misses() < SLOWER_MISSES => {
                self.held.push(Held { verdict: true, missed: true, day });
            }
            (None, _) => {
                self.release();
                self.pool.add(&day.pool);
                self.days.push_back(day);
                self.log.clear();
            }
            (Some(slower), _) => {
                self.held.push(Held { verdict: slower, missed: false, day });
            }
        }
        if let (Some(first), Some(last)) = (self.held.first(), self.held.last())
            && self.held.len() >= if first.verdict { SLOWER_DAYS } else { FASTER_DAYS }
            && !last.missed
        {
            return self.new_epoch();
        }
        let from = self.held.first().map_or(next, |first| first.day.day);
        while let Some(oldest) = self.days.front().filter(|oldest| oldest.day < from - HORIZON_DAYS) {
            self.pool.remove(&oldest.pool);
            self.days.pop_front();
        }
        if self.modes_day.is_none_or(|looked| next - looked >= MODES_DAYS) && self.pool.total() > 0 {
            self.modes = modes(self.pool.iter());
            self.modes_day = Some(next);
        }
        None
    }

    fn misses(&self) -> usize {
        self.held.iter().filter(|held| held.missed).count()
    }

    /// Learn the held days: there was no new epoch.
    fn release(&mut self) {
        for held in self.held.drain(..) {
            self.pool.add(&held.day.pool);
            self.days.push_back(held.day);
        }
    }

    fn new_epoch(&mut self) -> Option<EpochChange> {
        // After a clock was set far back nothing may be left in the pool.
        let before = self.of_pool().or(self.expected)?;
        let held = std::mem::take(&mut self.held);
        let began_ns = held.first()?.day.day * DAY_NS;
        self.reliable = false;
        self.misses = Misses::default();
        self.days.clear();
        self.pool = Pool::default();
        self.epoch += 1;
        self.epoch_began_ns = Some(began_ns);
        self.refresh();
        let middle = usize::midpoint(before.band_from(), N - 1);
        let factor = self.expected?.at[middle] / before.at[middle].max(1.0);
        let change = EpochChange { epoch: self.epoch, began_ns, factor };
        self.changes.push(change);
        Some(change)
    }
}

/// Verdict on a day: slower (true) or faster (false), none if neither or too little was seen; and true
/// if it was nearly slower.
fn verdict(mut typ: Vec<f32>, flagged: usize) -> (Option<bool>, bool) {
    let n = typ.len();
    if n < DAY_INTERVALS {
        return (None, false);
    }
    typ.sort_unstable_by(f32::total_cmp);
    let quartile = |q: f64| f64::from(typ[(q * n as f64).ceil() as usize - 1]);
    let lower = quartile(0.25);
    if lower > EPOCH_FACTOR || flagged as f64 > EPOCH_FLAGGED * n as f64 {
        (Some(true), false)
    } else if quartile(0.75) < 1.0 / EPOCH_FACTOR {
        (Some(false), false)
    } else {
        (None, lower > NEARLY_FACTOR)
    }
}
