//! Where workers come from: processes of their own, or threads where no worker binary is at hand.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;

use super::region::Region;
use super::worker::{Order, Report, Task, serve};
use iosonde_core::clock::Clock;

/// A worker as its supervisor sees it. Nothing here ever blocks.
pub trait Worker: Send {
    /// Send it an order.
    fn send(&mut self, order: &Order);
    /// What it reports, if it did.
    fn hear(&mut self) -> Option<Report>;
    /// Whether it is gone for good.
    fn is_gone(&mut self) -> bool;
    /// Make it go, whatever it does. A process in a system call goes when the kernel lets it.
    fn kill(&mut self);
    /// Its process; none for one that is only simulated.
    fn pid(&self) -> Option<u32>;
}

/// Where workers come from.
pub trait Crew: Send {
    /// A worker for a task; `region` is what it will share.
    fn spawn(&mut self, task: &Task, region: &Region) -> std::io::Result<Box<dyn Worker>>;
}

/// Workers that are processes.
#[derive(Debug)]
pub struct Processes {
    binary: PathBuf,
}

impl Processes {
    /// `binary worker` starts one.
    pub fn new(binary: PathBuf) -> Self {
        Self { binary }
    }
}

struct Process {
    child: Child,
    line: Line,
}

impl Crew for Processes {
    fn spawn(&mut self, task: &Task, region: &Region) -> std::io::Result<Box<dyn Worker>> {
        let (ours, theirs) = UnixStream::pair()?;
        let child = Command::new(&self.binary)
            .arg("worker")
            // Those are for the supervisor alone.
            .env_remove("NOTIFY_SOCKET")
            .env_remove("WATCHDOG_USEC")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::from(region.memory().descriptor().try_clone_to_owned()?))
            .spawn()?;
        Ok(Box::new(Process { child, line: Line::new(ours, task)? }))
    }
}

impl Worker for Process {
    fn send(&mut self, order: &Order) {
        self.line.send(order);
    }
    fn hear(&mut self) -> Option<Report> {
        self.line.hear()
    }
    fn is_gone(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }
    fn kill(&mut self) {
        // One that is gone already needs no killing.
        let _ = self.child.kill();
    }
    fn pid(&self) -> Option<u32> {
        Some(self.child.id())
    }
}

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
