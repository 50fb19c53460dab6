//! Why an operation is stuck, as far as this host's kernel tells: read from `/proc` and the kernel log, never from the
//! target.

use std::path::Path;

use serde::Serialize;

use kernel_log::{Subject, complaints};

pub mod kernel_log;

/// Lines of a kernel stack that are kept.
const STACK_LINES: usize = 16;
/// Findings about a stuck operation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// Process of the worker.
    pub pid: Option<u32>,
    /// State of its thread: `D` waits for storage and cannot be killed.
    pub state: Option<char>,
    /// Kernel function it waits in.
    pub wchan: Option<String>,
    /// Kernel stack, where readable (root).
    pub stack: Vec<String>,
    /// Lines of the kernel log about the target's own device or mount, or this thread, where readable.
    pub kernel: Vec<String>,
}

impl Evidence {
    /// Gathers them for a thread of a worker; if it is unknown, for one in state D, else for the thread that prepares.
    /// `path` and `mount`: what it works on.
    pub fn gather(
        pid: u32,
        thread: Option<u32>,
        (path, mount): (&Path, Option<&Path>),
        since_boot_ns: u64,
    ) -> Self {
        let task = |id: u32| Path::new("/proc").join(pid.to_string()).join("task").join(id.to_string());
        let thread = thread.or_else(|| most_stuck(pid)).unwrap_or(pid);
        let folder = task(thread);
        let read = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
        let wchan = read("wchan").filter(|name| !name.is_empty() && name != "0");
        let stack = read("stack").unwrap_or_default();
        Self {
            pid: Some(pid),
            state: read("stat").and_then(|text| thread_state(&text)),
            wchan,
            stack: stack.lines().take(STACK_LINES).map(|line| line.trim().to_owned()).collect(),
            kernel: complaints(&Subject::of(path, mount, &[pid, thread]), since_boot_ns),
        }
    }
}

/// The name of the thread of a worker that makes a target ready.
pub const PREPARING: &str = "prepare";

/// The others wait for orders, and say nothing of storage.
fn most_stuck(pid: u32) -> Option<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let ids: Vec<u32> = tasks.filter_map(|task| task.ok()?.file_name().to_str()?.parse().ok()).collect();
    let read = |id: &u32, file: &str| std::fs::read_to_string(format!("/proc/{pid}/task/{id}/{file}"));
    let waits = |id: &&u32| read(id, "stat").is_ok_and(|text| thread_state(&text) == Some('D'));
    let prepares = |id: &&u32| read(id, "comm").is_ok_and(|name| name.trim_end() == PREPARING);
    ids.iter().filter(waits).max().or_else(|| ids.iter().find(prepares)).copied()
}

/// The state of a process: `T` is stopped.
pub fn process_state(pid: u32) -> Option<char> {
    thread_state(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The letter behind the name in parentheses, which may itself hold anything.
fn thread_state(stat: &str) -> Option<char> {
    stat.rsplit_once(')')?.1.trim_start().chars().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_thread_can_be_looked_at() {
        let me = rustix::thread::gettid().as_raw_nonzero().get() as u32;
        let evidence = Evidence::gather(std::process::id(), Some(me), (Path::new("/"), None), 0);
        assert_eq!(evidence.state, Some('R'));
        assert_eq!(evidence.pid, Some(std::process::id()));
        assert_eq!(Evidence::gather(u32::MAX, Some(1), (Path::new("/"), None), 0).state, None);
    }

    #[test]
    fn of_several_threads_the_one_that_prepares_is_looked_at() {
        let (gate, (said, id)) = (std::sync::mpsc::channel::<()>(), std::sync::mpsc::channel());
        let thread = std::thread::Builder::new().name(PREPARING.into()).spawn(move || {
            said.send(rustix::thread::gettid().as_raw_nonzero().get() as u32).unwrap();
            gate.1.recv().unwrap();
        });
        let id = id.recv().unwrap();
        // Threads of other tests may wait for the disk at that moment.
        assert!((0..10_000).any(|_| most_stuck(std::process::id()) == Some(id)));
        gate.0.send(()).unwrap();
        thread.unwrap().join().unwrap();
    }

    #[test]
    fn names_with_parentheses_do_not_confuse() {
        assert_eq!(thread_state("12 (a) D (b)) S 1 2"), Some('S'));
        assert_eq!(thread_state("nonsense"), None);
    }
}
