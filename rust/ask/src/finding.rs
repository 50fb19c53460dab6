//! Verdicts: what a live state says about a target, as data. No sentence is written here.
//!
//! ```text
//! kind       severity   says
//! usual      ok         nothing is slow; the slowest operation and its slowdown
//! learning   info       too few windows to know what is usual
//! few        info       too few operations ended well of late to tell
//! host_busy  info       slow or begun late, but only because the probing host was busy
//! slow       slow       slower than usual, with interval
//! lost       slow       made late by the storage, missing or failed now and then
//! failing    hung       the last operations failed
//! hung       hung       an operation has not come back
//! stopped    unknown    the probe ended properly
//! stale      unknown    the probe has not been heard of for a while
//! damaged    unknown    the state file cannot be read
//! ```

use std::collections::{BTreeMap, BTreeSet};

pub use iosonde_core::slowdown::verdict::LOST_AT;
use iosonde_core::slowdown::verdict::is_below_floor;
use serde::Serialize;
use serde_json::Value;

use crate::live_state::{LiveOp, LiveState};
use crate::ops;
use crate::state::Members;

/// What a finding may say.
pub const KINDS: [&str; 11] = [
    "usual",
    "learning",
    "few",
    "host_busy",
    "slow",
    "lost",
    "failing",
    "hung",
    "stopped",
    "stale",
    "damaged",
];
/// The worst last: a known problem outweighs not knowing.
pub const SEVERITIES: [&str; 5] = ["ok", "info", "unknown", "slow", "hung"];
/// Windows needed before anything is called usual.
pub const BASELINE_WINDOWS: i64 = 5;
/// Fewer hits than this part of the usual ones are told of a slow operation.
pub const FEWER_HITS: f64 = 0.75;
/// Usual has become slower when it takes this many times what it took at first.
pub const CLIMATE_AT: f64 = 1.25;
const STALE_NS: i64 = 10_000_000_000;
const STALE_PERIODS: i64 = 5;
/// A copy of a state speaks for so long: two shipments, an hour apart.
const SHIPPED_NS: i64 = 7_200_000_000_000;
const DAY_NS: i64 = 86_400_000_000_000;

/// One operation's share of a finding. Slowdowns are ratios, None when unknown.
#[derive(Debug, Clone, Serialize)]
pub struct OpVerdict {
    /// Its name.
    pub op: String,
    /// What the agent calls it.
    pub state: String,
    /// Of the typical operation, with its 95 % interval: over the whole stretch of a slow one, else in the last window.
    pub slowdown: Option<f64>,
    /// See `slowdown`.
    pub lower: Option<f64>,
    /// See `slowdown`.
    pub upper: Option<f64>,
    /// Operations of the last window.
    pub n: i64,
    /// Instant (ns, UTC).
    pub since_ns: Option<i64>,
    /// The probing host explains that it is slow, or made many operations late.
    pub host_busy: bool,
    /// How the last operation ended.
    pub outcome: Option<String>,
    /// Slowdown of the slowest twentieth.
    pub tail: Option<f64>,
    /// A part of the operations is slow, the typical one is not.
    pub partly: bool,
    /// Share of due operations that the storage made late, missing or failed, where it is more than chance explains.
    pub lost: Option<f64>,
    /// Share of due operations that the probing host alone began late, or never, where it was busy.
    pub late: Option<f64>,
    /// Share of cache hits, where fewer of them are why operations are slow.
    pub hits: Option<f64>,
    /// The usual share of hits, beside `hits`.
    pub hits_usual: Option<f64>,
    /// Usual latency, ns.
    pub usual_ns: Option<f64>,
}

/// A verdict with its evidence; `ops` are the operations it is about, worst first.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    /// usual, slow, hung ...
    pub kind: &'static str,
    /// One of [`SEVERITIES`].
    pub severity: &'static str,
    /// The probing host.
    pub host: String,
    /// The watched target.
    pub target: String,
    /// The instant that the verdict is about (ns, UTC).
    pub at_ns: i64,
    /// Worst first.
    pub ops: Vec<OpVerdict>,
    /// Of the first of `ops`, as there.
    pub slowdown: Option<f64>,
    /// See `slowdown`.
    pub lower: Option<f64>,
    /// See `slowdown`.
    pub upper: Option<f64>,
    /// See `slowdown`.
    pub n: i64,
    /// The earliest beginning among `ops` (ns, UTC).
    pub since_ns: Option<i64>,
    /// None while it lasts (ns, UTC).
    pub until_ns: Option<i64>,
    /// What else the sentence needs.
    pub evidence: Members,
}

