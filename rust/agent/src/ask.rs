//! `iosonde-agent now` and `iosonde-agent check`: the words of `iosonde now` and `iosonde check` on a host without Python.
//!
//! A read of a hung file system cannot be interrupted, so a child process reads the store: the parent waits for what it
//! says, at most so long, and leaves it behind.

use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{self, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use clap::Parser;
use iosonde_ask::choice::store_root;
use iosonde_ask::live_state::LiveState;
use iosonde_ask::ranges::UNKNOWN;
use iosonde_ask::state::read_states;
use iosonde_ask::{Refusal, check, now};
use iosonde_core::clock::{Clock, RealClock};
use serde::{Deserialize, Serialize};

use crate::options::{Check, Command, Now, Options};

/// The first argument of the child. Not a subcommand, because nobody starts one by hand.
pub const CHILD: &str = "answer";
const COLOURED: &str = "coloured";

/// What the child says, a line of JSON each.
#[derive(Serialize, Deserialize)]
enum Line {
    /// What it opens next: it may never return from that.
    Reading(String),
    /// The last word: an exit code, and what goes to stdout or stderr.
    Answer { code: u8, text: String, wrong: bool },
}

/// How a child ended that has no answer.
enum Lost {
    Late { reading: String },
    Died,
}

/// Print a sentence a target. Exit codes: 0 done, 1 failed, 2 wrong request, 124 late, 141 nobody reads.
pub fn now(asked: &Now) -> ExitCode {
    let colour = std::io::stdout().is_terminal() && variable("NO_COLOR").is_none_or(|value| value.is_empty());
    let coloured = colour && variable("TERM").as_deref() != Some("dumb");
    let (code, text) = match ask(asked.timeout, coloured) {
        Ok((0, text, _)) => return put(0, &text),
        Ok((code, text, _)) => (code, text),
        Err(Lost::Died) => (1, "the process that read was killed; expected enough memory for it".to_string()),
        Err(Lost::Late { reading }) => {
            let store = root(asked.store.as_deref());
            let late = format!("{} did not answer within {}", store.display(), seconds(asked.timeout));
            let place =
                if reading.is_empty() { String::new() } else { format!("; {reading} was being read") };
            (124, format!("{late}{place}; expected a store on a disk that answers; try a longer --timeout"))
        }
    };
    // Nobody is left to tell when stderr is gone.
    let _ = writeln!(std::io::stderr(), "iosonde-agent: {text}");
    ExitCode::from(code)
}

/// Print one plugin line: 0, 1, 2 or 3, whatever happens.
pub fn check() -> ExitCode {
    let asked = match Options::try_parse() {
        Ok(Options { command: Some(Command::Check(asked)), .. }) => asked,
        Ok(_) => return put(UNKNOWN, "IOSONDE UNKNOWN - check: not a request of it\n"),
        Err(shown) if !shown.use_stderr() => return put(0, &shown.to_string()),
        Err(wrong) => {
            let text = wrong.to_string();
            let first =
                text.lines().next().unwrap_or_default().trim_start_matches("error: ").replace('|', "/");
            return put(
                UNKNOWN,
                &format!("IOSONDE UNKNOWN - check: {first}; try 'iosonde-agent check --help'\n"),
            );
        }
    };
    match ask(asked.timeout, false) {
        Ok((code, text, false)) => put(code, &text),
        Ok((_, text, true)) => put(UNKNOWN, &format!("IOSONDE UNKNOWN - {text}\n")),
        Err(Lost::Died) => put(UNKNOWN, "IOSONDE UNKNOWN - the child that asked was killed\n"),
        Err(Lost::Late { .. }) => {
            let store = root(asked.store.as_deref());
            let late = format!("{} did not answer within {}", store.display(), seconds(asked.timeout));
            put(UNKNOWN, &format!("IOSONDE UNKNOWN - {late}\n"))
        }
    }
}

/// The child's life: `answer coloured|plain INSTANT` and the request, answered line by line to the parent. The instant (ns,
/// UTC) is the one that the answer is about.
pub fn child() -> ExitCode {
    let mut arguments: Vec<_> = std::env::args_os().collect();
    let coloured = arguments.get(2).is_some_and(|word| word == COLOURED);
    let now_ns = arguments.get(3).and_then(|word| word.to_str()?.parse().ok());
    arguments.drain(1..4.min(arguments.len()));
    let line = match (Options::try_parse_from(arguments).map(|options| options.command), now_ns) {
        (Ok(Some(Command::Now(asked))), Some(now_ns)) => {
            said(answer_now(asked, now_ns, coloured).map(|text| (0, text)))
        }
        (Ok(Some(Command::Check(asked))), Some(now_ns)) => said(answer_check(asked, now_ns)),
        _ => said(Err(Refusal { code: 2, text: "expected to be started by now or check".into() })),
    };
    send(&line);
    ExitCode::SUCCESS
}

fn answer_now(asked: Now, now_ns: i64, coloured: bool) -> Result<String, Refusal> {
    let (store, states) = states(asked.store.as_deref())?;
    let json = asked.json || asked.format == "json";
    let question = now::Question { targets: asked.target, json, verbose: asked.verbose, coloured };
    now::answer(&question, &states, now_ns, &store)
}

fn answer_check(asked: Check, now_ns: i64) -> Result<(u8, String), Refusal> {
    let (store, states) = states(asked.store.as_deref())?;
    let Check { target: targets, warning, critical, verbose, .. } = asked;
    let question = check::Question { targets, warning, critical, verbose: verbose > 0 };
    let states: Vec<LiveState> = states.iter().map(|state| LiveState::of(&state)).collect();
    check::answer(&question, &states, now_ns, &store)
}

fn said(answer: Result<(u8, String), Refusal>) -> Line {
    match answer {
        Ok((code, text)) => Line::Answer { code, text, wrong: false },
        Err(Refusal { code, text }) => Line::Answer { code, text, wrong: true },
    }
}

fn states(store: Option<&Path>) -> Result<(String, Vec<iosonde_ask::state::Members>), Refusal> {
    let store = root(store);
    if store.starts_with("s3:") {
        let shown = store.display();
        let text = format!("{shown} is a bucket; expected a store folder; try 'iosonde now --store {shown}'");
        return Err(Refusal { code: 2, text });
    }
    let mut reading = |path: &Path| send(&Line::Reading(path.display().to_string()));
    let states = read_states(&store, &mut reading).map_err(|text| Refusal { code: 1, text })?;
    Ok((store.display().to_string(), states))
}

/// A parent that went away does not matter: nobody waits for the answer then.
fn send(line: &Line) {
    let mut out = std::io::stdout();
    let _ = serde_json::to_writer(&mut out, line);
    let _ = out.write_all(b"\n").and_then(|()| out.flush());
}

/// The child's answer: code, text, whether it is an error.
fn ask(timeout_ns: u64, coloured: bool) -> Result<(u8, String, bool), Lost> {
    let colour = if coloured { COLOURED } else { "plain" };
    let mut command =
        process::Command::new(std::env::current_exe().unwrap_or_else(|_| PathBuf::from("/proc/self/exe")));
    command.args([CHILD, colour, &RealClock.wall_ns().to_string()]).args(std::env::args_os().skip(1));
    command.stdin(Stdio::null()).stderr(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|_| Lost::Died)?;
    let (lines, heard) = channel();
    if let Some(pipe) = child.stdout.take() {
        std::thread::spawn(move || {
            let parsed = BufReader::new(pipe).lines().map_while(Result::ok);
            parsed
                .filter_map(|line| serde_json::from_str(&line).ok())
                .try_for_each(|line: Line| lines.send(line))
        });
    }
    let answer = listen(&heard, RealClock.monotonic_ns().saturating_add(timeout_ns));
    // One that hangs in the kernel goes when the file system lets it.
    let _ = child.kill();
    answer
}

fn listen(heard: &Receiver<Line>, until_ns: u64) -> Result<(u8, String, bool), Lost> {
    let mut reading = String::new();
    loop {
        let left_ns = until_ns.saturating_sub(RealClock.monotonic_ns());
        match heard.recv_timeout(Duration::from_nanos(left_ns)) {
            Ok(Line::Reading(path)) => reading = path,
            Ok(Line::Answer { code, text, wrong }) => return Ok((code, text, wrong)),
            Err(RecvTimeoutError::Timeout) => return Err(Lost::Late { reading }),
            Err(RecvTimeoutError::Disconnected) => return Err(Lost::Died),
        }
    }
}

fn root(given: Option<&Path>) -> PathBuf {
    store_root(given, &variable)
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn seconds(ns: u64) -> String {
    format!("{} s", iosonde_ask::format::six_digits(ns as f64 / 1e9))
}

/// To stdout; 141 when its reader went away, as after SIGPIPE.
fn put(code: u8, text: &str) -> ExitCode {
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::from(code),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::from(141),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "iosonde-agent: cannot write the output: {error}");
            ExitCode::from(1)
        }
    }
}
