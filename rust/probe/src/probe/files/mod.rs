//! Files of a probe on its target: the marked directory, the big file, the pool of small ones, and the operations on them.

pub mod bigfile;
pub mod fill_pace;
pub mod guard;
pub mod identity;
pub mod operations;
pub mod pin;
pub mod place;
pub mod pool;
pub mod prepare;
mod room;
