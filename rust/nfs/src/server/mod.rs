//! An NFSv3 server whose truth is known: files in memory behind one service thread and one bounded queue.
//!
//! ```text
//! connections ──► queue of at most M ──► one thread, N a READ or WRITE ──► memory
//!      WRITE: answered when it is in the queue.      READ: answered when it has been executed.
//!      queue full: the connection's next call waits its turn, and TCP holds its client back.
//! ```
//! Without a service time there is no queue: every call is answered at once. Port mapper, MOUNT and NFS share a port.

mod answer;
mod memory;
mod queue;
mod serve;
mod shared;

use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use iosonde_core::clock::Clock;

use self::memory::Memory;
use self::queue::Queue;
pub use self::shared::EXPORT;
use self::shared::Shared;

const MOST_CONNECTIONS: usize = 512;

/// What the server is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Model {
    /// N: time of one READ or WRITE; zero: no queue.
    pub service_ns: u64,
    /// M: operations that the queue holds, the one under way included.
    pub queue: usize,
    /// Most bytes that its files may have together.
    pub most_bytes: u64,
}

/// Operations that were executed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Executed {
    /// WRITEs.
    pub writes: u64,
    /// READs.
    pub reads: u64,
    /// Operations in the queue.
    pub queued: u64,
    /// Names below the export.
    pub names: u64,
}

/// A server that runs until it is dropped.
pub struct Server {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl Server {
    /// Listen on loopback; port 0 takes a free one. Errors: of binding.
    pub fn start(model: Model, port: u16, clock: Arc<dyn Clock>) -> std::io::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
        let shared = Arc::new(Shared {
            memory: Mutex::new(Memory::new(model.most_bytes)),
            queue: (model.service_ns > 0).then(|| Queue::new(model.queue.max(1), model.service_ns)),
            ended: AtomicBool::new(false),
            port: listener.local_addr()?.port(),
            connections: Mutex::new(Vec::new()),
        });
        let mut threads = Vec::new();
        if model.service_ns > 0 {
            let (shared, clock) = (Arc::clone(&shared), Arc::clone(&clock));
            threads.push(named("nfs-service", move || serve::execute(&shared, &*clock))?);
        }
        let accepting = Arc::clone(&shared);
        threads.push(named("nfs-accept", move || accept(&listener, &accepting, &clock))?);
        Ok(Self { shared, threads })
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.shared.port
    }

    /// What it has done.
    pub fn executed(&self) -> Executed {
        let memory = self.shared.memory.lock().unwrap_or_else(PoisonError::into_inner);
        Executed {
            writes: memory.writes,
            reads: memory.reads,
            queued: self.shared.queue.as_ref().map_or(0, Queue::length) as u64,
            names: memory.names() as u64,
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::SeqCst);
        if let Some(queue) = &self.shared.queue {
            queue.close();
        }
        // Wakes the thread that accepts.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.shared.port));
        for connection in self.shared.connections.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let _ = connection.shutdown(Shutdown::Both);
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn named(name: &str, body: impl FnOnce() + Send + 'static) -> std::io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name.into()).spawn(body)
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>, clock: &Arc<dyn Clock>) {
    for stream in listener.incoming() {
        if shared.ended.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let _ = stream.set_nodelay(true);
        let stream = Arc::new(stream);
        let mut connections = shared.connections.lock().unwrap_or_else(PoisonError::into_inner);
        // Two owners: this list and the connection's thread.
        connections.retain(|each| Arc::strong_count(each) > 1);
        if connections.len() >= MOST_CONNECTIONS {
            continue;
        }
        connections.push(Arc::clone(&stream));
        drop(connections);
        let (shared, clock) = (Arc::clone(shared), Arc::clone(clock));
        let _ = named("nfs-connection", move || serve::connection(&shared, &stream, &*clock));
    }
}
