//! The queue in front of a storage system, simulated event by event.
//!
//! Time is counted in ticks. In every tick the storage goes first, then every client has its turn, in a fixed order or
//! in one that is drawn anew. Ticks in which nothing can change are skipped, with the same result as if each of them
//! had been simulated. No input or output happens here, and all randomness follows from one seed.

mod account;
mod arrivals;
mod bits;
mod process;
mod scenario;
mod server;
mod simulation;
mod storage;
mod waiting;

pub use account::{Account, Phase, PhaseKind, ReadRecord, Tally, Traces};
pub use scenario::{
    ArrivalTimes, Arrivals, Cache, Client, Discipline, Duration, Kind, Order, Process, Scenario,
    ScenarioError, Service, Storage, WhenFull,
};
pub use simulation::Simulation;