/// The verdict of every live state, in their order; servers of one target are seen side by side.
///
/// A bad finding about a server says in `usual_beside` which others of its target are as usual: that is what pinning is for.
pub fn findings(states: &[LiveState], now_ns: i64) -> Vec<Finding> {
    let mut found: Vec<Finding> = states.iter().map(|state| from_state(state, now_ns)).collect();
    let mut usual: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for (state, one) in states.iter().zip(&found).filter(|(_, one)| one.kind == "usual") {
        if let Some(of) = state.whole_target() {
            usual.entry((state.host.clone(), of.into())).or_default().push(server(one).to_string());
        }
    }
    usual.values_mut().for_each(|names| names.sort());
    let is_bad = |one: &Finding| matches!(one.kind, "slow" | "lost" | "failing" | "hung");
    for (state, bad) in states.iter().zip(&mut found).filter(|(_, one)| is_bad(one)) {
        let Some(of) = state.whole_target() else { continue };
        let names = usual.get(&(state.host.clone(), of.to_string())).cloned().unwrap_or_default();
        bad.evidence.insert("usual_beside".into(), names.into());
    }
    found
}

/// The name of the server that a finding is about; empty for a whole target.
pub fn server(finding: &Finding) -> &str {
    finding.evidence.get("component").and_then(|component| component["name"].as_str()).unwrap_or_default()
}

/// The target that a finding about a server belongs to.
pub fn whole_target(finding: &Finding) -> Option<&str> {
    finding.evidence.get("component")?.get("of")?.as_str()
}

/// The verdict of one state.
pub fn from_state(state: &LiveState, now_ns: i64) -> Finding {
    let mut head = Finding {
        kind: "usual",
        severity: "ok",
        host: state.host.clone(),
        target: state.target.clone(),
        at_ns: now_ns,
        ops: Vec::new(),
        slowdown: None,
        lower: None,
        upper: None,
        n: 0,
        since_ns: None,
        until_ns: None,
        evidence: Members::new(),
    };
    if let Some(component) = &state.component {
        head.evidence.insert("component".into(), component.clone().into());
    }
    if !is_live(&mut head, state) {
        return head;
    }
    let ops: Vec<OpVerdict> = state.ops.iter().map(of_op).collect();
    if let Some(learnt_ns) = learnt_ns(state) {
        head.evidence.insert("learnt_ns".into(), learnt_ns.into());
    }
    if let Some(kind) = ["hung", "failing"].into_iter().find(|kind| ops.iter().any(|op| op.state == *kind)) {
        head.evidence.insert("answering".into(), answering(&ops));
        head.evidence.insert("waits_in".into(), waits_in(state, &ops, kind));
        return about(head, kind, "hung", ops.into_iter().filter(|op| op.state == kind).collect());
    }
    let is_slow = |op: &OpVerdict| op.state == "slow" && !op.host_busy;
    if ops.iter().any(|op| is_slow(op) || op.lost.is_some()) {
        let kind = if ops.iter().any(is_slow) { "slow" } else { "lost" };
        let (mut bad, others): (Vec<_>, Vec<_>) = ops.into_iter().partition(is_slow);
        bad.extend(others.into_iter().filter(|op| op.lost.is_some()));
        return about(head, kind, "slow", bad);
    }
    if ops.iter().any(|op| op.host_busy) {
        return about(head, "host_busy", "info", ops.into_iter().filter(|op| op.host_busy).collect());
    }
    if ops.iter().any(|op| op.slowdown.is_some()) {
        head.evidence.extend(climate(state));
        return about(head, "usual", "ok", ops.into_iter().filter(|op| op.slowdown.is_some()).collect());
    }
    let learnt = state.ops.iter().map(|op| op.baseline_windows).min();
    let windows = learnt.unwrap_or(0).min(BASELINE_WINDOWS);
    head.kind = if windows == BASELINE_WINDOWS { "few" } else { "learning" };
    head.severity = "info";
    head.ops = ops;
    head.evidence
        .extend([("windows".into(), windows.into()), ("windows_needed".into(), BASELINE_WINDOWS.into())]);
    head
}

