//! From a description of a place to a way to it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::null::Latency;
use super::store::ObjectStore;

/// A place that a benchmark can use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Location {
    /// A directory of a mounted file system.
    Posix {
        /// It must exist; the tree is made below it.
        path: PathBuf,
    },
    /// Nowhere: answers after a set time.
    Null {
        /// How long each op takes.
        #[serde(default)]
        latency: Latency,
    },
}

/// Why a place cannot be reached: what happened, what was expected, what to try.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConnectError(pub String);

impl Location {
    /// A rank's way to it. `size_bytes` is what objects that are not kept pretend to have.
    pub fn connect(&self, _size_bytes: u64) -> Result<Box<dyn ObjectStore>, ConnectError> {
        match self {
            Self::Posix { .. } | Self::Null { .. } => Err(ConnectError("not built yet".into())),
        }
    }
}
