//! The live statistics, written once: Python calls these, SQL is tested against them.
//!
//! `slowdown = statistic of a window / baseline`, where the baseline is the median of the medians of the windows
//! before it (docs/methods/slowdown.md).

pub mod baseline;
pub mod live;
pub mod onset;
pub mod quantile;
pub mod verdict;
pub mod window;
