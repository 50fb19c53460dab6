//! An open stream of operations.

use std::collections::VecDeque;

use iosonde_core::seed::Random;

use crate::account::Account;
use crate::process::Next;
use crate::scenario::{self, ArrivalTimes, Kind, WhenFull};
use crate::storage::Storage;
use crate::waiting::Operation;

/// A stream at an instant.
#[derive(Debug)]
pub struct Arrivals {
    pub kind: Kind,
    times: Times,
    batch: u64,
    when_full: WhenFull,
    next: u64,
    backlog: VecDeque<u64>,
}

#[derive(Debug)]
enum Times {
    Regular { every: f64, number: f64 },
    Poisson { mean: f64, at: f64, random: Random },
    At { at: Vec<u64>, place: usize },
}

impl Times {
    /// The next arrival; `u64::MAX` after the last one.
    fn next(&mut self) -> u64 {
        match self {
            Self::Regular { every, number } => {
                *number += 1.0;
                (*number * *every) as u64
            }
            Self::Poisson { mean, at, random } => {
                *at -= *mean * random.unit().ln();
                *at as u64
            }
            Self::At { at, place } => {
                *place += 1;
                at.get(*place - 1).copied().unwrap_or(u64::MAX)
            }
        }
    }
}

impl Arrivals {
    pub fn new(wanted: &scenario::Arrivals, client: usize, seed: u64) -> Self {
        let mut times = match &wanted.times {
            ArrivalTimes::Regular(every) => Times::Regular { every: *every, number: -1.0 },
            ArrivalTimes::Poisson(mean) => {
                let random = Random::stream(seed, &format!("arrivals {client}"));
                Times::Poisson { mean: *mean, at: 0.0, random }
            }
            ArrivalTimes::At(at) => Times::At { at: at.clone(), place: 0 },
        };
        let next = times.next();
        let scenario::Arrivals { kind, batch, when_full, .. } = *wanted;
        Self { kind, times, batch, when_full, next, backlog: VecDeque::new() }
    }
    /// When the next operation arrives.
    pub fn next_arrival(&self) -> u64 {
        self.next
    }
    /// Instants of arrivals that wait for room, and so are blocked, in order.
    pub fn blocked(&self) -> impl Iterator<Item = u64> {
        self.backlog.iter().copied()
    }
    /// A turn in tick `now`: everything that is due tries.
    pub fn turn(&mut self, client: u32, now: u64, storage: &mut Storage, account: &mut Account) -> Next {
        while self.next <= now {
            self.backlog.extend((0..self.batch).map(|_| self.next));
            self.next = self.times.next();
        }
        let gate = storage.gate(self.kind);
        while let Some(due) = self.backlog.front().copied() {
            if storage.room(gate, client) {
                let operation = Operation { due, client, kind: self.kind };
                storage.place(operation);
                account.placed(&operation, now - due);
            } else if self.when_full == WhenFull::Lose {
                account.tallies[client as usize].lost += 1;
            } else {
                return Next::Room(self.kind);
            }
            self.backlog.pop_front();
        }
        Next::Sleep(self.next)
    }
}
