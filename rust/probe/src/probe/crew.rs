//! Sources of workers: processes of their own, or threads if no worker binary is at hand.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SendError, Sender, TryRecvError, channel};
use std::thread::JoinHandle;

use super::region::Region;
use super::worker::{Order, Report, Task, serve};
use iosonde_core::clock::Clock;

/// A worker as its supervisor sees it. Nothing here ever blocks.
pub trait Worker: Send {
    /// Sends it an order.
    fn send(&mut self, order: &Order);
    /// Takes its next report, if there is one.
    fn hear(&mut self) -> Option<Report>;
    /// True if it is gone for good.
    fn is_gone(&mut self) -> bool;
    /// Kills it. A process in a system call goes when the kernel lets it.
    fn kill(&mut self);
    /// Reason of its end, once it is gone, if the system tells: the signal or exit code.
    fn ending(&mut self) -> Option<String> {
        None
    }
    /// Its process; none for one that is only simulated.
    fn pid(&self) -> Option<u32>;
}

/// A source of workers.
pub trait Crew: Send {
    /// Makes a worker for a task; `region` is the memory they will share.
    fn spawn(&mut self, task: &Task, region: &Region) -> std::io::Result<Box<dyn Worker>>;
}

type Spawned = std::io::Result<Child>;
type Errand = (Command, Sender<Spawned>);

/// Workers that are processes. A thread of its own starts them: it waits until the kernel has read the binary, which may
/// lie on storage that hangs.
#[derive(Debug)]
pub struct Processes {
    binary: PathBuf,
    errands: Sender<Errand>,
}

impl Processes {
    /// `binary worker` starts one.
    pub fn new(binary: PathBuf) -> std::io::Result<Self> {
        let (errands, asked) = channel::<Errand>();
        std::thread::Builder::new().name("spawner".into()).stack_size(128 << 10).spawn(move || {
            for (mut command, answer) in asked {
                // Whoever asked may have gone; what was started for nobody finds its socket closed, and ends.
                if let Err(SendError(Ok(mut child))) = answer.send(command.spawn()) {
                    let _ = child.kill();
                    let _ = child.wait();
                }
            }
        })?;
        Ok(Self { binary, errands })
    }
}

struct Process {
    state: ProcessState,
    doomed: bool,
    line: Line,
}

enum ProcessState {
    Asked(Receiver<Spawned>),
    There(Child),
    /// It could not be started; said once.
    Refused(Option<std::io::Error>),
}

impl Crew for Processes {
    fn spawn(&mut self, task: &Task, region: &Region) -> std::io::Result<Box<dyn Worker>> {
        let (ours, theirs) = UnixStream::pair()?;
        let mut command = Command::new(&self.binary);
        command
            .arg("worker")
            // Those are for the supervisor alone.
            .env_remove("NOTIFY_SOCKET")
            .env_remove("WATCHDOG_USEC")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::from(region.memory().descriptor().try_clone_to_owned()?));
        let (answer, asked) = channel();
        self.errands.send((command, answer)).map_err(|_| ErrorKind::BrokenPipe)?;
        let state = ProcessState::Asked(asked);
        Ok(Box::new(Process { state, doomed: false, line: Line::new(ours, task)? }))
    }
}

impl Process {
    fn look(&mut self) -> &mut ProcessState {
        if let ProcessState::Asked(asked) = &self.state {
            self.state = match asked.try_recv() {
                Ok(Ok(child)) => ProcessState::There(child),
                Ok(Err(error)) => ProcessState::Refused(Some(error)),
                Err(TryRecvError::Disconnected) => ProcessState::Refused(Some(ErrorKind::BrokenPipe.into())),
                Err(TryRecvError::Empty) => return &mut self.state,
            };
            if self.doomed {
                self.kill();
            }
        }
        &mut self.state
    }
}

impl Worker for Process {
    fn send(&mut self, order: &Order) {
        self.line.send(order);
    }
    fn hear(&mut self) -> Option<Report> {
        if let ProcessState::Refused(error) = self.look() {
            let error = error.take()?;
            let (errno, held) = (error.raw_os_error(), false);
            return Some(Report::Failed { error: format!("cannot start a worker: {error}"), errno, held });
        }
        self.line.hear()
    }
    fn is_gone(&mut self) -> bool {
        match self.look() {
            ProcessState::Asked(_) => false,
            ProcessState::There(child) => !matches!(child.try_wait(), Ok(None)),
            ProcessState::Refused(error) => error.is_none(),
        }
    }
    fn ending(&mut self) -> Option<String> {
        let ProcessState::There(child) = &mut self.state else { return None };
        child.try_wait().ok().flatten().map(ending)
    }
    fn kill(&mut self) {
        self.doomed = true;
        if let ProcessState::There(child) = &mut self.state {
            // One that is gone already needs no killing.
            let _ = child.kill();
        }
    }
    fn pid(&self) -> Option<u32> {
        match &self.state {
            ProcessState::There(child) => Some(child.id()),
            _ => None,
        }
    }
}

