//! Events of the store: what hung, since when, until when, why. One JSON object a line; the last line of an id counts.

use serde::Serialize;

use crate::probe::evidence::Evidence;

/// Layout of an event.
pub const SCHEMA_VERSION: u32 = 1;

/// Something that happened to a target, or to the store itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Event {
    /// Layout.
    pub schema_version: u32,
    /// The run, and a number within it.
    pub id: String,
    /// `hang`, `slow`, `unreachable` or `store_full`.
    pub kind: &'static str,
    /// The probing host.
    pub host: String,
    /// The target; none for the store.
    pub target: Option<String>,
    /// The op; none if the event is about all of the target.
    pub op: Option<&'static str>,
    /// Since when, UTC.
    pub began_ns: i64,
    /// Until when, UTC; none while it lasts.
    pub ended_ns: Option<i64>,
    /// When this line was written, UTC.
    pub written_ns: i64,
    /// Outcome of the stuck operation; none while it lasts, or when it never returned and another one did.
    pub outcome: Option<String>,
    /// Trials by other workers.
    pub attempts: u32,
    /// Slowdown that raised an alarm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slowdown: Option<Alarmed>,
    /// Why, as far as the probing host's kernel tells.
    pub evidence: Evidence,
}

/// Extent of an alarm.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Alarmed {
    /// `typ`, `tail`, `share` or `lost`.
    pub cause: &'static str,
    /// When it was raised, UTC.
    pub raised_ns: i64,
    /// The largest slowdown of the typical op.
    pub peak: f64,
    /// The largest slowdown of the slowest twentieth.
    pub peak_tail: f64,
}
