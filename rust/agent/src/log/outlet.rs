//! A thread of its own writes the log: who logs never waits for who reads it.
//!
//! Between them lies a bounded queue. Nobody reads a full pipe or a stuck journal: what does not fit is dropped, counted,
//! and the count is in the log once it is read again.

use std::collections::VecDeque;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Lines and bytes that wait at most.
pub const MOST_LINES: usize = 1_000;
const MOST_BYTES: usize = 1 << 20;

/// Makes the line that says how many were dropped.
pub type Dropped = Box<dyn Fn(u64) -> String + Send>;

#[derive(Default)]
struct Queue {
    lines: VecDeque<String>,
    bytes: usize,
    /// Dropped, and not yet said so.
    dropped: u64,
    writing: bool,
    closed: bool,
}

impl Queue {
    fn is_idle(&self) -> bool {
        self.lines.is_empty() && self.dropped == 0 && !self.writing
    }
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
    dropped: Arc<AtomicU64>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What to write next; none at the end.
    fn next(&self, dropped: &Dropped) -> Option<String> {
        let waiting = self.changed.wait_while(self.lock(), |queue| queue.is_idle() && !queue.closed);
        let mut queue = waiting.unwrap_or_else(PoisonError::into_inner);
        // What was dropped came after what still waited.
        let line = queue.lines.pop_front().or_else(|| {
            let number = std::mem::take(&mut queue.dropped);
            (number > 0).then(|| dropped(number))
        })?;
        queue.bytes = queue.bytes.saturating_sub(line.len());
        queue.writing = true;
        Some(line)
    }

    fn written(&self) {
        self.lock().writing = false;
        self.changed.notify_all();
    }
}

/// Where finished lines go.
pub struct Outlet(Arc<Shared>);

impl Outlet {
    /// To `out`, in a thread of its own. Without one every line is dropped.
    pub fn new(mut out: Box<dyn Write + Send>, dropped: Dropped) -> Self {
        let shared = Arc::<Shared>::default();
        let thread = std::thread::Builder::new().name("log".into()).stack_size(128 << 10);
        let running = thread.spawn({
            let shared = Arc::clone(&shared);
            move || {
                while let Some(line) = shared.next(&dropped) {
                    // Nobody is left to tell when stderr is gone.
                    let _ = out.write_all(line.as_bytes());
                    shared.written();
                }
            }
        });
        shared.lock().closed = running.is_err();
        Self(shared)
    }

    /// Hand over a line. Never waits.
    pub fn push(&self, line: String) {
        let mut queue = self.0.lock();
        let fits = queue.lines.len() < MOST_LINES && queue.bytes + line.len() <= MOST_BYTES;
        if queue.closed || !fits || queue.dropped > 0 {
            queue.dropped += 1;
            self.0.dropped.fetch_add(1, Ordering::Relaxed);
        } else {
            queue.bytes += line.len();
            queue.lines.push_back(line);
        }
        self.0.changed.notify_all();
    }

    /// Wait until everything is written, at most so long. Whether it is.
    pub fn flush(&self, patience: Duration) -> bool {
        let waited = self.0.changed.wait_timeout_while(self.0.lock(), patience, |queue| !queue.is_idle());
        waited.is_ok_and(|(queue, _)| queue.is_idle())
    }

    /// How many lines were dropped so far.
    pub fn dropped(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.0.dropped)
    }
}

impl Drop for Outlet {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    fn said(number: u64) -> String {
        format!("dropped {number}\n")
    }

    #[test]
    fn a_reader_that_comes_late_finds_the_first_lines_and_the_count_of_the_others() {
        let (mut reader, writer) = UnixStream::pair().unwrap();
        let outlet = Outlet::new(Box::new(writer), Box::new(said));
        let line = "x".repeat(999) + "\n";
        // Far more than a socket and the queue hold, and nobody reads.
        for _ in 0..5_000 {
            outlet.push(line.clone());
        }
        assert!(!outlet.flush(Duration::from_millis(10)));
        let dropped = outlet.dropped().load(Ordering::Relaxed);
        assert!(dropped > 3_000, "{dropped}");
        let mut text = Vec::new();
        let last = said(dropped);
        while !text.ends_with(last.as_bytes()) {
            let mut piece = [0; 4096];
            let n = reader.read(&mut piece).unwrap();
            text.extend_from_slice(&piece[..n]);
        }
        assert_eq!(text.len(), (5_000 - dropped as usize) * line.len() + last.len());
        assert!(outlet.flush(Duration::from_secs(10)));
        outlet.push("again\n".into());
        let mut again = [0; 6];
        reader.read_exact(&mut again).unwrap();
        assert_eq!(&again, b"again\n");
    }

    #[test]
    fn what_was_handed_over_before_the_end_is_written() {
        let (mut reader, writer) = UnixStream::pair().unwrap();
        let outlet = Outlet::new(Box::new(writer), Box::new(said));
        (0..100).for_each(|i| outlet.push(format!("{i}\n")));
        drop(outlet);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text.lines().count(), 100);
    }
}
