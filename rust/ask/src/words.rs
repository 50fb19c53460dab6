//! The sentences of findings: page, terminal, check and report say the same words.
//!
//! A sentence is one line without a full stop, names the target, gives a slowdown with its 95 % interval, and never says
//! "storage" when the probing host was the cause.

use std::collections::BTreeSet;

use iosonde_core::slowdown::verdict::{SLOW_FROM, is_below_floor};
use serde_json::Value;

use crate::finding::{Finding, OpVerdict, SEVERITIES, server, whole_target};
use crate::format::{self, Zone};
use crate::ops::word;
use crate::ranges::is_within_spread;
use crate::text::joined;

const MOST_WORDS: usize = 25;
/// Of more servers that are as usual only these are named.
const NAMED: usize = 4;
/// `the probing host is busy: ..., not proof of slow storage`
const HOST_WORDS: usize = 11;
/// `: no more than a processor takes to wake`
const WAKE_WORDS: usize = 8;
/// `; seen 4 min ago`
const SEEN_WORDS: usize = 4;

/// The sentence of a finding, with times in `zone`.
pub fn say(finding: &Finding, zone: &Zone<'_>) -> String {
    let of = of(finding);
    let heard = || format::time(finding.since_ns.unwrap_or(0), finding.at_ns, zone, false);
    let text = match finding.kind {
        "slow" => slower(finding, zone, room(finding)),
        "lost" => lost(finding),
        "host_busy" if finding.ops.iter().all(is_woken) => {
            format!(
                "{}: no more than a processor takes to wake",
                slower(finding, zone, room(finding) - WAKE_WORDS)
            )
        }
        "host_busy" => {
            let verb = if is_over(finding) { "was" } else { "is" };
            format!("the probing host {verb} busy: {}, not proof of slow storage", by_host(finding, zone))
        }
        "hung" => hung(finding, zone),
        "failing" => failing(finding, zone),
        "learning" => {
            let (windows, needed) = (number(finding, "windows"), number(finding, "windows_needed"));
            let (windows, needed) = (windows.unwrap_or(0), needed.unwrap_or(0));
            format!("{}: still learning the baseline ({windows} of {needed} windows)", named(finding))
        }
        "few" => format!("{}: too few operations ended well of late to tell", named(finding)),
        "stopped" => format!("unknown: {of} has no probe since {} (stopped)", heard()),
        "stale" => format!("unknown: no news of {of} since {} (the probe may have stopped)", heard()),
        "damaged" => {
            let error = finding.evidence.get("error").and_then(Value::as_str).unwrap_or_default();
            format!("unknown: the state of {} cannot be read ({error})", finding.target)
        }
        _ => usual(finding),
    };
    text + &beside(finding) + &seen(finding)
}

/// Words that a sentence may have without [`seen`].
fn room(finding: &Finding) -> usize {
    if seen(finding).is_empty() { MOST_WORDS } else { MOST_WORDS - SEEN_WORDS }
}

/// How old the copy of a state is that a finding is about: its probe may have seen more since.
fn seen(finding: &Finding) -> String {
    let age =
        finding.evidence.get("shipped_ns").map(|_| format::seconds(number(finding, "age_ns").unwrap_or(0)));
    age.map(|age| format!("; seen {age} ago")).unwrap_or_default()
}

/// `3 targets: 1 hanging or failing, 2 as usual`, the worst first; of several hosts how many these are, too.
///
/// Of each target its host, its name and its severity.
pub fn summary(seen: &[(&str, &str, &str)]) -> String {
    let words = ["as usual", "without a verdict", "unknown", "slow", "hanging or failing"];
    let parts = SEVERITIES.iter().zip(words).rev().filter_map(|(severity, words)| {
        let number = seen.iter().filter(|one| one.2 == *severity).count();
        (number > 0).then(|| format!("{} {words}", format::count(number)))
    });
    let targets = seen.iter().map(|one| one.1).collect::<BTreeSet<_>>().len();
    let hosts = seen.iter().map(|one| one.0).collect::<BTreeSet<_>>().len();
    let seen = if hosts > 1 { format!(" seen from {} hosts", format::count(hosts)) } else { String::new() };
    let plural = if targets == 1 { "" } else { "s" };
    format!("{} target{plural}{seen}: {}", format::count(targets), parts.collect::<Vec<_>>().join(", "))
}

