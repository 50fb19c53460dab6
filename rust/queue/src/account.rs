//! What happened: totals of each client, traces in bins of time, single reads and phases.

use hdrhistogram::Histogram;

use crate::scenario::{Kind, Scenario};
use crate::waiting::Operation;

/// Totals of a client. Times are ticks.
#[derive(Debug, Clone)]
pub struct Tally {
    /// Reads that were executed, and so completed.
    pub reads: u64,
    /// Writes that completed: they are in the queue or in the cache, or were executed.
    pub writes_stored: u64,
    /// Writes that were executed.
    pub writes_executed: u64,
    /// Ticks in which a read found no room.
    pub blocked_read_ticks: u64,
    /// Ticks in which a write found no room.
    pub blocked_write_ticks: u64,
    /// Patterns of a process that came to their end.
    pub cycles: u64,
    /// Arrivals that found no room and were lost.
    pub lost: u64,
    /// Sum over reads of the time from the first attempt to the end.
    pub read_ticks: u64,
    /// The longest of them.
    pub longest_read_ticks: u64,
    /// Their distribution, to three digits.
    pub read_waits: Histogram<u64>,
}

impl Tally {
    fn new() -> Self {
        let read_waits = Histogram::new(3).unwrap_or_else(|_| unreachable!("three digits are allowed"));
        Self {
            reads: 0,
            writes_stored: 0,
            writes_executed: 0,
            blocked_read_ticks: 0,
            blocked_write_ticks: 0,
            cycles: 0,
            lost: 0,
            read_ticks: 0,
            longest_read_ticks: 0,
            read_waits,
        }
    }
}

/// Counts in bins of time: the value of client `c` in bin `b` is at `c * bins + b`.
#[derive(Debug, Clone, Default)]
pub struct Traces {
    /// Bins of a client.
    pub bins: usize,
    /// Reads executed.
    pub reads: Vec<u32>,
    /// Writes executed.
    pub writes: Vec<u32>,
    /// Writes that completed.
    pub stored: Vec<u32>,
    /// The longest read that ended in the bin, ticks; 0 without one.
    pub longest: Vec<u64>,
    /// Most operations that waited, of all clients; one a bin.
    pub length: Vec<u64>,
}

/// One read, from the first attempt to the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadRecord {
    /// Whose it was.
    pub client: u32,
    /// Tick of the first attempt.
    pub due: u64,
    /// Tick in which it was executed.
    pub ended: u64,
}

/// What a process did in a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhaseKind {
    /// It read.
    Read,
    /// It wrote.
    Write,
}

/// A phase of a process that came to its end, in `[began, ended)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phase {
    /// Whose it was.
    pub client: u32,
    /// What it did.
    pub kind: PhaseKind,
    /// Tick of the first attempt.
    pub began: u64,
    /// Tick in which it went on.
    pub ended: u64,
}

/// All of it.
#[derive(Debug, Clone)]
pub struct Account {
    /// One a client.
    pub tallies: Vec<Tally>,
    /// Traces of all clients.
    pub traces: Traces,
    /// Single reads, in the order of their ends.
    pub reads: Vec<ReadRecord>,
    /// Single phases, in the order of their ends.
    pub phases: Vec<Phase>,
    /// Reads and phases that were only counted.
    pub unrecorded: u64,
    /// Ticks that servers were busy, summed up over servers; a slot counts as its whole length.
    pub busy_ticks: u64,
    /// Integral over time of the operations in the storage.
    pub inside_ticks: u128,
    most_records: usize,
    bin_ticks: u64,
    bin: usize,
    bin_end: u64,
}

impl Account {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let clients = scenario.clients.len();
        let bins = scenario.ticks.div_ceil(scenario.bin_ticks) as usize;
        let zeros = || vec![0; clients * bins];
        let longest = vec![0; clients * bins];
        let length = vec![0; bins];
        Self {
            tallies: vec![Tally::new(); clients],
            traces: Traces { bins, reads: zeros(), writes: zeros(), stored: zeros(), longest, length },
            reads: Vec::new(),
            phases: Vec::new(),
            unrecorded: 0,
            busy_ticks: 0,
            inside_ticks: 0,
            most_records: scenario.most_records,
            bin_ticks: scenario.bin_ticks,
            bin: 0,
            bin_end: scenario.bin_ticks,
        }
    }
    /// What follows happens in tick `now`.
    #[inline]
    pub(crate) fn enter(&mut self, now: u64) {
        if now >= self.bin_end {
            self.bin = (now / self.bin_ticks) as usize;
            self.bin_end = (self.bin as u64 + 1) * self.bin_ticks;
        }
    }
    /// So many operations wait now.
    #[inline]
    pub(crate) fn length(&mut self, waiting: u64) {
        let most = &mut self.traces.length[self.bin];
        *most = waiting.max(*most);
    }
    #[inline]
    pub(crate) fn executed(&mut self, operation: &Operation, now: u64) {
        let place = operation.client as usize * self.traces.bins + self.bin;
        let tally = &mut self.tallies[operation.client as usize];
        if operation.kind == Kind::Write {
            tally.writes_executed += 1;
            self.traces.writes[place] += 1;
            return;
        }
        let ticks = now - operation.due;
        tally.reads += 1;
        tally.read_ticks += ticks;
        tally.longest_read_ticks = tally.longest_read_ticks.max(ticks);
        tally.read_waits.saturating_record(ticks);
        self.traces.reads[place] += 1;
        self.traces.longest[place] = self.traces.longest[place].max(ticks);
        if self.reads.len() < self.most_records {
            self.reads.push(ReadRecord { client: operation.client, due: operation.due, ended: now });
        } else {
            self.unrecorded += 1;
        }
    }
    /// An operation got in, after `blocked` ticks without room.
    #[inline]
    pub(crate) fn placed(&mut self, operation: &Operation, blocked: u64) {
        let tally = &mut self.tallies[operation.client as usize];
        if operation.kind == Kind::Write {
            tally.writes_stored += 1;
            tally.blocked_write_ticks += blocked;
            self.traces.stored[operation.client as usize * self.traces.bins + self.bin] += 1;
        } else {
            tally.blocked_read_ticks += blocked;
        }
    }
    pub(crate) fn phase(&mut self, phase: Phase) {
        if self.phases.len() < self.most_records {
            self.phases.push(phase);
        } else {
            self.unrecorded += 1;
        }
    }
    /// An operation still finds no room when time is up.
    pub(crate) fn blocked(&mut self, client: usize, kind: Kind, ticks: u64) {
        let tally = &mut self.tallies[client];
        match kind {
            Kind::Read => tally.blocked_read_ticks += ticks,
            Kind::Write => tally.blocked_write_ticks += ticks,
        }
    }
}
