//! Verdicts: what a live state says about a target, as data. No sentence is written here.
//!
//! `src/iosonde/weather/slowdown/findings.py` lists the kinds and how bad each is.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use crate::ops;
use crate::state::{Members, integer, ops_of, text, whole_target};

/// The worst last: a known problem outweighs not knowing.
pub const SEVERITIES: [&str; 5] = ["ok", "info", "unknown", "slow", "hung"];
const BASELINE_WINDOWS: i64 = 5;
const CLIMATE_AT: f64 = 1.25;
const LOST_AT: f64 = 0.05;
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
    /// Of the typical operation, with its 95 % interval.
    pub slowdown: Option<f64>,
    /// See `slowdown`.
    pub lower: Option<f64>,
    /// See `slowdown`.
    pub upper: Option<f64>,
    n: i64,
    /// Instant (ns, UTC).
    pub since_ns: Option<i64>,
    /// The probing host explains it.
    pub host_busy: bool,
    /// How the last operation ended.
    pub outcome: Option<String>,
    /// Slowdown of the slowest twentieth.
    pub tail: Option<f64>,
    /// A part of the operations is slow, the typical one is not.
    pub partly: bool,
    /// Share of due operations that were late, missing or failed, where it is more than chance explains.
    pub lost: Option<f64>,
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
    slowdown: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
    n: i64,
    /// The earliest beginning among `ops` (ns, UTC).
    pub since_ns: Option<i64>,
    until_ns: Option<i64>,
    /// What else the sentence needs.
    pub evidence: Members,
}

/// The verdict of every live state, in their order; servers of one target are seen side by side.
pub fn findings(states: &[Members], now_ns: i64) -> Vec<Finding> {
    let mut found: Vec<Finding> = states.iter().map(|state| from_state(state, now_ns)).collect();
    let usual = |one: &&Finding| one.kind == "usual" && whole_target(&one.evidence).is_some();
    let usual: Vec<Finding> = found.iter().filter(usual).cloned().collect();
    for bad in found.iter_mut().filter(|one| matches!(one.kind, "slow" | "lost" | "failing" | "hung")) {
        let Some(of) = whole_target(&bad.evidence) else { continue };
        let beside =
            usual.iter().filter(|one| one.host == bad.host && whole_target(&one.evidence) == Some(of));
        let mut names: Vec<String> = beside.map(|one| server(one).to_string()).collect();
        names.sort();
        bad.evidence.insert("usual_beside".into(), names.into());
    }
    found
}

/// The name of the server that a finding is about; empty for a whole target.
pub fn server(finding: &Finding) -> &str {
    finding.evidence.get("component").and_then(|component| component["name"].as_str()).unwrap_or_default()
}