/// What is said of a host name that two machines have.
pub fn say_namesake(host: &str) -> String {
    format!(
        "two machines or containers probe as {host}, and their records mix: give each a name (host = \"...\")"
    )
}

/// The target, and which of its servers.
fn named(finding: &Finding) -> String {
    match whole_target(finding) {
        Some(of) => format!("{of}, server {}", server(finding)),
        None => finding.target.clone(),
    }
}

/// The same where the sentence goes on.
fn of(finding: &Finding) -> String {
    named(finding) + if whole_target(finding).is_some() { "," } else { "" }
}

/// Which servers of the target are as usual.
fn beside(finding: &Finding) -> String {
    let usual = strings(finding, "usual_beside");
    let mut names: Vec<String> = usual.iter().take(NAMED).map(|name| name.to_string()).collect();
    if usual.len() > NAMED {
        names.push(format!("{} more", usual.len() - NAMED));
    }
    match usual.len() {
        0 => String::new(),
        n => format!("; {} {} as usual", joined(&names), if n == 1 { "is" } else { "are" }),
    }
}

fn learnt(finding: &Finding) -> Option<String> {
    number(finding, "learnt_ns").map(|ns| format!("learned from {}", format::seconds(ns)))
}

fn usual(finding: &Finding) -> String {
    let Some(worst) = finding.ops.first() else { return String::new() };
    let known = learnt(finding).map(|learnt| format!(" ({learnt})")).unwrap_or_default();
    let slowdown = format::slowdown(worst.slowdown, worst.lower, worst.upper);
    let op = word(&worst.op);
    let mut text =
        format!("{} is as usual{known}: the slowest operation, {op}, is at {slowdown}", of(finding));
    if is_within_spread(worst) {
        text += ", no more than its windows have varied so far";
    } else if worst.slowdown.is_some_and(|slowdown| slowdown >= SLOW_FROM) {
        text += ", which is too uncertain to be called slow";
    }
    if let Some(climate) = finding.evidence.get("climate").and_then(Value::as_f64) {
        let op = word(finding.evidence.get("climate_op").and_then(Value::as_str).unwrap_or_default());
        let factor = format::factor(Some(climate));
        text += &format!("; usual itself has become {factor}x slower for {op} than it was at first");
    }
    text
}

fn slower(finding: &Finding, zone: &Zone<'_>, most_words: usize) -> String {
    let Some((worst, others)) = finding.ops.split_first() else { return String::new() };
    let known = learnt(finding).map(|learnt| format!("; usual is {learnt}")).unwrap_or_default();
    let left = most_words.saturating_sub(known.split_whitespace().count());
    let of = of(finding);
    if worst.partly {
        if let Some(hits) = few_hits(worst) {
            let verb = if is_over(finding) { "came" } else { "come" };
            let when = since(finding, worst, zone);
            let head = format!("{hits} of the {} on {of} {verb} from a cache{when}", word(&worst.op));
            let usual = format!(" (usually {})", percent(worst.hits_usual));
            let parts: Vec<String> = others.iter().map(|op| beside_worst(finding, op, zone)).collect();
            return listed(&(head + &usual), &parts, left) + &known;
        }
        let parts: Vec<String> = finding.ops.iter().map(|op| part(finding, op, zone)).collect();
        let head = format!("a part of the operations on {of} is slower than usual: {}", parts[0]);
        return listed(&head, &parts[1..], left) + &known;
    }
    let cold =
        few_hits(worst).map(|hits| format!(", {hits} from a cache (usually {})", percent(worst.hits_usual)));
    let head = format!("{} on {of} {}", word(&worst.op), are_slower(finding, worst, zone))
        + &cold.unwrap_or_default();
    let parts: Vec<String> = others.iter().map(|op| beside_worst(finding, op, zone)).collect();
    listed(&head, &parts, left) + &known
}

