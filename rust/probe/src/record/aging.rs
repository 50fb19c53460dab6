//! The time that ages are reckoned by: a clock that steps must not delete history.
//!
//! UTC counts once it has kept pace with the monotonic clock for an hour, since the start or its last step. For a day
//! after a step it moves on no faster than the monotonic clock has since ages were last reckoned.

/// UTC and the monotonic clock part by more than this at once: a step.
const STEP_NS: u64 = 60 * 1_000_000_000;
/// So long UTC must have kept pace before anything goes by its age.
const CONFIRMED_NS: u64 = 3600 * 1_000_000_000;
/// After so long a step is believed whole.
const BELIEVED_NS: u64 = 24 * CONFIRMED_NS;

/// Clock that ages are reckoned by.
#[derive(Debug, Default)]
pub struct Aging {
    /// UTC less monotonic at the last look.
    offset_ns: Option<i64>,
    steady_since_ns: u64,
    stepped: bool,
    /// Time believed last, and its monotonic instant.
    believed: Option<(i64, u64)>,
}

impl Aging {
    /// The time to reckon ages by, UTC; none while it is not confirmed. Of both clocks now.
    pub fn now(&mut self, utc_ns: i64, monotonic_ns: u64) -> Option<i64> {
        let offset_ns = utc_ns.saturating_sub_unsigned(monotonic_ns);
        let known_ns = self.offset_ns.replace(offset_ns);
        if known_ns.is_none_or(|known| known.abs_diff(offset_ns) > STEP_NS) {
            self.stepped = known_ns.is_some();
            self.steady_since_ns = monotonic_ns;
        }
        let steady_ns = monotonic_ns.saturating_sub(self.steady_since_ns);
        if steady_ns < CONFIRMED_NS {
            return None;
        }
        let now_ns = match self.believed {
            Some((before_ns, at_ns)) if self.stepped && steady_ns < BELIEVED_NS => {
                utc_ns.min(before_ns.saturating_add_unsigned(monotonic_ns.saturating_sub(at_ns)))
            }
            _ => utc_ns,
        };
        self.believed = Some((now_ns, monotonic_ns));
        Some(now_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;
    const HOUR: u64 = 3600 * SECOND;
    const DAY: u64 = 24 * HOUR;
    const START: i64 = 1_790_000_000_000_000_000;

    fn utc(monotonic_ns: u64, ahead_ns: i64) -> i64 {
        START + monotonic_ns as i64 + ahead_ns
    }

    #[test]
    fn a_new_clock_is_believed_after_an_hour() {
        let mut aging = Aging::default();
        for at in [SECOND, HOUR / 2, HOUR] {
            assert_eq!(aging.now(utc(at, 0), at), None);
        }
        assert_eq!(aging.now(utc(HOUR + SECOND, 0), HOUR + SECOND), Some(utc(HOUR + SECOND, 0)));
    }

    #[test]
    fn a_wrong_clock_ages_nothing_by_more_than_passed() {
        let mut aging = Aging::default();
        aging.now(utc(0, 0), 0);
        aging.now(utc(2 * HOUR, 0), 2 * HOUR);
        let ahead = 400 * DAY as i64;
        // Wrong for twenty seconds, then right again: an hour passes before anything ages.
        assert_eq!(aging.now(utc(2 * HOUR + SECOND, ahead), 2 * HOUR + SECOND), None);
        assert_eq!(aging.now(utc(2 * HOUR + 21 * SECOND, 0), 2 * HOUR + 21 * SECOND), None);
        assert_eq!(aging.now(utc(4 * HOUR, 0), 4 * HOUR), Some(utc(4 * HOUR, 0)));
        // Wrong for hours: only what passed has passed.
        assert_eq!(aging.now(utc(5 * HOUR, ahead), 5 * HOUR), None);
        assert_eq!(aging.now(utc(7 * HOUR, ahead), 7 * HOUR), Some(utc(7 * HOUR, 0)));
        assert_eq!(aging.now(utc(9 * HOUR, ahead), 9 * HOUR), Some(utc(9 * HOUR, 0)));
        // And for a day: that is what this host goes by.
        assert_eq!(aging.now(utc(30 * HOUR, ahead), 30 * HOUR), Some(utc(30 * HOUR, ahead)));
        // Back again: nothing is younger than it is.
        assert_eq!(aging.now(utc(31 * HOUR, 0), 31 * HOUR), None);
        assert_eq!(aging.now(utc(33 * HOUR, 0), 33 * HOUR), Some(utc(33 * HOUR, 0)));
    }

    #[test]
    fn a_clock_that_is_slewed_has_not_stepped() {
        let mut aging = Aging::default();
        for second in 0..7200 {
            let at = second * SECOND;
            let now = aging.now(utc(at, second as i64 * 500_000), at);
            assert_eq!(now.is_some(), at >= HOUR);
        }
    }
}
