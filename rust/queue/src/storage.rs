//! The storage: room, what waits, what is in service.

use std::collections::VecDeque;

use crate::scenario::{self, Cache, Discipline, Kind, Scenario, Service};
use crate::server::Timed;
use crate::waiting::{Operation, Waiting};

/// A free-running clock, or servers that are busy for drawn times.
#[derive(Debug)]
pub enum Servers {
    Slots { every: u64, next: u64, each: u32 },
    Timed(Timed),
}

/// Which operations share room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    Queue,
    Cache,
    /// One client's queue.
    Own,
}

/// The storage at an instant.
#[derive(Debug)]
pub struct Storage {
    waiting: Waiting,
    cached: VecDeque<Operation>,
    cache: Option<Cache>,
    flushing: bool,
    fair: bool,
    /// Room in the queue that all share; none where each client has its own.
    room: u64,
    cache_room: u64,
    /// Room of each client, where the discipline is fair.
    rooms: Vec<u64>,
    /// Operations that wait, without those in service.
    pub length: u64,
    pub servers: Servers,
}

impl Storage {
    pub fn new(scenario: &Scenario, weights: &[u32]) -> Self {
        let scenario::Storage { service, servers, queue, discipline, cache } = &scenario.storage;
        let servers = match service {
            Service::Slots(every) => Servers::Slots { every: *every, next: 0, each: *servers },
            Service::Timed(duration) => Servers::Timed(Timed::new(duration.clone(), *servers, scenario.seed)),
        };
        Self {
            waiting: Waiting::new(*discipline, weights),
            cached: VecDeque::new(),
            cache: *cache,
            flushing: false,
            fair: *discipline == Discipline::Fair,
            room: if *discipline == Discipline::Fair { 0 } else { *queue },
            cache_room: cache.map_or(0, |cache| cache.writes),
            rooms: vec![*queue; weights.len()],
            length: 0,
            servers,
        }
    }
    /// Where an operation needs room.
    #[inline]
    pub fn gate(&self, kind: Kind) -> Gate {
        match kind {
            Kind::Write if self.cache.is_some() => Gate::Cache,
            _ if self.fair => Gate::Own,
            _ => Gate::Queue,
        }
    }
    /// Whether a gate lets an operation of `client` in.
    #[inline]
    pub fn room(&self, gate: Gate, client: u32) -> bool {
        self.room_of(gate, client) > 0
    }
    #[inline]
    fn room_of(&self, gate: Gate, client: u32) -> u64 {
        match gate {
            Gate::Queue => self.room,
            Gate::Cache => self.cache_room,
            Gate::Own => self.rooms[client as usize],
        }
    }
    /// Let an operation in.
    #[inline]
    pub fn place(&mut self, operation: Operation) {
        let gate = self.gate(operation.kind);
        self.length += 1;
        *self.room_mut(gate, operation.client) -= 1;
        if gate == Gate::Cache {
            self.cached.push_back(operation);
        } else {
            self.waiting.push(operation);
        }
    }
    /// The operation that goes next, by discipline and water marks; it keeps its room until ``release``.
    #[inline]
    pub fn next(&mut self) -> Option<Operation> {
        let operation = if self.cache.is_some() { self.next_cached() } else { self.waiting.pop() }?;
        self.length -= 1;
        Some(operation)
    }
    fn next_cached(&mut self) -> Option<Operation> {
        let cache = self.cache?;
        let dirty = self.cached.len() as u64;
        self.flushing = dirty >= cache.high || self.flushing && dirty > cache.low;
        if self.flushing {
            return self.cached.pop_front();
        }
        self.waiting.pop().or_else(|| self.cached.pop_front())
    }
    /// Give the room of an executed operation back; whose it was.
    #[inline]
    pub fn release(&mut self, operation: &Operation) -> Gate {
        let gate = self.gate(operation.kind);
        *self.room_mut(gate, operation.client) += 1;
        gate
    }
    #[inline]
    fn room_mut(&mut self, gate: Gate, client: u32) -> &mut u64 {
        match gate {
            Gate::Queue => &mut self.room,
            Gate::Cache => &mut self.cache_room,
            Gate::Own => &mut self.rooms[client as usize],
        }
    }
    /// When something is executed next, after `now`.
    #[inline]
    pub fn next_end(&self, now: u64) -> u64 {
        match &self.servers {
            Servers::Slots { next, .. } if self.length > 0 => (*next).max(now + 1),
            Servers::Slots { .. } => u64::MAX,
            Servers::Timed(timed) => timed.next_end().unwrap_or(u64::MAX),
        }
    }
}
