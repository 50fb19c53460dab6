//! The pool of small files: always the same number, oldest out, newest in.
//!
//! Files are numbered in the order in which they were made. Each round creates the newest, deletes the oldest, and
//! stats and reads files a third and two thirds of the way between: in its life every file is touched once by each
//! op, a third of the pool apart, so that no op warms the caches for the next.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicU8, AtomicU64};

use rustix::fs::{AtFlags, Dir, FileType, statat};
use rustix::io::Errno;

use super::place;
use crate::config::TargetPlan;
use crate::probe::memory::Memory;
use iosonde_core::backend::{Backend, ObjectName};
use iosonde_core::marked;

/// The newest files may be half made after a kill; this many are looked at.
pub const SUSPECTS: usize = 64;
const LOW: usize = 0;
const NEXT: usize = 8;
const COUNT: usize = 16;

/// The pool as the four metadata lanes share it, across processes: one byte a file number, which wraps round.
///
/// A lane may hang or die between any two of its calls; the others go on. What it held is missing from the count or
/// from the pool until the next start looks at the directory.
#[derive(Debug)]
pub struct Pool {
    memory: Arc<Memory>,
    words: usize,
    present: usize,
    size: usize,
}

/// Result of a look at the directory.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Good files, oldest first.
    pub ids: Vec<u64>,
    /// Half-made files.
    pub broken: Vec<u64>,
    /// Names that are not ours; left alone.
    pub strangers: usize,
}

impl Pool {
    /// A pool of its own memory that should hold `size` files and holds these, ascending.
    pub fn new(size: usize, ids: impl IntoIterator<Item = u64>) -> Result<Self, Errno> {
        const WORDS: usize = 4096;
        let pool = Self::at(Arc::new(Memory::new(WORDS + Self::bytes(size))?), 0, WORDS, size);
        pool.reset(ids);
        Ok(pool)
    }
    /// The pool that lies in a shared memory: its words and its bytes begin there.
    pub fn at(memory: Arc<Memory>, words: usize, present: usize, size: usize) -> Self {
        Self { memory, words, present, size }
    }
    /// Bytes for a pool of `size` files: numbers in use lie closer together than this.
    pub fn bytes(size: usize) -> usize {
        (4 * size).next_power_of_two().max(4096)
    }
    /// Forget what was known; these files are there, ascending and at most [`Pool::span`] apart.
    pub fn reset(&self, ids: impl IntoIterator<Item = u64>) {
        for at in 0..Self::bytes(self.size) {
            let byte = self.memory.byte(self.present + at);
            // Pages that were never touched stay so.
            if byte.load(SeqCst) != 0 {
                byte.store(0, SeqCst);
            }
        }
        self.word(COUNT).store(0, SeqCst);
        let (mut low, mut next) = (None, 0);
        for id in ids {
            self.put(id);
            low.get_or_insert(id);
            next = id + 1;
        }
        self.word(LOW).store(low.unwrap_or(0), SeqCst);
        self.word(NEXT).store(next, SeqCst);
    }
    /// Files further apart than this do not fit into one pool.
    pub fn span(size: usize) -> u64 {
        Self::bytes(size) as u64 / 2
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        self.memory.word(self.words + at)
    }
    fn present(&self, id: u64) -> &AtomicU8 {
        self.memory.byte(self.present + (id % Self::bytes(self.size) as u64) as usize)
    }
    fn put(&self, id: u64) {
        if self.present(id).swap(1, SeqCst) == 0 {
            self.word(COUNT).fetch_add(1, SeqCst);
        }
    }
    fn take(&self, id: u64) -> bool {
        let taken = self.present(id).swap(0, SeqCst) == 1;
        if taken {
            self.word(COUNT).fetch_sub(1, SeqCst);
        }
        taken
    }
    fn first_from(&self, from: u64) -> Option<u64> {
        let next = self.word(NEXT).load(SeqCst);
        (from..next.min(from + Self::bytes(self.size) as u64)).find(|&id| self.present(id).load(SeqCst) == 1)
    }

