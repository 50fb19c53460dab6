//! A disk that is full, slow, or cuts writes short, from a seed: for simulations of the writer.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::io::Errno;

use super::disk::{Disk, DiskFile, Entry, Lock, RealDisk, Removal, Room, create_with, remove_with};
use iosonde_core::clock::SimClock;
use iosonde_core::seed::Random;

/// Faults of the disk; may be changed while it is in use.
#[derive(Debug, Clone)]
pub struct Faults {
    /// Bytes that still fit. Removing files gives theirs back.
    pub room: u64,
    /// Share of writes that take only a part of what they were given.
    pub short: f64,
    /// Share of calls that fail with [`Faults::errno`].
    pub fail: f64,
    /// Error that they fail with.
    pub errno: Errno,
    /// Every call takes so long on this clock.
    pub delay: Option<(SimClock, u64)>,
    /// True if locks do not exist.
    pub lockless: bool,
    /// True if a call would not return: the writer of a simulation leaves its jobs where they are meanwhile.
    pub hangs: bool,
    /// After so many more calls nothing is done any more, as when the process was killed in the middle of the last.
    pub dies_after: Option<u64>,
    /// Number of calls.
    pub calls: u64,
    /// Number of times a file or folder was forced to the device.
    pub syncs: u64,
    random: Random,
}

/// [`RealDisk`] with [`Faults`].
#[derive(Debug, Clone)]
pub struct FaultyDisk(Arc<Mutex<Faults>>);

impl FaultyDisk {
    /// A disk with `room` bytes that behaves well until told otherwise.
    pub fn new(seed: u64, room: u64) -> Self {
        let random = Random::stream(seed, "disk");
        let faults = Faults {
            room,
            short: 0.0,
            fail: 0.0,
            errno: Errno::IO,
            delay: None,
            lockless: false,
            hangs: false,
            dies_after: None,
            calls: 0,
            syncs: 0,
            random,
        };
        Self(Arc::new(Mutex::new(faults)))
    }
    /// Look at the faults or change them.
    pub fn faults<T>(&self, work: impl FnOnce(&mut Faults) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn call(&self) -> io::Result<()> {
        self.faults(|faults| {
            if let Some((clock, delay_ns)) = &faults.delay {
                clock.advance(*delay_ns);
            }
            faults.calls += 1;
            if let Some(left) = &mut faults.dies_after {
                if *left == 0 {
                    return Err(Errno::CANCELED.into());
                }
                *left -= 1;
            }
            let fails = faults.fail > 0.0 && faults.random.unit() <= faults.fail;
            if fails { Err(faults.errno.into()) } else { Ok(()) }
        })
    }
    /// Bytes of `bytes` that fit; nothing at all is an error.
    fn take(&self, bytes: usize) -> io::Result<usize> {
        self.faults(|faults| {
            let mut some = (bytes as u64).min(faults.room);
            if some == 0 && bytes > 0 {
                return Err(Errno::NOSPC.into());
            }
            if faults.dies_after == Some(0) {
                // The last that is written before the end.
                some = faults.random.below(some + 1);
            } else if faults.short > 0.0 && faults.random.unit() <= faults.short {
                some = 1 + faults.random.below(some);
            }
            let some = some.min(bytes as u64);
            faults.room -= some;
            Ok(some as usize)
        })
    }
    fn give(&self, bytes: u64) {
        self.faults(|faults| faults.room = faults.room.saturating_add(bytes));
    }
    fn lock(&self) -> Lock {
        let none: Lock = |_| Err(TryLockError::Error(Errno::NOSYS.into()));
        if self.faults(|faults| faults.lockless) { none } else { File::try_lock }
    }
    fn wrap(&self, file: Box<dyn DiskFile>) -> Box<dyn DiskFile> {
        Box::new(FaultyFile { file, disk: self.clone() })
    }
}

struct FaultyFile {
    file: Box<dyn DiskFile>,
    disk: FaultyDisk,
}

impl DiskFile for FaultyFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.disk.call()?;
        let some = self.disk.take(bytes.len())?;
        self.file.write(&bytes[..some])
    }
    fn len(&mut self) -> io::Result<u64> {
        self.file.len()
    }
    fn last_byte(&mut self) -> io::Result<Option<u8>> {
        self.file.last_byte()
    }
    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.disk.call()?;
        let before = self.file.len()?;
        self.file.cut(length)?;
        self.disk.give(before.saturating_sub(length));
        Ok(())
    }
    fn sync(&mut self) -> io::Result<()> {
        self.disk.call()?;
        self.disk.faults(|faults| faults.syncs += 1);
        self.file.sync()
    }
    fn is_locked(&self) -> bool {
        self.file.is_locked()
    }
}

fn size(path: &Path) -> u64 {
    std::fs::symlink_metadata(path).map_or(0, |found| found.len())
}

impl Disk for FaultyDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.call()?;
        Ok(self.wrap(create_with(path, self.lock())?))
    }
    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.call()?;
        Ok(self.wrap(RealDisk.open(path)?))
    }
    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.call()?;
        let needed = bytes.len() as u64;
        if self.faults(|faults| faults.room) < needed {
            return Err(Errno::NOSPC.into());
        }
        let before = size(path);
        RealDisk.replace(path, bytes)?;
        self.faults(|faults| faults.room = (faults.room - needed).saturating_add(before));
        Ok(())
    }
    fn discard(&self, path: &Path) -> io::Result<()> {
        let bytes = size(path);
        RealDisk.discard(path)?;
        self.give(bytes);
        Ok(())
    }
    fn head(&self, path: &Path, bytes: usize) -> io::Result<Vec<u8>> {
        self.call()?;
        RealDisk.head(path, bytes)
    }
    fn exists(&self, path: &Path) -> bool {
        RealDisk.exists(path)
    }
    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.call()?;
        self.faults(|faults| faults.syncs += 1);
        RealDisk.sync_folder(path)
    }
    fn list(&self, root: &Path, relative: &Path) -> io::Result<Vec<Entry>> {
        self.call()?;
        RealDisk.list(root, relative)
    }
    fn remove(&self, root: &Path, relative: &Path) -> io::Result<Removal> {
        self.call()?;
        let bytes = size(&root.join(relative));
        let done = remove_with(root, relative, self.lock())?;
        if done == Removal::Done {
            self.give(bytes);
        }
        Ok(done)
    }
    fn remove_empty(&self, root: &Path, relative: &Path) -> io::Result<bool> {
        self.call()?;
        RealDisk.remove_empty(root, relative)
    }
    fn answers(&self) -> bool {
        !self.faults(|faults| faults.hangs)
    }
    fn room(&self, _path: &Path) -> io::Result<Room> {
        self.call()?;
        Ok(Room { free_bytes: self.faults(|faults| faults.room), total_bytes: u64::MAX })
    }
}
