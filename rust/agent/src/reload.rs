//! SIGHUP: read the files again. A wrong configuration changes nothing.

use std::collections::BTreeMap;
use std::path::Path;

use iosonde_probe::config::{Config, ConfigError};
use iosonde_probe::probe::session::Session;
use serde_json::Value;

use crate::configure;
use crate::log::Log;

/// Read the files anew and say what became of it. `running` is what the session follows; it becomes what it follows now.
pub fn reload(session: &mut Session, file: &Path, running: &mut Config, log: &Log) {
    let read = configure::read_to_run(file)
        .and_then(|new| Ok((whole(running, &new), targets_of(running, &new)?, new)));
    let (rest, targets, new) = match read {
        Err(error) => {
            let more = match configure::problems(file).len() {
                0 | 1 => String::new(),
                n => format!("; and {} more (iosonde-agent config check {})", n - 1, file.display()),
            };
            return log.error("reload", &format!("not reloaded, nothing changed: {error}{more}"));
        }
        Ok(read) => read,
    };
    if rest.is_empty() && targets.is_empty() {
        return log.info("reload", "reloaded: nothing changed");
    }
    for change in &rest {
        log.warn(&format!("reload {change}"), &format!("restart to apply: {change}"));
    }
    if let Err(error) = session.reload(&new) {
        return log.error("reload", &format!("not reloaded, the targets are as before: {error}"));
    }
    for change in &targets {
        log.info(&format!("reload {change}"), &format!("reloaded: {change}"));
    }
    (running.target, running.probe) = (new.target, new.probe);
}

/// What differs beside the targets, one line each.
fn whole(old: &Config, new: &Config) -> Vec<String> {
    let mut lines = Vec::new();
    macro_rules! compare {
        ($($key:ident)*) => {$(
            if old.$key != new.$key {
                lines.push(format!("{} {:?} -> {:?}", stringify!($key), old.$key, new.$key));
            }
        )*};
    }
    compare!(store listen native_histograms textfile log host seed window baseline flush keep);
    lines
}

/// What differs of the targets, one line each.
fn targets_of(old: &Config, new: &Config) -> Result<Vec<String>, ConfigError> {
    let mut lines = Vec::new();
    let (before, after) = (targets(old)?, targets(new)?);
    for (name, plan) in &before {
        match after.get(name) {
            None => lines.push(format!("target {name} is gone")),
            Some(now) => lines.extend(differences(name, plan, now)),
        }
    }
    lines.extend(
        after.keys().filter(|name| !before.contains_key(*name)).map(|n| format!("target {n} is new")),
    );
    Ok(lines)
}

fn targets(config: &Config) -> Result<BTreeMap<String, Value>, ConfigError> {
    let plans = config.plans()?.into_iter();
    Ok(plans.map(|plan| (plan.name.clone(), serde_json::to_value(plan).unwrap_or_default())).collect())
}

fn differences(name: &str, old: &Value, new: &Value) -> Vec<String> {
    let keys = old.as_object().into_iter().flat_map(|keys| keys.keys());
    let changed = keys.filter(|key| old[*key] != new[*key]);
    changed.map(|key| format!("target {name}: {key} {} -> {}", old[key], new[key])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_named() {
        let read = |text: &str| Config::from_toml(text, "t").unwrap();
        let old = read("[[target]]\npath='/a'\n[[target]]\npath='/b'");
        assert!(whole(&old, &old).is_empty() && targets_of(&old, &old).unwrap().is_empty());
        let new = read("window='90s'\n[[target]]\npath='/a'\npool=99\n[[target]]\npath='/c'");
        assert_eq!(whole(&old, &new), ["window 60000000000 -> 90000000000"]);
        assert_eq!(
            targets_of(&old, &new).unwrap(),
            ["target /a: pool 1000 -> 99", "target /b is gone", "target /c is new"]
        );
    }
}
