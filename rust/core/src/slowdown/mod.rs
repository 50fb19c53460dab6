//! The live statistics, implemented once: Python calls these, SQL is tested against them.
//!
//! A window's latencies at nineteen levels against those that are expected give `typ`, `tail` and `lost`
//! (docs/methods/slowdown.md). What is expected is learnt from ten-minute intervals that were not slow themselves.

pub mod baseline;
pub mod buckets;
pub mod cold;
pub mod detect;
pub mod guarded;
pub mod history;
pub mod interval;
pub mod levels;
pub mod limits;
pub mod live;
pub mod modes;
pub mod null_rates;
pub mod onset;
pub mod quantile;
pub mod recent;
pub mod rules;
pub mod seen;
pub mod triple;
pub mod verdict;
pub mod window;
