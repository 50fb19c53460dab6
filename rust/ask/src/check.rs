//! A line for monitoring systems, with performance data; further targets below it.

use serde_json::Value;

use crate::Refusal;
use crate::choice::chosen;
use crate::finding::{Finding, findings, from_state};
use crate::format::six_digits;
use crate::ranges::{AlertRange, CRITICAL, STATUS_NAMES, UNKNOWN, WARNING, status, worst};
use crate::state::{Members, notes_of, ops_of, text};
use crate::words::say;

/// How to answer.
#[derive(Debug)]
pub struct Question {
    /// Names or paths of targets; none: all.
    pub targets: Vec<String>,
    /// Slowdowns to warn for; None: from 2 on.
    pub warning: Option<AlertRange>,
    /// Slowdowns that are critical; None: from 5 on.
    pub critical: Option<AlertRange>,
    /// With the notes of each target.
    pub verbose: bool,
}

/// The code of the plugin and its text, with line ends. `store`: the folder that errors name.
pub fn answer(
    question: &Question,
    states: &[Members],
    now_ns: i64,
    store: &str,
) -> Result<(u8, String), Refusal> {
    let limits = limits(question)?;
    if states.is_empty() {
        let text = format!("IOSONDE UNKNOWN - no states in {store}; try --store /var/lib/iosonde\n");
        return Ok((UNKNOWN, text));
    }
    let states = counted(chosen(states, &question.targets)?, now_ns);
    let findings = findings(&states, now_ns);
    let levels: Vec<u8> = findings.iter().map(|finding| status(finding, &limits[0], &limits[1])).collect();
    let level = worst(&levels);
    let first = levels.iter().position(|one| *one == level).unwrap_or(0);
    let said = findings.iter().zip(&levels).map(|(finding, level)| sentence(finding, *level, &limits));
    let mut lines: Vec<String> = said.map(|line| line.replace('|', "/")).collect();
    let mut head = format!("IOSONDE {} - {}", STATUS_NAMES[usize::from(level)], lines.remove(first));
    let data: Vec<String> =
        states.iter().zip(&findings).flat_map(|(state, one)| performance(state, one, &limits)).collect();
    if !data.is_empty() {
        head += &format!(" | {}", data.join(" "));
    }
    lines.insert(0, head);
    if question.verbose {
        lines.extend(states.iter().flat_map(notes_of).map(|note| format!("note: {note}").replace('|', "/")));
    }
    Ok((level, lines.join("\n") + "\n"))
}

/// The warning and the critical range.
fn limits(question: &Question) -> Result<[AlertRange; 2], Refusal> {
    let default = |text: &str| text.parse::<AlertRange>().map_err(|text| Refusal { code: 2, text });
    let warning = question.warning.clone().map_or_else(|| default("2"), Ok)?;
    let critical = question.critical.clone().map_or_else(|| default("5"), Ok)?;
    let outside = |range: &Option<AlertRange>| range.as_ref().is_some_and(|range| !range.inside);
    if outside(&question.warning) && outside(&question.critical) && warning.high > critical.high {
        let (w, c) = (&warning.text, &critical.text);
        let text = format!("-w {w} warns above -c {c}; expected a warning before it is critical");
        return Err(Refusal { code: 2, text });
    }
    Ok([warning, critical])
}

/// Without probes that were stopped by will, as long as another one is left.
fn counted(states: Vec<Members>, now_ns: i64) -> Vec<Members> {
    let is_left = |state: &&Members| from_state(state, now_ns).kind != "stopped";
    let left: Vec<Members> = states.iter().filter(is_left).cloned().collect();
    if left.is_empty() { states } else { left }
}

/// What only the limits of the caller call slow says so, and the status is not said twice.
fn sentence(finding: &Finding, level: u8, limits: &[AlertRange; 2]) -> String {
    let text = say(finding);
    let text = text.strip_prefix("unknown: ").unwrap_or(&text);
    let limit = match level {
        WARNING => format!("-w {}", limits[0].text),
        CRITICAL => format!("-c {}", limits[1].text),
        _ => return text.to_string(),
    };
    if finding.kind != "usual" {
        return text.to_string();
    }
    format!("{text}; {} by {limit}", STATUS_NAMES[usize::from(level)])
}

/// `'work_md_create_slowdown'=1.1;2;5;0;` and the 0.95 quantile in seconds.
fn performance(state: &Members, finding: &Finding, limits: &[AlertRange; 2]) -> Vec<String> {
    if finding.severity == "unknown" {
        return Vec::new();
    }
    let bare = text(state, "target").trim_matches('/');
    let stem: String =
        bare.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '_' }).collect();
    let stem = if stem.is_empty() { "root".to_string() } else { stem };
    let mut data = Vec::new();
    for op in ops_of(state) {
        let (name, number) = (text(op, "op"), |name: &str| op.get(name).and_then(Value::as_f64));
        let value = number("slowdown").map_or("U".to_string(), six_digits);
        data.push(format!("'{stem}_{name}_slowdown'={value};{};{};0;", limits[0].text, limits[1].text));
        if let Some(q95_ns) = number("q95_ns") {
            data.push(format!("'{stem}_{name}_q95'={}s;;;0;", six_digits(q95_ns / 1e9)));
        }
    }
    data
}