/// Whether a state says something about now; else the head becomes the finding of why not.
fn is_live(head: &mut Finding, state: &LiveState) -> bool {
    if state.state == "damaged" {
        (head.kind, head.severity) = ("damaged", "unknown");
        head.evidence = Members::from_iter([("error".to_string(), state.error.clone())]);
        return false;
    }
    head.evidence.insert("written_ns".into(), state.written_ns.into());
    if state.running && !is_stale(state, head.at_ns) {
        if let Some(shipped_ns) = state.shipped_ns {
            let age_ns = late_ns(state, head.at_ns).unwrap_or(0);
            head.evidence.extend([
                ("shipped_ns".to_string(), shipped_ns.into()),
                ("age_ns".to_string(), age_ns.into()),
            ]);
            head.at_ns = state.written_ns;
        }
        return true;
    }
    let age_ns = head.at_ns.saturating_sub(state.written_ns).max(0);
    (head.kind, head.severity) = (if state.running { "stale" } else { "stopped" }, "unknown");
    head.since_ns = Some(state.written_ns);
    head.evidence.insert("age_ns".into(), age_ns.into());
    false
}

/// Whether a state was written too long ago to say anything about now.
fn is_stale(state: &LiveState, now_ns: i64) -> bool {
    let patience_ns = patience_ns(state);
    match (state.shipped_ns, late_ns(state, now_ns)) {
        (_, None) => true,
        (None, Some(late_ns)) => late_ns > patience_ns,
        // A copy tells nothing of a probe that was silent when it was made.
        (Some(shipped_ns), Some(late_ns)) => {
            let silent_ns = shipped_ns.saturating_sub(state.written_ns).saturating_abs();
            silent_ns > patience_ns || late_ns > SHIPPED_NS
        }
    }
}

/// How long a state speaks for its probe.
fn patience_ns(state: &LiveState) -> i64 {
    state.period_ns.saturating_mul(STALE_PERIODS).max(STALE_NS)
}

/// How long ago a state was written. Its clock is ahead: the file's own time tells, else nothing does.
fn late_ns(state: &LiveState, now_ns: i64) -> Option<i64> {
    let age_ns = now_ns.saturating_sub(state.written_ns);
    if age_ns >= -patience_ns(state) {
        return Some(age_ns.max(0));
    }
    state.heard_ns.map(|heard_ns| now_ns.saturating_sub(heard_ns).saturating_abs())
}

/// Whether a state's probe ended properly: by will, not by a crash.
pub fn is_stopped(state: &LiveState) -> bool {
    !state.running && state.state != "damaged"
}

/// Of each state whether it says something about now. A probe that was stopped does not count where another one watches the
/// same target or path, nor a day after its end, unless it is `kept`. A copy without news for a day counts as stopped.
pub fn are_current(states: &[LiveState], kept: &dyn Fn(&LiveState) -> bool, now_ns: i64) -> Vec<bool> {
    let names = |state: &LiveState| [state.target.clone(), state.path.clone()];
    let is_old = |state: &LiveState| now_ns.saturating_sub(state.written_ns) > DAY_NS;
    let is_old_copy =
        |state: &LiveState| state.shipped_ns.is_some() && is_old(state) && is_stale(state, now_ns);
    let ended = |state: &LiveState| is_stopped(state) || is_old_copy(state);
    let watched: BTreeSet<String> = states.iter().filter(|state| !ended(state)).flat_map(names).collect();
    let elsewhere =
        |state: &LiveState| names(state).iter().any(|name| !name.is_empty() && watched.contains(name));
    let is_current = |state| !ended(state) || !(elsewhere(state) || (is_old(state) && !kept(state)));
    states.iter().map(is_current).collect()
}

/// Places by severity, then slowdown, then name. Of each: severity, slowdown, host, target.
pub fn worst_first(seen: &[(&str, Option<f64>, &str, &str)]) -> Vec<usize> {
    let severity = |place: usize| SEVERITIES.iter().position(|name| *name == seen[place].0);
    let mut places: Vec<usize> = (0..seen.len()).collect();
    places.sort_by(|&a, &b| {
        let slowdown = seen[b].1.unwrap_or(0.0).total_cmp(&seen[a].1.unwrap_or(0.0));
        let name = (seen[a].2, seen[a].3).cmp(&(seen[b].2, seen[b].3));
        severity(b).cmp(&severity(a)).then(slowdown).then(name)
    });
    places
}

