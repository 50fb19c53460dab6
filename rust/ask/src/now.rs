//! One sentence a target, the worst first.

use serde_json::json;

use crate::choice::chosen;
use crate::finding::{Finding, current, findings, worst_first};
use crate::namesakes::namesakes;
use crate::state::{Members, integer, notes_of, text};
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
    let asked = if question.targets.is_empty() {
        current(states, now_ns)
    } else {
        chosen(states, &question.targets)?
    };
    // Where nothing runs, what ran last is better than nothing.
    let asked = if asked.is_empty() { states } else { &asked };
    let state_of = |finding: &Finding| {
        asked
            .iter()
            .rev()
            .find(|state| text(state, "host") == finding.host && text(state, "target") == finding.target)
    };
    let mut every = findings(states, now_ns);
    worst_first(&mut every);
    let found = every.into_iter().filter_map(|finding| state_of(&finding).map(|state| (finding, state)));
    let found: Vec<(Finding, &Members)> = found.collect();
    if question.json {
        let plain: Vec<_> = found.iter().map(|(finding, state)| with_sentence(finding, state)).collect();
        let whole = json!({"schema_version": 2, "targets": plain, "namesakes": namesakes(asked)});
        return Ok(format!("{whole:#}\n"));
    }
    let mut lines: Vec<String> =
        found.iter().flat_map(|(finding, state)| lines(finding, state, question)).collect();
    if found.len() > 1 {
        let all: Vec<Finding> = found.into_iter().map(|(finding, _)| finding).collect();
        lines.push(colour(&summary(&all), "2", question.coloured));
    }
    lines.extend(namesakes(asked).iter().map(|host| say_namesake(host)));
    Ok(lines.into_iter().map(|line| line + "\n").collect())
}

fn with_sentence(finding: &Finding, state: &Members) -> serde_json::Value {
    let mut plain = json!(finding);
    plain["sentence"] = say(finding).into();
    plain["state"] = state.clone().into();
    plain
}

fn lines(finding: &Finding, state: &Members, question: &Question) -> Vec<String> {
    let code = match finding.severity {
        "ok" => "32",
        "info" => "36",
        "slow" => "33",
        "hung" => "31;1",
        _ => "35",
    };
    let named =
        if finding.severity == "unknown" { String::new() } else { format!("{:<8}", finding.severity) };
    let heard = integer(state, "written_ns").map(|written_ns| {
        if finding.evidence.contains_key("shipped_ns") {
            return format!("  (from {})", finding.host); // The sentence says when.
        }
        let age = format::seconds(finding.at_ns.saturating_sub(written_ns).max(0));
        format!("  (measured {age} ago from {})", finding.host)
    });
    let coloured = question.coloured;
    let heard = colour(&heard.unwrap_or_default(), "2", coloured);
    let mut lines = vec![format!("{}{}{heard}", colour(&named, code, coloured), say(finding))];
    if question.verbose {
        lines.extend(notes_of(state).map(|note| colour(&format!("        note: {note}"), "2", coloured)));
    }
    lines
}

fn colour(text: &str, code: &str, enabled: bool) -> String {
    if enabled { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
}
