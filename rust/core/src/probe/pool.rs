//! The pool of small files: always the same number, oldest out, newest in.
//!
//! Files are numbered in the order in which they were made. Each round creates the newest, deletes the oldest, and
//! stats and reads files a third and two thirds of the way between: in its life every file is touched once by each
//! op, a third of the pool apart, so that no op warms the caches for the next.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{AtFlags, Dir, FileType, statat};
use rustix::io::Errno;

use super::place;
use crate::backend::{Backend, ObjectName};

/// The newest files may be half made after a kill; this many are looked at.
const SUSPECTS: usize = 64;

/// The pool as the four metadata lanes share it. Locked only outside timed sections.
#[derive(Debug)]
pub struct Pool {
    size: usize,
    ids: Mutex<Ids>,
}

#[derive(Debug)]
struct Ids {
    files: VecDeque<u64>,
    next: u64,
}

/// What a look at the directory found.
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
    /// A pool that should hold `size` files and holds these, oldest first.
    pub fn new(size: usize, ids: impl IntoIterator<Item = u64>) -> Self {
        let files: VecDeque<u64> = ids.into_iter().collect();
        let next = files.back().map_or(0, |last| last + 1);
        Self { size, ids: Mutex::new(Ids { files, next }) }
    }

    fn lock(&self) -> MutexGuard<'_, Ids> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// How far the number of files may stray while create or delete hangs.
    fn margin(&self) -> usize {
        (self.size / 4).max(8)
    }
    /// How many files there are.
    pub fn len(&self) -> usize {
        self.lock().files.len()
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// How many there should be.
    pub fn size(&self) -> usize {
        self.size
    }
    /// A number nobody has used, unless the pool already holds too many.
    pub fn next_to_create(&self) -> Option<u64> {
        let mut ids = self.lock();
        (ids.files.len() < self.size + self.margin()).then(|| {
            let id = ids.next;
            ids.next += 1;
            id
        })
    }
    /// A file was made.
    pub fn created(&self, id: u64) {
        let mut ids = self.lock();
        let at = ids.files.partition_point(|&other| other < id);
        ids.files.insert(at, id);
    }
    /// Take out the oldest file, unless the pool already holds too few.
    pub fn next_to_delete(&self) -> Option<u64> {
        let mut ids = self.lock();
        (ids.files.len() + self.margin() > self.size).then(|| ids.files.pop_front()).flatten()
    }
    /// A file could not be deleted: it is still the oldest.
    pub fn kept(&self, id: u64) {
        self.lock().files.push_front(id);
    }
    /// A file turned out to be gone; its place is refilled.
    pub fn lost(&self, id: u64) {
        let mut ids = self.lock();
        if let Ok(at) = ids.files.binary_search(&id) {
            ids.files.remove(at);
        }
    }
    /// The file to stat: a third of the way from the oldest.
    pub fn next_to_stat(&self) -> Option<u64> {
        let ids = self.lock();
        ids.files.get(ids.files.len() / 3).copied()
    }
    /// The file to read: two thirds of the way from the oldest.
    pub fn next_to_read(&self) -> Option<u64> {
        let ids = self.lock();
        ids.files.get(ids.files.len() * 2 / 3).copied()
    }
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
) -> Result<Pool, Repair> {
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
    while ids.len() > size {
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
    Ok(Pool::new(size, ids))
}

/// Why a pool could not be repaired.
#[derive(Debug, PartialEq, Eq)]
pub enum Repair {
    /// Somebody asked to stop.
    Stopped,
    /// A file could not be made or removed.
    Failed {
        /// What was attempted.
        what: &'static str,
        /// Why it failed.
        errno: Errno,
    },
}

/// Remove a pool of another file size: only files named as ours, then the directory if that emptied it.
pub fn remove(place: &place::Place, name: &str) -> Result<(), super::ProbeError> {
    let directory = place.open_directory(name)?;
    let failed = |errno| super::ProbeError::Failed {
        path: place.path.join(name),
        what: "cannot remove an old pool",
        errno,
    };
    for file in place::names(&directory).map_err(failed)? {
        if ObjectName::parse(file.as_bytes()).is_some() {
            place::remove_file(&directory, &file).map_err(failed)?;
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
    use crate::seed::Random;

    #[test]
    fn every_file_is_touched_once_by_each_op() {
        let pool = Pool::new(30, 0..30);
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
        let pool = Pool::new(100, 0..100);
        let deleted = (0..100).filter_map(|_| pool.next_to_delete()).count();
        assert_eq!(deleted, pool.margin());
        let pool = Pool::new(100, 0..100);
        for _ in 0..100 {
            if let Some(id) = pool.next_to_create() {
                pool.created(id);
            }
        }
        assert_eq!(pool.len(), 100 + pool.margin());
    }

    #[test]
    fn any_order_of_events_keeps_ids_ascending_and_unique() {
        let mut random = Random::stream(8, "pool");
        let pool = Pool::new(40, 5..45);
        let mut held: Vec<u64> = Vec::new();
        for _ in 0..5_000 {
            match random.below(4) {
                0 => held.extend(pool.next_to_create()),
                1 if !held.is_empty() => pool.created(held.swap_remove(0)),
                2 => {
                    let kept = pool.next_to_delete().filter(|_| random.below(2) == 0);
                    kept.into_iter().for_each(|id| pool.kept(id));
                }
                _ => {}
            }
            let ids = pool.lock();
            assert!(ids.files.iter().zip(ids.files.iter().skip(1)).all(|(a, b)| a < b));
        }
    }
}