/// `head` about `ops`: the worst gives its numbers, the earliest its beginning.
fn about(mut head: Finding, kind: &'static str, severity: &'static str, mut ops: Vec<OpVerdict>) -> Finding {
    // Typically slow, slow in part, then those of which some are lost.
    ops.sort_by(|a, b| {
        let slowness = |op: &OpVerdict| {
            let counts = op.state == "slow" || op.lost.or(op.late).is_none();
            if counts { op.slowdown.unwrap_or(0.0) } else { 0.0 }
        };
        let lost = |op: &OpVerdict| op.lost.unwrap_or(0.0);
        let late = |op: &OpVerdict| op.late.unwrap_or(0.0);
        (a.state != "slow", a.partly)
            .cmp(&(b.state != "slow", b.partly))
            .then(slowness(b).total_cmp(&slowness(a)))
            .then(lost(b).total_cmp(&lost(a)))
            .then(late(b).total_cmp(&late(a)))
            .then(ops::order(&a.op).cmp(&ops::order(&b.op)))
    });
    (head.kind, head.severity) = (kind, severity);
    if let Some(worst) = ops.first() {
        (head.slowdown, head.lower, head.upper, head.n) = (worst.slowdown, worst.lower, worst.upper, worst.n);
    }
    head.since_ns = ops.iter().filter_map(|op| op.since_ns).min();
    head.ops = ops;
    head
}

fn of_op(op: &LiveOp) -> OpVerdict {
    let state = if op.state.is_empty() { "learning" } else { &op.state };
    let certain = op.lost_lower.unwrap_or(0.0) >= LOST_AT;
    let over_stretch = op.stretch.filter(|_| state == "slow" && !op.partly);
    let (slowdown, lower, upper) = over_stretch
        .map_or((op.slowdown, op.lower, op.upper), |(typ, lower, upper)| (Some(typ), lower, upper));
    let cold = op.cold.filter(|(hits, usual)| op.partly || state == "slow" && *hits < FEWER_HITS * usual);
    OpVerdict {
        op: op.op.clone(),
        state: state.into(),
        slowdown,
        lower,
        upper,
        n: op.n,
        since_ns: if state == "hung" { op.inflight_due_ns } else { op.since_ns },
        host_busy: op.host_busy,
        outcome: op.outcome.clone(),
        tail: op.tail,
        partly: op.partly,
        lost: op.lost.filter(|_| certain && comes_back(&op.state)),
        late: op.late.filter(|_| op.host_busy && state != "slow"),
        hits: cold.map(|(hits, _)| hits),
        hits_usual: cold.map(|(_, usual)| usual),
        usual_ns: op.usual_ns,
    }
}

fn comes_back(state: &str) -> bool {
    matches!(state, "ok" | "slow" | "learning")
}

/// Operations that ended well of late; one that has nothing to work on does not answer.
fn answering(ops: &[OpVerdict]) -> Value {
    let good = ops.iter().filter(|op| comes_back(&op.state) && op.n > 0);
    good.map(|op| Value::from(op.op.as_str())).collect()
}

/// The kernel functions that stuck operations wait in.
fn waits_in(state: &LiveState, ops: &[OpVerdict], kind: &str) -> Value {
    let stuck = |op: &&LiveOp| ops.iter().any(|bad| bad.state == kind && bad.op == op.op);
    let names: BTreeSet<&str> = state.ops.iter().filter(stuck).map(|op| op.wchan.as_str()).collect();
    names.into_iter().filter(|name| !name.is_empty()).map(Value::from).collect()
}

/// The operation whose usual latency has changed most for the worse since the reference, if it has.
fn climate(state: &LiveState) -> Vec<(String, Value)> {
    // A lasting change is of what was usual before it.
    let before_ns = |op: &LiveOp| op.usual_ns.unwrap_or(f64::INFINITY) / op.climate.unwrap_or(1.0);
    let told = state.ops.iter().filter(|op| !is_below_floor(op.climate.unwrap_or(0.0), before_ns(op)));
    let known = told.map(|op| (op.climate.unwrap_or(0.0), op.op.as_str()));
    match known.max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(b.1))) {
        Some((climate, op)) if climate >= CLIMATE_AT => {
            vec![("climate".into(), climate.into()), ("climate_op".into(), op.into())]
        }
        _ => Vec::new(),
    }
}

/// From how much time it is known what is usual, while that is less than an hour (ns).
fn learnt_ns(state: &LiveState) -> Option<i64> {
    let young = state.ops.iter().filter(|op| op.stage == "learning");
    let windows = young.map(|op| op.baseline_windows).min().filter(|windows| *windows != 0)?;
    Some(windows.saturating_mul(state.window_ns?))
}
