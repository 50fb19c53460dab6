//! A set of ticks as a few ranges: what a lane still owes.

use std::collections::VecDeque;
use std::ops::{Range, RangeInclusive};

/// Ticks, as ascending ranges that do not touch.
#[derive(Debug, Default)]
pub struct Owed(VecDeque<Range<u64>>);

impl Owed {
    /// Add ticks behind all that were ever in it.
    pub fn add(&mut self, ticks: Range<u64>) {
        match self.0.back_mut() {
            _ if ticks.is_empty() => {}
            Some(last) if last.end == ticks.start => last.end = ticks.end,
            _ => self.0.push_back(ticks),
        }
    }

    /// Take these ticks out; `taken` gets those that were in.
    pub fn take_each(&mut self, ticks: RangeInclusive<u64>, taken: &mut dyn FnMut(u64)) {
        let (first, end) = (*ticks.start(), ticks.end().saturating_add(1));
        let mut at = self.0.partition_point(|range| range.end <= first);
        while let Some(range) = self.0.get_mut(at).filter(|range| range.start < end) {
            let (before, behind) = (range.start..first.max(range.start), end.min(range.end)..range.end);
            (before.end..behind.start).for_each(&mut *taken);
            match (before.is_empty(), behind.is_empty()) {
                (true, true) => drop(self.0.remove(at)),
                (true, false) => *range = behind,
                (false, true) => {
                    *range = before;
                    at += 1;
                }
                (false, false) => {
                    *range = before;
                    self.0.insert(at + 1, behind);
                    return;
                }
            }
        }
    }

    /// Take everything out.
    pub fn take_all(&mut self) -> impl Iterator<Item = u64> {
        std::mem::take(&mut self.0).into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_core::seed::Random;
    use std::collections::BTreeSet;

    #[test]
    fn it_is_the_set_that_a_set_would_be() {
        let mut random = Random::stream(3, "owed");
        for _ in 0..200 {
            let (mut owed, mut set, mut end) = (Owed::default(), BTreeSet::new(), 0);
            for _ in 0..100 {
                if random.below(4) == 0 {
                    let start = end + random.below(3);
                    end = start + random.below(9);
                    owed.add(start..end);
                    set.extend(start..end);
                } else {
                    let first = random.below(end + 3);
                    let last = first + random.below(4);
                    let mut taken = Vec::new();
                    owed.take_each(first..=last, &mut |tick| taken.push(tick));
                    assert!((first..=last).filter(|tick| set.remove(tick)).eq(taken));
                }
            }
            assert!(owed.take_all().eq(set));
        }
    }
}
