//! Is storage slow? Verdicts and sentences of `now`, `check`, the page and the report; `iosonde-agent` and Python call them.
//!
//! Nothing here touches a target; only the state files of the store are read.

pub mod check;
pub mod choice;
pub mod finding;
pub mod format;
pub mod live_state;
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
