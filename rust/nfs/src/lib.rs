//! NFSv3 from user space: pipelined RPC over several connections, a load with probes beside it, and a server of known truth.

pub mod blocks;
pub mod connection;
pub mod error;
pub mod files;
pub mod hold;
pub mod link;
pub mod load;
pub mod message;
pub mod mount;
pub mod names;
pub mod objects;
pub mod point;
pub mod record;
pub mod server;
pub mod session;
pub mod socket;
pub mod url;
pub mod xdr;
