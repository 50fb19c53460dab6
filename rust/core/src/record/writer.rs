//! The one thread that writes to the store: rows to the spool, states and baselines beside it.
//!
//! The store may be full or slow; the rows then wait in memory, up to a limit, and go out when it recovers.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use super::{frames, spool};
use crate::sample::Sample;

/// A segment holds at most the rows of one hour of UTC.
const SEGMENT_NS: i64 = 3600 * 1_000_000_000;
/// Rows are forced to the device this often; a crash of the process alone loses nothing that was written.
const SYNC_NS: i64 = 60 * 1_000_000_000;
/// Rows that wait in memory while the store cannot take them; beyond, the oldest go.
pub const BACKLOG_ROWS: usize = 200_000;

/// What the writer is asked to do.
#[derive(Debug)]
pub enum Job {
    /// Append rows; `now_ns` is UTC and chooses the segment.
    Rows {
        /// In the order in which they ended.
        samples: Vec<Sample>,
        /// Now.
        now_ns: i64,
    },
    /// Replace a file atomically.
    Replace {
        /// Which.
        path: PathBuf,
        /// With what.
        bytes: Vec<u8>,
    },
    /// Append one line to a text file.
    Line {
        /// Which.
        path: PathBuf,
        /// What, without its end.
        text: String,
    },
    /// Append one frame to a file of frames.
    Frame {
        /// Which.
        path: PathBuf,
        /// What.
        payload: Vec<u8>,
    },
}

/// How the writer fares; readable at any time.
#[derive(Debug, Default)]
pub struct Health {
    /// Rows on disk.
    pub rows_written: AtomicU64,
    /// Rows waiting for a store that cannot take them.
    pub rows_waiting: AtomicU64,
    /// Rows given up because too many waited.
    pub rows_dropped: AtomicU64,
    /// Failed attempts to write.
    pub errors: AtomicU64,
    last_error: Mutex<Option<String>>,
}

impl Health {
    /// The latest trouble, until a write succeeds again.
    pub fn last_error(&self) -> Option<String> {
        self.last_error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
    fn note(&self, result: &io::Result<()>, path: &Path) {
        let mut last = self.last_error.lock().unwrap_or_else(PoisonError::into_inner);
        *last = result.as_ref().err().map(|error| {
            self.errors.fetch_add(1, Ordering::Relaxed);
            format!("cannot write to the store: {}: {error}", path.display())
        });
    }
}

/// Handle of a running writer.
#[derive(Debug)]
pub struct Writer {
    jobs: Sender<Job>,
    thread: JoinHandle<()>,
    health: Arc<Health>,
}

impl Writer {
    /// Start writing below `spool_folder`; `header` is the first segment's.
    pub fn start(spool_folder: PathBuf, header: spool::Header) -> io::Result<Self> {
        let health = Arc::new(Health::default());
        let (jobs, inbox) = channel();
        let mut spooler = Spooler::new(spool_folder, header, Arc::clone(&health));
        let thread = std::thread::Builder::new()
            .name("writer".into())
            .stack_size(128 << 10)
            .spawn(move || run(&mut spooler, &inbox))?;
        Ok(Self { jobs, thread, health })
    }
    /// Hand over a job; never blocks.
    pub fn send(&self, job: Job) {
        // The thread ends only after `finish`, so there is always a receiver.
        let _ = self.jobs.send(job);
    }
    /// How it fares.
    pub fn health(&self) -> &Arc<Health> {
        &self.health
    }
    /// Write what is left and close the segment.
    pub fn finish(self) -> Arc<Health> {
        drop(self.jobs);
        let _ = self.thread.join();
        self.health
    }
}

fn run(spooler: &mut Spooler, inbox: &Receiver<Job>) {
    for job in inbox {
        match job {
            Job::Rows { samples, now_ns } => spooler.take(samples, now_ns),
            Job::Replace { path, bytes } => {
                let result = replace(&path, &bytes);
                spooler.health.note(&result, &path);
            }
            Job::Line { path, text } => {
                let result = append_line(&path, &text);
                spooler.health.note(&result, &path);
            }
            Job::Frame { path, payload } => {
                let result = append_frame(&path, &payload);
                spooler.health.note(&result, &path);
            }
        }
    }
    spooler.close();
}

/// Write a file beside its place and move it there.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = folder.join(format!(".{name}.tmp"));
    let written = std::fs::write(&beside, bytes).or_else(|error| {
        if error.kind() != io::ErrorKind::NotFound {
            return Err(error);
        }
        std::fs::create_dir_all(folder)?;
        std::fs::write(&beside, bytes)
    });
    written.and_then(|()| std::fs::rename(&beside, path)).inspect_err(|_| {
        let _ = std::fs::remove_file(&beside);
    })
}

fn append_line(path: &Path, text: &str) -> io::Result<()> {
    std::fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
    let mut file = File::options().create(true).append(true).open(path)?;
    io::Write::write_all(&mut file, format!("{text}\n").as_bytes())
}

