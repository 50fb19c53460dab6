//! The sentences of live findings, as `src/iosonde/weather/slowdown/words.py` writes them.

use std::collections::BTreeSet;

use iosonde_core::slowdown::verdict::SLOW_FROM;
use serde_json::Value;

use crate::finding::{Finding, OpVerdict, SEVERITIES, server};
use crate::format;
use crate::ops::word;
use crate::state::whole_target;
use crate::text::joined;

const MOST_WORDS: usize = 25;
/// Of more servers that are as usual only these are named.
const NAMED: usize = 4;
/// `; seen 4 min ago`
const SEEN_WORDS: usize = 4;

/// The sentence of a finding, with times in the local zone.
pub fn say(finding: &Finding) -> String {
    let of = of(finding);
    let heard = || format::time(finding.since_ns.unwrap_or(0), finding.at_ns, false);
    let text = match finding.kind {
        "slow" => slower(finding, room(finding)),
        "lost" => lost(finding),
        "host_busy" => {
            format!(
                "the probing host is busy: {}, not proof of slow storage",
                slower(finding, room(finding) - 11)
            )
        }
        "hung" => hung(finding),
        "failing" => failing(finding),
        "learning" => {
            let (windows, needed) = (number(finding, "windows"), number(finding, "windows_needed"));
            format!("{}: still learning the baseline ({windows} of {needed} windows)", named(finding))
        }
        "few" => format!("{}: too few operations ended well of late to tell", named(finding)),
        "stopped" => format!("unknown: {of} has no probe since {} (stopped)", heard()),
        "stale" => format!("unknown: no news of {of} since {} (the probe may have stopped)", heard()),
        "damaged" => {
            let error = finding.evidence["error"].as_str().unwrap_or_default();
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
    let age = finding.evidence.get("shipped_ns").map(|_| format::seconds(number(finding, "age_ns")));
    age.map(|age| format!("; seen {age} ago")).unwrap_or_default()
}

/// `3 targets: 1 hanging or failing, 2 as usual`, the worst first; of several hosts how many these are, too.
pub fn summary(findings: &[Finding]) -> String {
    let words = ["as usual", "without a verdict", "unknown", "slow", "hanging or failing"];
    let parts = SEVERITIES.iter().zip(words).rev().filter_map(|(severity, words)| {
        let number = findings.iter().filter(|finding| finding.severity == *severity).count();
        (number > 0).then(|| format!("{} {words}", format::count(number)))
    });
    let targets = findings.iter().map(|finding| &finding.target).collect::<BTreeSet<_>>().len();
    let hosts = findings.iter().map(|finding| &finding.host).collect::<BTreeSet<_>>().len();
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
    match whole_target(&finding.evidence) {
        Some(of) => format!("{of}, server {}", server(finding)),
        None => finding.target.clone(),
    }
}

/// The same where the sentence goes on.
fn of(finding: &Finding) -> String {
    named(finding) + if whole_target(&finding.evidence).is_some() { "," } else { "" }
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
    let ns = finding.evidence.get("learnt_ns")?.as_i64()?;
    Some(format!("learned from {}", format::seconds(ns)))
}

fn usual(finding: &Finding) -> String {
    let Some(worst) = finding.ops.first() else { return String::new() };
    let known = learnt(finding).map(|learnt| format!(" ({learnt})")).unwrap_or_default();
    let slowdown = format::slowdown(worst.slowdown, worst.lower, worst.upper);
    let op = word(&worst.op);
    let mut text =
        format!("{} is as usual{known}: the slowest operation, {op}, is at {slowdown}", of(finding));
    if worst.slowdown.is_some_and(|slowdown| slowdown >= SLOW_FROM) {
        text += ", which is too uncertain to be called slow";
    }
    if let Some(climate) = finding.evidence.get("climate").and_then(Value::as_f64) {
        let op = word(finding.evidence["climate_op"].as_str().unwrap_or_default());
        let factor = format::factor(Some(climate));
        text += &format!("; usual itself has become {factor}x slower for {op} than it was at first");
    }
    text
}

fn slower(finding: &Finding, most_words: usize) -> String {
    let Some((worst, others)) = finding.ops.split_first() else { return String::new() };
    let known = learnt(finding).map(|learnt| format!("; usual is {learnt}")).unwrap_or_default();
    let left = most_words.saturating_sub(known.split_whitespace().count());
    let of = of(finding);
    if worst.partly {
        let parts: Vec<String> = finding.ops.iter().map(|op| part(finding, op)).collect();
        let head = format!("a part of the operations on {of} is slower than usual: {}", parts[0]);
        return listed(&head, &parts[1..], left) + &known;
    }
    let interval = match (worst.lower, worst.upper) {
        (Some(_), Some(_)) => format!(" ({}-{})", format::factor(worst.lower), format::factor(worst.upper)),
        _ => String::new(),
    };
    let factor = worst.slowdown.map(|slowdown| format!("{}x ", format::factor(Some(slowdown))));
    let interval = if factor.is_some() { interval } else { String::new() };
    let factor = factor.unwrap_or_default();
    let head = format!(
        "{} on {of} are {factor}slower than usual{interval}{}",
        word(&worst.op),
        since(finding, worst)
    );
    let parts: Vec<String> = others.iter().map(|op| beside_worst(finding, op)).collect();
    listed(&head, &parts, left) + &known
}

/// Another operation that is slow, too.
fn beside_worst(finding: &Finding, op: &OpVerdict) -> String {
    if op.partly {
        return format!("a part of {}{}", word(&op.op), since(finding, op));
    }
    if op.state != "slow" {
        return format!("{} lost", lost_share(op));
    }
    let factor = format::slowdown(op.slowdown, op.lower, op.upper);
    format!("{} {factor}{}", word(&op.op), since(finding, op))
}

/// The typical operation is as usual, and some are not.
fn part(finding: &Finding, op: &OpVerdict) -> String {
    if op.state != "slow" {
        return format!("{} lost", lost_share(op));
    }
    let tail = op.tail.map(|tail| format!(" (the slowest twentieth {}x)", format::factor(Some(tail))));
    format!("{}{}{}", word(&op.op), tail.unwrap_or_default(), since(finding, op))
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
    listed(&format!("{head} on {} are late, missing or failed", of(finding)), others, room(finding))
}

/// `12% of creates`.
fn lost_share(op: &OpVerdict) -> String {
    let part = op.lost.unwrap_or(0.0);
    let share = if part >= 0.9995 { "all".to_string() } else { format!("{:.0}% of", 100.0 * part) };
    format!("{share} {}", word(&op.op))
}

fn since(finding: &Finding, op: &OpVerdict) -> String {
    op.since_ns.map(|ns| format!(" since {}", format::time(ns, finding.at_ns, false))).unwrap_or_default()
}

fn hung(finding: &Finding) -> String {
    let mut text = format!("{} on {} have been hanging", op_words(finding), of(finding));
    if let Some(since_ns) = finding.since_ns {
        let age = format::seconds(finding.at_ns.saturating_sub(since_ns).max(0));
        text += &format!(" for {age} (since {})", format::time(since_ns, finding.at_ns, true));
    }
    let waits_in = strings(finding, "waits_in");
    if !waits_in.is_empty() {
        text += &format!(", waiting in the kernel's {}", joined(&waits_in));
    }
    let answering: Vec<&str> = strings(finding, "answering").into_iter().map(word).collect();
    if answering.is_empty() { text } else { format!("{text}; {} still answer", answering.join(", ")) }
}

fn failing(finding: &Finding) -> String {
    let outcomes: BTreeSet<&str> = finding.ops.iter().filter_map(|op| op.outcome.as_deref()).collect();
    let outcomes: Vec<&str> = outcomes.into_iter().filter(|outcome| !outcome.is_empty()).collect();
    let why = if outcomes.is_empty() { String::new() } else { format!(" ({})", outcomes.join(", ")) };
    let since = finding.since_ns.map(|ns| format!(" since {}", format::time(ns, finding.at_ns, false)));
    format!("{} on {} are failing{why}{}", op_words(finding), of(finding), since.unwrap_or_default())
}

fn op_words(finding: &Finding) -> String {
    joined(&finding.ops.iter().map(|op| word(&op.op)).collect::<Vec<_>>())
}

fn number(finding: &Finding, name: &str) -> i64 {
    finding.evidence.get(name).and_then(Value::as_i64).unwrap_or(0)
}

fn strings<'a>(finding: &'a Finding, name: &str) -> Vec<&'a str> {
    let list = finding.evidence.get(name).and_then(Value::as_array);
    list.map_or(Vec::new(), |list| list.iter().filter_map(Value::as_str).collect())
}
