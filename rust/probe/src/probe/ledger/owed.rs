//! A set of ticks as a few ranges: what a lane still owes.

use std::collections::VecDeque;
use std::ops::Range;

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

    /// Take one tick out; whether it was in.
    pub fn take(&mut self, tick: u64) -> bool {
        let Some(at) = self.0.iter().position(|range| range.contains(&tick)) else { return false };
        let range = &mut self.0[at];
        let behind = tick + 1..range.end;
        range.end = tick;
        if range.is_empty() {
            self.0.remove(at);
            if !behind.is_empty() {
                self.0.insert(at, behind);
            }
        } else if !behind.is_empty() {
            self.0.insert(at + 1, behind);
        }
        true
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
                    let tick = random.below(end + 3);
                    assert_eq!(owed.take(tick), set.remove(&tick));
                }
            }
            assert!(owed.take_all().eq(set));
            assert!(!owed.take(0));
        }
    }
}
