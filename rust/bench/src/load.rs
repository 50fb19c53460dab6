//! A load of our own: something real to be slow under, in demonstrations and tests.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use rustix::fs::{AtFlags, Mode, OFlags, fdatasync, mkdirat, openat, unlinkat};
use rustix::io::{Errno, pwrite};

use iosonde_core::aligned::AlignedBuffer;
use iosonde_core::backend::ObjectName;
use iosonde_core::clock::{Clock, Laps, Stop};
use iosonde_core::histogram::Histogram;
use iosonde_core::seed::Random;

const BLOCK: usize = 4 << 20;
/// A writer goes round within this many bytes.
const EXTENT: u64 = 128 << 20;
const FILE: usize = 3901;

/// What a load does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Writes 4 MiB blocks one after the other and forces them to the device.
    Writer,
    /// Creates a file of 3901 bytes, forces it to the device, deletes it; again and again.
    CreateDelete,
}

impl Kind {
    /// From `writer` or `create_delete`.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "writer" => Some(Self::Writer),
            "create_delete" => Some(Self::CreateDelete),
            _ => None,
        }
    }
}

#[derive(Debug, Default)]
struct Done {
    ops: AtomicU64,
    bytes: AtomicU64,
    errno: AtomicI64,
    latency: Mutex<Histogram>,
}

impl Done {
    fn add(&self, latency: &Histogram) {
        self.latency.lock().unwrap_or_else(PoisonError::into_inner).merge(latency);
    }
}

/// What a load did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// When it began, UTC.
    pub began_ns: i64,
    /// When it ended, UTC.
    pub ended_ns: i64,
    /// Operations.
    pub ops: u64,
    /// Bytes written.
    pub bytes: u64,
    /// Median latency of a block written, or of a file created, forced and deleted.
    pub median_ns: Option<u64>,
    /// What stopped it early.
    pub error: Option<String>,
}

/// A running load.
pub struct Load {
    clock: Arc<dyn Clock>,
    stop: Arc<Stop>,
    threads: Vec<JoinHandle<()>>,
    done: Arc<Done>,
    began_ns: i64,
    root: OwnedFd,
    name: String,
    path: PathBuf,
}