    /// Number of files the pool may stray by while create or delete hangs.
    fn margin(&self) -> usize {
        (self.size / 4).max(8)
    }
    /// Number of files.
    pub fn len(&self) -> usize {
        self.word(COUNT).load(SeqCst) as usize
    }
    /// True if there are no files.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Number of files there should be.
    pub fn size(&self) -> usize {
        self.size
    }
    /// A number nobody has used, unless the pool already holds too many.
    pub fn next_to_create(&self) -> Option<u64> {
        let (low, next) = (self.word(LOW).load(SeqCst), self.word(NEXT).load(SeqCst));
        let room = next.saturating_sub(low) < Self::bytes(self.size) as u64 - 1;
        (room && self.len() < self.size + self.margin()).then(|| self.word(NEXT).fetch_add(1, SeqCst))
    }
    /// A file was made.
    pub fn created(&self, id: u64) {
        self.put(id);
        self.word(LOW).fetch_min(id, SeqCst);
    }
    /// Take out the oldest file, unless the pool already holds too few.
    pub fn next_to_delete(&self) -> Option<u64> {
        let low = self.word(LOW).load(SeqCst);
        let oldest = (self.len() + self.margin() > self.size).then(|| self.first_from(low)).flatten();
        let taken = oldest.filter(|&id| self.take(id))?;
        // Too low is slow, too high would forget files: if somebody put one back meanwhile, leave it.
        let _ = self.word(LOW).compare_exchange(low, taken + 1, SeqCst, SeqCst);
        Some(taken)
    }
    /// A file could not be deleted, or was not: it is still there.
    pub fn kept(&self, id: u64) {
        self.created(id);
    }
    /// A file turned out to be gone; its place is refilled.
    pub fn lost(&self, id: u64) {
        self.take(id);
    }
    /// The file to stat: a third of the way from the oldest.
    pub fn next_to_stat(&self) -> Option<u64> {
        self.part_of_the_way(1)
    }
    /// The file to read: two thirds of the way from the oldest.
    pub fn next_to_read(&self) -> Option<u64> {
        self.part_of_the_way(2)
    }
    fn part_of_the_way(&self, thirds: u64) -> Option<u64> {
        let (low, next) = (self.word(LOW).load(SeqCst), self.word(NEXT).load(SeqCst));
        let from = low + next.saturating_sub(low) * thirds / 3;
        self.first_from(from).or_else(|| self.first_from(low))
    }
}

/// Name of the directory of a pool.
pub fn directory_name(plan: &TargetPlan) -> String {
    format!("pool-{}", plan.object_bytes)
}

/// List a pool's directory; the newest files are checked for their size.
pub fn look(directory: &OwnedFd, object_bytes: u64) -> Result<Found, Errno> {
    let mut found = Found::default();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        let file = match entry.file_type() {
            FileType::Unknown => regular(directory, entry.file_name()),
            kind => kind == FileType::RegularFile,
        };
        match ObjectName::parse(name).filter(|_| file) {
            Some(id) => found.ids.push(id),
            None => found.strangers += 1,
        }
    }
    found.ids.sort_unstable();
    let suspects = found.ids.split_off(found.ids.len().saturating_sub(SUSPECTS));
    for id in suspects {
        let status = statat(directory, ObjectName::new(id).as_c_str(), AtFlags::SYMLINK_NOFOLLOW)?;
        let whole = status.st_size as u64 == object_bytes;
        if whole { found.ids.push(id) } else { found.broken.push(id) }
    }
    Ok(found)
}

fn regular(directory: &OwnedFd, name: &std::ffi::CStr) -> bool {
    statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|status| FileType::from_raw_mode(status.st_mode) == FileType::RegularFile)
}

/// Bring the directory to exactly `size` whole files: remove half-made ones, delete the oldest or create the newest.
pub fn repair(
    backend: &mut dyn Backend,
    found: Found,
    size: usize,
    content: &mut dyn FnMut() -> Vec<u8>,
    progress: &mut dyn FnMut(u64) -> bool,
) -> Result<VecDeque<u64>, Repair> {
    let failed = |what| move |errno| Repair::Failed { what, errno };
    let gone = |result: Result<(), Errno>| match result {
        Err(Errno::NOENT) => Ok(()),
        other => other,
    };
    for &id in &found.broken {
        gone(backend.delete(&ObjectName::new(id))).map_err(failed("cannot remove a half-made file"))?;
    }
    let next = found.broken.iter().chain(&found.ids).max().map_or(0, |id| id + 1);
    let mut ids: VecDeque<u64> = found.ids.into();
    let oldest = (next + size as u64).saturating_sub(Pool::span(size));
    while ids.len() > size || ids.front().is_some_and(|&id| id < oldest) {
        let Some(id) = ids.pop_front() else { break };
        gone(backend.delete(&ObjectName::new(id))).map_err(failed("cannot delete a surplus file"))?;
    }
    for id in next.. {
        if ids.len() >= size {
            break;
        }
        if ids.len().is_multiple_of(64) && !progress(ids.len() as u64) {
            return Err(Repair::Stopped);
        }
        let name = ObjectName::new(id);
        if let Err(errno) = backend.create(&name, &content()) {
            let _ = backend.delete(&name);
            return Err(Repair::Failed { what: "cannot create the pool", errno });
        }
        ids.push_back(id);
    }
    Ok(ids)
}

