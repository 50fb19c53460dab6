//! The model tick by tick, as plainly as it can be written: what the simulator must agree with, bit for bit.
//!
//! Clients in their fixed order; service times and arrivals that are not random.

use std::collections::VecDeque;

use iosonde_queue::{ArrivalTimes, Client, Discipline, Duration, Kind, Scenario, Service, WhenFull};

/// What happened, in the order of `Seen` below.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Happened {
    /// Of each client: reads, writes stored, writes executed, blocked read ticks, blocked write ticks, cycles, lost.
    pub totals: Vec<[u64; 7]>,
    /// (client, due, ended) of every read.
    pub reads: Vec<(u32, u64, u64)>,
    /// (client, writes?, began, ended) of every phase.
    pub phases: Vec<(u32, bool, u64, u64)>,
    /// (client, tick) of every write that was executed, and of every one that completed.
    pub writes: Vec<(u32, u64)>,
    pub stored: Vec<(u32, u64)>,
    pub busy: u64,
    pub inside: u128,
}

#[derive(Clone, Copy)]
struct Op {
    client: usize,
    kind: Kind,
    due: u64,
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Initial(u64),
    Read(u64),
    Compute(u64),
    Write(u64),
}

struct Program {
    part: Part,
    began: u64,
    reading: bool,
    due: Option<u64>,
}

/// The model at a tick.
pub struct TickLoop<'a> {
    scenario: &'a Scenario,
    queues: Vec<VecDeque<Op>>,
    turn: (usize, u32),
    cached: VecDeque<Op>,
    flushing: bool,
    /// (ticks left, operation), in the order in which they began.
    serving: Vec<(u64, Op)>,
    programs: Vec<Program>,
    backlogs: Vec<VecDeque<u64>>,
    arrived: Vec<usize>,
    pub happened: Happened,
}

