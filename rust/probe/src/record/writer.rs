//! The one thread that writes to the store: rows to the spool, states, windows and events beside it.
//!
//! ```text
//! send ──► inbox (bounded) ──► one round: rows, lines and frames, replaced files, sync, retention
//! ```
//! The store may be full, away or slow; what it cannot take waits in memory, up to a limit, and goes out in its order
//! with a later round. Rows are in their file when the round ends, on the device a minute later at most.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::engine::Engine;
use super::health::Health;
use super::inbox::Inbox;
use super::job::{Job, Setup};

/// A writer without jobs looks around this often.
const IDLE: Duration = Duration::from_secs(2);
/// Longest wait of an ending session for a store that does not answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Handle of a running writer.
pub struct Writer {
    mode: Mode,
    health: Arc<Health>,
}

enum Mode {
    Thread { post: Arc<Post>, thread: Option<JoinHandle<()>> },
    Inline(Box<Mutex<(Inbox, Engine)>>),
}

/// Handover of jobs to the writer.
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
    /// Do each job at once, in the thread that sends it, unless the disk hangs: for simulations.
    pub fn inline(setup: Setup) -> Self {
        let health = Arc::new(Health::default());
        let engine = Engine::new(setup, Arc::clone(&health));
        Self { mode: Mode::Inline(Box::new(Mutex::new((Inbox::default(), engine)))), health }
    }
    /// Hand over a job; never waits for the store, unless inline.
    pub fn send(&self, job: Job) {
        match &self.mode {
            Mode::Thread { post, .. } => {
                lock(&post.inbox).push(job, &self.health);
                post.arrived.notify_one();
            }
            Mode::Inline(inside) => {
                let (inbox, engine) = &mut *lock(inside);
                inbox.push(job, &self.health);
                if engine.answers() {
                    engine.round(std::mem::take(inbox));
                }
            }
        }
    }
    /// Health of the writer.
    pub fn health(&self) -> &Arc<Health> {
        &self.health
    }
    /// Write what is left and close the segment. A store that does not answer is left behind after some seconds.
    pub fn finish(self) -> Arc<Health> {
        self.finish_within(PATIENCE)
    }
    /// The same, waiting so long: what the store did not take by then is lost, and [`Health::last_error`] says so.
    pub fn finish_within(mut self, patience: Duration) -> Arc<Health> {
        match &mut self.mode {
            Mode::Thread { post, thread } => {
                close(post);
                let done = lock(&post.done);
                let waited = post.ended.wait_timeout_while(done, patience, |done| !*done);
                if !waited.is_ok_and(|(done, _)| *done) {
                    let text = format!("the store did not answer within {:.1} s", patience.as_secs_f64());
                    self.health.late(text, 0);
                } else if let Some(thread) = thread.take() {
                    let _ = thread.join();
                }
            }
            Mode::Inline(inside) => {
                let (inbox, engine) = &mut *lock(inside);
                if engine.answers() {
                    engine.round(std::mem::take(inbox));
                    engine.close();
                }
            }
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
