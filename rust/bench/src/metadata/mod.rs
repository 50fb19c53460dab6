//! The metadata benchmark: ranks that work on data sets of small objects, every operation timed.
//!
//! [`parameters`] say what, [`pattern`] who touches which object when, a [`rank`] does it between two readings of the
//! clock and keeps an [`account`], [`survey`] makes a kept tree whole again, a [`team`] holds the ranks of one process.
//! Phases are agreed on from outside: nothing here talks to other processes.

pub mod account;
pub mod content;
pub mod parameters;
pub mod pattern;
pub mod phase;
pub mod rank;
pub mod rows;
mod running;
pub mod survey;
pub mod team;
pub mod waiting;
mod work;

pub use crate::ranks::BenchError;