fn append_frame(path: &Path, payload: &[u8]) -> io::Result<()> {
    let mut file = File::options().create(true).read(true).append(true).open(path)?;
    frames::append(&mut file, payload)
}

struct Open {
    file: File,
    path: PathBuf,
    hour: i64,
    synced_ns: i64,
}

/// Appends rows to hourly segments and keeps what does not fit.
struct Spooler {
    folder: PathBuf,
    header: spool::Header,
    open: Option<Open>,
    waiting: VecDeque<Sample>,
    health: Arc<Health>,
}

impl Spooler {
    fn new(folder: PathBuf, header: spool::Header, health: Arc<Health>) -> Self {
        Self { folder, header, open: None, waiting: VecDeque::new(), health }
    }

    fn take(&mut self, samples: Vec<Sample>, now_ns: i64) {
        self.waiting.extend(samples);
        let excess = self.waiting.len().saturating_sub(BACKLOG_ROWS);
        self.waiting.drain(..excess);
        self.health.rows_dropped.fetch_add(excess as u64, Ordering::Relaxed);
        if !self.waiting.is_empty() {
            let result = self.flush(now_ns);
            self.health.note(&result, &self.folder);
        }
        self.health.rows_waiting.store(self.waiting.len() as u64, Ordering::Relaxed);
    }

    fn flush(&mut self, now_ns: i64) -> io::Result<()> {
        let hour = now_ns.div_euclid(SEGMENT_NS);
        // A deleted segment would swallow rows: somebody emptied the store under us, so begin another.
        if self.open.as_ref().is_some_and(|open| open.hour != hour || !open.path.exists()) {
            self.close();
        }
        let open = match &mut self.open {
            Some(open) => open,
            none => {
                self.header.opened_ns = now_ns;
                let (file, path) = spool::create(&self.folder, &self.header)?;
                self.header.segment += 1;
                none.insert(Open { file, path, hour, synced_ns: now_ns })
            }
        };
        let rows = self.waiting.make_contiguous();
        spool::append(&mut open.file, rows)?;
        self.health.rows_written.fetch_add(rows.len() as u64, Ordering::Relaxed);
        self.waiting.clear();
        if (now_ns - open.synced_ns).abs() >= SYNC_NS {
            open.synced_ns = now_ns;
            open.file.sync_data()?;
        }
        Ok(())
    }

    fn close(&mut self) {
        if let Some(open) = self.open.take() {
            let result = open.file.sync_data();
            self.health.note(&result, &open.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Cache, Op, Outcome};

    fn spooler(folder: &Path) -> Spooler {
        let header = spool::Header {
            schema_version: spool::SCHEMA_VERSION,
            run_id: "run".into(),
            host: "h".into(),
            seed: 0,
            segment: 0,
            opened_ns: 0,
            targets: vec![spool::Target { name: "/t".into(), period_ns: 1, size_bytes: vec![1; 6] }],
        };
        Spooler::new(folder.to_owned(), header, Arc::default())
    }

    fn rows(n: i64) -> Vec<Sample> {
        let row = |due_ns| Sample {
            due_ns,
            began_ns: None,
            ended_ns: None,
            offset_bytes: None,
            control_runq_ns: None,
            target: 0,
            op: Op::MdStat,
            outcome: Outcome::SKIPPED,
            cache: Cache::Unknown,
        };
        (0..n).map(row).collect()
    }

    fn folder(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("iosonde-writer-{name}-{}", crate::seed::fresh()))
    }

    #[test]
    fn segments_turn_over_with_the_hour() {
        let folder = folder("hour");
        let mut spooler = spooler(&folder);
        spooler.take(rows(3), SEGMENT_NS - 1);
        spooler.take(rows(2), SEGMENT_NS);
        let read = |n| spool::read(&folder.join(spool::stem("run", n)).with_extension("spool"), 0);
        assert_eq!(read(0).unwrap().samples.len(), 3);
        assert_eq!(read(1).unwrap().samples.len(), 2);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn rows_wait_while_the_store_cannot_take_them() {
        let folder = folder("blocked");
        std::fs::write(&folder, "a file where the folder should be").unwrap();
        let mut spooler = spooler(&folder);
        spooler.take(rows(4), 0);
        assert_eq!(spooler.health.rows_waiting.load(Ordering::Relaxed), 4);
        assert!(spooler.health.last_error().is_some());
        std::fs::remove_file(&folder).unwrap();
        spooler.take(rows(1), 1);
        assert_eq!(spooler.health.rows_written.load(Ordering::Relaxed), 5);
        assert_eq!(spooler.health.last_error(), None);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn only_a_bounded_number_of_rows_waits() {
        let folder = folder("bounded");
        std::fs::write(&folder, "in the way").unwrap();
        let mut spooler = spooler(&folder);
        spooler.take(rows(BACKLOG_ROWS as i64 + 7), 0);
        assert_eq!(spooler.health.rows_dropped.load(Ordering::Relaxed), 7);
        assert_eq!(spooler.waiting.len(), BACKLOG_ROWS);
        std::fs::remove_file(folder).unwrap();
    }
}
