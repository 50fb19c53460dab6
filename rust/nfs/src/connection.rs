//! One TCP connection with any number of calls under way.

use std::collections::VecDeque;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use iosonde_core::clock::Clock;
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use crate::error::NfsError;
use crate::message::{Caller, Procedure, put_call, reply};
use crate::record::{self, RecordReader};
use crate::socket::{self, SourcePort};

/// Longer than any answer: the largest READ with its head.
pub const MOST_RECORD: usize = (1 << 20) + 4096;

/// How to connect.
#[derive(Clone)]
pub struct Connector {
    /// The clock of time limits.
    pub clock: Arc<dyn Clock>,
    /// Who calls.
    pub caller: Caller,
    /// From which source port.
    pub source: SourcePort,
    /// How long a connection, and a call that waits for its answer, may take.
    pub limit: Duration,
}

/// A connection.
pub struct Connection {
    stream: TcpStream,
    connector: Connector,
    reader: RecordReader,
    outbox: Vec<u8>,
    sent: usize,
    first_xid: u32,
    calls: VecDeque<Option<u64>>,
    outstanding: usize,
    strays: u64,
}

impl Connection {
    /// Connect. `first_xid` is the number of the first call. Errors: System, TimedOut.
    pub fn open(connector: &Connector, address: SocketAddr, first_xid: u32) -> Result<Self, NfsError> {
        let stream = socket::open(address, connector.source, connector.limit, &*connector.clock)?;
        Ok(Self {
            stream,
            connector: connector.clone(),
            reader: RecordReader::new(MOST_RECORD),
            outbox: Vec::new(),
            sent: 0,
            first_xid,
            calls: VecDeque::new(),
            outstanding: 0,
            strays: 0,
        })
    }

    /// Calls without an answer.
    pub fn outstanding(&self) -> usize {
        self.outstanding
    }
    /// Answers to no call of ours: a wrong number, or a second answer.
    pub fn strays(&self) -> u64 {
        self.strays
    }
    /// Bytes that the system has not taken yet.
    pub fn unsent(&self) -> usize {
        self.outbox.len() - self.sent
    }
    /// The oldest call without an answer.
    pub fn oldest(&self) -> Option<u64> {
        self.calls.front().copied().flatten()
    }
    /// What to wait for: answers, and room for calls that the system has not taken.
    pub fn poll_fd(&self) -> PollFd<'_> {
        let out = if self.unsent() > 0 { PollFlags::OUT } else { PollFlags::empty() };
        PollFd::new(&self.stream, PollFlags::IN | out)
    }

    /// Queue a call; `put` appends its arguments, `token` comes back with the answer.
    pub fn begin(&mut self, procedure: Procedure, token: u64, put: impl FnOnce(&mut Vec<u8>)) {
        let xid = self.next_xid(token);
        let at = record::begin(&mut self.outbox);
        put_call(&mut self.outbox, xid, procedure, self.connector.caller);
        put(&mut self.outbox);
        record::end(&mut self.outbox, at);
    }

    /// Queue a call whose record is there already but for its number, which stands behind the record's header.
    pub fn begin_prepared(&mut self, whole: &[u8], token: u64) {
        let xid = self.next_xid(token);
        let at = self.outbox.len() + 4;
        self.outbox.extend_from_slice(whole);
        self.outbox[at..at + 4].copy_from_slice(&xid.to_be_bytes());
    }

    fn next_xid(&mut self, token: u64) -> u32 {
        let xid = self.first_xid.wrapping_add(self.calls.len() as u32);
        self.calls.push_back(Some(token));
        self.outstanding += 1;
        xid
    }

    /// Give queued calls to the system, as many as it takes. Errors: System.
    pub fn flush(&mut self) -> Result<(), NfsError> {
        while self.unsent() > 0 {
            match send(&self.stream, &self.outbox[self.sent..], SendFlags::NOSIGNAL) {
                Ok(sent) => self.sent += sent,
                Err(Errno::AGAIN | Errno::INTR) => break,
                Err(errno) => return Err(NfsError::system("sending a call", errno)),
            }
        }
        if self.unsent() == 0 {
            self.outbox.clear();
            self.sent = 0;
        } else if self.sent > 1 << 20 {
            self.outbox.drain(..self.sent);
            self.sent = 0;
        }
        Ok(())
    }

    /// Take what has arrived, without waiting; gives each answer's token and results to `answer`.
    ///
    /// Errors: Closed, Oversized, Malformed, System: the connection is of no use any more.
    pub fn receive(&mut self, mut answer: impl FnMut(u64, Result<&[u8], NfsError>)) -> Result<(), NfsError> {
        loop {
            let space = self.reader.space();
            let room = space.len();
            let arrived = match recv(&self.stream, space, RecvFlags::empty()) {
                Ok((_, 0)) => return Err(NfsError::Closed { in_record: self.reader.in_record() }),
                Ok((_, arrived)) => arrived,
                Err(Errno::AGAIN | Errno::INTR) => return Ok(()),
                Err(errno) => return Err(NfsError::system("waiting for an answer", errno)),
            };
            self.reader.filled(arrived);
            while let Some(record) = self.reader.next_record()? {
                let (xid, results) = reply(record)?;
                let place = xid.wrapping_sub(self.first_xid) as usize;
                match self.calls.get_mut(place).and_then(Option::take) {
                    Some(token) => {
                        self.outstanding -= 1;
                        answer(token, results);
                    }
                    None => self.strays += 1,
                }
                while let Some(None) = self.calls.front() {
                    self.calls.pop_front();
                    self.first_xid = self.first_xid.wrapping_add(1);
                }
            }
            if arrived < room {
                return Ok(());
            }
        }
    }

    /// Call and wait. `what` names it in errors. Errors: all.
    pub fn call(
        &mut self,
        what: &'static str,
        procedure: Procedure,
        put: impl FnOnce(&mut Vec<u8>),
    ) -> Result<Vec<u8>, NfsError> {
        const OWN: u64 = u64::MAX;
        self.begin(procedure, OWN, put);
        let mut found = None;
        self.settle(what, |token, results| {
            if token == OWN {
                found = Some(results.map(<[u8]>::to_vec));
            }
        })?;
        found.unwrap_or(Err(NfsError::Malformed { what: "answer" }))
    }

    /// Send what was begun and wait until every call has its answer, which goes to `answer` with the call's token.
    ///
    /// Errors: Closed, Oversized, Malformed, System, TimedOut: the connection is of no use any more, because a late
    /// answer would be taken for another call's.
    pub fn settle(
        &mut self,
        what: &'static str,
        mut answer: impl FnMut(u64, Result<&[u8], NfsError>),
    ) -> Result<(), NfsError> {
        let clock = Arc::clone(&self.connector.clock);
        let give_up = clock.monotonic_ns().saturating_add(self.connector.limit.as_nanos() as u64);
        loop {
            self.flush()?;
            let now = clock.monotonic_ns();
            if now >= give_up {
                return Err(NfsError::TimedOut {
                    what: what.into(),
                    seconds: self.connector.limit.as_secs(),
                });
            }
            socket::ready(&mut [self.poll_fd()], give_up - now)
                .map_err(|errno| NfsError::system(what, errno))?;
            self.receive(&mut answer)?;
            if self.outstanding == 0 {
                return Ok(());
            }
        }
    }
}
