//! Usual share of cache misses of an op whose latencies have two modes, by the rules of [null rates](super::null_rates).

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::slowdown::buckets::Packed;
use crate::slowdown::modes::Modes;
use crate::slowdown::null_rates::exceedances::Exceedances;
use crate::slowdown::null_rates::{DAYS, DayRates, MissRates};

/// Misses of the intervals of a day, and the rates of days before.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Misses {
    today: Vec<Exceedances>,
    days: VecDeque<DayRates>,
}

impl Misses {
    /// Count an interval's.
    pub(super) fn note(&mut self, service: &Packed, modes: &Modes) {
        self.today.push(Exceedances::of_misses(service, modes.between_ns()));
    }

    /// Close a day.
    pub(super) fn close_day(&mut self) {
        self.days.extend(DayRates::of(&std::mem::take(&mut self.today), 1));
        while self.days.len() > DAYS {
            self.days.pop_front();
        }
    }

    /// Rates over the days that are over: what a cache serves has a daily habit. None: not known yet.
    pub(super) fn rates(&self) -> Option<MissRates> {
        let days: Vec<DayRates> = self.days.iter().copied().collect();
        MissRates::of(&days)
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        self.today.capacity() * size_of::<Exceedances>() + self.days.capacity() * size_of::<DayRates>()
    }
}
