//! Why a place cannot be reached.

/// Why a place cannot be reached: what happened, what was expected, what to try.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConnectError(pub String);
