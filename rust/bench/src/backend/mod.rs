//! Stores of objects behind a network, and the way from the description of a place to a store.

pub mod error;
pub mod location;
pub mod nfs;
pub mod postgresql;
pub mod s3;
pub mod words;