fn are_slower(finding: &Finding, op: &OpVerdict, zone: &Zone<'_>) -> String {
    let unknown = number(finding, "unknown_since_ns").is_some();
    let (verb, since) = (if is_over(finding) || unknown { "were" } else { "are" }, since(finding, op, zone));
    let factor = |value| format::factor(Some(value));
    match (op.slowdown.map(factor), op.lower, op.upper) {
        (None, _, _) => format!("{verb} slower than usual{since}"),
        (Some(typ), Some(lower), Some(upper)) => {
            format!("{verb} {typ}x slower than usual ({}-{}){since}", factor(lower), factor(upper))
        }
        (Some(typ), _, _) => format!("{verb} {typ}x slower than usual{since}"),
    }
}

/// Another operation that is slow, too.
fn beside_worst(finding: &Finding, op: &OpVerdict, zone: &Zone<'_>) -> String {
    if let Some(hits) = few_hits(op).filter(|_| op.partly) {
        return format!("{hits} of {} from a cache (usually {})", word(&op.op), percent(op.hits_usual));
    }
    if op.partly {
        return format!("a part of {}{}", word(&op.op), since(finding, op, zone));
    }
    if op.state != "slow" {
        return if op.late.is_some() {
            format!("{} late", share(op.late, op))
        } else {
            format!("{} lost", lost_share(op))
        };
    }
    let factor = format::slowdown(op.slowdown, op.lower, op.upper);
    format!("{} {factor}{}", word(&op.op), since(finding, op, zone))
}

/// The typical operation is as usual, and some are not.
fn part(finding: &Finding, op: &OpVerdict, zone: &Zone<'_>) -> String {
    if op.state != "slow" {
        return format!("{} lost", lost_share(op));
    }
    if let Some(hits) = few_hits(op) {
        return format!("{} {hits} from a cache (usually {})", word(&op.op), percent(op.hits_usual));
    }
    let tail = op.tail.map(|tail| format!(" (the slowest twentieth {}x)", format::factor(Some(tail))));
    format!("{}{}{}", word(&op.op), tail.unwrap_or_default(), since(finding, op, zone))
}

/// `only 2%` or `none`, of operations that come from a cache; no text where a cache serves as ever.
fn few_hits(op: &OpVerdict) -> Option<String> {
    let hits = op.hits?;
    Some(if hits < 0.005 { "none".into() } else { format!("only {}", percent(Some(hits))) })
}

fn percent(share: Option<f64>) -> String {
    format!("{:.0}%", 100.0 * share.unwrap_or(0.0))
}

/// `head` and as many parts as the sentence has room for; the others are counted.
fn listed(head: &str, parts: &[String], most_words: usize) -> String {
    let with = |n: usize| {
        let mut all: Vec<String> = vec![head.to_string()];
        all.extend_from_slice(&parts[..n]);
        if n < parts.len() {
            all.push(format!("and {} more", parts.len() - n));
        }
        all.join(", ")
    };
    let fits = (1..=parts.len()).rev().map(with).find(|text| text.split_whitespace().count() <= most_words);
    fits.unwrap_or_else(|| with(0))
}

fn lost(finding: &Finding) -> String {
    let parts: Vec<String> = finding.ops.iter().map(lost_share).collect();
    let Some((head, others)) = parts.split_first() else { return String::new() };
    let verb = if is_over(finding) { "were" } else { "are" };
    listed(&format!("{head} on {} {verb} late, missing or failed", of(finding)), others, room(finding))
}

