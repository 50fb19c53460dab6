//! Which object a rank touches next, and with which op.
//!
//! A *step* is what belongs together: the four operations of a cycle, or a single one. A phase that is stopped ends
//! between two steps, so that a pool loses no object.

use iosonde_core::sample::Op;
use iosonde_core::seed::Random;

/// The next operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// What to do.
    pub op: Op,
    /// On which of the rank's open data sets.
    pub set: usize,
    /// With which object of it.
    pub object: u64,
}

/// A stretch of consecutive objects of one open data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// Which of the rank's open data sets.
    pub set: usize,
    /// Its first object.
    pub from: u64,
    /// How many.
    pub count: u64,
}

/// What the steps of a phase are made of.
#[derive(Debug, Clone)]
enum Work {
    /// One op on every object of some stretches: object by object, in each of them data set by data set.
    Stretches { op: Op, sets: Vec<Stretch>, order: Option<Vec<u64>> },
    /// md-workbench's benchmark phase: `reads` and `writes` are pools, one a data set. A pool is first in, first out:
    /// where objects are deleted and created, iteration `i` finds the oldest at `i` places from where it began, also
    /// when `i` is past the pool's size, because the phase made that object itself. Where none are, `i` starts over.
    Cycle { ops: Vec<Op>, reads: Vec<Stretch>, writes: Vec<Stretch>, iterations: u64, random: Option<Random> },
}

/// The operations of one rank in one phase, in order.
#[derive(Debug, Clone)]
pub struct Steps {
    work: Work,
    at: u64,
    total: u64,
    within: usize,
    batch: Vec<Step>,
}

impl Steps {
    /// `op` on every object of the stretches; in a random order when there is randomness.
    pub fn each(op: Op, sets: Vec<Stretch>, random: Option<&mut Random>) -> Self {
        let longest = sets.iter().map(|set| set.count).max().unwrap_or(0);
        let slots = longest * sets.len() as u64;
        let order = random.map(|random| {
            let mut order: Vec<u64> = (0..slots).collect();
            shuffle(&mut order, random);
            order
        });
        Self { work: Work::Stretches { op, sets, order }, at: 0, total: slots, within: 0, batch: Vec::new() }
    }

    /// `iterations` over the data sets with these ops, which are in the order of md-workbench unless shuffled.
    pub fn cycle(
        ops: &[Op],
        reads: Vec<Stretch>,
        writes: Vec<Stretch>,
        iterations: u64,
        random: Option<Random>,
    ) -> Self {
        let total = iterations * reads.len() as u64;
        let work = Work::Cycle { ops: ops.to_vec(), reads, writes, iterations, random };
        Self { work, at: 0, total, within: 0, batch: Vec::with_capacity(4) }
    }

    /// Steps that were begun.
    pub fn done(&self) -> u64 {
        self.at
    }
    /// Steps there are.
    pub fn total(&self) -> u64 {
        self.total
    }
    /// Operations there are.
    pub fn operations(&self) -> u64 {
        match &self.work {
            Work::Stretches { sets, .. } => sets.iter().map(|set| set.count).sum(),
            Work::Cycle { ops, .. } => self.total * ops.len() as u64,
        }
    }
    /// Whether the next operation begins a step.
    #[inline]
    pub fn between(&self) -> bool {
        self.within == self.batch.len()
    }

    /// The next operation; none after the last.
    #[inline]
    pub fn next_step(&mut self) -> Option<Step> {
        while self.between() {
            if self.at == self.total {
                return None;
            }
            self.prepare();
            self.at += 1;
            self.within = 0;
        }
        self.within += 1;
        Some(self.batch[self.within - 1])
    }

    fn prepare(&mut self) {
        let (at, batch) = (self.at, &mut self.batch);
        batch.clear();
        match &mut self.work {
            Work::Stretches { op, sets, order } => {
                let slot = order.as_ref().map_or(at, |order| order[at as usize]);
                let set = sets[(slot % sets.len() as u64) as usize];
                let place = slot / sets.len() as u64;
                if place < set.count {
                    batch.push(Step { op: *op, set: set.set, object: set.from + place });
                }
            }
            Work::Cycle { ops, reads, writes, iterations, random } => {
                let d = (at % reads.len() as u64) as usize;
                let i = at / reads.len() as u64;
                let (read, write) = (reads[d], writes[d]);
                let moves = ops.contains(&Op::MdDelete);
                for &op in ops.iter() {
                    let old = match (op, random.as_mut()) {
                        (Op::MdStat | Op::MdRead, Some(random)) => {
                            // Neither deleted nor created in this phase.
                            let first = if moves { *iterations } else { 0 };
                            first + random.below(read.count - first)
                        }
                        _ if moves => i,
                        _ => i % read.count,
                    };
                    batch.push(match op {
                        Op::MdCreate => Step { op, set: write.set, object: write.from + write.count + i },
                        Op::MdDelete => Step { op, set: read.set, object: read.from + i },
                        _ => Step { op, set: read.set, object: read.from + old },
                    });
                }
                if let Some(random) = random {
                    shuffle(batch, random);
                }
            }
        }
    }
}

