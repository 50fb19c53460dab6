//! The one thread that writes to the store: rows to the spool, states, windows and events beside it.
//!
//! ```text
//! send ──► inbox (bounded) ──► one round: rows, lines and frames, replaced files, sync, retention
//! ```
//! The store may be full, away or slow; what it cannot take waits in memory, up to a limit, and goes out in its order
//! with a later round. Rows are in their file when the round ends, on the device a minute later at most.

use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::disk::{Disk, RealDisk};
use super::engine::Engine;
pub use super::health::Health;
use super::inbox::Inbox;
use super::retention::Keep;
use super::spool;
use iosonde_core::sample::Sample;

/// Rows that wait in memory while the store cannot take them; beyond, the oldest go.
pub const BACKLOG_ROWS: usize = 200_000;
/// Lines and frames that wait likewise.
pub const BACKLOG_APPENDS: usize = 10_000;
/// A writer without jobs looks around this often.
const IDLE: Duration = Duration::from_secs(2);
/// How long an ending session waits for a store that does not answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// What the writer is asked to do.
#[derive(Debug)]
pub enum Job {
    /// Append rows; `now_ns` is UTC, chooses the segment and tells the writer the time. May be empty.
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
    /// Append one frame to a file of frames.
    Frame {
        /// Which.
        path: PathBuf,
        /// What the file begins with when it is new.
        head: Vec<u8>,
        /// What.
        payload: Vec<u8>,
    },
    /// From now on rows may be of these targets: those known so far, at their places, and more.
    Targets(Vec<spool::Target>),
    /// Append one line to a text file; its end is added if it has none.
    Line {
        /// Which.
        path: PathBuf,
        /// What.
        text: String,
    },
}

/// Where and how a writer writes.
pub struct Setup {
    /// The store.
    pub root: PathBuf,
    /// The folder of this host below `spool/` and, with `host=` before it, below the dates of `samples/`.
    pub host: String,
    /// The first segment's header.
    pub header: spool::Header,
    /// What is dropped when room is short.
    pub keep: Keep,
    /// The file system, or what stands for it.
    pub disk: Box<dyn Disk>,
}

impl Setup {
    /// A real store from which only a full disk drops anything.
    pub fn new(root: PathBuf, host: String, header: spool::Header) -> Self {
        Self { root, host, header, keep: Keep::default(), disk: Box::new(RealDisk) }
    }
}

/// Handle of a running writer.
pub struct Writer {
    mode: Mode,
    health: Arc<Health>,
}

enum Mode {
    Thread { post: Arc<Post>, thread: Option<JoinHandle<()>> },
    Inline(Box<Mutex<Engine>>),
}

/// Where jobs are handed over.
#[derive(Default)]
struct Post {
    inbox: Mutex<Inbox>,
    arrived: Condvar,
    done: Mutex<bool>,
    ended: Condvar,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Writer {
    /// Write in a thread of its own.
    pub fn start(setup: Setup) -> std::io::Result<Self> {
        let health = Arc::new(Health::default());
        let post = Arc::new(Post::default());
        let mut engine = Engine::new(setup, Arc::clone(&health));
        let thread = std::thread::Builder::new().name("writer".into()).stack_size(256 << 10).spawn({
            let post = Arc::clone(&post);
            move || {
                run(&mut engine, &post);
                *lock(&post.done) = true;
                post.ended.notify_all();
            }
        })?;
        Ok(Self { mode: Mode::Thread { post, thread: Some(thread) }, health })
    }
    /// Do each job at once, in the thread that sends it: for simulations.
    pub fn inline(setup: Setup) -> Self {
        let health = Arc::new(Health::default());
        let engine = Engine::new(setup, Arc::clone(&health));
        Self { mode: Mode::Inline(Box::new(Mutex::new(engine))), health }
    }
    /// Hand over a job; never waits for the store, unless inline.
    pub fn send(&self, job: Job) {
        match &self.mode {
            Mode::Thread { post, .. } => {
                lock(&post.inbox).push(job, &self.health);
                post.arrived.notify_one();
            }
            Mode::Inline(engine) => {
                let mut inbox = Inbox::default();
                inbox.push(job, &self.health);
                lock(engine).round(inbox);
            }
        }
    }
    /// How it fares.
    pub fn health(&self) -> &Arc<Health> {
        &self.health
    }
    /// Write what is left and close the segment. A store that does not answer is left behind after some seconds.
    pub fn finish(mut self) -> Arc<Health> {
        match &mut self.mode {
            Mode::Thread { post, thread } => {
                close(post);
                let done = lock(&post.done);
                let waited = post.ended.wait_timeout_while(done, PATIENCE, |done| !*done);
                if waited.is_ok_and(|(done, _)| *done)
                    && let Some(thread) = thread.take()
                {
                    let _ = thread.join();
                }
            }
            Mode::Inline(engine) => lock(engine).close(),
        }
        Arc::clone(&self.health)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if let Mode::Thread { post, .. } = &self.mode {
            close(post);
        }
    }
}

fn close(post: &Post) {
    lock(&post.inbox).closed = true;
    post.arrived.notify_one();
}

fn run(engine: &mut Engine, post: &Post) {
    loop {
        let waited = post
            .arrived
            .wait_timeout_while(lock(&post.inbox), IDLE, |inbox| inbox.is_empty() && !inbox.closed);
        let (mut inbox, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        let jobs = std::mem::take(&mut *inbox);
        inbox.closed = jobs.closed;
        drop(inbox);
        if timeout.timed_out() {
            engine.wait(IDLE.as_nanos() as i64);
        }
        let closed = jobs.closed;
        engine.round(jobs);
        if closed {
            return engine.close();
        }
    }
}

#[cfg(test)]
mod tests;
