//! Ranks of any benchmark: threads that take orders, what others see of them meanwhile, what they did.

pub mod account;
mod error;
pub mod gauge;
pub mod lap;
pub mod threads;

pub use error::BenchError;
