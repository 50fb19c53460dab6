//! The loop over ticks in which something can change.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use iosonde_core::seed::Random;

use crate::account::Account;
use crate::arrivals::Arrivals;
use crate::bits::Bits;
use crate::process::{Next, Process};
use crate::scenario::{self, Kind, Order, Scenario, ScenarioError};
use crate::storage::{Gate, Servers, Storage};
use crate::waiting::Operation;

#[derive(Debug)]
enum Client {
    Process(Process),
    Arrivals(Arrivals),
}

/// A simulation at an instant: `advance` it as far as wanted, then read `account`.
#[derive(Debug)]
pub struct Simulation {
    ticks: u64,
    now: u64,
    /// Until where the time of operations inside was summed up, and how many there are.
    summed: u64,
    inside: u64,
    storage: Storage,
    clients: Vec<Client>,
    account: Account,
    /// Clients with a turn in this tick, and those with one in the next.
    ready: Bits,
    again: Bits,
    /// Clients that wait for room in the queue and in the cache. One whose own queue is full becomes ready when it has room.
    for_queue: Bits,
    for_cache: Bits,
    sleeping: BinaryHeap<Reverse<(u64, u32)>>,
    wakes: Vec<u64>,
    order: Option<Random>,
    candidates: Vec<u32>,
}

impl Simulation {
    /// At tick 0.
    pub fn new(scenario: &Scenario) -> Result<Self, ScenarioError> {
        scenario.check()?;
        let weights: Vec<u32> = scenario
            .clients
            .iter()
            .map(|client| match client {
                scenario::Client::Process(process) => process.weight,
                scenario::Client::Arrivals(arrivals) => arrivals.weight,
            })
            .collect();
        let n = scenario.clients.len();
        let mut ready = Bits::new(n);
        (0..n as u32).for_each(|client| ready.set(client));
        let clients = scenario.clients.iter().enumerate().map(|(number, client)| match client {
            scenario::Client::Process(process) => Client::Process(Process::new(*process)),
            scenario::Client::Arrivals(arrivals) => {
                Client::Arrivals(Arrivals::new(arrivals, number, scenario.seed))
            }
        });
        Ok(Self {
            ticks: scenario.ticks,
            now: 0,
            summed: 0,
            inside: 0,
            storage: Storage::new(scenario, &weights),
            clients: clients.collect(),
            account: Account::new(scenario),
            ready,
            again: Bits::new(n),
            for_queue: Bits::new(n),
            for_cache: Bits::new(n),
            sleeping: BinaryHeap::new(),
            wakes: vec![u64::MAX; n],
            order: (scenario.order == Order::Random).then(|| Random::stream(scenario.seed, "order")),
            candidates: Vec::with_capacity(n),
        })
    }
    /// Ticks that are done: all before this one.
    pub fn now(&self) -> u64 {
        self.now.min(self.ticks)
    }
    /// Whether time is up.
    pub fn done(&self) -> bool {
        self.now >= self.ticks
    }
    /// Simulate at most `steps` ticks in which something changes.
    pub fn advance(&mut self, steps: u64) {
        for _ in 0..steps {
            if self.now >= self.ticks {
                return;
            }
            self.tick();
        }
    }
    /// What happened before `now`.
    pub fn account(&self) -> Account {
        let (mut account, now) = (self.account.clone(), self.now());
        for (place, client) in self.clients.iter().enumerate() {
            match client {
                Client::Process(process) => {
                    if let Some((kind, since)) = process.blocked_since() {
                        account.blocked(place, kind, now.saturating_sub(since));
                    }
                }
                Client::Arrivals(arrivals) => {
                    let ticks = arrivals.blocked().map(|due| now.saturating_sub(due)).sum();
                    account.blocked(place, arrivals.kind, ticks);
                }
            }
        }
        if let Servers::Timed(timed) = &self.storage.servers {
            account.busy_ticks -= timed.outstanding(now);
        }
        account.inside_ticks += u128::from(self.inside) * u128::from(now - self.summed.min(now));
        account
    }

