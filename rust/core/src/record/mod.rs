//! Rows on disk: checksummed [`frames`], the [`spool`] made of them and the [`writer`] that appends.

pub mod event;
pub mod frames;
pub mod spool;
pub mod writer;
