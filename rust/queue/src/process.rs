//! A program: initial wait, reads, computation, writes, and again.

use crate::account::{Account, Phase, PhaseKind};
use crate::scenario::{self, Kind};
use crate::storage::Storage;
use crate::waiting::Operation;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Initial,
    Read,
    Compute,
    Write,
}

/// What a client does after its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// It sleeps until this tick.
    Sleep(u64),
    /// It has a turn in the next tick, whatever happens.
    Again,
    /// It tries again as soon as there is room.
    Room(Kind),
    /// Its read is in the storage.
    Reading,
}

/// A program at an instant.
#[derive(Debug)]
pub struct Process {
    pattern: scenario::Process,
    part: Part,
    until: u64,
    left: u64,
    began: u64,
    reading: bool,
    /// First attempt of the operation that found no room.
    due: Option<u64>,
}

impl Process {
    pub fn new(pattern: scenario::Process) -> Self {
        let until = pattern.initial;
        Self { pattern, part: Part::Initial, until, left: 0, began: 0, reading: false, due: None }
    }
    /// Its read was executed: it may go on in this tick.
    pub fn read_ended(&mut self) {
        self.reading = false;
        self.left -= 1;
    }
    /// Since when its operation finds no room.
    pub fn blocked_since(&self) -> Option<(Kind, u64)> {
        let kind = if self.part == Part::Write { Kind::Write } else { Kind::Read };
        self.due.map(|due| (kind, due))
    }
    /// A turn in tick `now`: at most one attempt.
    pub fn turn(&mut self, client: u32, now: u64, storage: &mut Storage, account: &mut Account) -> Next {
        loop {
            match self.part {
                Part::Initial | Part::Compute if now < self.until => return Next::Sleep(self.until),
                Part::Initial => self.enter(Part::Read, now, self.pattern.reads),
                Part::Compute => self.enter(Part::Write, now, self.pattern.writes),
                Part::Read if self.reading => return Next::Reading,
                Part::Write | Part::Read if self.left > 0 => {
                    return self.attempt(client, now, storage, account);
                }
                Part::Read => {
                    self.ended(client, now, account);
                    self.sleep(Part::Compute, now, self.pattern.compute);
                }
                Part::Write => {
                    self.ended(client, now, account);
                    account.tallies[client as usize].cycles += 1;
                    self.sleep(Part::Initial, now, self.pattern.initial);
                }
            }
        }
    }
    fn enter(&mut self, part: Part, now: u64, operations: u64) {
        (self.part, self.began, self.left) = (part, now, operations);
    }
    fn sleep(&mut self, part: Part, now: u64, ticks: u64) {
        (self.part, self.until) = (part, now + ticks);
    }
    fn ended(&self, client: u32, now: u64, account: &mut Account) {
        let (kind, operations) = match self.part {
            Part::Write => (PhaseKind::Write, self.pattern.writes),
            _ => (PhaseKind::Read, self.pattern.reads),
        };
        if operations > 0 {
            account.phase(Phase { client, kind, began: self.began, ended: now });
        }
    }
    #[inline]
    fn attempt(&mut self, client: u32, now: u64, storage: &mut Storage, account: &mut Account) -> Next {
        let kind = if self.part == Part::Write { Kind::Write } else { Kind::Read };
        let gate = storage.gate(kind);
        let due = self.due.unwrap_or(now);
        if !storage.room(gate, client) {
            self.due = Some(due);
            return Next::Room(kind);
        }
        let operation = Operation { due, client, kind };
        storage.place(operation);
        account.placed(&operation, now - due);
        self.due = None;
        if kind == Kind::Read {
            self.reading = true;
            return Next::Reading;
        }
        self.left -= 1;
        if self.left > 0 && !storage.room(gate, client) {
            // Nothing makes room before the storage's next turn: the attempts until then fail.
            self.due = Some(now + 1);
            return Next::Room(kind);
        }
        Next::Again
    }
}