impl<'a> TickLoop<'a> {
    pub fn new(scenario: &'a Scenario) -> Self {
        let n = scenario.clients.len();
        let program = |client: &Client| {
            let until = if let Client::Process(process) = client { process.initial } else { 0 };
            Program { part: Part::Initial(until), began: 0, reading: false, due: None }
        };
        Self {
            scenario,
            queues: vec![VecDeque::new(); n],
            turn: (n - 1, 0),
            cached: VecDeque::new(),
            flushing: false,
            serving: Vec::new(),
            programs: scenario.clients.iter().map(program).collect(),
            backlogs: vec![VecDeque::new(); n],
            arrived: vec![0; n],
            happened: Happened { totals: vec![[0; 7]; n], ..Happened::default() },
        }
    }
    pub fn run(mut self) -> Happened {
        for now in 0..self.scenario.ticks {
            self.serve(now);
            for client in 0..self.scenario.clients.len() {
                match &self.scenario.clients[client] {
                    Client::Process(_) => self.process(client, now),
                    Client::Arrivals(_) => self.arrivals(client, now),
                }
            }
            self.begin();
            self.happened.inside += (self.waiting() + self.serving.len()) as u128;
            self.happened.busy += self.serving.len() as u64;
        }
        self.happened
    }
    fn waiting(&self) -> usize {
        self.cached.len() + self.queues.iter().map(VecDeque::len).sum::<usize>()
    }
    fn serve(&mut self, now: u64) {
        match self.scenario.storage.service {
            Service::Slots(every) if now.is_multiple_of(every) => {
                for _ in 0..self.scenario.storage.servers {
                    if let Some(op) = self.take() {
                        self.happened.busy += every;
                        self.executed(op, now);
                    }
                }
            }
            Service::Slots(_) => {}
            Service::Timed(_) => {
                self.serving.iter_mut().for_each(|(left, _)| *left -= 1);
                let (ended, rest) = self.serving.iter().partition(|(left, _)| *left == 0);
                self.serving = rest;
                let ended: Vec<(u64, Op)> = ended;
                ended.iter().for_each(|(_, op)| self.executed(*op, now));
                self.begin();
            }
        }
    }
    fn begin(&mut self) {
        if let Service::Timed(Duration::Constant(ticks)) = self.scenario.storage.service {
            while self.serving.len() < self.scenario.storage.servers as usize {
                let Some(op) = self.take() else { break };
                self.serving.push(((ticks.round() as u64).max(1), op));
            }
        }
    }
    fn take(&mut self) -> Option<Op> {
        if let Some(cache) = self.scenario.storage.cache {
            let dirty = self.cached.len() as u64;
            if dirty >= cache.high {
                self.flushing = true;
            } else if dirty <= cache.low {
                self.flushing = false;
            }
            if self.flushing {
                return self.cached.pop_front();
            }
        }
        self.take_queued().or_else(|| self.cached.pop_front())
    }
    fn take_queued(&mut self) -> Option<Op> {
        match self.scenario.storage.discipline {
            Discipline::Fifo => self.queues[0].pop_front(),
            Discipline::ReadsFirst => {
                let read = self.queues[0].iter().position(|op| op.kind == Kind::Read).unwrap_or(0);
                self.queues[0].remove(read)
            }
            Discipline::Fair => {
                if self.queues.iter().all(VecDeque::is_empty) {
                    return None;
                }
                while self.turn.1 == 0 || self.queues[self.turn.0].is_empty() {
                    let next = (self.turn.0 + 1) % self.queues.len();
                    let weight = match &self.scenario.clients[next] {
                        Client::Process(process) => process.weight,
                        Client::Arrivals(arrivals) => arrivals.weight,
                    };
                    self.turn = (next, weight);
                }
                self.turn.1 -= 1;
                self.queues[self.turn.0].pop_front()
            }
        }
    }
    fn executed(&mut self, op: Op, now: u64) {
        if op.kind == Kind::Write {
            self.happened.totals[op.client][2] += 1;
            self.happened.writes.push((op.client as u32, now));
            return;
        }
        self.happened.totals[op.client][0] += 1;
        self.happened.reads.push((op.client as u32, op.due, now));
        let program = &mut self.programs[op.client];
        program.reading = false;
        if let Part::Read(left) = &mut program.part {
            *left -= 1;
        }
    }
    fn place(&mut self, op: Op, now: u64) -> bool {
        let storage = &self.scenario.storage;
        let in_cache = storage.cache.is_some() && op.kind == Kind::Write;
        let serving = |of: &dyn Fn(&Op) -> bool| self.serving.iter().filter(|(_, op)| of(op)).count();
        let cached = |op: &Op| storage.cache.is_some() && op.kind == Kind::Write;
        let (inside, most) = if in_cache {
            (self.cached.len() + serving(&cached), storage.cache.map_or(0, |cache| cache.writes))
        } else if storage.discipline == Discipline::Fair {
            let mine = |other: &Op| other.client == op.client && !cached(other);
            (self.queues[op.client].len() + serving(&mine), storage.queue)
        } else {
            (self.queues[0].len() + serving(&|other| !cached(other)), storage.queue)
        };
        if inside as u64 >= most {
            return false;
        }
        if in_cache {
            self.cached.push_back(op);
        } else if storage.discipline == Discipline::Fair {
            self.queues[op.client].push_back(op);
        } else {
            self.queues[0].push_back(op);
        }
        if op.kind == Kind::Write {
            self.happened.totals[op.client][1] += 1;
            self.happened.stored.push((op.client as u32, now));
        }
        true
    }
    fn process(&mut self, client: usize, now: u64) {
        let Client::Process(pattern) = self.scenario.clients[client] else { return };
        loop {
            let program = &mut self.programs[client];
            match program.part {
                Part::Initial(until) if now >= until => {
                    (program.part, program.began) = (Part::Read(pattern.reads), now);
                }
                Part::Compute(until) if now >= until => {
                    (program.part, program.began) = (Part::Write(pattern.writes), now);
                }
                Part::Initial(_) | Part::Compute(_) => return,
                Part::Read(_) if program.reading => return,
                Part::Read(0) => {
                    program.part = Part::Compute(now + pattern.compute);
                    let began = program.began;
                    if pattern.reads > 0 {
                        self.happened.phases.push((client as u32, false, began, now));
                    }
                }
                Part::Write(0) => {
                    program.part = Part::Initial(now + pattern.initial);
                    let began = program.began;
                    if pattern.writes > 0 {
                        self.happened.phases.push((client as u32, true, began, now));
                    }
                    self.happened.totals[client][5] += 1;
                }
                Part::Read(_) | Part::Write(_) => return self.attempt(client, now),
            }
        }
    }
    fn attempt(&mut self, client: usize, now: u64) {
        let due = *self.programs[client].due.get_or_insert(now);
        let writes = matches!(self.programs[client].part, Part::Write(_));
        let kind = if writes { Kind::Write } else { Kind::Read };
        if !self.place(Op { client, kind, due }, now) {
            self.happened.totals[client][if writes { 4 } else { 3 }] += 1;
            return;
        }
        let program = &mut self.programs[client];
        program.due = None;
        match &mut program.part {
            Part::Write(left) => *left -= 1,
            _ => program.reading = true,
        }
    }
    fn arrivals(&mut self, client: usize, now: u64) {
        let Client::Arrivals(stream) = &self.scenario.clients[client] else { return };
        loop {
            let next = match &stream.times {
                ArrivalTimes::Regular(every) => (self.arrived[client] as f64 * every) as u64,
                ArrivalTimes::At(at) => at.get(self.arrived[client]).copied().unwrap_or(u64::MAX),
                ArrivalTimes::Poisson(_) => panic!("not random here"),
            };
            if next > now {
                break;
            }
            self.arrived[client] += 1;
            (0..stream.batch).for_each(|_| self.backlogs[client].push_back(next));
        }
        while let Some(due) = self.backlogs[client].front().copied() {
            if !self.place(Op { client, kind: stream.kind, due }, now) {
                if stream.when_full == WhenFull::Wait {
                    break;
                }
                self.happened.totals[client][6] += 1;
            }
            self.backlogs[client].pop_front();
        }
        let place = if stream.kind == Kind::Write { 4 } else { 3 };
        self.happened.totals[client][place] += self.backlogs[client].len() as u64;
    }
}
