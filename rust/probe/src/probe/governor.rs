//! Lowers the rate of a probe that costs more than declared, or whose operations take longer than their period, and
//! raises it again when that is over. Pure.
//!
//! Of `divider` ticks one is worked on; the others become rows that say so. A probe that always has an operation open
//! is no longer a probe but a load.

/// Never fewer than one tick in this many: below, a window would hold too few samples for a median.
const MOST: u64 = 8;
/// Largest share of the ticks worked on that may be missed because the operation before still ran.
const MISSED_SHARE: f64 = 0.25;
/// The rate is raised after so many good intervals in a row ...
const GOOD_INTERVALS: u32 = 3;
/// ... in which the processor time used, at the higher rate, would stay below this share of the budget.
const COMFORT: f64 = 0.8;

/// Counts of one interval.
#[derive(Debug, Clone, Copy, Default)]
pub struct Interval {
    /// Its length.
    pub elapsed_ns: u64,
    /// Processor time of the workers.
    pub cpu_ns: u64,
    /// Ticks that were to be worked on.
    pub due: u64,
    /// Due ticks that were never begun.
    pub missed: u64,
    /// True if an op was stuck: then missed ticks say nothing about the rate.
    pub stuck: bool,
}

/// Chooses the share of ticks to leave out, and knows the reason.
#[derive(Debug, Clone)]
pub struct Governor {
    cpu_budget_ns_per_s: Option<u64>,
    divider: u64,
    good: u32,
}

impl Governor {
    /// At full rate; a budget of none is not limited.
    pub fn new(cpu_budget_ns_per_s: Option<u64>) -> Self {
        Self { cpu_budget_ns_per_s, divider: 1, good: 0 }
    }
    /// Divider of the rate: every n-th tick is worked on.
    pub fn divider(&self) -> u64 {
        self.divider
    }

    /// Judge an interval. The words are why the rate is low now; none when nothing changed or it is full again.
    pub fn judge(&mut self, interval: Interval) -> Option<Option<String>> {
        let before = self.divider;
        let cpu_ns_per_s = interval.cpu_ns as f64 / (interval.elapsed_ns as f64 / 1e9).max(1e-9);
        let over = self.cpu_budget_ns_per_s.filter(|&budget| cpu_ns_per_s > budget as f64);
        let missed = interval.missed as f64 > MISSED_SHARE * interval.due as f64;
        let late = missed && !interval.stuck && interval.due > 0;
        if over.is_some() || late {
            self.good = 0;
            self.divider = (self.divider * 2).min(MOST);
        } else if self.divider > 1 && !interval.stuck {
            let comfortable =
                self.cpu_budget_ns_per_s.is_none_or(|budget| cpu_ns_per_s * 2.0 < COMFORT * budget as f64);
            self.good = if comfortable && interval.missed == 0 { self.good + 1 } else { 0 };
            if self.good >= GOOD_INTERVALS {
                self.good = 0;
                self.divider /= 2;
            }
        }
        if self.divider == before {
            return None;
        }
        let rate = format!("only one tick in {} is worked on", self.divider);
        Some(match over {
            _ if self.divider == 1 => None,
            Some(budget) => Some(format!(
                "{rate}: its workers used {:.1} ms of processor time a second, declared are {:.1}",
                cpu_ns_per_s / 1e6,
                budget as f64 / 1e6
            )),
            None if late => Some(format!(
                "{rate}: operations take longer than their period ({} of {} ticks missed)",
                interval.missed, interval.due
            )),
            None => Some(format!("{rate}, on the way back to the full rate")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEN_S: u64 = 10_000_000_000;

    fn interval(cpu_ms: u64, missed: u64) -> Interval {
        Interval { elapsed_ns: TEN_S, cpu_ns: cpu_ms * 1_000_000, due: 60, missed, stuck: false }
    }

    #[test]
    fn too_much_processor_time_halves_the_rate_until_it_fits_and_no_further() {
        let mut governor = Governor::new(Some(5_000_000));
        let why = governor.judge(interval(90, 0)).unwrap().unwrap();
        assert!(why.contains("one tick in 2") && why.contains("9.0 ms") && why.contains("5.0"), "{why}");
        assert_eq!(governor.judge(interval(45, 0)), None);
        for _ in 0..9 {
            governor.judge(interval(1000, 0));
        }
        assert_eq!(governor.divider(), MOST);
    }

    #[test]
    fn it_comes_back_when_there_is_room_for_twice_as_much() {
        let mut governor = Governor::new(Some(5_000_000));
        governor.judge(interval(90, 0));
        for _ in 0..20 {
            assert_eq!(governor.judge(interval(30, 0)), None, "at the full rate it would not fit");
        }
        let verdicts: Vec<_> = (0..3).map(|_| governor.judge(interval(10, 0))).collect();
        assert_eq!(verdicts, [None, None, Some(None)]);
        assert_eq!(governor.divider(), 1);
    }

    #[test]
    fn slow_operations_lower_the_rate_and_a_stuck_one_does_not() {
        let mut governor = Governor::new(None);
        assert_eq!(governor.judge(Interval { stuck: true, ..interval(0, 60) }), None);
        assert_eq!(governor.judge(interval(0, 15)), None);
        assert!(governor.judge(interval(0, 16)).unwrap().unwrap().contains("16 of 60 ticks"));
    }
}
