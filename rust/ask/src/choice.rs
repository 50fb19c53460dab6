//! Which store, and which of its targets.

use std::path::{Component, Path, PathBuf};

use crate::Refusal;
use crate::state::{Members, text, whole_target};
use crate::text::nearest;

/// `--store`, else `$IOSONDE_STORE`, `$XDG_STATE_HOME/iosonde`, `~/.local/state/iosonde`.
pub fn store_root(given: Option<&Path>, variable: &dyn Fn(&str) -> Option<String>) -> PathBuf {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state =
        || set("XDG_STATE_HOME").unwrap_or_else(|| set("HOME").unwrap_or_default().join(".local/state"));
    given.map(Path::to_path_buf).or_else(|| set("IOSONDE_STORE")).unwrap_or_else(|| state().join("iosonde"))
}

/// The states of the targets asked for by name or path, all servers of one by its name; all for none.
pub fn chosen(states: &[Members], wanted: &[String]) -> Result<Vec<Members>, Refusal> {
    if wanted.is_empty() {
        return Ok(states.to_vec());
    }
    let mut picked: Vec<Members> = Vec::new();
    for name in wanted {
        let bare = name.trim_end_matches('/');
        let names = [name.clone(), if bare.is_empty() { "/".into() } else { bare.into() }, absolute(name)];
        let is_meant = |state: &&Members| {
            let own = [Some(text(state, "target")), Some(text(state, "path")), whole_target(state)];
            own.into_iter().flatten().any(|own| !own.is_empty() && names.iter().any(|name| name == own))
        };
        let found: Vec<&Members> = states.iter().filter(is_meant).collect();
        if found.is_empty() {
            return Err(unwatched(name, states));
        }
        for state in found {
            if !picked.contains(state) {
                picked.push(state.clone());
            }
        }
    }
    Ok(picked)
}

fn absolute(name: &str) -> String {
    let whole = std::env::current_dir().unwrap_or_default().join(name);
    let parts: PathBuf = whole.components().filter(|part| *part != Component::CurDir).collect();
    parts.to_string_lossy().into_owned()
}

/// No probe has this target; the nearest name is the hint: `/work` for `work` and `/wrok`.
fn unwatched(name: &str, states: &[Members]) -> Refusal {
    let mut known: Vec<&str> = states.iter().map(|state| text(state, "target")).collect();
    known.sort_unstable();
    known.dedup();
    let bare: Vec<&str> = known.iter().map(|target| target.trim_matches('/')).collect();
    let near = nearest(name.trim_matches('/'), &bare);
    let near = near.and_then(|near| known.iter().rev().find(|target| target.trim_matches('/') == near));
    let hint = near.map_or("'iosonde-agent now'".to_string(), |target| format!("'{target}'"));
    Refusal {
        code: 2,
        text: format!("no probe watches {name}; expected one of {}; try {hint}", known.join(", ")),
    }
}
