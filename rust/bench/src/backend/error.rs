//! Why a place cannot be reached.

use rustix::io::Errno;

use iosonde_core::text::without_codes;

/// Why a place cannot be reached: what happened, what was expected, what to try.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    /// The description of the place cannot be right.
    #[error("{place}: {what}; expected {expected}")]
    Wrong {
        /// Which, without its secrets.
        place: String,
        /// What is wrong with it.
        what: String,
        /// What would have been right.
        expected: &'static str,
    },
    /// The server, or this system, refused.
    #[error("{place}: {}; expected {expected}", without_codes(problem))]
    Refused {
        /// Which, without its secrets.
        place: String,
        /// The system's error number, or the one that says the same.
        errno: Errno,
        /// The server's or the system's own words.
        problem: String,
        /// What would have been right, and what to try.
        expected: &'static str,
    },
    /// A store that is not of this crate could not be made.
    #[error("{}", without_codes(problem))]
    Foreign {
        /// What it says.
        problem: String,
    },
}