/// `killed by SIGKILL: ...`, `exit code 2`.
fn ending(status: ExitStatus) -> String {
    let Some(signal) = status.signal() else {
        return format!("exit code {}", status.code().unwrap_or_default());
    };
    let known = SIGNALS.iter().find(|(number, ..)| *number == signal);
    let (name, hint) =
        known.map_or((format!("signal {signal}"), ""), |(_, name, hint)| ((*name).into(), *hint));
    format!("killed by {name}{hint}")
}

/// Signals that end a worker from outside, with a hint at the likely sender.
const SIGNALS: [(i32, &str, &str); 6] = [
    (libc::SIGKILL, "SIGKILL", ": by somebody, or for want of memory (see the kernel log)"),
    (libc::SIGXCPU, "SIGXCPU", ": a limit of processor time (ulimit -t)"),
    (libc::SIGSYS, "SIGSYS", ": a filter of system calls"),
    (libc::SIGBUS, "SIGBUS", ""),
    (libc::SIGSEGV, "SIGSEGV", ""),
    (libc::SIGABRT, "SIGABRT", ""),
];

/// Workers that are threads of this process: one that is stuck stays until its operation returns.
pub struct Threads {
    clock: Arc<dyn Clock>,
}

impl Threads {
    /// All of them live by this clock.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock }
    }
}

struct InProcess {
    thread: JoinHandle<()>,
    line: Line,
}

impl Crew for Threads {
    fn spawn(&mut self, task: &Task, region: &Region) -> std::io::Result<Box<dyn Worker>> {
        let (ours, theirs) = UnixStream::pair()?;
        let memory = region.memory().descriptor().try_clone_to_owned()?;
        let clock = Arc::clone(&self.clock);
        let thread = std::thread::Builder::new().name("worker".into()).stack_size(256 << 10);
        let thread = thread.spawn(move || {
            // Its supervisor sees that it is gone.
            let _ = serve(theirs, memory, clock);
        })?;
        Ok(Box::new(InProcess { thread, line: Line::new(ours, task)? }))
    }
}

impl Worker for InProcess {
    fn send(&mut self, order: &Order) {
        self.line.send(order);
    }
    fn hear(&mut self) -> Option<Report> {
        self.line.hear()
    }
    fn is_gone(&mut self) -> bool {
        self.thread.is_finished()
    }
    fn kill(&mut self) {
        self.line.send(&Order::End);
    }
    fn pid(&self) -> Option<u32> {
        Some(std::process::id())
    }
}

/// Lines to and from a worker. It never blocks: what the socket does not take now goes out with a later look, and what
/// a worker that is gone would have been told is lost.
struct Line {
    socket: UnixStream,
    heard: Vec<u8>,
    unsent: Vec<u8>,
}

impl Line {
    fn new(socket: UnixStream, task: &Task) -> std::io::Result<Self> {
        socket.set_nonblocking(true)?;
        let unsent = serde_json::to_vec(task)?;
        let mut line = Self { socket, heard: Vec::new(), unsent };
        line.unsent.push(b'\n');
        line.flush();
        Ok(line)
    }

    fn send(&mut self, order: &Order) {
        if let Ok(line) = serde_json::to_vec(order) {
            self.unsent.extend(line);
            self.unsent.push(b'\n');
            self.flush();
        }
    }

    fn flush(&mut self) {
        while !self.unsent.is_empty() {
            match self.socket.write(&self.unsent) {
                Ok(n) if n > 0 => drop(self.unsent.drain(..n)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                // It is gone, which is noticed elsewhere.
                _ => self.unsent.clear(),
            }
        }
        self.unsent = Vec::new();
    }

    fn hear(&mut self) -> Option<Report> {
        self.flush();
        let mut piece = [0_u8; 4096];
        loop {
            if let Some(end) = self.heard.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = self.heard.drain(..=end).collect();
                match serde_json::from_slice(&line) {
                    Ok(report) => return Some(report),
                    Err(_) => continue,
                }
            }
            match self.socket.read(&mut piece) {
                Ok(0) => return None,
                Ok(n) => self.heard.extend_from_slice(&piece[..n]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};

    use super::*;

    #[test]
    fn orders_larger_than_a_socket_arrive_whole_and_in_order() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let mut line = Line { socket: ours, heard: Vec::new(), unsent: vec![b'x'; 3 << 20] };
        line.unsent.push(b'\n');
        line.send(&Order::End);
        assert!(!line.unsent.is_empty());
        let reader = std::thread::spawn(move || {
            BufReader::new(theirs).lines().take(2).collect::<Result<Vec<_>, _>>().unwrap()
        });
        while !line.unsent.is_empty() {
            assert_eq!(line.hear(), None);
            std::thread::yield_now();
        }
        let read = reader.join().unwrap();
        assert_eq!((read[0].len(), read[1].as_str()), (3 << 20, "\"end\""));
        // Nobody is left to be told.
        line.send(&Order::End);
        assert!(line.unsent.is_empty());
    }
}
