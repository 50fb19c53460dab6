//! Queue of jobs handed to the writer and not yet taken: bounded, so that a store that hangs costs no more memory than
//! one that is full.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use super::health::Health;
use super::job::{BACKLOG_APPENDS, BACKLOG_ROWS, Job, Look};
use super::spool::Target;
use iosonde_core::sample::Sample;

/// Something to append to a file.
#[derive(Debug)]
pub enum Append {
    /// A line, with its end.
    Line {
        /// To which file.
        path: PathBuf,
        /// The line.
        text: Vec<u8>,
    },
    /// A checksummed frame.
    Frame {
        /// To which file.
        path: PathBuf,
        /// Bytes that a new file begins with.
        head: Vec<u8>,
        /// The frame's payload.
        payload: Vec<u8>,
    },
}

impl Append {
    /// Path of the file it belongs to.
    pub fn path(&self) -> &PathBuf {
        match self {
            Self::Line { path, .. } | Self::Frame { path, .. } => path,
        }
    }
}

/// Jobs in three kinds; each keeps its own order.
#[derive(Debug, Default)]
pub struct Inbox {
    /// Rows, with the time at which they were handed over.
    pub rows: VecDeque<(i64, Vec<Sample>)>,
    /// A longer list of targets: good for the rows before it too.
    pub targets: Option<Vec<Target>>,
    /// Lines and frames.
    pub appends: VecDeque<Append>,
    /// The newest contents of files.
    pub replacements: BTreeMap<PathBuf, Vec<u8>>,
    /// Looks at the store.
    pub looks: Vec<Look>,
    /// Nothing more will come.
    pub closed: bool,
    waiting: usize,
}

impl Inbox {
    /// Take a job; the oldest go when there are too many.
    pub fn push(&mut self, job: Job, health: &Health) {
        match job {
            Job::Look(look) => self.looks.push(look),
            Job::Rows { samples, now_ns } => self.push_rows(samples, now_ns, health),
            Job::Targets(targets) => self.targets = Some(targets),
            Job::Replace { path, bytes } => {
                self.replacements.insert(path, bytes);
            }
            Job::Frame { path, head, payload } => {
                self.push_append(Append::Frame { path, head, payload }, health);
            }
            Job::Line { path, text } => {
                let mut text = text.into_bytes();
                if text.last() != Some(&b'\n') {
                    text.push(b'\n');
                }
                self.push_append(Append::Line { path, text }, health);
            }
        }
    }
    /// True if there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
            && self.looks.is_empty()
            && self.targets.is_none()
            && self.appends.is_empty()
            && self.replacements.is_empty()
    }

    fn push_rows(&mut self, samples: Vec<Sample>, now_ns: i64, health: &Health) {
        health.rows_waiting.fetch_add(samples.len() as u64, Ordering::Relaxed);
        self.waiting += samples.len();
        match self.rows.back_mut() {
            Some((last_ns, last)) if last.is_empty() => (*last_ns, *last) = (now_ns, samples),
            _ => self.rows.push_back((now_ns, samples)),
        }
        while self.waiting > BACKLOG_ROWS {
            let excess = self.waiting - BACKLOG_ROWS;
            let Some((_, oldest)) = self.rows.front_mut() else { break };
            let gone = excess.min(oldest.len());
            oldest.drain(..gone);
            if oldest.is_empty() {
                self.rows.pop_front();
            }
            self.waiting -= gone;
            health.rows_dropped.fetch_add(gone as u64, Ordering::Relaxed);
            health.rows_waiting.fetch_sub(gone as u64, Ordering::Relaxed);
        }
    }

    fn push_append(&mut self, append: Append, health: &Health) {
        self.appends.push_back(append);
        health.appends_waiting.fetch_add(1, Ordering::Relaxed);
        bound(&mut self.appends, health);
    }
}

/// Give up the oldest of too many.
pub fn bound(appends: &mut VecDeque<Append>, health: &Health) {
    let excess = appends.len().saturating_sub(BACKLOG_APPENDS);
    appends.drain(..excess);
    health.appends_dropped.fetch_add(excess as u64, Ordering::Relaxed);
    health.appends_waiting.fetch_sub(excess as u64, Ordering::Relaxed);
}
