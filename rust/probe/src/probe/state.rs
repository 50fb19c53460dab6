//! State files of a running probe: their contents for each target, and their names.

use serde::Serialize;

use super::evidence::Evidence;
use crate::config::{BackendKind, Budget, Component, Direct, Keep};
use iosonde_core::backend::posix::Access;
use iosonde_core::slowdown::live::OpState;
use iosonde_core::slowdown::verdict::State;

/// The state of one target, as written to the state folder when a word of it changes and every few seconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TargetState {
    /// Layout of this document.
    pub schema_version: u32,
    /// The probing host.
    pub host: String,
    /// Name of the target.
    pub target: String,
    /// Path of the target.
    pub path: String,
    /// Server of a larger target that it is, if it is one.
    pub component: Option<Component>,
    /// Identifier of one start of one probe.
    pub run_id: String,
    /// Identifier of the kernel's boot; empty if unknown.
    pub boot_id: String,
    /// When this was written, UTC.
    pub written_ns: i64,
    /// When another probe was last seen to write this state, UTC; none if it is this one's alone.
    pub namesake_ns: Option<i64>,
    /// Time between two operations of an op.
    pub period_ns: u64,
    /// Length of a window.
    pub window_ns: u64,
    /// Time that the baseline looks back.
    pub baseline_trailing_ns: u64,
    /// True while the probe runs.
    pub running: bool,
    /// The worst of the ops' states, as far as the probing host does not explain them.
    pub state: State,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// Files it is probed with.
    #[serde(flatten)]
    pub files: Files,
    /// Budget of the probing.
    pub budget: Budget,
    /// Limits of the store; none without a store.
    pub keep: Option<Keep>,
    /// Worker processes.
    pub workers: usize,
    /// Those of them that are stuck or on trial.
    pub stuck_workers: usize,
    /// State of each op, in the order in which they are due.
    pub ops: Vec<OpState>,
    /// Health of each op, in the same order.
    pub health: Vec<OpHealth>,
}

/// Files a target is probed with: as asked for and, once they are ready, as found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Files {
    /// Backend that performs the operations.
    pub backend: BackendKind,
    /// The O_DIRECT setting asked for.
    pub direct: Direct,
    /// Access mode of the big file; none before it is ready, and for backends that store nothing.
    pub access: Option<Access>,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// Bytes of the big file; likewise.
    pub file_bytes: Option<u64>,
    /// Bytes of a small file.
    pub object_bytes: u64,
    /// Number of these there should be.
    pub pool: usize,
}

/// Health of an op: its breaker's state, and what is known of the cause when it is stuck.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OpHealth {
    /// `closed`, `half-open` or `open`.
    pub breaker: &'static str,
    /// Evidence on the operation that is stuck.
    pub evidence: Option<Evidence>,
}

impl TargetState {
    /// The worst of its ops' states; `stopped` when it does not run. What the probing host explains says nothing of the target.
    pub fn worst(ops: &[OpState], running: bool) -> State {
        let word = |op: &OpState| match op.state {
            State::Slow if op.host_busy => State::Ok,
            state => state,
        };
        let worst = ops.iter().map(word).max().unwrap_or(State::Learning);
        if running { worst } else { State::Stopped }
    }
}

/// A file name for any text: itself where that is safe, else with a checksum so that no two texts share one.
pub fn slug(text: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let clean = text.trim_matches('/').replace(|c| !safe(c), "-");
    let clean: String = clean.trim_start_matches('.').chars().take(80).collect();
    if clean == text && !clean.is_empty() {
        return clean;
    }
    format!("{clean}-{:08x}", crc32fast::hash(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_safe_and_different() {
        assert_eq!(slug("login2.cluster"), "login2.cluster");
        let texts = ["/work", "/work/", "/wo rk", "/wo-rk", "", "/", "..", "../etc", "é", "a/b", "a-b"];
        let slugs: Vec<String> = texts.iter().map(|text| slug(text)).collect();
        for (i, slug) in slugs.iter().enumerate() {
            assert!(!slug.contains('/') && !slug.starts_with('.') && !slug.is_empty(), "{slug}");
            assert!(!slugs[..i].contains(slug), "{slug} twice");
        }
    }
}
