//! Why a benchmark cannot go on.

use rustix::io::Errno;

use crate::backend::error::ConnectError;
use iosonde_core::text::without_codes;

/// Why a benchmark cannot go on: what happened, what was expected, what to try.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BenchError {
    /// The request itself is wrong.
    #[error("{what}; expected {expected}")]
    Wrong {
        /// What was asked for.
        what: String,
        /// What would have been right, and what to try.
        expected: String,
    },
    /// An order lacks a number that it needs.
    #[error("{0}")]
    Incomplete(&'static str),
    /// The place cannot be reached.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The storage refused something that is not measured.
    #[error("{}", refused(attempt, *errno, problem.as_deref()))]
    Refused {
        /// What was attempted: an infinitive.
        attempt: String,
        /// The system's error number, or the one that says the same.
        errno: Errno,
        /// The storage's own words, if it had any.
        problem: Option<String>,
    },
    /// The rank's thread is gone.
    #[error("the rank has ended")]
    Ended,
    /// An answer cannot be written.
    #[error("{0}")]
    Answer(String),
}

impl BenchError {
    /// The request is wrong; `expected` says what would have been right.
    pub fn wrong(what: impl Into<String>, expected: impl Into<String>) -> Self {
        Self::Wrong { what: what.into(), expected: expected.into() }
    }
    /// Whether the request was wrong, and not the storage.
    pub fn is_wrong_request(&self) -> bool {
        matches!(self, Self::Wrong { .. } | Self::Incomplete(_))
    }
}

/// The storage's own words say more than the number.
fn refused(attempt: &str, errno: Errno, problem: Option<&str>) -> String {
    match problem {
        Some(problem) => without_codes(problem),
        None => without_codes(&format!("cannot {attempt}: {errno}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_storages_words_come_before_the_number_and_codes_are_left_out() {
        let attempt = "make a data set".to_owned();
        let mut error = BenchError::Refused { attempt, errno: Errno::NOSPC, problem: None };
        assert_eq!(error.to_string(), "cannot make a data set: No space left on device");
        if let BenchError::Refused { problem, .. } = &mut error {
            *problem = Some("/a: cannot open: Permission denied (os error 13)".into());
        }
        assert_eq!(error.to_string(), "/a: cannot open: Permission denied");
        assert!(!error.is_wrong_request() && BenchError::wrong("a", "b").is_wrong_request());
    }
}