/// Fisher and Yates.
fn shuffle<T>(items: &mut [T], random: &mut Random) {
    for last in (1..items.len()).rev() {
        items.swap(last, random.below(last as u64 + 1) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    const CYCLE: [Op; 4] = [Op::MdStat, Op::MdRead, Op::MdDelete, Op::MdCreate];

    fn all(mut steps: Steps) -> Vec<Step> {
        std::iter::from_fn(|| steps.next_step()).collect()
    }

    fn pool(set: usize, from: u64) -> Stretch {
        Stretch { set, from, count: 10 }
    }

    #[test]
    fn a_cycle_takes_the_oldest_and_adds_the_newest() {
        let steps =
            all(Steps::cycle(&CYCLE, vec![pool(0, 5), pool(1, 0)], vec![pool(2, 7), pool(1, 0)], 3, None));
        assert_eq!(steps.len(), 3 * 2 * 4);
        let first: Vec<(Op, usize, u64)> = steps[..8].iter().map(|s| (s.op, s.set, s.object)).collect();
        assert_eq!(first[..3], [(Op::MdStat, 0, 5), (Op::MdRead, 0, 5), (Op::MdDelete, 0, 5)]);
        assert_eq!(
            first[3..],
            [
                (Op::MdCreate, 2, 17),
                (Op::MdStat, 1, 0),
                (Op::MdRead, 1, 0),
                (Op::MdDelete, 1, 0),
                (Op::MdCreate, 1, 10)
            ]
        );
        assert_eq!(steps[23], Step { op: Op::MdCreate, set: 1, object: 12 });
    }

    #[test]
    fn more_iterations_than_objects_find_what_the_phase_has_made() {
        let steps = all(Steps::cycle(&CYCLE, vec![pool(0, 5)], vec![pool(0, 5)], 25, None));
        let mut there: std::collections::BTreeSet<u64> = (5..15).collect();
        for step in steps {
            match step.op {
                Op::MdCreate => assert!(there.insert(step.object), "{step:?} twice"),
                Op::MdDelete => assert!(there.remove(&step.object), "{step:?} is not there"),
                _ => assert_eq!(there.first(), Some(&step.object), "{step:?} is not the oldest"),
            }
        }
        assert_eq!(there, (30..40).collect());
    }

    #[test]
    fn iterations_start_over_where_nothing_moves() {
        let pools = || vec![pool(0, 5)];
        let steps = all(Steps::cycle(&CYCLE[..2], pools(), pools(), 25, None));
        assert_eq!(steps.len(), 2 * 25);
        assert!(steps.iter().all(|step| (5..15).contains(&step.object)));
        assert_eq!(steps[20].object, 5);
    }

    #[test]
    fn random_order_deletes_and_creates_the_same_and_never_touches_what_moves() {
        let random = Some(Random::stream(3, "order"));
        let steps = all(Steps::cycle(&CYCLE, vec![pool(0, 0)], vec![pool(0, 0)], 6, random));
        let of = |op| steps.iter().filter(move |s| s.op == op).map(|s| s.object).collect::<Vec<_>>();
        assert_eq!(of(Op::MdDelete), (0..6).collect::<Vec<_>>());
        assert_eq!(of(Op::MdCreate), (10..16).collect::<Vec<_>>());
        assert!(of(Op::MdStat).iter().chain(&of(Op::MdRead)).all(|object| (6..10).contains(object)));
        let first: Vec<Op> = steps.chunks(4).map(|step| step[0].op).collect();
        assert!(first.iter().any(|&op| op != first[0]), "{first:?}");
    }

    #[test]
    fn each_object_comes_once_whatever_the_order_and_the_lengths() {
        let sets =
            vec![pool(0, 3), Stretch { set: 1, from: 0, count: 4 }, Stretch { set: 2, from: 0, count: 0 }];
        for random in [None, Some(&mut Random::stream(1, "x"))] {
            let mut seen = BTreeMap::new();
            for step in all(Steps::each(Op::MdRead, sets.clone(), random)) {
                *seen.entry((step.set, step.object)).or_insert(0) += 1;
            }
            assert_eq!(seen.len(), 14);
            assert_eq!(Steps::each(Op::MdRead, sets.clone(), None).operations(), 14);
            assert!(seen.values().all(|&n| n == 1));
        }
    }

    #[test]
    fn creation_goes_over_the_sets_object_by_object() {
        let order: Vec<(usize, u64)> = all(Steps::each(Op::MdCreate, vec![pool(0, 0), pool(1, 0)], None))
            .iter()
            .take(4)
            .map(|s| (s.set, s.object))
            .collect();
        assert_eq!(order, [(0, 0), (1, 0), (0, 1), (1, 1)]);
    }

    #[test]
    fn steps_are_whole_between_cycles() {
        let mut steps = Steps::cycle(&CYCLE, vec![pool(0, 0)], vec![pool(0, 0)], 2, None);
        let mut between = 0;
        while steps.next_step().is_some() {
            between += usize::from(steps.between());
        }
        assert_eq!((between, steps.done(), steps.total(), steps.operations()), (2, 2, 2, 8));
    }

    #[test]
    fn nothing_to_do_is_no_step() {
        assert!(all(Steps::each(Op::MdStat, Vec::new(), None)).is_empty());
    }
}
