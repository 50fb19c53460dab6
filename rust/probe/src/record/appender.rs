//! Lines, frames and replaced files: done in their order, kept while the store cannot take them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::io;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use super::disk::Disk;
use super::frames;
use super::health::{Health, Trouble};
use super::inbox::{Append, bound};
use super::namesake::NamesakeWatch;
use super::retention::Retention;
use super::tail::Tail;

/// Lines, frames and replaced files that wait or were just written.
pub struct Appender {
    namesakes: NamesakeWatch,
    appends: VecDeque<Append>,
    replacements: BTreeMap<PathBuf, Vec<u8>>,
    /// Files with something behind their good bytes that could not be cut off.
    torn: HashMap<PathBuf, u64>,
    unsynced: BTreeSet<PathBuf>,
}

impl Appender {
    /// Nothing to do yet, for this run.
    pub fn new(run_id: &str) -> Self {
        Self {
            namesakes: NamesakeWatch::new(run_id),
            appends: VecDeque::new(),
            replacements: BTreeMap::new(),
            torn: HashMap::new(),
            unsynced: BTreeSet::new(),
        }
    }

    /// Add work. Of several contents for one file only the newest counts.
    pub fn queue(
        &mut self,
        appends: VecDeque<Append>,
        replacements: BTreeMap<PathBuf, Vec<u8>>,
        health: &Health,
    ) {
        self.appends.extend(appends);
        bound(&mut self.appends, health);
        self.replacements.extend(replacements);
    }

    /// Try everything once. Returns the first trouble.
    pub(super) fn work(
        &mut self,
        disk: &dyn Disk,
        room: &mut Retention,
        health: &Health,
        now_ns: i64,
    ) -> Option<Trouble> {
        let mut trouble = None;
        // What follows on a file that just refused must not overtake.
        let mut refused = HashSet::new();
        for append in std::mem::take(&mut self.appends) {
            if refused.contains(append.path()) {
                self.appends.push_back(append);
                continue;
            }
            let needed = append_bytes(&append);
            let result = room.making_room(disk, health, now_ns, needed, &mut || self.append(disk, &append));
            if let Err(error) = &result {
                trouble.get_or_insert(health.failed(error, append.path()));
            }
            if result.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::InvalidInput) {
                refused.insert(append.path().clone());
                self.appends.push_back(append);
            } else {
                health.appends_waiting.fetch_sub(1, Ordering::Relaxed);
                self.unsynced.insert(append.path().clone());
            }
        }
        for (path, bytes) in std::mem::take(&mut self.replacements) {
            if self.namesakes.sees(disk, &path, now_ns) {
                health.namesake_at(now_ns);
            }
            let needed = bytes.len() as u64;
            let replace = &mut || disk.replace(&path, &bytes);
            if let Err(error) = room.making_room(disk, health, now_ns, needed, replace) {
                trouble.get_or_insert(health.failed(&error, &path));
                self.replacements.insert(path, bytes);
            }
        }
        trouble
    }

    fn append(&mut self, disk: &dyn Disk, append: &Append) -> io::Result<()> {
        let path = append.path();
        let file = disk.open(path)?;
        let mut tail = match self.torn.remove(path) {
            Some(good) => Tail::from(file, good),
            None => Tail::new(file)?,
        };
        let result = match append {
            Append::Line { text, .. } => append_line(&mut tail, text),
            Append::Frame { head, payload, .. } if tail.good() == 0 => {
                tail.append(&[head.as_slice(), &frames::encode(payload)].concat())
            }
            Append::Frame { payload, .. } => frames::append(&mut tail, payload),
        };
        if tail.dirty() {
            self.torn.insert(path.clone(), tail.good());
        }
        result
    }

    /// Force what was appended to the device.
    pub fn sync(&mut self, disk: &dyn Disk) -> io::Result<()> {
        while let Some(path) = self.unsynced.pop_first() {
            // A file that somebody removed needs no sync.
            if disk.exists(&path)
                && let Err(error) = disk.open(&path).and_then(|mut file| file.sync())
            {
                self.unsynced.insert(path);
                return Err(error);
            }
        }
        Ok(())
    }
}

fn append_bytes(append: &Append) -> u64 {
    match append {
        Append::Line { text, .. } => text.len() as u64,
        Append::Frame { head, payload, .. } => (head.len() + payload.len() + 8) as u64,
    }
}

/// A line that a crash cut short is ended first: it spoils itself only.
fn append_line(tail: &mut Tail, text: &[u8]) -> io::Result<()> {
    match tail.file().last_byte()? {
        None | Some(b'\n') => tail.append(text),
        Some(_) => tail.append(&[b"\n", text].concat()),
    }
}
