//! What is simulated: a storage system, its clients and for how long. Times are ticks.

use thiserror::Error;

/// Everything that a simulation follows from.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// Simulated time: ticks 0 to `ticks - 1`.
    pub ticks: u64,
    /// Width of a bin of the traces; the last bin may be shorter.
    pub bin_ticks: u64,
    /// In which order clients have their turns within a tick.
    pub order: Order,
    /// What all randomness follows from.
    pub seed: u64,
    /// At most so many reads and phases are recorded one by one; more are only counted.
    pub most_records: usize,
    /// The storage system.
    pub storage: Storage,
    /// The clients, in their fixed order.
    pub clients: Vec<Client>,
}

/// In which order clients have their turns within a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// As they are listed.
    Fixed,
    /// Drawn anew in every tick.
    Random,
}

/// The storage system.
#[derive(Debug, Clone, PartialEq)]
pub struct Storage {
    /// How operations are executed.
    pub service: Service,
    /// How many operations are executed at a time.
    pub servers: u32,
    /// M: at most so many operations are in the storage; `u64::MAX` is unlimited.
    pub queue: u64,
    /// Which operation comes next.
    pub discipline: Discipline,
    /// A write-back cache, which writes enter instead of the queue.
    pub cache: Option<Cache>,
}

/// How operations are executed.
#[derive(Debug, Clone, PartialEq)]
pub enum Service {
    /// A clock that runs freely: in every tick that N divides, each server executes one operation.
    Slots(u64),
    /// A free server begins with an operation when it arrives, and keeps it for a drawn time of at least one tick.
    Timed(Duration),
}

/// A distribution of service times, in ticks.
#[derive(Debug, Clone, PartialEq)]
pub enum Duration {
    /// Always the same.
    Constant(f64),
    /// Exponential, with its mean.
    Exponential(f64),
    /// Log-normal, with its mean and its coefficient of variation.
    Lognormal(f64, f64),
    /// One of these, all equally likely.
    Values(Vec<f64>),
}

/// Which operation comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Discipline {
    /// The one that came first.
    Fifo,
    /// Clients in turn, each with a queue of its own of `Storage::queue` operations and as many in a turn as its weight.
    Fair,
    /// Reads before writes.
    ReadsFirst,
}

/// A write-back cache: a write completes when it enters. Idle servers empty it; reads go first until it is `high`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cache {
    /// Writes that fit in.
    pub writes: u64,
    /// From so many writes on they go before reads.
    pub high: u64,
    /// Until so few are left.
    pub low: u64,
}

/// Read or write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Completes when it is executed.
    Read,
    /// Completes when it is in the queue or in the cache.
    Write,
}

/// Who sends operations.
#[derive(Debug, Clone, PartialEq)]
pub enum Client {
    /// A program that repeats its pattern for ever.
    Process(Process),
    /// Operations that arrive whether or not earlier ones ended.
    Arrivals(Arrivals),
}

/// A program: waits `initial` ticks, reads `reads` times one after the other, computes `compute` ticks, writes
/// `writes` times, at most once a tick, and begins again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process {
    /// D0, ticks.
    pub initial: u64,
    /// R, operations.
    pub reads: u64,
    /// D1, ticks.
    pub compute: u64,
    /// W, operations.
    pub writes: u64,
    /// Operations in a turn, where the discipline is fair.
    pub weight: u32,
}

/// An open stream of operations.
#[derive(Debug, Clone, PartialEq)]
pub struct Arrivals {
    /// What arrives.
    pub kind: Kind,
    /// When.
    pub times: ArrivalTimes,
    /// Operations that arrive together.
    pub batch: u64,
    /// What becomes of one that finds no room.
    pub when_full: WhenFull,
    /// Operations in a turn, where the discipline is fair.
    pub weight: u32,
}

/// When operations arrive.
#[derive(Debug, Clone, PartialEq)]
pub enum ArrivalTimes {
    /// Every so many ticks, from tick 0 on.
    Regular(f64),
    /// A Poisson process with this mean distance, in ticks.
    Poisson(f64),
    /// In these ticks, ascending.
    At(Vec<u64>),
}

/// What becomes of an arrival that finds no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenFull {
    /// It waits for room; its wait counts from when it arrived.
    Wait,
    /// It is lost, and counted.
    Lose,
}

/// Why a scenario cannot be simulated.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ScenarioError(pub String);

/// Bins of all traces together that are kept at most.
const MOST_BINS: u64 = 20_000_000;

impl Scenario {
    /// Whether it can be simulated: nothing that would never end, divide by zero or need endless memory.
    pub fn check(&self) -> Result<(), ScenarioError> {
        ensure(self.bin_ticks > 0, "bin_ticks is 0; expected at least 1")?;
        ensure(!self.clients.is_empty(), "no clients; expected at least one")?;
        let bins = self.ticks.div_ceil(self.bin_ticks).saturating_mul(self.clients.len() as u64);
        ensure(bins <= MOST_BINS, "too many bins; expected a larger bin_ticks")?;
        ensure(self.ticks < 1 << 62, "too many ticks; expected fewer than 2^62")?;
        self.storage.check()?;
        self.clients.iter().try_for_each(|client| match client {
            Client::Process(process) => process.check(),
            Client::Arrivals(arrivals) => arrivals.check(),
        })
    }
}

impl Storage {
    fn check(&self) -> Result<(), ScenarioError> {
        ensure(self.servers > 0 && self.queue > 0, "no server or no queue; expected at least 1")?;
        if let Some(cache) = self.cache {
            let fits = cache.low < cache.high && cache.high <= cache.writes;
            ensure(fits, "water marks of the cache; expected low < high <= writes")?;
        }
        let good = |value: f64| value.is_finite() && value > 0.0 && value < 1e15;
        ensure(
            match &self.service {
                Service::Slots(every) => *every > 0,
                Service::Timed(Duration::Constant(mean) | Duration::Exponential(mean)) => good(*mean),
                Service::Timed(Duration::Lognormal(mean, cv)) => good(*mean) && good(*cv),
                Service::Timed(Duration::Values(values)) => {
                    !values.is_empty() && values.iter().all(|value| good(*value))
                }
            },
            "a service time is not positive; expected at least 1 tick",
        )
    }
}

impl Process {
    fn check(&self) -> Result<(), ScenarioError> {
        let parts = [self.initial, self.reads, self.compute, self.writes];
        ensure(parts.iter().any(|part| *part > 0), "a process with an empty pattern")?;
        ensure(parts.iter().all(|part| *part < 1 << 62), "a pattern with a number of 2^62 or more")?;
        ensure(self.weight > 0, "a weight is 0; expected at least 1")
    }
}

impl Arrivals {
    fn check(&self) -> Result<(), ScenarioError> {
        ensure(self.batch > 0 && self.weight > 0, "a batch or a weight is 0; expected at least 1")?;
        match &self.times {
            ArrivalTimes::Regular(every) | ArrivalTimes::Poisson(every) => {
                ensure(every.is_finite() && *every >= 1e-6, "arrivals are not some time apart")
            }
            ArrivalTimes::At(at) => ensure(at.is_sorted(), "instants of arrivals do not ascend"),
        }
    }
}

fn ensure(fits: bool, what: &str) -> Result<(), ScenarioError> {
    if fits { Ok(()) } else { Err(ScenarioError(what.to_owned())) }
}
