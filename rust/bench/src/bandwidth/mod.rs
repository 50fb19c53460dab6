//! The bandwidth benchmark: ranks that write and read large files, every file and every quarter of a second on record.
//!
//! [`parameters`] say what, [`pattern`] at which offset the next transfer lies, [`content`] what it holds. A [`rank`]
//! opens, transfers and closes, alone or through a [`ring`]; [`records`] keep its times and bytes per bin, and a [`team`]
//! holds the ranks of one process.

mod bins;
pub mod content;
mod file;
pub mod parameters;
pub mod pattern;
mod permutation;
mod rank;
pub mod records;
mod ring;
mod running;
pub mod team;
mod work;
