//! A look at a kept data set, and its repair: the state of a run is what the storage holds, not a file that may lie.
//!
//! A data set should hold P objects with consecutive numbers. A run that was killed leaves at most a few that are
//! missing, half written or too many; a failed create leaves a hole.

use rustix::io::Errno;
use serde::Serialize;

use iosonde_core::backend::{Backend, ObjectName};

/// The newest may be half made after a kill; this many are looked at.
const SUSPECTS: usize = 8;

/// What a data set holds after the look, and what was done to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Survey {
    /// Number of its oldest object.
    pub first: u64,
    /// How many it holds, with consecutive numbers.
    pub count: u64,
    /// Objects that were found.
    pub found: u64,
    /// Objects that had to be made.
    pub made: u64,
    /// Objects that had to go: half made, or too many.
    pub removed: u64,
}

/// How much to repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Exactly this many.
    Full(u64),
    /// At most this many: what is missing at the end is made by a phase that is timed.
    Begun(u64),
}

/// Make a data set whole. `numbers` is what it lists; `write` makes an object and `size_bytes` is what it has then.
pub fn repair(
    backend: &mut dyn Backend,
    mut numbers: Vec<u64>,
    wanted: Wanted,
    size_bytes: u64,
    mut write: impl FnMut(&mut dyn Backend, u64) -> Result<(), Errno>,
) -> Result<Survey, Errno> {
    let mut survey = Survey { found: numbers.len() as u64, ..Survey::default() };
    let most = match wanted {
        Wanted::Full(most) | Wanted::Begun(most) => most,
    };
    numbers.sort_unstable();
    numbers.dedup();
    let suspects = numbers.len().saturating_sub(SUSPECTS);
    for number in numbers.split_off(suspects) {
        if half_made(backend, number, size_bytes)? {
            remove(backend, number, &mut survey)?;
        } else {
            numbers.push(number);
        }
    }
    let surplus = numbers.len().saturating_sub(usize::try_from(most).unwrap_or(usize::MAX));
    for number in numbers.drain(..surplus) {
        remove(backend, number, &mut survey)?;
    }
    survey.first = numbers.first().copied().unwrap_or(0);
    let beyond = numbers.partition_point(|&number| number - survey.first < most);
    for number in numbers.split_off(beyond) {
        remove(backend, number, &mut survey)?;
    }
    survey.count = match wanted {
        Wanted::Full(count) => count,
        Wanted::Begun(_) => numbers.last().map_or(0, |last| last - survey.first + 1),
    };
    let mut present = numbers.iter().copied().peekable();
    for number in survey.first..survey.first + survey.count {
        if present.next_if_eq(&number).is_none() {
            write(backend, number)?;
            survey.made += 1;
        }
    }
    Ok(survey)
}

fn half_made(backend: &mut dyn Backend, number: u64, size_bytes: u64) -> Result<bool, Errno> {
    match backend.stat(&ObjectName::new(number)) {
        Ok(size) => Ok(size != size_bytes),
        // Gone between the listing and now: as good as removed.
        Err(Errno::NOENT) => Ok(true),
        Err(errno) => Err(errno),
    }
}

fn remove(backend: &mut dyn Backend, number: u64, survey: &mut Survey) -> Result<(), Errno> {
    survey.removed += 1;
    match backend.delete(&ObjectName::new(number)) {
        Err(Errno::NOENT) => Ok(()),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_core::seed::Random;
    use std::collections::BTreeMap;

    /// Objects as numbers and sizes.
    #[derive(Default)]
    struct Memory(BTreeMap<u64, u64>);

    impl Memory {
        fn number(name: &ObjectName) -> u64 {
            ObjectName::parse(name.as_c_str().to_bytes()).unwrap()
        }
    }

    impl Backend for Memory {
        fn create(&mut self, name: &ObjectName, content: &[u8]) -> Result<(), Errno> {
            match self.0.insert(Self::number(name), content.len() as u64) {
                Some(_) => Err(Errno::EXIST),
                None => Ok(()),
            }
        }
        fn stat(&mut self, name: &ObjectName) -> Result<u64, Errno> {
            self.0.get(&Self::number(name)).copied().ok_or(Errno::NOENT)
        }
        fn read(&mut self, name: &ObjectName, _: &mut [u8]) -> Result<usize, Errno> {
            self.stat(name).map(|size| size as usize)
        }
        fn delete(&mut self, name: &ObjectName) -> Result<(), Errno> {
            self.0.remove(&Self::number(name)).map(|_| ()).ok_or(Errno::NOENT)
        }
    }

    fn repaired(memory: &mut Memory, wanted: Wanted) -> Survey {
        let numbers: Vec<u64> = memory.0.keys().rev().copied().collect();
        repair(memory, numbers, wanted, 9, |backend, number| {
            backend.create(&ObjectName::new(number), &[0; 9])
        })
        .unwrap()
    }

    #[test]
    fn a_whole_pool_is_left_alone() {
        let mut memory = Memory((40..50).map(|number| (number, 9)).collect());
        let survey = repaired(&mut memory, Wanted::Full(10));
        assert_eq!(survey, Survey { first: 40, count: 10, found: 10, made: 0, removed: 0 });
    }

    #[test]
    fn whatever_a_kill_leaves_becomes_a_pool_of_the_same_size() {
        let mut random = Random::stream(11, "kills");
        for _ in 0..2_000 {
            let first = random.below(1_000);
            let mut memory = Memory::default();
            for number in first..first + random.below(14) {
                if random.below(5) > 0 {
                    memory.0.insert(number, 9);
                }
            }
            if let Some(mut newest) = memory.0.last_entry() {
                *newest.get_mut() = random.below(10);
            }
            let full = random.below(2) == 0;
            let survey = repaired(&mut memory, if full { Wanted::Full(10) } else { Wanted::Begun(10) });
            assert!(survey.count <= 10 && (!full || survey.count == 10));
            let expected: Vec<u64> = (survey.first..survey.first + survey.count).collect();
            assert!(memory.0.keys().copied().eq(expected), "{survey:?}");
            assert!(memory.0.values().all(|&size| size == 9));
            assert_eq!(survey.found + survey.made - survey.removed, survey.count);
        }
    }

    #[test]
    fn a_begun_pool_is_not_filled() {
        let mut memory = Memory((0..4).map(|number| (number, 9)).collect());
        memory.0.insert(4, 3);
        let survey = repaired(&mut memory, Wanted::Begun(10));
        assert_eq!((survey.count, survey.made, survey.removed), (4, 0, 1));
    }
}
