//! A phase that a rank is in the middle of.

use super::pattern::Steps;
use super::waiting::Waiting;
use iosonde_core::sample::Outcome;

/// A phase that a rank is in the middle of.
#[derive(Debug)]
pub(super) struct Running {
    pub steps: Steps,
    pub waiting: Waiting,
    /// Monotonic; none before the first lap.
    pub origin_ns: Option<u64>,
    pub last_ns: u64,
    pub last_ok_ns: u64,
    pub cpu_ns: u64,
    pub failures_in_row: u32,
    pub problems: Vec<(Outcome, String)>,
}

impl Running {
    pub fn new(steps: Steps) -> Self {
        Self {
            steps,
            waiting: Waiting::default(),
            origin_ns: None,
            last_ns: 0,
            last_ok_ns: 0,
            cpu_ns: 0,
            failures_in_row: 0,
            problems: Vec::new(),
        }
    }
}