/// Why a pool could not be repaired.
#[derive(Debug, PartialEq, Eq)]
pub enum Repair {
    /// Somebody asked to stop.
    Stopped,
    /// A file could not be made or removed.
    Failed {
        /// The action attempted.
        what: &'static str,
        /// Why it failed.
        errno: Errno,
    },
}

/// Remove a pool of another file size: only files named as ours, then the directory if that emptied it.
pub fn remove(place: &place::Place, name: &str) -> Result<(), crate::probe::ProbeError> {
    let directory = place.existing_directory(name)?;
    let failed = |errno| crate::probe::ProbeError::Failed {
        path: place.path.join(name),
        what: "cannot remove an old pool",
        errno,
    };
    for file in marked::names(&directory).map_err(failed)? {
        if ObjectName::parse(file.as_bytes()).is_some() {
            marked::remove_file(&directory, &file).map_err(failed)?;
        }
    }
    match rustix::fs::unlinkat(&place.directory, name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(()),
        Err(errno) => Err(failed(errno)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_core::seed::Random;

    #[test]
    fn every_file_is_touched_once_by_each_op() {
        let pool = Pool::new(30, 0..30).unwrap();
        let mut touched = std::collections::HashMap::<u64, [u32; 3]>::new();
        for _ in 0..300 {
            let created = pool.next_to_create().unwrap();
            pool.created(created);
            touched.entry(pool.next_to_stat().unwrap()).or_default()[0] += 1;
            touched.entry(pool.next_to_read().unwrap()).or_default()[1] += 1;
            touched.entry(pool.next_to_delete().unwrap()).or_default()[2] += 1;
        }
        assert_eq!(pool.len(), 30);
        assert!((60..240).all(|id| touched[&id] == [1, 1, 1]));
    }

    #[test]
    fn a_hanging_create_or_delete_moves_the_pool_only_so_far() {
        let pool = Pool::new(100, 0..100).unwrap();
        let deleted = (0..100).filter_map(|_| pool.next_to_delete()).count();
        assert_eq!(deleted, pool.margin());
        let pool = Pool::new(100, 0..100).unwrap();
        for _ in 0..100 {
            if let Some(id) = pool.next_to_create() {
                pool.created(id);
            }
        }
        assert_eq!(pool.len(), 100 + pool.margin());
    }

    #[test]
    fn any_order_of_events_keeps_the_count_and_hands_out_each_file_once() {
        let mut random = Random::stream(8, "pool");
        let pool = Pool::new(40, 5..45).unwrap();
        let mut there: std::collections::BTreeSet<u64> = (5..45).collect();
        let mut making: Vec<u64> = Vec::new();
        for _ in 0..50_000 {
            match random.below(5) {
                0 => making.extend(pool.next_to_create()),
                1 if !making.is_empty() => {
                    let id = making.swap_remove(random.below(making.len() as u64) as usize);
                    pool.created(id);
                    assert!(there.insert(id), "{id} twice");
                }
                2 => {
                    if let Some(id) = pool.next_to_delete() {
                        assert!(there.remove(&id), "{id} was not there");
                        if random.below(2) == 0 {
                            pool.kept(id);
                            there.insert(id);
                        }
                    }
                }
                3 => {
                    for id in pool.next_to_stat().into_iter().chain(pool.next_to_read()) {
                        assert!(there.contains(&id));
                    }
                }
                _ => making.truncate(3),
            }
            assert_eq!(pool.len(), there.len());
        }
    }

    #[test]
    fn files_too_far_apart_are_replaced() {
        let mut backend = iosonde_core::backend::null::Null::new(
            Arc::new(iosonde_core::clock::RealClock),
            Default::default(),
            1,
            Random::stream(1, "null"),
        );
        let far = Pool::span(16);
        let found = Found { ids: (0..8).chain(far..far + 8).collect(), ..Found::default() };
        let ids = repair(&mut backend, found, 16, &mut || vec![0], &mut |_| true).unwrap();
        assert_eq!(ids, (far..far + 16).collect::<VecDeque<_>>());
    }
}
