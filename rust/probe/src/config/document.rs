//! A whole configuration as it is written.

use std::path::PathBuf;

use serde::Deserialize;

use super::options::{Keep, LogFormat, ProbeOptions, TargetOptions};
use super::sources::Places;
use iosonde_core::slowdown::baseline::DEFAULT_TRAILING_NS;
use iosonde_core::units;

/// Default address of `/metrics`.
pub const DEFAULT_LISTEN: &str = "127.0.0.1:9748";

fn default_window() -> u64 {
    60_000_000_000
}
fn default_trailing() -> u64 {
    DEFAULT_TRAILING_NS
}
fn default_flush() -> u64 {
    2_000_000_000
}

/// A whole configuration.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Folder of the store.
    pub store: Option<PathBuf>,
    /// Address of `/metrics`, or `off`; default loopback.
    pub listen: Option<String>,
    /// Native histograms beside classic ones, for scrapers that ask for the protobuf format.
    #[serde(default)]
    pub native_histograms: bool,
    /// File the metrics are written to, for a collector that reads text files.
    pub textfile: Option<PathBuf>,
    /// Format of the log.
    #[serde(default)]
    pub log: LogFormat,
    /// Name of this host in every row; default the host name.
    pub host: Option<String>,
    /// Seed of every random choice; default a fresh one.
    pub seed: Option<u64>,
    /// Length of a window.
    #[serde(default = "default_window", deserialize_with = "units::duration_ns")]
    pub window: u64,
    /// Time that the baseline looks back.
    #[serde(default = "default_trailing", deserialize_with = "units::duration_ns")]
    pub baseline: u64,
    /// Interval at which rows go to the store: what a crash may lose.
    #[serde(default = "default_flush", deserialize_with = "units::duration_ns")]
    pub flush: u64,
    /// Limits of the store.
    #[serde(default)]
    pub keep: Keep,
    /// Defaults for every target.
    #[serde(default)]
    pub probe: ProbeOptions,
    /// The targets.
    #[serde(default)]
    pub target: Vec<TargetOptions>,
    #[serde(skip)]
    pub(super) places: Places,
}