/// The verdict of one state.
pub fn from_state(state: &Members, now_ns: i64) -> Finding {
    let mut head = Finding {
        kind: "usual",
        severity: "ok",
        host: text(state, "host").into(),
        target: text(state, "target").into(),
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
    if let Some(component) = state.get("component").filter(|component| !component.is_null()) {
        head.evidence.insert("component".into(), component.clone());
    }
    if !is_live(&mut head, state) {
        return head;
    }
    let ops: Vec<OpVerdict> = ops_of(state).map(of_op).collect();
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
    if ops.iter().any(|op| op.state == "slow") {
        return about(head, "host_busy", "info", ops.into_iter().filter(|op| op.state == "slow").collect());
    }
    if ops.iter().any(|op| op.slowdown.is_some()) {
        head.evidence.extend(climate(state));
        return about(head, "usual", "ok", ops.into_iter().filter(|op| op.slowdown.is_some()).collect());
    }
    let windows = ops_of(state)
        .filter_map(|op| integer(op, "baseline_windows"))
        .min()
        .unwrap_or(0)
        .min(BASELINE_WINDOWS);
    head.kind = if windows == BASELINE_WINDOWS { "few" } else { "learning" };
    head.severity = "info";
    head.ops = ops;
    head.evidence
        .extend([("windows".into(), windows.into()), ("windows_needed".into(), BASELINE_WINDOWS.into())]);
    head
}

/// Whether a state says something about now; else the head becomes the finding of why not.
fn is_live(head: &mut Finding, state: &Members) -> bool {
    if text(state, "state") == "damaged" {
        (head.kind, head.severity) = ("damaged", "unknown");
        head.evidence = Members::from_iter([("error".to_string(), state["error"].clone())]);
        return false;
    }
    let written_ns = integer(state, "written_ns").unwrap_or(0);
    let age_ns = head.at_ns.saturating_sub(written_ns).max(0);
    let patience_ns = integer(state, "period_ns").unwrap_or(0).saturating_mul(STALE_PERIODS).max(STALE_NS);
    head.evidence.insert("written_ns".into(), written_ns.into());
    let running = state.get("running") == Some(&Value::Bool(true));
    // A clock that is ahead: the file's own time tells, else nothing does.
    let late_ns = if head.at_ns.saturating_sub(written_ns) < -patience_ns {
        integer(state, "heard_ns")
            .map_or(i64::MAX, |heard_ns| head.at_ns.saturating_sub(heard_ns).saturating_abs())
    } else {
        age_ns
    };
    let shipped_ns = integer(state, "shipped_ns");
    let is_late = match shipped_ns {
        // A copy tells nothing of a probe that was silent when it was made.
        Some(shipped_ns) => {
            shipped_ns.saturating_sub(written_ns).saturating_abs() > patience_ns || late_ns > SHIPPED_NS
        }
        None => late_ns > patience_ns,
    };
    if running && !is_late {
        if let Some(shipped_ns) = shipped_ns {
            head.at_ns = written_ns;
            head.evidence.extend([
                ("shipped_ns".to_string(), shipped_ns.into()),
                ("age_ns".to_string(), late_ns.into()),
            ]);
        }
        return true;
    }
    (head.kind, head.severity) = (if running { "stale" } else { "stopped" }, "unknown");
    head.since_ns = Some(written_ns);
    head.evidence.insert("age_ns".into(), age_ns.into());
    false
}

/// States that say something about now, in their order. A probe that was stopped does not count where another one watches
/// the same target or path, nor a day after its end; a copy without news for a day counts as stopped.
pub fn current(states: &[Members], now_ns: i64) -> Vec<Members> {
    let names = |state: &Members| [text(state, "target").to_string(), text(state, "path").to_string()];
    let is_old = |state: &Members| now_ns.saturating_sub(integer(state, "written_ns").unwrap_or(0)) > DAY_NS;
    let ended = |state: &Members| match from_state(state, now_ns).kind {
        "stopped" => true,
        "stale" => is_old(state) && integer(state, "shipped_ns").is_some(),
        _ => false,
    };
    let watched: BTreeSet<String> = states.iter().filter(|state| !ended(state)).flat_map(names).collect();
    let elsewhere =
        |state: &Members| names(state).iter().any(|name| !name.is_empty() && watched.contains(name));
    let kept = states.iter().filter(|state| !ended(state) || !(elsewhere(state) || is_old(state)));
    kept.cloned().collect()
}

/// By severity, then slowdown, then name.
pub fn worst_first(findings: &mut [Finding]) {
    let severity = |one: &Finding| SEVERITIES.iter().position(|name| *name == one.severity);
    findings.sort_by(|a, b| {
        let slowdown = b.slowdown.unwrap_or(0.0).total_cmp(&a.slowdown.unwrap_or(0.0));
        let name = (&a.host, &a.target).cmp(&(&b.host, &b.target));
        severity(b).cmp(&severity(a)).then(slowdown).then(name)
    });
}

/// `head` about `ops`: the worst gives its numbers, the earliest its beginning.
fn about(mut head: Finding, kind: &'static str, severity: &'static str, mut ops: Vec<OpVerdict>) -> Finding {
    // Typically slow, slow in part, then those of which some are lost.
    ops.sort_by(|a, b| {
        let slowness = |op: &OpVerdict| {
            let counts = op.state == "slow" || op.lost.is_none();
            if counts { op.slowdown.unwrap_or(0.0) } else { 0.0 }
        };
        let lost = |op: &OpVerdict| op.lost.unwrap_or(0.0);
        (a.state != "slow", a.partly)
            .cmp(&(b.state != "slow", b.partly))
            .then(slowness(b).total_cmp(&slowness(a)))
            .then(lost(b).total_cmp(&lost(a)))
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

fn of_op(op: &Members) -> OpVerdict {
    let number = |name: &str| op.get(name).and_then(Value::as_f64);
    let flag = |name: &str| op.get(name) == Some(&Value::Bool(true));
    let state = text(op, "state");
    let certain = number("lost_lower").unwrap_or(0.0) >= LOST_AT && !flag("host_busy");
    OpVerdict {
        op: text(op, "op").into(),
        state: if state.is_empty() { "learning" } else { state }.into(),
        slowdown: number("slowdown"),
        lower: number("slowdown_lower"),
        upper: number("slowdown_upper"),
        n: integer(op, "n_seen").unwrap_or(0),
        since_ns: integer(op, if state == "hung" { "inflight_due_ns" } else { "since_ns" }),
        host_busy: flag("host_busy"),
        outcome: op.get("last_outcome").and_then(Value::as_str).map(str::to_string),
        tail: number("tail"),
        partly: flag("partly"),
        lost: number("lost").filter(|_| certain && comes_back(state)),
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
fn waits_in(state: &Members, ops: &[OpVerdict], kind: &str) -> Value {
    let stuck = |op: &&Members| ops.iter().any(|bad| bad.state == kind && bad.op == text(op, "op"));
    let names: BTreeSet<&str> = ops_of(state).filter(stuck).map(|op| text(op, "wchan")).collect();
    names.into_iter().filter(|name| !name.is_empty()).map(Value::from).collect()
}

/// The operation whose usual latency has changed most for the worse since the reference, if it has.
fn climate(state: &Members) -> Vec<(String, Value)> {
    let known =
        ops_of(state).map(|op| (op.get("climate").and_then(Value::as_f64).unwrap_or(0.0), text(op, "op")));
    match known.max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(b.1))) {
        Some((climate, op)) if climate >= CLIMATE_AT => {
            vec![("climate".into(), climate.into()), ("climate_op".into(), op.into())]
        }
        _ => Vec::new(),
    }
}

/// From how much time it is known what is usual, while that is less than an hour (ns).
fn learnt_ns(state: &Members) -> Option<i64> {
    let young = ops_of(state).filter(|op| text(op, "stage") == "learning");
    let windows =
        young.filter_map(|op| integer(op, "baseline_windows")).min().filter(|windows| *windows != 0)?;
    Some(windows.saturating_mul(integer(state, "window_ns")?))
}
