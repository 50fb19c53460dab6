//! The waiting factor: after an operation a rank waits T times what it took.
//!
//! By sleeping, because a spinning client is itself the load; a sleep is never as long as asked, so what it missed is
//! owed and paid back by the next. Waits shorter than a timer can keep are saved up.

/// Shorter waits are saved up: a timer is this late now and then.
pub const LEAST_SLEEP_NS: u64 = 200_000;

/// What a rank owes.
#[derive(Debug, Clone, Default)]
pub struct Waiting {
    factor: f64,
    owed_ns: f64,
    waited_ns: u64,
}

impl Waiting {
    /// With waiting factor T.
    pub fn new(factor: f64) -> Self {
        Self { factor, owed_ns: 0.0, waited_ns: 0 }
    }

    /// After an operation: how long to sleep now, if it is worth it.
    #[inline]
    pub fn after(&mut self, latency_ns: u64) -> Option<u64> {
        if self.factor <= 0.0 {
            return None;
        }
        self.owed_ns += self.factor * latency_ns as f64;
        (self.owed_ns >= LEAST_SLEEP_NS as f64).then_some(self.owed_ns as u64)
    }

    /// The sleep took this long.
    pub fn slept(&mut self, ns: u64) {
        self.owed_ns -= ns as f64;
        self.waited_ns += ns;
    }

    /// Time slept so far.
    pub fn waited_ns(&self) -> u64 {
        self.waited_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A timer that is always 70 us late.
    fn measured_factor(factor: f64, latency_ns: u64) -> f64 {
        let mut waiting = Waiting::new(factor);
        let ops = 200_000;
        for _ in 0..ops {
            if let Some(ns) = waiting.after(latency_ns) {
                waiting.slept(ns + 70_000);
            }
        }
        waiting.waited_ns() as f64 / (ops * latency_ns) as f64
    }

    #[test]
    fn late_timers_and_short_waits_keep_the_factor() {
        for factor in [1.0 / 16.0, 0.25, 1.0, 4.0] {
            for latency_ns in [2_000, 40_000, 3_000_000] {
                let measured = measured_factor(factor, latency_ns);
                assert!((measured / factor - 1.0).abs() < 0.02, "T {factor}, {latency_ns} ns: {measured}");
            }
        }
    }

    #[test]
    fn no_factor_no_wait() {
        assert_eq!(Waiting::new(0.0).after(u64::MAX), None);
    }
}
