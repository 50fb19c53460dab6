//! Which store, and which of its targets.

use std::path::{Component, Path, PathBuf};

use crate::Refusal;
use crate::live_state::LiveState;
use crate::text::nearest;

/// `--store`, else `$IOSONDE_STORE`, `$XDG_STATE_HOME/iosonde`, `~/.local/state/iosonde`.
pub fn store_root(given: Option<&Path>, variable: &dyn Fn(&str) -> Option<String>) -> PathBuf {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state =
        || set("XDG_STATE_HOME").unwrap_or_else(|| set("HOME").unwrap_or_default().join(".local/state"));
    given.map(Path::to_path_buf).or_else(|| set("IOSONDE_STORE")).unwrap_or_else(|| state().join("iosonde"))
}

/// Which states are of the targets asked for by name or path, all servers of one by its name; all for none.
pub fn chosen(states: &[LiveState], wanted: &[String]) -> Result<Vec<usize>, Refusal> {
    if wanted.is_empty() {
        return Ok((0..states.len()).collect());
    }
    let mut picked: Vec<usize> = Vec::new();
    for name in wanted {
        let bare = name.trim_end_matches('/');
        let names = [name.clone(), if bare.is_empty() { "/".into() } else { bare.into() }, absolute(name)];
        let is_meant = |state: &LiveState| {
            let own = [Some(state.target.as_str()), Some(state.path.as_str()), state.whole_target()];
            own.into_iter().flatten().any(|own| !own.is_empty() && names.iter().any(|name| name == own))
        };
        let found: Vec<usize> = (0..states.len()).filter(|place| is_meant(&states[*place])).collect();
        if found.is_empty() {
            return Err(unwatched(name, states));
        }
        picked.extend(found.into_iter().filter(|place| !picked.contains(place)).collect::<Vec<_>>());
    }
    Ok(picked)
}

fn absolute(name: &str) -> String {
    let whole = std::env::current_dir().unwrap_or_default().join(name);
    let parts: PathBuf = whole.components().filter(|part| *part != Component::CurDir).collect();
    parts.to_string_lossy().into_owned()
}

/// No probe has this target; the nearest name is the hint: `/work` for `work` and `/wrok`.
fn unwatched(name: &str, states: &[LiveState]) -> Refusal {
    let mut known: Vec<&str> = states.iter().map(|state| state.target.as_str()).collect();
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
