//! What the threads of the server share.

use std::net::TcpStream;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use super::memory::Memory;
use super::queue::Queue;

/// Path of the export, beside `/`.
pub const EXPORT: &str = "/export";

/// Files, queue and connections.
pub(super) struct Shared {
    pub(super) memory: Mutex<Memory>,
    pub(super) queue: Option<Queue>,
    pub(super) ended: AtomicBool,
    pub(super) port: u16,
    pub(super) connections: Mutex<Vec<Arc<TcpStream>>>,
}
