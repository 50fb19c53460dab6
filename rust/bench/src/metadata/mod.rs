//! The metadata benchmark: ranks that work on data sets of small objects, every operation timed.
//!
//! [`parameters`] say what, [`pattern`] who touches which object when, a [`rank`] does it between two readings of the
//! clock and keeps an [`account`], [`survey`] makes a kept tree whole again, a [`team`] holds the ranks of one process.
//! Phases are agreed on from outside: nothing here talks to other processes.

pub mod account;
pub mod content;
pub mod gauge;
pub mod parameters;
pub mod pattern;
pub mod phase;
pub mod rank;
pub mod rows;
mod running;
pub mod survey;
pub mod team;
pub mod waiting;
mod work;

use rustix::io::Errno;

/// Why a benchmark cannot go on: what happened, what was expected, what to try.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BenchError {
    /// The request itself is wrong.
    #[error("{0}")]
    Wrong(String),
    /// The storage refused something that is not measured.
    #[error("{0}")]
    Refused(String),
}

impl BenchError {
    /// The storage refused `what`; its own words, if it had any, say more than the number.
    pub fn refused(what: &str, errno: Errno, problem: Option<String>) -> Self {
        Self::Refused(problem.unwrap_or_else(|| format!("cannot {what}: {errno}")))
    }
}
