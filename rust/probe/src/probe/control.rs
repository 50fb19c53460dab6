//! The control beside every operation: how long its thread waited for a CPU.
//!
//! Latency tails of 4, 8, 12 ms are often the CPU scheduler and not the storage. Linux counts, for every thread,
//! the time it was ready to run and did not; the difference across an operation says how much of its latency
//! the probing host itself caused.

use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};

/// A thread's run-queue delay, read from `/proc/thread-self/schedstat`.
#[derive(Debug, Default)]
pub struct Control {
    schedstat: Option<OwnedFd>,
}

impl Control {
    /// Opens it for the calling thread. If the kernel does not tell, every reading is none.
    pub fn of_this_thread() -> Self {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        Self { schedstat: rustix::fs::open("/proc/thread-self/schedstat", flags, Mode::empty()).ok() }
    }

    /// Nanoseconds this thread has waited for a CPU since it began.
    pub fn run_queue_ns(&self) -> Option<u64> {
        let mut text = [0_u8; 96];
        let n = rustix::io::pread(self.schedstat.as_ref()?, &mut text, 0).ok()?;
        second_number(&text[..n])
    }
}

/// The second of three numbers: time on the CPU, time waiting for it, slices.
fn second_number(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_waiting_time_and_survives_nonsense() {
        assert_eq!(second_number(b"123 456 7\n"), Some(456));
        for bad in [&b""[..], b"1", b"a b c", b"\xff\xff 1"] {
            assert_eq!(second_number(bad), None);
        }
        assert_eq!(Control::default().run_queue_ns(), None);
    }

    #[test]
    fn this_kernel_tells_and_never_counts_down() {
        let control = Control::of_this_thread();
        let first = control.run_queue_ns().expect("schedstat is readable");
        assert!(control.run_queue_ns().unwrap() >= first);
    }
}
