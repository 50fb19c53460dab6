//! From a description of a place to a way to it.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::error::ConnectError;
use iosonde_core::backend::null::{Latency, NullStore};
use iosonde_core::backend::store::ObjectStore;
use iosonde_core::backend::tree::Tree;
use iosonde_core::clock::Clock;
use iosonde_core::seed::Random;

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
    /// A bucket of an S3 server.
    S3(super::s3::S3Place),
    /// A directory that an NFS server exports, without the kernel's client.
    Nfs(super::nfs::NfsPlace),
    /// A schema of a PostgreSQL database.
    Postgresql(super::postgresql::PostgresqlPlace),
}

impl Location {
    /// A rank's way to it. `size_bytes` is the size of objects, which those that are not kept pretend to have.
    pub fn connect(
        &self,
        clock: &Arc<dyn Clock>,
        size_bytes: u64,
        random: Random,
    ) -> Result<Box<dyn ObjectStore>, ConnectError> {
        Ok(match self {
            Self::Posix { path } => Box::new(Tree::new(path.clone())),
            Self::Null { latency } => {
                Box::new(NullStore::new(Arc::clone(clock), latency.clone(), size_bytes, random))
            }
            Self::S3(place) => Box::new(super::s3::S3Store::connect(place)?),
            Self::Nfs(place) => Box::new(super::nfs::NfsStore::connect(place, clock, random)?),
            Self::Postgresql(place) => Box::new(super::postgresql::PostgresqlStore::connect(place)?),
        })
    }
}
