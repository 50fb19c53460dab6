//! One sentence a target, the worst first.

use serde_json::json;

use crate::choice::chosen;
use crate::finding::{Finding, are_current, findings, worst_first};
use crate::format::system_zone;
use crate::live_state::LiveState;
use crate::namesakes::namesakes;
use crate::state::Members;
use crate::words::{say, say_namesake, summary};
use crate::{Refusal, format};

/// How to answer.
#[derive(Debug, Default)]
pub struct Question {
    /// Names or paths of targets; none: all.
    pub targets: Vec<String>,
    /// With the numbers behind the sentences.
    pub json: bool,
    /// With the notes of each target.
    pub verbose: bool,
    /// Whether the reader is a terminal that shows colours.
    pub coloured: bool,
}

/// The whole answer, with its line ends. `store`: the folder that errors name.
pub fn answer(question: &Question, states: &[Members], now_ns: i64, store: &str) -> Result<String, Refusal> {
    if states.is_empty() {
        let text =
            format!("no probe states in {store}; expected a running probe; try --store /var/lib/iosonde");
        return Err(Refusal { code: 1, text });
    }
    let live: Vec<LiveState> = states.iter().map(|state| LiveState::of(&state)).collect();
    let asked: Vec<usize> = if question.targets.is_empty() {
        let current = are_current(&live, &|_| false, now_ns);
        (0..live.len()).filter(|place| current[*place]).collect()
    } else {
        chosen(&live, &question.targets)?
    };
    // Where nothing runs, what ran last is better than nothing, and a file that is no state hides none.
    let told = asked.iter().any(|place| live[*place].state != "damaged") || !question.targets.is_empty();
    let asked: Vec<usize> = if told { asked } else { (0..live.len()).collect() };
    let place_of = |finding: &Finding| {
        let is_its = |state: &LiveState| state.host == finding.host && state.target == finding.target;
        asked.iter().rev().copied().find(|place| is_its(&live[*place]))
    };
    let every = findings(&live, now_ns);
    let seen: Vec<_> = every
        .iter()
        .map(|one| (one.severity, one.slowdown, one.host.as_str(), one.target.as_str()))
        .collect();
    let ranked = worst_first(&seen).into_iter().map(|place| &every[place]);
    let found: Vec<(&Finding, usize)> =
        ranked.filter_map(|finding| place_of(finding).map(|place| (finding, place))).collect();
    let named_alike = namesakes(asked.iter().map(|place| &live[*place]));
    if question.json {
        let plain: Vec<_> =
            found.iter().map(|(finding, place)| with_sentence(finding, &states[*place])).collect();
        let whole = json!({"schema_version": 2, "targets": plain, "namesakes": named_alike});
        return Ok(format!("{whole:#}\n"));
    }
    let mut lines: Vec<String> =
        found.iter().flat_map(|(finding, place)| lines(finding, &live[*place], question)).collect();
    if found.len() > 1 {
        let all = found.iter().map(|(one, _)| (one.host.as_str(), one.target.as_str(), one.severity));
        let all: Vec<_> = all.collect();
        lines.push(colour(&summary(&all), "2", question.coloured));
    }
    lines.extend(named_alike.iter().map(|host| say_namesake(host)));
    Ok(lines.into_iter().map(|line| line + "\n").collect())
}

fn with_sentence(finding: &Finding, state: &Members) -> serde_json::Value {
    let mut plain = json!(finding);
    plain["sentence"] = say(finding, &system_zone).into();
    plain["state"] = state.clone().into();
    plain
}

fn lines(finding: &Finding, state: &LiveState, question: &Question) -> Vec<String> {
    let code = match finding.severity {
        "ok" => "32",
        "info" => "36",
        "slow" => "33",
        "hung" => "31;1",
        _ => "35",
    };
    let named =
        if finding.severity == "unknown" { String::new() } else { format!("{:<8}", finding.severity) };
    let heard = (finding.kind != "damaged").then(|| {
        if finding.evidence.contains_key("shipped_ns") {
            return format!("  (from {})", finding.host); // The sentence says when.
        }
        let age = format::seconds(finding.at_ns.saturating_sub(state.written_ns).max(0));
        format!("  (measured {age} ago from {})", finding.host)
    });
    let coloured = question.coloured;
    let heard = colour(&heard.unwrap_or_default(), "2", coloured);
    let mut lines = vec![format!("{}{}{heard}", colour(&named, code, coloured), say(finding, &system_zone))];
    if question.verbose {
        let note = |note: &String| colour(&format!("        note: {note}"), "2", coloured);
        lines.extend(state.notes.iter().map(note));
    }
    lines
}

fn colour(text: &str, code: &str, enabled: bool) -> String {
    if enabled { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
}
