//! Due times of operations: the pure arithmetic of an open-loop schedule.
//!
//! ```text
//! start ──phase──► due(0) ──period──► due(1) ──period──► due(2)
//! ```
//! Ticks come from `start + phase + k * period`, never from "now + period": a slow operation delays itself,
//! not the schedule, and the ticks it covers can be counted.

/// The due times of one op of one target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    first_ns: u64,
    period_ns: u64,
}

impl Schedule {
    /// Schedule with ticks at `start_ns + phase_ns + k * period_ns`. A period of zero counts as one nanosecond.
    pub fn new(start_ns: u64, phase_ns: u64, period_ns: u64) -> Self {
        Self { first_ns: start_ns + phase_ns, period_ns: period_ns.max(1) }
    }
    /// Due time of tick `k`.
    pub fn due_ns(&self, k: u64) -> u64 {
        self.first_ns + k * self.period_ns
    }
    /// Last tick due at or before `now_ns`, or tick 0 if there is none.
    pub fn tick_at(&self, now_ns: u64) -> u64 {
        now_ns.saturating_sub(self.first_ns) / self.period_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_instant_belongs_to_exactly_one_tick() {
        let schedule = Schedule::new(1_000, 7, 10);
        for now in 1_007..1_200 {
            let k = schedule.tick_at(now);
            assert!(schedule.due_ns(k) <= now && now < schedule.due_ns(k + 1));
        }
    }

    #[test]
    fn before_the_start_tick_zero_is_next() {
        assert_eq!(Schedule::new(1_000, 0, 10).tick_at(0), 0);
    }
}