/// What the probing host explains: operations that are slow, or that it began late.
fn by_host(finding: &Finding, zone: &Zone<'_>) -> String {
    let most_words = room(finding) - HOST_WORDS;
    match finding.ops.first() {
        Some(op) if op.state != "slow" => {
            let parts: Vec<String> = finding.ops.iter().map(|op| share(op.late, op)).collect();
            let head = format!("{} on {} began late or never", parts[0], of(finding));
            listed(&head, &parts[1..], most_words)
        }
        _ => slower(finding, zone, most_words),
    }
}

/// Whether what is added is below the floor of verdicts.
fn is_woken(op: &OpVerdict) -> bool {
    let added = op.slowdown.filter(|_| op.state == "slow").zip(op.usual_ns);
    added.is_some_and(|(slowdown, usual_ns)| is_below_floor(slowdown, usual_ns))
}

/// `12% of creates`.
fn lost_share(op: &OpVerdict) -> String {
    share(op.lost, op)
}

fn share(part: Option<f64>, op: &OpVerdict) -> String {
    let part = part.unwrap_or(0.0);
    let share = if part >= 0.9995 { "all".to_string() } else { format!("{:.0}% of", 100.0 * part) };
    format!("{share} {}", word(&op.op))
}

fn is_over(finding: &Finding) -> bool {
    finding.until_ns.is_some()
}

fn since(finding: &Finding, op: &OpVerdict, zone: &Zone<'_>) -> String {
    let Some(since_ns) = op.since_ns else { return String::new() };
    let time = |ns| format::time(ns, finding.at_ns, zone, false);
    match (number(finding, "unknown_since_ns"), finding.until_ns) {
        (Some(unknown_ns), _) => format!(" from {}, not known since {}", time(since_ns), time(unknown_ns)),
        (None, None) => format!(" since {}", time(since_ns)),
        (None, Some(until_ns)) => format!(" {}", format::span(since_ns, until_ns, finding.at_ns, zone)),
    }
}

fn hung(finding: &Finding, zone: &Zone<'_>) -> String {
    let mut text = format!("{} on {} have been hanging", op_words(finding), of(finding));
    if let Some(since_ns) = finding.since_ns {
        let age = format::seconds(finding.at_ns.saturating_sub(since_ns).max(0));
        text += &format!(" for {age} (since {})", format::time(since_ns, finding.at_ns, zone, true));
    }
    let waits_in = strings(finding, "waits_in");
    if !waits_in.is_empty() {
        text += &format!(", waiting in the kernel's {}", joined(&waits_in));
    }
    let answering: Vec<&str> = strings(finding, "answering").into_iter().map(word).collect();
    if answering.is_empty() { text } else { format!("{text}; {} still answer", answering.join(", ")) }
}

fn failing(finding: &Finding, zone: &Zone<'_>) -> String {
    let outcomes: BTreeSet<&str> = finding.ops.iter().filter_map(|op| op.outcome.as_deref()).collect();
    let outcomes: Vec<&str> = outcomes.into_iter().filter(|outcome| !outcome.is_empty()).collect();
    let why = if outcomes.is_empty() { String::new() } else { format!(" ({})", outcomes.join(", ")) };
    let since = finding.since_ns.map(|ns| format!(" since {}", format::time(ns, finding.at_ns, zone, false)));
    format!("{} on {} are failing{why}{}", op_words(finding), of(finding), since.unwrap_or_default())
}

fn op_words(finding: &Finding) -> String {
    joined(&finding.ops.iter().map(|op| word(&op.op)).collect::<Vec<_>>())
}

fn number(finding: &Finding, name: &str) -> Option<i64> {
    finding.evidence.get(name)?.as_i64()
}

fn strings<'a>(finding: &'a Finding, name: &str) -> Vec<&'a str> {
    let list = finding.evidence.get(name).and_then(Value::as_array);
    list.map_or(Vec::new(), |list| list.iter().filter_map(Value::as_str).collect())
}
