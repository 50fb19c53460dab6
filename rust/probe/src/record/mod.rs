//! Writing to the store: checksummed [`frames`], [`spool`] segments of rows and files of [`windows`] made of them,
//! the [`writer`] thread that appends, what it makes room by ([`retention`]), and the [`disk`] below.

mod aging;
mod appender;
pub mod baselines;
pub mod dates;
pub mod disk;
mod engine;
pub mod event;
pub mod faulty;
pub mod frames;
pub mod health;
mod inbox;
pub mod job;
mod namesake;
pub mod refusal;
pub mod retention;
pub mod spool;
mod spooler;
pub mod tail;
pub mod windows;
pub mod writer;
