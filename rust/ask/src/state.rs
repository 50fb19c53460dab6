//! Live states: one small JSON file a target, which its agent replaces.
//!
//! A state file is foreign input. What is not of the expected type becomes null, and a file that is no state is reported as
//! a state of its own (`damaged`), so that one bad file never hides the others. `heard_ns` is the modification time of the file:
//! the clock of the storage, beside `written_ns` of the probe's.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use iosonde_core::stored;
use iosonde_core::text::without_codes;
use serde_json::{Map, Value, json};

use crate::text::cleaned;

/// The members of a state, each of the type that it should be, or null.
pub type Members = Map<String, Value>;

/// In place of the targets of a host whose folder cannot be listed.
const ANY: &str = "*";
/// A larger file is not a state.
pub const MAX_BYTES: u64 = 1 << 20;
const SCHEMA_VERSION: i64 = 1;
const TEXT: [&str; 9] =
    ["host", "target", "path", "run_id", "state", "boot_id", "backend", "direct", "access"];
const INTEGERS: [&str; 11] = [
    "schema_version",
    "written_ns",
    "shipped_ns",
    "namesake_ns",
    "period_ns",
    "window_ns",
    "baseline_trailing_ns",
    "pool",
    "object_bytes",
    "block_bytes",
    "file_bytes",
];
const BUDGET: [&str; 3] = ["bytes_per_s", "ops_per_s", "cpu_ns_per_s"];
const KEEP: [&str; 4] = ["max_age_ns", "max_bytes", "min_free_bytes", "windows_max_age_ns"];
const OP_TEXT: [&str; 6] = ["op", "state", "last_outcome", "cache", "stage", "alarm"];
const OP_COUNTS: [&str; 6] = ["n_due", "n_seen", "n_lost", "ticks_skipped", "baseline_windows", "epoch"];
const OP_NUMBERS: [&str; 27] = [
    "latest_ns",
    "median_ns",
    "median_lower_ns",
    "median_upper_ns",
    "q95_ns",
    "baseline_ns",
    "slowdown",
    "slowdown_lower",
    "slowdown_upper",
    "stretch_slowdown",
    "stretch_lower",
    "stretch_upper",
    "tail",
    "tail_lower",
    "tail_upper",
    "lost",
    "lost_lower",
    "lost_upper",
    "late",
    "hits",
    "hits_usual",
    "climate",
    "alarm_ns",
    "since_ns",
    "inflight_ns",
    "inflight_due_ns",
    "last_ok_ns",
];

/// Every state below `root/state`, sorted by host and target. No folder: no states. `reading` hears of each path before it
/// is opened, because the store may hang. Errors: `root/state` cannot be listed, with its path; a host's folder that
/// cannot is a damaged state of all its targets.
pub fn read_states(root: &Path, reading: &mut dyn FnMut(&Path)) -> Result<Vec<Members>, String> {
    let mut states = Vec::new();
    let top = root.join("state");
    for host in entries(&top, reading)? {
        let folder = top.join(&host);
        let names = entries(&folder, reading).unwrap_or_else(|error| {
            states.push(damaged(&folder.join(ANY), ANY.into(), cleaned(error.as_bytes())));
            Vec::new()
        });
        for name in names {
            let path = folder.join(&name);
            if path.extension() == Some(OsStr::new("json")) && !name.as_bytes().starts_with(b".") {
                reading(&path);
                states.extend(read_state(&path));
            }
        }
    }
    states.sort_by(|a, b| (text(a, "host"), text(a, "target")).cmp(&(text(b, "host"), text(b, "target"))));
    Ok(states)
}

fn entries(folder: &Path, reading: &mut dyn FnMut(&Path)) -> Result<Vec<OsString>, String> {
    reading(folder);
    let listed =
        fs::read_dir(folder).and_then(|list| list.map(|entry| entry.map(|one| one.file_name())).collect());
    match listed {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(Vec::new())
        }
        Err(error) => Err(format!("{}: {}", folder.display(), without_codes(&error))),
        Ok(names) => {
            let mut names: Vec<OsString> = names;
            names.sort();
            Ok(names)
        }
    }
}

/// One state file; none if it has vanished, a `damaged` state if it is not one.
pub fn read_state(path: &Path) -> Option<Members> {
    let mut bytes = Vec::new();
    let mut heard_ns = None;
    let whole = stored::open(path, MAX_BYTES).and_then(|mut file| {
        let about = file.get_ref().metadata()?;
        heard_ns = about.mtime().checked_mul(1_000_000_000).and_then(|ns| ns.checked_add(about.mtime_nsec()));
        file.read_to_end(&mut bytes)
    });
    let stem = cleaned(path.file_stem().unwrap_or_default().as_bytes());
    let error = match whole {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => without_codes(&error),
        Ok(_) => match serde_json::from_slice(&bytes) {
            Err(_) => "not JSON".to_string(),
            Ok(Value::Object(raw)) => match of_raw(&raw, &stem) {
                Ok(mut state) => {
                    state.insert("heard_ns".into(), heard_ns.into());
                    return Some(state);
                }
                Err(error) => error,
            },
            Ok(_) => "not a JSON object".to_string(),
        },
    };
    let place = format!("{}: {}", cleaned(path.as_os_str().as_bytes()), cleaned(error.as_bytes()));
    Some(damaged(path, stem, place))
}

