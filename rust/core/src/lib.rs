//! Shared core of the probe and the benchmarks: time, samples, backends of files, and the live statistics.
//!
//! [`pace`] says when an operation is due, a [`backend`] performs it between two readings of a [`clock`], a
//! [`sample`] holds what was seen, and [`slowdown`] compares it with what is usual. [`seed`] gives all randomness,
//! [`marked`] the folders that are ours, [`stored`] opens what a store holds, [`student`] the distribution behind intervals of means, [`text`] what
//! may stand in a line. This crate depends on no other crate of iosonde.

pub mod aligned;
pub mod backend;
pub mod clock;
pub mod histogram;
pub mod marked;
pub mod pace;
pub mod sample;
pub mod seed;
pub mod slowdown;
pub mod stored;
pub mod student;
pub mod text;
pub mod units;
