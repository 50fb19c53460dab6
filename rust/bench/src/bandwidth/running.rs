//! A phase that a rank is in the middle of.

use super::content::Writer;
use super::file::File;
use super::pattern::Transfers;
use iosonde_core::sample::Outcome;

/// A phase that a rank is in the middle of.
pub(super) struct Running {
    pub write: bool,
    /// The file stays open at a limit: the rank goes on later.
    pub held: bool,
    pub name: String,
    pub writer: Writer,
    pub transfers: Transfers,
    /// Transfers that were begun.
    pub at: u64,
    pub file: Option<File>,
    /// Monotonic; none before the first lap.
    pub origin_ns: Option<u64>,
    pub last_ns: u64,
    pub cpu_ns: u64,
    pub failures_in_row: u32,
    pub problems: Vec<(Outcome, String)>,
}

impl Running {
    /// Whether there are words on a failure of this kind.
    #[cold]
    pub fn knows(&self, outcome: Outcome) -> bool {
        self.problems.iter().any(|(known, _)| *known == outcome)
    }
}
