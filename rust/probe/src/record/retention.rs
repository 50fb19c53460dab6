//! Retention: drops the oldest raw samples of this host, and nothing else, when room is short.
//!
//! Only files named as ours are looked at: `spool/<host>/<run>-<segment>.spool` (`.torn` when it ended early) and
//! `samples/date=<date>/host=<host>/<run>-<segment>.parquet`, regular files, through no symbolic link. A segment and the
//! Parquet file made from it go together, the segment first, so that nobody seals again what was dropped. Whoever
//! writes or seals a segment holds a lock on it, and it stays. Folders of days in which nothing is left go too.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use super::dates::{DAY_NS, date_of, is_date, start_of};
use super::disk::{Disk, Entry, Removal};
use super::health::Health;
use super::spool;
use super::spooler::SEGMENT_NS;
use crate::config::Keep;

const SAMPLES: &str = "samples";
/// Interval between checks of age, size and free space when nothing is wrong.
const CHECK_NS: i64 = 600 * 1_000_000_000;
/// Interval between checks while too little is free, and after dropping did not help.
const SHORT_NS: i64 = 60 * 1_000_000_000;
/// When so many files and [`FRUITLESS_BYTES`] beyond what was needed are gone and a write is still refused, what is
/// missing is not ours to give: stop for [`CHECK_NS`].
const FRUITLESS_FILES: u64 = 8;
const FRUITLESS_BYTES: u64 = 4 << 20;
/// No more than this part of a file system is kept free.
const SMALL_SHARE: u64 = 20;
/// Enough of a segment to hold its header.
const HEAD_BYTES: usize = 256 << 10;

/// A segment of raw samples, spooled or sealed.
#[derive(Debug)]
struct Raw {
    ended_ns: i64,
    bytes: u64,
    /// Below the root; the segment before its Parquet file.
    files: Vec<(PathBuf, u64)>,
}

impl Raw {
    fn new(ended_ns: i64) -> Self {
        Self { ended_ns, bytes: 0, files: Vec::new() }
    }
    fn add(&mut self, path: PathBuf, bytes: u64) {
        self.bytes += bytes;
        self.files.push((path, bytes));
    }
}

/// The current time.
#[derive(Debug, Clone, Copy)]
pub struct Time {
    /// UTC.
    pub now_ns: i64,
    /// The time to reckon ages by; none while it is not confirmed, and nothing goes for its age.
    pub aged_ns: Option<i64>,
}

/// Applies a [`Keep`] to one host's part of a store.
#[derive(Debug)]
pub struct Retention {
    root: PathBuf,
    host: String,
    keep: Keep,
    next_check_ns: Option<i64>,
    next_short_ns: i64,
    fruitless_until_ns: i64,
    /// The segment that is being written.
    pub open_stem: Option<String>,
    open_bytes: u64,
    opened: HashMap<String, i64>,
}

/// True if a write failed for want of room.
pub fn is_full(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOSPC | libc::EDQUOT))
}

impl Retention {
    /// Nothing checked yet.
    pub fn new(root: PathBuf, host: String, keep: Keep) -> Self {
        Self {
            root,
            host,
            keep,
            next_check_ns: None,
            next_short_ns: i64::MIN,
            fruitless_until_ns: i64::MIN,
            open_stem: None,
            open_bytes: 0,
            opened: HashMap::new(),
        }
    }

    /// Do `work`; while it is refused for want of room, drop the oldest raw samples and try again.
    pub fn making_room<T>(
        &mut self,
        disk: &dyn Disk,
        health: &Health,
        now_ns: i64,
        needed: u64,
        work: &mut dyn FnMut() -> io::Result<T>,
    ) -> io::Result<T> {
        let mut candidates = None;
        let (mut files, mut bytes) = (0, 0);
        loop {
            let result = work();
            let Err(error) = &result else { return result };
            if !is_full(error) {
                return result;
            }
            health.full_at(now_ns);
            if near(now_ns, self.fruitless_until_ns) {
                return result;
            }
            let fruitless = files >= FRUITLESS_FILES && bytes > needed.saturating_add(FRUITLESS_BYTES);
            let oldest = match &mut candidates {
                _ if fruitless => None,
                Some(raws) => next(raws),
                none => next(none.insert(self.candidates(disk)?)),
            };
            let Some(raw) = oldest else {
                self.fruitless_until_ns = now_ns.saturating_add(if fruitless { CHECK_NS } else { SHORT_NS });
                return result;
            };
            bytes += self.remove(disk, health, &raw)?;
            files += 1;
        }
    }

