//! Keys of the configuration file, as serde reads them.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use iosonde_core::units;

macro_rules! options {
    ($(#[$doc:meta])* $name:ident { $($(#[$fdoc:meta])* $field:ident: $type:ty $(= $with:literal)?,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default, PartialEq, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$fdoc])* $(#[serde(default, deserialize_with = $with)])? pub $field: Option<$type>,)*
            /// Time between two operations of an op; default 1 s.
            #[serde(default, deserialize_with = "some_duration")]
            pub period: Option<u64>,
            /// Bytes of a block that is read or written; default 1 MiB.
            #[serde(default, deserialize_with = "units::some_size_bytes")]
            pub block_size: Option<u64>,
            /// Bytes of the big file; default: 1 GiB with O_DIRECT, else larger than memory where space allows.
            #[serde(default, deserialize_with = "units::some_size_bytes")]
            pub file_size: Option<u64>,
            /// Random start delay (jitter) for filling the big file, at most this long; default 0.
            #[serde(default, deserialize_with = "some_duration")]
            pub spread: Option<u64>,
            /// Bytes of a file of the pool; default 3901.
            #[serde(default, deserialize_with = "units::some_size_bytes")]
            pub object_size: Option<u64>,
            /// Files in the pool; default 1000.
            pub pool: Option<usize>,
            /// `auto`, `always` or `never` use O_DIRECT; default auto.
            pub direct: Option<Direct>,
            /// An operation open for longer is stuck; default 5 s.
            #[serde(default, deserialize_with = "some_duration")]
            pub deadline: Option<u64>,
            /// Wait before the first trial of a stuck op, doubled each time; default 5 s.
            #[serde(default, deserialize_with = "some_duration")]
            pub retry: Option<u64>,
            /// Longest wait between trials; default 5 min.
            #[serde(default, deserialize_with = "some_duration")]
            pub retry_max: Option<u64>,
            /// Workers that may get stuck on trials of one op; default 3.
            pub replacements: Option<usize>,
            /// Budget of the probing; default unlimited.
            #[serde(default)]
            pub budget: BudgetOptions,
        }
    };
}

options! {
    /// Defaults for every target.
    ProbeOptions {}
}
options! {
    /// A watched directory or export.
    TargetOptions {
        /// A directory, or `nfs://HOST/EXPORT`.
        path: PathBuf,
        /// Name of the target; default the path.
        name: String,
        /// `posix`, `nfs` or `null`; default nfs for a path that begins with `nfs://`, else posix.
        backend: BackendKind,
        /// Latency of each op of the null backend.
        latency: LatencyOptions,
        /// Misbehaviour on a schedule, for tests and fire drills.
        fault: Vec<FaultOptions>,
        /// Servers or exports behind this target that are probed one by one.
        component: Vec<ComponentOptions>,
    }
}

/// Use of O_DIRECT: whether reads and writes bypass the client's cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direct {
    /// Used if the file system grants it.
    #[default]
    Auto,
    /// Or the target is not probed.
    Always,
    /// Through the cache.
    Never,
}

/// Backend that performs the operations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BackendKind {
    /// System calls on a mounted file system.
    #[default]
    Posix,
    /// NFSv3 from user space, to an export that need not be mounted.
    Nfs,
    /// Nothing; answers after a set time.
    Null,
}

impl BackendKind {
    /// Name in configuration files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Posix => "posix",
            Self::Nfs => "nfs",
            Self::Null => "null",
        }
    }
}

/// Latencies of the null backend.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LatencyOptions {
    #[serde(deserialize_with = "units::duration_ns")]
    pub(super) data_read: u64,
    #[serde(deserialize_with = "units::duration_ns")]
    pub(super) data_write: u64,
    #[serde(deserialize_with = "units::duration_ns")]
    pub(super) md_create: u64,
    #[serde(deserialize_with = "units::duration_ns")]
    pub(super) md_stat: u64,
    #[serde(deserialize_with = "units::duration_ns")]
    pub(super) md_read: u64,
    #[serde(deserialize_with = "units::duration_ns")]
    pub(super) md_delete: u64,
    pub(super) sigma: f64,
}

/// A fault as written in a file.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultOptions {
    pub(super) op: Option<String>,
    pub(super) component: Option<String>,
    #[serde(default, deserialize_with = "units::duration_ns")]
    pub(super) after: u64,
    #[serde(default, rename = "for", deserialize_with = "some_duration")]
    pub(super) lasts: Option<u64>,
    #[serde(default, deserialize_with = "some_duration")]
    pub(super) delay: Option<u64>,
    pub(super) multiply: Option<f64>,
    pub(super) error: Option<String>,
    pub(super) hang: Option<bool>,
}

/// Limits of the cost of probing one target a second, as written; unset is unlimited.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetOptions {
    #[serde(default, deserialize_with = "units::some_size_bytes")]
    pub(super) bytes: Option<u64>,
    pub(super) ops: Option<f64>,
    #[serde(default, deserialize_with = "some_duration")]
    pub(super) cpu: Option<u64>,
}

/// A component as written in a file.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComponentOptions {
    pub(super) name: Option<String>,
    pub(super) ost: Option<u32>,
    pub(super) mdt: Option<u32>,
    pub(super) path: Option<PathBuf>,
}

/// Format of the log's lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// `level=info target=/work msg="..."`.
    #[default]
    Logfmt,
    /// JSON, an object a line.
    Json,
}

/// Limits of what the store holds of this host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Keep {
    /// Spool and sealed samples older than this may go.
    #[serde(rename(deserialize = "days"), deserialize_with = "some_days")]
    pub max_age_ns: Option<u64>,
    /// Bytes of samples and spool of this host.
    #[serde(rename(deserialize = "size"), deserialize_with = "units::some_size_bytes")]
    pub max_bytes: Option<u64>,
    /// Bytes that stay free on the file system of the store.
    #[serde(rename(deserialize = "free"), deserialize_with = "units::size_bytes")]
    pub min_free_bytes: u64,
    /// Kept windows older than this may go, a month at a time; none: they stay.
    #[serde(rename(deserialize = "windows_days"), deserialize_with = "some_days")]
    pub windows_max_age_ns: Option<u64>,
}

impl Default for Keep {
    fn default() -> Self {
        Self { max_age_ns: None, max_bytes: None, min_free_bytes: 256 << 20, windows_max_age_ns: None }
    }
}

fn some_duration<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    units::duration_ns(from).map(Some)
}
fn some_days<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    let days = f64::deserialize(from)?;
    let wrong = || serde::de::Error::custom(format!("{days} is no number of days; expected for example 30"));
    if days > 0.0 {
        units::parse_duration_ns(&format!("{days}d")).map(Some).map_err(|_| wrong())
    } else {
        Err(wrong())
    }
}
