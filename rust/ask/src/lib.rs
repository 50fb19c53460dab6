//! Is storage slow? What `iosonde now` and `iosonde check` say, for hosts without Python.
//!
//! The sentences are those of `src/iosonde/weather/slowdown/words.py`, letter by letter: a test compares both over
//! thousands of states. Nothing here touches a target; only the state files of the store are read.

pub mod check;
pub mod choice;
pub mod finding;
pub mod format;
pub mod namesakes;
pub mod now;
mod ops;
pub mod ranges;
pub mod state;
pub mod text;
pub mod words;

/// Something is wrong that the user can understand: an exit code and one line.
#[derive(Debug)]
pub struct Refusal {
    /// 1 it failed, 2 the request was wrong.
    pub code: u8,
    /// What happened; what was expected; what to try.
    pub text: String,
}
