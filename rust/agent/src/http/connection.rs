//! One client: asks, is answered, and is listened to for a moment more.
//!
//! ```text
//! asking ──request, or too much, or too late──► answering ──all sent──► draining ──► gone
//! ```
//! Draining: closing a socket that holds unread bytes resets it, and the client might never see its answer.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};

use super::answer::{Refusal, answer, refuse};
use super::request::{Parsed, parse};
use crate::shown::Shown;

/// Bytes of a request's head at most.
const MAX_REQUEST: usize = 8 << 10;
/// Bytes that are thrown away after the answer.
const MAX_DRAIN: usize = 64 << 10;
const ASKING_NS: u64 = 2_000_000_000;
const ANSWERING_NS: u64 = 10_000_000_000;
const DRAINING_NS: u64 = 500_000_000;

/// What a connection waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wants {
    /// Bytes from the client.
    Read,
    /// Room for bytes to the client.
    Write,
}

#[derive(Debug)]
enum Phase {
    Asking(Vec<u8>),
    Answering(Vec<u8>, usize),
    Draining(usize),
}

/// A connected client. Nothing here ever blocks.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    began_ns: u64,
    deadline_ns: u64,
    phase: Phase,
}

impl Connection {
    /// A client that has just come.
    pub fn new(stream: TcpStream, now_ns: u64) -> std::io::Result<Self> {
        stream.set_nonblocking(true)?;
        let phase = Phase::Asking(Vec::new());
        Ok(Self { stream, began_ns: now_ns, deadline_ns: now_ns + ASKING_NS, phase })
    }

    /// For waiting.
    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }
    /// When it came (monotonic).
    pub fn began_ns(&self) -> u64 {
        self.began_ns
    }
    /// Until when it may go on as it does (monotonic).
    pub fn deadline_ns(&self) -> u64 {
        self.deadline_ns
    }
    /// What it waits for.
    pub fn wants(&self) -> Wants {
        match self.phase {
            Phase::Answering(..) => Wants::Write,
            Phase::Asking(_) | Phase::Draining(_) => Wants::Read,
        }
    }

    /// Its time is over; false when it is to be dropped.
    pub fn expire(&mut self, now_ns: u64) -> bool {
        match &self.phase {
            Phase::Asking(heard) if !heard.is_empty() => {
                self.say(refuse(Refusal::Late), now_ns);
                self.send(now_ns)
            }
            _ => false,
        }
    }

    /// Do what can be done now; false when it is over.
    pub fn step(&mut self, shown: &Shown, now_ns: u64) -> bool {
        match &mut self.phase {
            Phase::Asking(heard) => {
                let mut piece = [0_u8; 4096];
                let room = piece.len().min(MAX_REQUEST - heard.len());
                match self.stream.read(&mut piece[..room]) {
                    // Nobody asked anything.
                    Ok(0) if heard.is_empty() => return false,
                    Ok(0) => self.say(refuse(Refusal::Malformed), now_ns),
                    Ok(n) => {
                        heard.extend_from_slice(&piece[..n]);
                        let full = heard.len() == MAX_REQUEST;
                        match parse(heard) {
                            Parsed::Partial if !full => return true,
                            Parsed::Partial | Parsed::TooLong => self.say(refuse(Refusal::TooLong), now_ns),
                            Parsed::Bad => self.say(refuse(Refusal::Malformed), now_ns),
                            Parsed::Whole(request) => self.say(answer(&request, shown), now_ns),
                        }
                    }
                    Err(error) => return may_go_on(&error),
                }
                self.send(now_ns)
            }
            Phase::Answering(..) => self.send(now_ns),
            Phase::Draining(left) => {
                let mut piece = [0_u8; 4096];
                match self.stream.read(&mut piece) {
                    Ok(0) => false,
                    Ok(n) => {
                        *left = left.saturating_sub(n);
                        *left > 0
                    }
                    Err(error) => may_go_on(&error),
                }
            }
        }
    }

    fn say(&mut self, bytes: Vec<u8>, now_ns: u64) {
        self.phase = Phase::Answering(bytes, 0);
        self.deadline_ns = now_ns + ANSWERING_NS;
    }

    fn send(&mut self, now_ns: u64) -> bool {
        let Phase::Answering(bytes, sent) = &mut self.phase else { return true };
        while *sent < bytes.len() {
            match self.stream.write(&bytes[*sent..]) {
                Ok(0) => return false,
                Ok(n) => *sent += n,
                Err(error) => return may_go_on(&error),
            }
        }
        self.phase = Phase::Draining(MAX_DRAIN);
        self.deadline_ns = now_ns + DRAINING_NS;
        self.stream.shutdown(Shutdown::Write).is_ok()
    }
}

fn may_go_on(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