    /// Apply age, size and free space if it is time, or `now`. Whether room is to spare, as far as it was looked at.
    pub fn check(&mut self, disk: &dyn Disk, health: &Health, time: Time, now: bool) -> io::Result<bool> {
        let now_ns = time.now_ns;
        let (mut lack, mut roomy) = (0, false);
        if self.keep.min_free_bytes > 0 || health.store_full_since_ns().is_some() {
            let room = disk.room(&self.root)?;
            // On a small file system the wish for so much free room would leave none for samples.
            let wanted = self.keep.min_free_bytes.min(room.total_bytes / SMALL_SHARE);
            lack = wanted.saturating_sub(room.free_bytes);
            roomy = room.free_bytes >= wanted.saturating_add(FRUITLESS_BYTES);
            if lack > 0 {
                health.full_at(now_ns);
            }
        }
        let due = now || self.next_check_ns.is_none_or(|next| !near(now_ns, next));
        let short = lack > 0 && !near(now_ns, self.next_short_ns);
        if !due && !short {
            return Ok(roomy);
        }
        self.next_check_ns = Some(now_ns.saturating_add(CHECK_NS));
        self.next_short_ns = now_ns.saturating_add(SHORT_NS);
        self.trim(disk, health, time.aged_ns, lack)?;
        if let Some(aged_ns) = time.aged_ns {
            self.trim_windows(disk, aged_ns)?;
        }
        self.tidy(disk, now_ns)?;
        Ok(roomy)
    }

    fn trim(
        &mut self,
        disk: &dyn Disk,
        health: &Health,
        aged_ns: Option<i64>,
        mut lack: u64,
    ) -> io::Result<()> {
        if lack == 0 && self.keep.max_age_ns.is_none() && self.keep.max_bytes.is_none() {
            return Ok(());
        }
        let raws = self.candidates(disk)?;
        let mut total = self.open_bytes + raws.values().map(|raw| raw.bytes).sum::<u64>();
        for raw in raws.values() {
            let age = aged_ns.and_then(|now_ns| u64::try_from(now_ns.saturating_sub(raw.ended_ns)).ok());
            let old = age.zip(self.keep.max_age_ns).is_some_and(|(age, max)| age > max);
            let over = self.keep.max_bytes.is_some_and(|max| total > max);
            if !(old || over || lack > 0) {
                continue;
            }
            let bytes = self.remove(disk, health, raw)?;
            total = total.saturating_sub(bytes);
            lack = lack.saturating_sub(bytes);
        }
        Ok(())
    }

    /// Remove a segment and what was made of it; returns the bytes that this freed.
    fn remove(&self, disk: &dyn Disk, health: &Health, raw: &Raw) -> io::Result<u64> {
        let mut freed = 0;
        for (path, bytes) in &raw.files {
            match disk.remove(&self.root, path)? {
                Removal::Done => {
                    freed += bytes;
                    health.files_dropped.fetch_add(1, Ordering::Relaxed);
                    health.bytes_dropped.fetch_add(*bytes, Ordering::Relaxed);
                }
                // Its Parquet file must outlive it, or its rows would come back.
                Removal::Locked => break,
                Removal::Nothing => {}
            }
        }
        Ok(freed)
    }

    /// This host's raw samples, oldest first: by date, then by stem, which begins with when its run began.
    fn candidates(&mut self, disk: &dyn Disk) -> io::Result<BTreeMap<(String, String), Raw>> {
        let mut found: BTreeMap<(String, String), Raw> = BTreeMap::new();
        let mut dates: HashMap<String, String> = HashMap::new();
        let folder = Path::new("spool").join(&self.host);
        // What was good of a torn segment is sealed; the rest is kept beside for as long as that.
        for file in disk.list(&self.root, &folder).unwrap_or_default() {
            let name = file.name.strip_suffix(".spool").or_else(|| file.name.strip_suffix(".torn"));
            let Some(stem) = name.filter(|stem| is_stem(stem)) else { continue };
            let path = folder.join(&file.name);
            let Some(bytes) = file.bytes else { continue };
            let Some(opened_ns) = self.opened_ns(disk, stem, &path) else { continue };
            let date = date_of(opened_ns);
            dates.insert(stem.to_owned(), date.clone());
            let ended_ns = opened_ns.saturating_add(SEGMENT_NS);
            found.entry((date, stem.to_owned())).or_insert_with(|| Raw::new(ended_ns)).add(path, bytes);
        }
        for (stem, date, path, bytes) in self.sealed(disk)? {
            let ended_ns = start_of(&date).saturating_add(DAY_NS);
            let date = dates.get(&stem).cloned().unwrap_or(date);
            found.entry((date, stem)).or_insert_with(|| Raw::new(ended_ns)).add(path, bytes);
        }
        // It stays, but takes its part of the room.
        let open = self.open_stem.as_ref().and_then(|open| Some((dates.get(open)?.clone(), open.clone())));
        self.open_bytes = open.and_then(|open| found.remove(&open)).map_or(0, |raw| raw.bytes);
        Ok(found)
    }