impl Load {
    /// Start `threads` loads in a new directory below `target`, which is removed at the end.
    pub fn start(target: &Path, kind: Kind, threads: usize, clock: Arc<dyn Clock>) -> std::io::Result<Self> {
        let root = rustix::fs::open(target, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let name = format!(".iosonde-load-{:016x}", iosonde_core::seed::fresh());
        mkdirat(&root, &name, Mode::RWXU)?;
        let stop = Stop::new();
        let done = Arc::new(Done::default());
        let began_ns = clock.wall_ns();
        let path = target.join(&name);
        let mut load = Self { clock, stop, threads: Vec::new(), done, began_ns, root, name, path };
        for number in 0..threads.max(1) {
            let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let directory = openat(&load.root, &load.name, flags, Mode::empty())?;
            let (stop, done) = (Arc::clone(&load.stop), Arc::clone(&load.done));
            let clock = Arc::clone(&load.clock);
            load.threads.push(std::thread::Builder::new().name("load".into()).spawn(move || {
                let mut laps = Laps::new(clock.as_ref());
                let mut latency = Histogram::default();
                let mut lap = |call: &mut dyn FnMut() -> Result<u64, Errno>| {
                    let (bytes, began_ns, ended_ns) = laps.lap(call);
                    latency.record(ended_ns - began_ns);
                    done.bytes.fetch_add(bytes?, Ordering::Relaxed);
                    done.ops.fetch_add(1, Ordering::Relaxed);
                    Ok(())
                };
                let result = match kind {
                    Kind::Writer => write(&directory, number, &stop, &mut lap),
                    Kind::CreateDelete => create_delete(&directory, number, &stop, &mut lap),
                };
                done.add(&latency);
                if let Err(errno) = result {
                    done.errno.store(i64::from(errno.raw_os_error()), Ordering::Relaxed);
                }
            })?);
        }
        Ok(load)
    }

    /// End it, remove its files, say what it did.
    pub fn stop(mut self) -> Report {
        self.end();
        let errno = self.done.errno.load(Ordering::Relaxed);
        Report {
            began_ns: self.began_ns,
            ended_ns: self.clock.wall_ns(),
            ops: self.done.ops.load(Ordering::Relaxed),
            bytes: self.done.bytes.load(Ordering::Relaxed),
            median_ns: self.done.latency.lock().unwrap_or_else(PoisonError::into_inner).quantile_ns(0.5),
            error: (errno != 0).then(|| {
                let path = self.path.display();
                format!("{path}: {}", std::io::Error::from_raw_os_error(errno as i32))
            }),
        }
    }

    fn end(&mut self) {
        self.stop.raise([]);
        for thread in self.threads.drain(..) {
            // A load that panicked has ended too.
            let _ = thread.join();
        }
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        if let Ok(directory) = openat(&self.root, &self.name, flags, Mode::empty()) {
            for name in iosonde_core::marked::names(&directory).unwrap_or_default() {
                let _ = iosonde_core::marked::remove_file(&directory, &name);
            }
        }
        let _ = unlinkat(&self.root, &self.name, AtFlags::REMOVEDIR);
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        if !self.threads.is_empty() {
            self.end();
        }
    }
}

/// Runs one operation, times and counts it; it answers with the bytes written.
type Lap<'a> = dyn FnMut(&mut dyn FnMut() -> Result<u64, Errno>) -> Result<(), Errno> + 'a;

fn write(directory: &OwnedFd, number: usize, stop: &Stop, lap: &mut Lap<'_>) -> Result<(), Errno> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::RUSR | Mode::WUSR;
    let name = format!("stream-{number}");
    let file = openat(directory, &name, flags | OFlags::DIRECT, mode)
        .or_else(|_| openat(directory, &name, flags, mode))?;
    let mut buffer = AlignedBuffer::new(BLOCK);
    Random::stream(number as u64, "load").fill(buffer.slice_mut());
    let mut at = 0;
    while !stop.raised() {
        lap(&mut || {
            let n = pwrite(&file, buffer.slice(), at)?;
            fdatasync(&file)?;
            Ok(n as u64)
        })?;
        at = (at + BLOCK as u64) % EXTENT;
    }
    Ok(())
}

fn create_delete(directory: &OwnedFd, number: usize, stop: &Stop, lap: &mut Lap<'_>) -> Result<(), Errno> {
    let content = vec![0x5a_u8; FILE];
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut id = (number as u64) << 48;
    while !stop.raised() {
        let name = ObjectName::new(id);
        lap(&mut || {
            let file = openat(directory, name.as_c_str(), flags, Mode::RUSR | Mode::WUSR)?;
            let n = rustix::io::write(&file, &content)?;
            rustix::fs::fsync(&file)?;
            drop(file);
            unlinkat(directory, name.as_c_str(), AtFlags::empty())?;
            Ok(n as u64)
        })?;
        id += 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_core::clock::RealClock;

    #[test]
    fn works_and_leaves_nothing_behind() {
        let target = std::env::temp_dir().join(format!("iosonde-load-test-{}", iosonde_core::seed::fresh()));
        std::fs::create_dir(&target).unwrap();
        for kind in [Kind::Writer, Kind::CreateDelete] {
            let load = Load::start(&target, kind, 2, Arc::new(RealClock)).unwrap();
            while load.done.ops.load(Ordering::Relaxed) < 4 {
                std::thread::yield_now();
            }
            let report = load.stop();
            assert!(
                report.ops >= 4 && report.bytes > 0 && report.median_ns.is_some() && report.error.is_none(),
                "{report:?}"
            );
        }
        assert_eq!(std::fs::read_dir(&target).unwrap().count(), 0);
        std::fs::remove_dir(target).unwrap();
    }
}