fn of_raw(raw: &Members, slug: &str) -> Result<Members, String> {
    let version = integer(raw, "schema_version");
    if version != Some(SCHEMA_VERSION) {
        return Err(version
            .map_or(format!("schema_version is no integer, expected {SCHEMA_VERSION}"), |found| {
                stored::other_version(found, SCHEMA_VERSION)
            }));
    }
    let mut state: Members = members(raw, &TEXT, as_text);
    state.extend(members(raw, &INTEGERS, as_integer));
    let needed = ["host", "target", "state", "written_ns", "period_ns"];
    if let Some(missing) = needed.iter().find(|name| state[**name].is_null()) {
        return Err(format!("{missing} is missing or of the wrong type"));
    }
    state.insert("component".into(), component(raw.get("component")));
    for (name, limits) in [("budget", &BUDGET[..]), ("keep", &KEEP[..])] {
        let table =
            raw.get(name).and_then(Value::as_object).map(|table| members(table, limits, as_number).into());
        state.insert(name.into(), table.unwrap_or(Value::Null));
    }
    let notes = list(raw, "notes").iter().filter(|note| note.is_string()).map(as_text);
    state.insert("notes".into(), notes.collect());
    state.insert("ops".into(), Value::Array(ops(raw)));
    state.insert("slug".into(), slug.into());
    state.insert("running".into(), (raw.get("running") == Some(&Value::Bool(true))).into());
    state.insert("error".into(), Value::Null);
    Ok(state)
}

fn ops(raw: &Members) -> Vec<Value> {
    let health = list(raw, "health");
    let found = list(raw, "ops").iter().filter_map(Value::as_object).enumerate().map(|(place, raw)| {
        let mut op = members(raw, &OP_TEXT, as_text);
        op.extend(members(raw, &OP_COUNTS, |value| value.as_i64().unwrap_or(0).into()));
        op.extend(members(raw, &OP_NUMBERS, as_number));
        op.extend(members(raw, &["host_busy", "partly"], |value| (value == &Value::Bool(true)).into()));
        let health = health.get(place).unwrap_or(&Value::Null);
        op.insert("breaker".into(), as_text(&health["breaker"]));
        op.insert("wchan".into(), as_text(&health["evidence"]["wchan"]));
        op
    });
    found.filter(|op| !op["op"].is_null()).map(Value::Object).collect()
}

/// Which server (`name`) of which target (`of`) a state is about, and what keeps files on it.
fn component(raw: Option<&Value>) -> Value {
    let Some(raw) = raw.filter(|raw| raw["name"].is_string() && raw["of"].is_string()) else {
        return Value::Null;
    };
    let pinned = ["ost", "mdt"].into_iter().find(|kind| raw["pin"].get(kind).is_some());
    let index = pinned.map_or(Value::Null, |kind| as_integer(&raw["pin"][kind]));
    let kind = pinned.filter(|_| !index.is_null());
    json!({"name": as_text(&raw["name"]), "of": as_text(&raw["of"]), "kind": kind, "index": index})
}

fn damaged(path: &Path, stem: String, error: String) -> Members {
    let mut state: Members =
        TEXT.iter().chain(&INTEGERS).map(|name| (name.to_string(), Value::Null)).collect();
    let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
    state.extend([
        ("host".to_string(), cleaned(folder.as_bytes()).into()),
        ("target".to_string(), stem.clone().into()),
        ("slug".to_string(), stem.into()),
        ("component".to_string(), Value::Null),
        ("budget".to_string(), Value::Null),
        ("keep".to_string(), Value::Null),
        ("state".to_string(), "damaged".into()),
        ("heard_ns".to_string(), Value::Null),
        ("running".to_string(), false.into()),
        ("notes".to_string(), json!([])),
        ("ops".to_string(), json!([])),
        ("error".to_string(), error.into()),
    ]);
    state
}

fn members(raw: &Members, names: &[&str], convert: impl Fn(&Value) -> Value) -> Members {
    let member = |name: &&str| (name.to_string(), convert(raw.get(*name).unwrap_or(&Value::Null)));
    names.iter().map(member).collect()
}

fn list<'a>(raw: &'a Members, name: &str) -> &'a [Value] {
    raw.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn as_text(value: &Value) -> Value {
    value.as_str().map_or(Value::Null, |text| cleaned(text.as_bytes()).into())
}

fn as_integer(value: &Value) -> Value {
    value.as_i64().map_or(Value::Null, Value::from)
}

fn as_number(value: &Value) -> Value {
    if value.is_f64() { value.clone() } else { as_integer(value) }
}

/// A text member; empty where there is none.
pub fn text<'a>(members: &'a Members, name: &str) -> &'a str {
    members.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// An integer member.
pub fn integer(members: &Members, name: &str) -> Option<i64> {
    members.get(name).and_then(Value::as_i64)
}
