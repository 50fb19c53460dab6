//! A line for monitoring systems, with performance data; further targets below it.

use crate::Refusal;
use crate::choice::chosen;
use crate::finding::{Finding, findings, is_stopped};
use crate::format::{six_digits, system_zone};
use crate::live_state::LiveState;
use crate::ranges::{AlertRange, CRITICAL, STATUS_NAMES, UNKNOWN, WARNING, status, worst};
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
    states: &[LiveState],
    now_ns: i64,
    store: &str,
) -> Result<(u8, String), Refusal> {
    let limits = limits(question.warning.clone(), question.critical.clone())?;
    if states.is_empty() {
        let text = format!("IOSONDE UNKNOWN - no states in {store}; try --store /var/lib/iosonde\n");
        return Ok((UNKNOWN, text));
    }
    let asked = chosen(states, &question.targets)?;
    let asked: Vec<LiveState> = asked.into_iter().map(|place| states[place].clone()).collect();
    let (level, text) = judged(&asked, &limits, question.verbose, now_ns);
    Ok((level, text + "\n"))
}

/// The code and the text of one or more states. `limits`: to warn for, and critical.
pub fn judged(states: &[LiveState], limits: &[AlertRange; 2], verbose: bool, now_ns: i64) -> (u8, String) {
    // Probes that were stopped by will do not count, as long as another one is left.
    let left: Vec<LiveState> = states.iter().filter(|state| !is_stopped(state)).cloned().collect();
    let states = if left.is_empty() { states } else { &left };
    let findings = findings(states, now_ns);
    let levels: Vec<u8> = findings.iter().map(|finding| status(finding, &limits[0], &limits[1])).collect();
    let level = worst(&levels);
    let said = findings.iter().zip(&levels).map(|(finding, level)| sentence(finding, *level, limits));
    let mut lines: Vec<String> = said.map(|line| line.replace('|', "/")).collect();
    if let Some(first) = levels.iter().position(|one| *one == level) {
        let head = lines.remove(first);
        lines.insert(0, head);
    }
    let head = lines.first().map(String::as_str).unwrap_or_default();
    let mut head = format!("IOSONDE {} - {head}", STATUS_NAMES[usize::from(level)]);
    let data: Vec<String> =
        states.iter().zip(&findings).flat_map(|(state, one)| performance(state, one, limits)).collect();
    if !data.is_empty() {
        head += &format!(" | {}", data.join(" "));
    }
    let notes = states.iter().filter(|_| verbose).flat_map(|state| &state.notes);
    let notes = notes.map(|note| format!("note: {note}").replace('|', "/"));
    let all: Vec<String> = std::iter::once(head).chain(lines.into_iter().skip(1)).chain(notes).collect();
    (level, all.join("\n"))
}

/// The range to warn for and the critical one. Errors: a warning that comes after it is critical.
pub fn limits(warning: Option<AlertRange>, critical: Option<AlertRange>) -> Result<[AlertRange; 2], Refusal> {
    let outside = |range: &Option<AlertRange>| range.as_ref().is_some_and(|range| !range.inside);
    let both_outside = outside(&warning) && outside(&critical);
    let limits =
        [warning.unwrap_or_else(|| AlertRange::to(2.0)), critical.unwrap_or_else(|| AlertRange::to(5.0))];
    if both_outside && limits[0].high > limits[1].high {
        let [warning, critical] = limits.map(|limit| limit.text);
        let text =
            format!("-w {warning} warns above -c {critical}; expected a warning before it is critical");
        return Err(Refusal { code: 2, text });
    }
    Ok(limits)
}

/// What only the limits of the caller call slow says so, and the status is not said twice.
fn sentence(finding: &Finding, level: u8, limits: &[AlertRange; 2]) -> String {
    let text = say(finding, &system_zone);
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
fn performance(state: &LiveState, finding: &Finding, limits: &[AlertRange; 2]) -> Vec<String> {
    if finding.severity == "unknown" {
        return Vec::new();
    }
    let bare = state.target.trim_matches('/');
    let stem: String =
        bare.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '_' }).collect();
    let stem = if stem.is_empty() { "root".to_string() } else { stem };
    let mut data = Vec::new();
    for op in &state.ops {
        let value = op.slowdown.map_or("U".to_string(), six_digits);
        let name = &op.op;
        data.push(format!("'{stem}_{name}_slowdown'={value};{};{};0;", limits[0].text, limits[1].text));
        if let Some(q95_ns) = op.q95_ns {
            data.push(format!("'{stem}_{name}_q95'={}s;;;0;", six_digits(q95_ns / 1e9)));
        }
    }
    data
}
