//! Start of the current slow span of an op, and its slowdown over that span.

use std::collections::VecDeque;

use crate::slowdown::quantile::Estimate;
use crate::slowdown::verdict::{QUIET_BELOW, QUIET_WINDOWS};

/// Closed windows kept at most: a day of minutes.
const MOST_WINDOWS: usize = 1_440;
/// Closed windows kept outside of a stretch: one that begins may reach back so far.
const BEFORE: usize = 8;

/// As for events: a stretch goes on until five windows in a row are quiet, and what is unknown ends none.
#[derive(Debug)]
pub struct Stretch {
    since_ns: Option<i64>,
    loud_ns: i64,
    windows: VecDeque<(i64, [f32; 3])>,
}

impl Default for Stretch {
    fn default() -> Self {
        Self { since_ns: None, loud_ns: i64::MIN, windows: VecDeque::new() }
    }
}

impl Stretch {
    /// Start of the span, UTC; none outside of one.
    pub fn since_ns(&self) -> Option<i64> {
        self.since_ns
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.windows.capacity() * size_of::<(i64, [f32; 3])>()
    }

    /// A look at the last window; `slowdown` is none where it is unknown.
    pub fn look(&mut self, slowdown: Option<f64>, window_ns: i64, now_ns: i64) {
        if now_ns.saturating_sub(self.loud_ns) >= QUIET_WINDOWS * window_ns {
            self.since_ns = None;
        }
        if slowdown.is_none_or(|value| value >= QUIET_BELOW) {
            self.loud_ns = now_ns;
        }
    }

    /// Start a span at `onset_ns` unless one is open: the window is slow.
    pub fn begin(&mut self, onset_ns: impl FnOnce() -> Option<i64>) {
        self.since_ns = self.since_ns.or_else(onset_ns);
    }

    /// Remember the slowdown of a window that is over.
    pub fn close_window(&mut self, start_ns: i64, found: Option<Estimate>) {
        if let Some(found) = found {
            let ends = [found.value as f32, found.lower as f32, found.upper as f32];
            self.windows.push_back((start_ns, ends));
        }
        let most = if self.since_ns.is_some() { MOST_WINDOWS } else { BEFORE };
        self.windows.drain(..self.windows.len().saturating_sub(most));
    }

    /// Median over the closed windows that lie in the stretch for the better part, with the medians of their ends and how many
    /// they are; none outside of a stretch, or before a window has closed in it.
    pub fn middle(&self, window_ns: i64) -> Option<Estimate> {
        let since_ns = self.since_ns?.saturating_sub(window_ns / 2);
        let mine: Vec<[f32; 3]> =
            self.windows.iter().filter(|(start_ns, _)| *start_ns >= since_ns).map(|one| one.1).collect();
        let middle = |place: usize| {
            let mut values: Vec<f32> = mine.iter().map(|one| one[place]).collect();
            values.sort_unstable_by(f32::total_cmp);
            let (low, high) = (values.get((values.len().max(1) - 1) / 2)?, values.get(values.len() / 2)?);
            Some(f64::from(low + high) / 2.0)
        };
        Some(Estimate { value: middle(0)?, lower: middle(1)?, upper: middle(2)?, n: mine.len() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(value: f64) -> Option<Estimate> {
        Some(Estimate { value, lower: value / 2.0, upper: value * 2.0, n: 60 })
    }

    #[test]
    fn the_middle_is_over_windows_of_the_stretch_alone() {
        let mut stretch = Stretch::default();
        assert_eq!(stretch.middle(60), None);
        for minute in 0..20 {
            stretch.close_window(60 * minute, at(1.0));
        }
        stretch.begin(|| Some(1_220));
        assert_eq!(stretch.middle(60), None, "no window is over");
        for (minute, value) in (20..).zip([4.0, 4.0, 8.0, 6.0]) {
            stretch.close_window(60 * minute, at(value));
        }
        let found = stretch.middle(60).unwrap();
        assert_eq!((found.value, found.lower, found.upper, found.n), (5.0, 2.5, 10.0, 4));
        stretch.close_window(60 * 24, None);
        assert_eq!(stretch.middle(60).unwrap().n, 4);
    }

    #[test]
    fn memory_is_bounded() {
        let mut stretch = Stretch::default();
        for minute in 0..100 {
            stretch.close_window(60 * minute, at(1.0));
        }
        assert_eq!(stretch.windows.len(), BEFORE);
        stretch.begin(|| Some(6_000));
        for minute in 100..10_000 {
            stretch.close_window(60 * minute, at(3.0));
        }
        assert_eq!(stretch.windows.len(), MOST_WINDOWS);
    }
}
