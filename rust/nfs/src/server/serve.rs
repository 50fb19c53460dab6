//! The threads of the server: one a connection, and the one that serves the queue.

use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, PoisonError};

use iosonde_core::clock::{Clock, precise_sleeps};
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::answer::{Answer, answer, put_read_reply};
use super::queue::Operation;
use super::shared::Shared;
use crate::connection::MOST_RECORD;
use crate::record::{self, RecordReader};
use crate::socket::ready;

const PATIENCE_NS: u64 = 10_000_000_000;
/// Answers are handed over no later than this.
const BATCH: usize = 1 << 16;

/// Answer the calls of one connection until it ends or sends what is no call.
pub(super) fn connection(shared: &Arc<Shared>, stream: &Arc<TcpStream>, clock: &dyn Clock) {
    let mut reader = RecordReader::new(MOST_RECORD);
    let mut replies = Vec::new();
    loop {
        match recv(stream, reader.space(), RecvFlags::empty()) {
            Ok((_, 0)) => break,
            Ok((_, arrived)) => reader.filled(arrived),
            Err(Errno::INTR) => continue,
            Err(_) => break,
        }
        if !calls(shared, stream, &mut reader, &mut replies, clock) || !deliver(stream, &mut replies) {
            break;
        }
    }
    let _ = stream.shutdown(Shutdown::Both);
}

/// False when the connection is of no use any more.
fn calls(
    shared: &Arc<Shared>,
    stream: &Arc<TcpStream>,
    reader: &mut RecordReader,
    replies: &mut Vec<u8>,
    clock: &dyn Clock,
) -> bool {
    loop {
        let record = match reader.next_record() {
            Ok(Some(record)) => record,
            Ok(None) => return true,
            Err(_) => return false,
        };
        let (operation, reply) = match answer(shared, stream, record, replies) {
            Answer::Now => (None, None),
            Answer::Served(operation, reply) => (Some(operation), reply),
            Answer::Garbage => return false,
        };
        if let (Some(operation), Some(queue)) = (operation, &shared.queue) {
            if let Some(operation) = queue.try_put(operation, clock.monotonic_ns()) {
                // What is answered is handed over before a wait.
                if !deliver(stream, replies) || !queue.put(operation, clock) {
                    return false;
                }
            }
            replies.extend(reply.unwrap_or_default());
        }
        if replies.len() >= BATCH && !deliver(stream, replies) {
            return false;
        }
    }
}

/// Send all; false when the client does not take it.
fn deliver(stream: &TcpStream, replies: &mut Vec<u8>) -> bool {
    let mut sent = 0;
    while sent < replies.len() {
        match send(stream, &replies[sent..], SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
            Ok(n) => sent += n,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                let mut fds = [PollFd::new(stream, PollFlags::OUT)];
                if !matches!(ready(&mut fds, PATIENCE_NS), Ok(1..)) {
                    return false;
                }
            }
            Err(_) => return false,
        }
    }
    replies.clear();
    true
}

/// Serve the queue until the server ends.
pub(super) fn execute(shared: &Arc<Shared>, clock: &dyn Clock) {
    precise_sleeps();
    let Some(queue) = &shared.queue else { return };
    let mut free_ns = 0;
    let mut reply = Vec::new();
    while let Some(operation) = queue.serve(&mut free_ns, clock) {
        let mut memory = shared.memory.lock().unwrap_or_else(PoisonError::into_inner);
        match operation {
            Operation::Write { file, offset, data } => memory.write(file, offset, &data),
            Operation::Read { xid, file, offset, count, to } => {
                reply.clear();
                let at = record::begin(&mut reply);
                put_read_reply(&mut reply, xid, memory.read(file, offset, count));
                record::end(&mut reply, at);
                drop(memory);
                // Whoever does not take answers must not hold up the others.
                let taken = send(&*to, &reply, SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
                if taken != Ok(reply.len()) {
                    let _ = to.shutdown(Shutdown::Both);
                }
            }
        }
    }
}