    #[inline]
    fn tick(&mut self) {
        let now = self.now;
        self.account.enter(now);
        self.account.inside_ticks += u128::from(self.inside) * u128::from(now - self.summed);
        self.summed = now;
        self.serve(now);
        while let Some(Reverse((at, client))) = self.sleeping.peek().copied() {
            if at > now {
                break;
            }
            self.sleeping.pop();
            self.wakes[client as usize] = u64::MAX;
            self.ready.set(client);
        }
        match self.order {
            None => self.turns_in_order(now),
            Some(_) => self.turns_at_random(now),
        }
        self.begin(now);
        self.account.length(self.storage.length);
        self.now = self.following(now);
    }
    /// The next tick in which something can change.
    #[inline]
    fn following(&mut self, now: u64) -> u64 {
        if self.again.any() {
            std::mem::swap(&mut self.ready, &mut self.again);
            return now + 1;
        }
        let wake = self.sleeping.peek().map_or(u64::MAX, |Reverse((at, _))| *at);
        wake.min(self.storage.next_end(now))
    }
    /// The storage's turn.
    #[inline]
    fn serve(&mut self, now: u64) {
        if let Servers::Slots { every, next, each } = &mut self.storage.servers {
            if now < *next {
                return;
            }
            let (slot, each, due) = (*every, *each, now == *next || now.is_multiple_of(*every));
            *next = if now == *next { now + slot } else { (now / slot + 1) * slot };
            if !due {
                return;
            }
            for _ in 0..each {
                let Some(operation) = self.storage.next() else { break };
                self.account.busy_ticks += slot;
                self.executed(operation, now);
            }
            return;
        }
        while let Servers::Timed(timed) = &mut self.storage.servers {
            let Some(operation) = timed.ended(now) else { break };
            self.executed(operation, now);
        }
        self.begin(now);
    }
    /// Free servers take what waits.
    #[inline]
    fn begin(&mut self, now: u64) {
        while let Servers::Timed(timed) = &self.storage.servers {
            if !timed.free() {
                return;
            }
            let Some(operation) = self.storage.next() else { return };
            if let Servers::Timed(timed) = &mut self.storage.servers {
                self.account.busy_ticks += timed.begin(operation, now);
            }
        }
    }
    #[inline]
    fn executed(&mut self, operation: Operation, now: u64) {
        self.inside -= 1;
        self.account.executed(&operation, now);
        let client = operation.client;
        if self.storage.release(&operation) == Gate::Own && self.for_queue.has(client) {
            self.ready.set(client);
        }
        if operation.kind == Kind::Read
            && let Client::Process(process) = &mut self.clients[client as usize]
        {
            process.read_ended();
            self.ready.set(client);
        }
    }
    /// Clients with a turn: those that are ready, and those that wait for room where there is some.
    #[inline]
    fn take_candidates(&mut self, word: usize) -> u64 {
        let mut bits = self.ready.take_word(word);
        if self.storage.room(Gate::Queue, 0) {
            bits |= self.for_queue.word(word);
        }
        if self.storage.room(Gate::Cache, 0) {
            bits |= self.for_cache.word(word);
        }
        bits
    }
    #[inline]
    fn turns_in_order(&mut self, now: u64) {
        for word in 0..self.ready.words() {
            let mut bits = self.take_candidates(word);
            while bits != 0 {
                let client = word as u32 * 64 + bits.trailing_zeros();
                bits &= bits - 1;
                self.turn(client, now);
            }
        }
    }
    #[inline]
    fn turns_at_random(&mut self, now: u64) {
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        for word in 0..self.ready.words() {
            let mut bits = self.take_candidates(word);
            while bits != 0 {
                candidates.push(word as u32 * 64 + bits.trailing_zeros());
                bits &= bits - 1;
            }
        }
        for place in 0..candidates.len() {
            if let Some(random) = &mut self.order
                && place + 1 < candidates.len()
            {
                let other = place + random.below((candidates.len() - place) as u64) as usize;
                candidates.swap(place, other);
            }
            self.turn(candidates[place], now);
        }
        self.candidates = candidates;
    }
    #[inline]
    fn turn(&mut self, client: u32, now: u64) {
        let before = self.storage.length;
        let state = &mut self.clients[client as usize];
        let next = match state {
            Client::Process(process) => process.turn(client, now, &mut self.storage, &mut self.account),
            Client::Arrivals(arrivals) => arrivals.turn(client, now, &mut self.storage, &mut self.account),
        };
        self.inside += self.storage.length - before;
        let wake = match (&*state, next) {
            (Client::Arrivals(arrivals), _) => arrivals.next_arrival(),
            (_, Next::Sleep(until)) => until,
            _ => u64::MAX,
        };
        if wake < u64::MAX && self.wakes[client as usize] != wake {
            self.wakes[client as usize] = wake;
            self.sleeping.push(Reverse((wake, client)));
        }
        self.for_queue.clear(client);
        self.for_cache.clear(client);
        match next {
            Next::Again => self.again.set(client),
            Next::Room(kind) if self.storage.gate(kind) == Gate::Cache => self.for_cache.set(client),
            Next::Room(_) => self.for_queue.set(client),
            Next::Sleep(_) | Next::Reading => {}
        }
    }
}
