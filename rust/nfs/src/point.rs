//! One point of a sweep: what is asked for, what is measured, and what can be seen of it meanwhile.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use nfs3_types::nfs3::stable_how;

/// Load and probes of one point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Request {
    /// WRITEs that are due in a second; zero: none; infinite: as many as `window` lets through.
    pub write_rate: f64,
    /// How long writes and probes are due.
    pub duration_ns: u64,
    /// A READ is due every so often; zero: none.
    pub probe_period_ns: u64,
    /// Most WRITEs without an answer, over all connections.
    pub window: usize,
    /// How safe a WRITE must be.
    pub stable: stable_how,
    /// The point ends when a probe takes longer.
    pub ceiling_ns: u64,
    /// How long answers are awaited after the last call is due.
    pub patience_ns: u64,
}

/// A READ of one byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Probe {
    /// When it was due, after the beginning of the point.
    pub due_ns: u64,
    /// When it was handed to the system; zero: it never was.
    pub sent_ns: u64,
    /// When its answer was seen; zero: none came.
    pub ended_ns: u64,
    /// Errno of its failure; zero: it went well, or nothing came.
    pub errno: u16,
}

/// What the WRITEs came to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Writes {
    /// Due while the point lasted.
    pub due: u64,
    /// Sent.
    pub sent: u64,
    /// Answered well.
    pub done: u64,
    /// Of these, before the last one was due: what a rate is made of.
    pub done_in_time: u64,
    /// Answered with an error, or lost with their connection.
    pub failed: u64,
    /// No answer came.
    pub unanswered: u64,
    /// Answers that belong to no call.
    pub strays: u64,
    /// By how safe the server says they are: UNSTABLE, DATA_SYNC, FILE_SYNC.
    pub committed: [u64; 3],
    /// From when it was due until its answer, of each that was answered well, up to [`MOST_LATENCIES`].
    pub latency_ns: Vec<i64>,
    /// Latencies that found no room.
    pub left_out: u64,
    /// Most calls under way at once.
    pub outstanding: u64,
}

/// Room for latencies of one point.
pub const MOST_LATENCIES: usize = 4_000_000;

/// Everything measured at one point.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Measured {
    /// When it began, UTC.
    pub began_ns: i64,
    /// How long calls were due.
    pub lasted_ns: u64,
    /// The WRITEs.
    pub writes: Writes,
    /// The READs, in the order in which they were due.
    pub probes: Vec<Probe>,
    /// A probe took longer than the ceiling.
    pub ceiling: bool,
    /// The end was asked for.
    pub stopped: bool,
    /// What went wrong with connections.
    pub problems: Vec<String>,
}

/// What others see and say while a point goes on.
#[derive(Debug, Default)]
pub struct Progress {
    /// Asks for the end.
    pub stop: AtomicBool,
    /// A probe took longer than the ceiling.
    pub ceiling: AtomicBool,
    /// WRITEs that were answered.
    pub written: AtomicU64,
    /// READs that were answered.
    pub read: AtomicU64,
    /// Longest READ so far.
    pub longest_ns: AtomicU64,
    /// When the last call was due, after the beginning.
    pub lasted_ns: AtomicU64,
}

/// How long answers are awaited once somebody wants an end.
const STOPPED_PATIENCE_NS: u64 = 2_000_000_000;

impl Progress {
    /// How long answers are awaited after the last call was due.
    pub fn patience_ns(&self, request: &Request) -> u64 {
        let stopped = self.stop.load(Ordering::Relaxed);
        if stopped { request.patience_ns.min(STOPPED_PATIENCE_NS) } else { request.patience_ns }
    }
    /// Whether no more calls are due.
    pub fn over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.ceiling.load(Ordering::Relaxed)
    }
}
