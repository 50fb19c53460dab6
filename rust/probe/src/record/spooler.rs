//! Appends rows to segments of an hour, or of less where a limit of size asks for it, and keeps what does not fit.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::disk::Disk;
use super::health::Health;
use super::job::BACKLOG_ROWS;
use super::spool;
use super::tail::Tail;
use iosonde_core::sample::Sample;

/// A segment holds at most the rows of one hour of UTC.
pub const SEGMENT_NS: i64 = 3600 * 1_000_000_000;
/// Segments that all raw samples may take, where a limit of size cuts them ...
const SEGMENTS_KEPT: u64 = 8;
/// ... and that hold at least so much: a file of less is not worth its name.
const LEAST_BYTES: u64 = 32 << 10;
/// Rows of one frame at most, so that a long backlog goes out piece by piece as room appears.
const FRAME_ROWS: usize = 4096;

struct Open {
    tail: Tail,
    path: PathBuf,
    hour: i64,
    fresh: bool,
    unsynced: bool,
}

/// Appends rows to hourly segments and keeps what does not fit.
pub struct Spooler {
    folder: PathBuf,
    header: spool::Header,
    open: Option<Open>,
    most_bytes: u64,
    waiting: VecDeque<Sample>,
    health: Arc<Health>,
}

impl Spooler {
    /// Segments in `folder`; `header` is the first one's. `kept_bytes`: what all raw samples may take: a segment takes an eighth
    /// of it at most, so that the oldest can go.
    pub fn new(folder: PathBuf, header: spool::Header, kept_bytes: Option<u64>, health: Arc<Health>) -> Self {
        let most_bytes = kept_bytes.map_or(u64::MAX, |bytes| (bytes / SEGMENTS_KEPT).max(LEAST_BYTES));
        Self { folder, header, open: None, most_bytes, waiting: VecDeque::new(), health }
    }
    /// The next segment knows more targets.
    pub fn extend(&mut self, disk: &dyn Disk, targets: Vec<spool::Target>) -> io::Result<()> {
        self.header.targets = targets;
        self.close(disk)
    }
    /// Folder of the segments.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
    /// Stem of the segment that is being written.
    pub fn open_stem(&self) -> Option<&str> {
        self.open.as_ref().and_then(|open| open.path.file_stem()?.to_str())
    }
    /// True if the segment that is being written has no lock, because its file system has none.
    pub fn is_unlocked(&self) -> bool {
        self.open.as_ref().is_some_and(|open| !open.tail.is_locked())
    }
    /// Bytes that the waiting rows need.
    pub fn needed_bytes(&self) -> u64 {
        (self.waiting.len() * spool::ROW) as u64
    }
    /// Add rows to those that wait; the oldest go when there are too many.
    pub fn queue(&mut self, samples: Vec<Sample>) {
        self.waiting.extend(samples);
        let excess = self.waiting.len().saturating_sub(BACKLOG_ROWS);
        self.waiting.drain(..excess);
        self.health.rows_dropped.fetch_add(excess as u64, Ordering::Relaxed);
        self.health.rows_waiting.fetch_sub(excess as u64, Ordering::Relaxed);
    }
    /// Write what waits. Whether a new segment was begun, or what stopped it: what was not written waits on.
    pub fn flush(&mut self, disk: &dyn Disk, now_ns: i64) -> io::Result<bool> {
        if self.waiting.is_empty() {
            return Ok(false);
        }
        let hour = now_ns.div_euclid(SEGMENT_NS);
        if self.open.as_ref().is_some_and(|open| open.hour < hour && disk.exists(&open.path)) {
            // The last rows of the hour go where the others are: ten minutes seldom lie in two files.
            let over = |sample: &Sample| sample.due_ns >= hour * SEGMENT_NS;
            let rows = self.waiting.make_contiguous();
            rows.sort_by_key(over);
            let ended = rows.partition_point(|sample| !over(sample));
            self.write(ended)?;
            if self.waiting.is_empty() {
                return Ok(false);
            }
        }
        // A deleted segment would swallow rows: somebody emptied the store under us, so begin another.
        let full = |open: &Open| open.tail.good() >= self.most_bytes;
        if self.open.as_ref().is_some_and(|open| open.hour != hour || full(open) || !disk.exists(&open.path))
        {
            // Rows that the device refuses now are in the file; the next segment must not wait for them.
            let _ = self.close(disk);
        }
        let begun = self.open.is_none();
        if begun {
            self.header.opened_ns = now_ns;
            let (tail, path) = spool::create(disk, &self.folder, &self.header)?;
            self.header.segment += 1;
            self.open = Some(Open { tail, path, hour, fresh: true, unsynced: true });
        }
        self.write(self.waiting.len())?;
        if self.waiting.capacity() > FRAME_ROWS {
            // A backlog has gone out: so does its memory.
            self.waiting.shrink_to(FRAME_ROWS / 4);
        }
        Ok(begun)
    }
    /// Append the first rows that wait to the open segment.
    fn write(&mut self, mut rows: usize) -> io::Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        while rows > 0 {
            let some = rows.min(FRAME_ROWS);
            spool::append(&mut open.tail, &self.waiting.make_contiguous()[..some])?;
            open.unsynced = true;
            self.waiting.drain(..some);
            rows -= some;
            self.health.rows_written.fetch_add(some as u64, Ordering::Relaxed);
            self.health.rows_waiting.fetch_sub(some as u64, Ordering::Relaxed);
        }
        Ok(())
    }
    /// Force what was written to the device.
    pub fn sync(&mut self, disk: &dyn Disk) -> io::Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        if open.unsynced {
            open.tail.file().sync()?;
            open.unsynced = false;
        }
        if open.fresh {
            disk.sync_folder(&self.folder)?;
            open.fresh = false;
        }
        Ok(())
    }
    /// End the segment.
    pub fn close(&mut self, disk: &dyn Disk) -> io::Result<()> {
        let result = self.sync(disk);
        self.open = None;
        result
    }
}
