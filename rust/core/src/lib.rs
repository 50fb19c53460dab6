//! Everything of iosonde that touches storage and a clock, and the live statistics.
//!
//! The path of one sample: [`pace`] says when an operation is due, a [`backend`] performs it between two
//! readings of a [`clock`], a lane of the [`probe`] makes a [`sample`] of it, [`record`] puts it on disk and
//! [`slowdown`] compares it with what is usual.

pub mod aligned;
pub mod backend;
pub mod clock;
pub mod config;
pub mod histogram;
pub mod load;
pub mod marked;
pub mod metadata;
pub mod pace;
pub mod probe;
pub mod record;
pub mod sample;
pub mod seed;
pub mod slowdown;
pub mod units;