    /// This host's Parquet files: stem, date, path and bytes.
    fn sealed(&self, disk: &dyn Disk) -> io::Result<Vec<(String, String, PathBuf, u64)>> {
        let mut sealed = Vec::new();
        for date in self.days(disk)? {
            let folder = self.day(&date);
            // A link or a file in its place is not ours.
            for file in disk.list(&self.root, &folder).unwrap_or_default() {
                let stem = file.name.strip_suffix(".parquet").filter(|stem| is_stem(stem));
                if let (Some(stem), Some(bytes)) = (stem, file.bytes) {
                    sealed.push((stem.to_owned(), date.clone(), folder.join(&file.name), bytes));
                }
            }
        }
        Ok(sealed)
    }

    /// Days that have a folder of samples, of whichever host.
    fn days(&self, disk: &dyn Disk) -> io::Result<Vec<String>> {
        let folders = disk.list(&self.root, Path::new(SAMPLES))?.into_iter();
        let folders = folders.filter(|entry| entry.bytes.is_none());
        let date =
            |entry: Entry| entry.name.strip_prefix("date=").filter(|date| is_date(date)).map(str::to_owned);
        Ok(folders.filter_map(date).collect())
    }

    /// This host's folder of a day, below the root.
    fn day(&self, date: &str) -> PathBuf {
        Path::new(SAMPLES).join(format!("date={date}")).join(format!("host={}", self.host))
    }

    /// Folders of days that are long over and in which nothing is left. A sealer that needs one makes it again.
    fn tidy(&self, disk: &dyn Disk, now_ns: i64) -> io::Result<()> {
        for date in self.days(disk)? {
            if now_ns.saturating_sub(start_of(&date)) > 3 * DAY_NS {
                let folder = self.day(&date);
                disk.remove_empty(&self.root, &folder)?;
                disk.remove_empty(&self.root, folder.parent().unwrap_or(&folder))?;
            }
        }
        Ok(())
    }

    /// When a segment was opened. Asked of its header once; none if it is not one of ours.
    fn opened_ns(&mut self, disk: &dyn Disk, stem: &str, path: &Path) -> Option<i64> {
        if let Some(known) = self.opened.get(stem) {
            return Some(*known);
        }
        let opened_ns = spool::opened_ns(&disk.head(&self.root.join(path), HEAD_BYTES).ok()?)?;
        self.opened.insert(stem.to_owned(), opened_ns);
        Some(opened_ns)
    }

    fn trim_windows(&self, disk: &dyn Disk, now_ns: i64) -> io::Result<()> {
        let Some(max) = self.keep.windows_max_age_ns else { return Ok(()) };
        let folder = Path::new("windows").join(&self.host);
        for file in disk.list(&self.root, &folder)?.into_iter().filter(|file| file.bytes.is_some()) {
            let month = file.name.strip_suffix(".windows").and_then(|rest| rest.rsplit('.').next());
            let Some(month) = month.filter(|month| is_date(&format!("{month}-01"))) else { continue };
            // No month is longer than 31 days.
            let ended_ns = start_of(&format!("{month}-01")).saturating_add(31 * DAY_NS);
            if u64::try_from(now_ns.saturating_sub(ended_ns)).is_ok_and(|age| age > max) {
                disk.remove(&self.root, &folder.join(&file.name))?;
            }
        }
        Ok(())
    }
}

fn next(raws: &mut BTreeMap<(String, String), Raw>) -> Option<Raw> {
    raws.pop_first().map(|(_, raw)| raw)
}

/// True if `until` lies ahead, but no further than waits last: a clock may have been set back.
fn near(now_ns: i64, until_ns: i64) -> bool {
    (1..=CHECK_NS).contains(&until_ns.saturating_sub(now_ns))
}

/// A stem as [`spool::stem`] makes it of a run's id: 16 hexadecimal digits, a dash, six digits or more.
fn is_stem(stem: &str) -> bool {
    let hex = |text: &str| text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    stem.split_once('-').is_some_and(|(run, number)| {
        run.len() == 16 && hex(run) && (6..=10).contains(&number.len()) && digits(number)
    })
}

#[cfg(test)]
mod tests;
