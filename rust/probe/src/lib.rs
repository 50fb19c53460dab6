//! The always-on probe: what the agent is made of.
//!
//! [`config`] says what to watch, [`probe`] measures it with worker processes that may be lost, and [`record`] puts
//! every sample on disk. It stays small: of network clients it has NFS's alone, and no benchmark.

pub mod config;
pub mod probe;
pub mod record;
