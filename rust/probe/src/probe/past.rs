//! Past of a target from earlier runs in the store, and its measurements until the store has told that past.
//!
//! ```text
//! supervisor ── ask ──► writer's thread reads the store ── Past ──► supervisor: accounts as if it had always been known
//! ```
//! A store may hang like any storage, so the supervisor only asks. Until the answer is there an account learns by itself;
//! then a new one begins with the past and takes the same rows again.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};

use super::reading::{bytes_of, is_nothing, of, set_aside};
use super::state::slug;
use super::state_writer::{Files, StateWriter};
use super::view::Watched;
use crate::config::TargetPlan;
use crate::record::baselines::Learnt;
use crate::record::dates::month_of;
use crate::record::disk::Disk;
use crate::record::job::{Job, Look};
use crate::record::windows::{self, Header};
use iosonde_core::sample::{Op, Sample};
use iosonde_core::slowdown::detect::Alarm;
use iosonde_core::slowdown::live::LiveOp;

/// Rows of a target that are held until its past is known: nearly an hour at a period of a second. Beyond, the oldest go.
const MOST_HELD: usize = 20_000;

/// The part of a window that a baseline needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Remembered {
    /// The op of the window.
    pub op: Op,
    /// Its start, UTC.
    pub start_ns: i64,
    /// Its median service time.
    pub median_ns: i64,
}

/// State that earlier runs left of a target.
#[derive(Debug, Default)]
pub struct Past {
    windows: Vec<Remembered>,
    baselines: Learnt,
    /// Why some of it is not there.
    pub lacking: Option<String>,
}

impl Past {
    /// Begin accounts with it.
    pub fn tell(self, accounts: &mut [LiveOp]) {
        for window in self.windows {
            accounts[window.op as usize].learn(window.start_ns, window.median_ns);
        }
        for (op, guarded) in self.baselines {
            accounts[op as usize].resume(guarded);
        }
    }
}

/// An answer that is still to come, and what the target measured meanwhile.
pub struct Awaited {
    answer: Receiver<Past>,
    held: VecDeque<Sample>,
}

/// Findings of an account that began anew, in the rows it took again.
pub struct Caught {
    /// The alarm that each op has now; none for an op that has none.
    pub alarms: HashMap<Op, (Alarm, i64)>,
    /// True if the baseline learnt from them.
    pub learnt: bool,
}

impl Awaited {
    /// The answer, if it is there.
    pub fn answered(&self) -> Option<Past> {
        self.answer.try_recv().ok()
    }
    /// Keep a row that was accounted for without the past.
    pub fn hold(&mut self, sample: Sample) {
        if self.held.len() == MOST_HELD {
            self.held.pop_front();
        }
        self.held.push_back(sample);
    }
    /// Replace the accounts of a target by `fresh` ones, which know the past, once they have taken the same rows.
    pub fn catch_up(self, target: &Watched, mut fresh: Vec<LiveOp>) -> Caught {
        let mut caught = Caught { alarms: HashMap::new(), learnt: false };
        for sample in &self.held {
            // Its windows are in the store's queue already.
            let taken = fresh[sample.op as usize].take(sample);
            caught.learnt |= taken.learnt;
            match taken.alarm {
                Some((alarm, since_ns)) if alarm.cleared_ns.is_none() => {
                    caught.alarms.insert(sample.op, (alarm, since_ns));
                }
                Some(_) => drop(caught.alarms.remove(&sample.op)),
                None => {}
            }
        }
        let mut accounts = target.accounts();
        for (new, old) in fresh.iter_mut().zip(accounts.iter_mut()) {
            // Counters never go back, even if not every row was held.
            std::mem::swap(&mut new.totals, &mut old.totals);
        }
        *accounts = fresh;
        caught
    }
}

impl StateWriter {
    /// Ask what the store knows of a plan. The writer's thread looks, again and again while the store refuses.
    pub fn ask(&self, plan: &TargetPlan, trailing_ns: u64) -> Awaited {
        let (sender, answer) = channel();
        let (files, plan) = (self.files.clone(), plan.clone());
        let look = move |disk: &dyn Disk| {
            let windows = files.remembered(disk, &plan, trailing_ns)?;
            let (baselines, lacking) = files.learnt(&plan)?;
            // Whoever asked may have gone.
            let _ = sender.send(Past { windows, baselines, lacking });
            Ok(())
        };
        self.writer.send(Job::Look(Look(Box::new(look))));
        Awaited { answer, held: VecDeque::new() }
    }
}

impl Files {
    /// Medians of windows of earlier runs of the same target, period and window length, from the last `trailing_ns`
    /// of them, in the order of their starts. A file that a crash cut short is cut to what is good.
    pub fn remembered(
        &self,
        disk: &dyn Disk,
        plan: &TargetPlan,
        trailing_ns: u64,
    ) -> io::Result<Vec<Remembered>> {
        let header = self.header(plan);
        let mut found: Vec<Remembered> = Vec::new();
        for path in self.months(&header, &slug(&plan.name))?.into_iter().rev() {
            let newest = found.iter().map(|window| window.start_ns).max();
            let oldest = newest.map(|newest| month_of(newest.saturating_sub_unsigned(trailing_ns)));
            if oldest.is_some_and(|month| month_in(&path) < Some(month.as_str())) {
                break;
            }
            found.extend(read(disk, &header, &path)?);
        }
        let newest = found.iter().map(|window| window.start_ns).max().unwrap_or(0);
        let oldest = newest.saturating_sub_unsigned(trailing_ns);
        found.retain(|window| window.start_ns >= oldest);
        found.sort_by_key(|window| window.start_ns);
        Ok(found)
    }

    /// Files of one series of windows, oldest month first.
    pub fn months(&self, header: &Header, slug: &str) -> io::Result<Vec<PathBuf>> {
        let prefix = header.prefix(slug);
        let ours = |path: &PathBuf| {
            let rest = path.file_name().and_then(|name| name.to_str()?.strip_prefix(&prefix));
            rest.and_then(|rest| rest.strip_suffix(".windows")).is_some_and(|month| month.len() == 7)
        };
        let entries = match std::fs::read_dir(&self.windows) {
            Err(error) if is_nothing(&error) => return Ok(Vec::new()),
            entries => entries.map_err(|error| of(&self.windows, &error))?,
        };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(ours).collect();
        paths.sort();
        Ok(paths)
    }
}

fn read(disk: &dyn Disk, header: &Header, path: &Path) -> io::Result<Vec<Remembered>> {
    let Some(bytes) = bytes_of(path)? else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    let read = windows::each(&bytes, i64::MIN, i64::MAX, &mut |window| {
        let (op, start_ns) = (window.op, window.start_ns);
        found.extend(window.median_ns().map(|median_ns| Remembered { op, start_ns, median_ns }));
    });
    let Some(read) = read.ok().filter(|read| read.header == *header) else {
        set_aside(path);
        return Ok(Vec::new());
    };
    if read.good < bytes.len() {
        // Needs no room, and comes before anything is appended.
        disk.open(path)?.cut(read.good as u64)?;
    }
    Ok(found)
}

/// The month in a file's name.
fn month_in(path: &Path) -> Option<&str> {
    path.file_stem()?.to_str()?.rsplit('.').next()
}
