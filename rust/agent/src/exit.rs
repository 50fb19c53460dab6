//! How the agent ends when it cannot go on.

/// The exit code of a wrong option or configuration.
pub const USAGE: u8 = 2;

/// An exit code and last words.
pub type Failure = (u8, String);
