//! Checks of the numbers of a plan, and of several plans together.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::net::ToSocketAddrs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use super::component::Pin;
use super::document::Config;
use super::error::ConfigError;
use super::options::BackendKind;
use super::target_plan::TargetPlan;
use iosonde_core::slowdown::quantile::minimum_count;

/// Between the two: less would only wear the disk of the store out, more would be lost in a crash.
const FLUSH_NS: RangeInclusive<u64> = 10_000_000..=60_000_000_000;

/// Keys whose numbers make no sense, and why.
pub(super) fn wrong_numbers(plan: &TargetPlan, window_ns: u64) -> Vec<(&'static str, String)> {
    let mut wrong: Vec<(&'static str, String)> = Vec::new();
    let mut check = |fine: bool, key: &'static str, what: &str| {
        if !fine {
            wrong.push((key, what.to_owned()));
        }
    };
    let block = plan.block_bytes;
    let block_fits = block > 0 && block.is_multiple_of(4096) && block <= 64 << 20;
    check(
        plan.asked_period_ns >= 1_000_000,
        "period",
        "the period is below 1 ms; a probe must stay negligible",
    );
    check(block_fits, "block_size", "block_size must be a multiple of 4096 bytes, at most 64 MiB");
    check(
        plan.file_bytes.is_none_or(|bytes| bytes / 2 >= block),
        "file_size",
        "file_size must hold at least two blocks",
    );
    check((1..=64 << 20).contains(&plan.object_bytes), "object_size", "object_size must be 1 byte to 64 MiB");
    check(plan.deadline_ns >= 10_000_000, "deadline", "deadline must be at least 10 ms");
    check(plan.retry_ns >= 10_000_000, "retry", "retry must be at least 10 ms");
    check(plan.retry_max_ns >= plan.retry_ns, "retry_max", "retry_max must not be shorter than retry");
    let few = plan.replacements <= 16;
    check(few, "replacements", "replacements must be at most 16: each may be a process that never ends");
    check((16..=10_000_000).contains(&plan.pool), "pool", "pool must be 16 to 10 000 000 files");
    let sigma = plan.latency.sigma;
    check(sigma.is_finite() && sigma >= 0.0, "latency", "sigma must be a number from 0 on");
    let budget = plan.budget.problem();
    check(budget.is_none(), "budget", budget.unwrap_or_default());
    let (ticks, least) = (window_ns / plan.period_ns.max(1), minimum_count(0.5));
    if ticks < least as u64 {
        let seconds = |ns: u64| ns as f64 / 1e9;
        let (key, period, remedy) = if plan.period_ns > plan.asked_period_ns {
            ("budget", format!("the {} s that its budget allows", seconds(plan.period_ns)), "raise `budget`")
        } else {
            ("period", "its period".into(), "shorten `period`")
        };
        let window = seconds(window_ns);
        let what = format!(
            "a window of {window} s holds {ticks} ticks of {period}; expected at least {least} for a median: \
             lengthen `window` or {remedy}"
        );
        wrong.push((key, what));
    }
    wrong
}

/// Names and places of the targets so far.
#[derive(Default)]
pub(super) struct Taken {
    names: HashSet<String>,
    /// Name of the plan that probes each place.
    places: HashMap<(BackendKind, PathBuf, Option<String>), String>,
}

impl Taken {
    /// Why a target cannot be probed beside the earlier ones, and which key says so.
    pub(super) fn clash(&mut self, plan: &TargetPlan) -> Option<(&'static str, String)> {
        let name = &plan.name;
        let part = plan.component.as_ref().filter(|part| part.pin != Pin::Directory);
        // Options of an export do not make it another one.
        let path: PathBuf = match plan.backend {
            BackendKind::Nfs => plan.path.to_string_lossy().split('?').next().unwrap_or_default().into(),
            _ => plan.path.clone(),
        };
        if !self.names.insert(name.clone()) {
            return Some(("name", format!("target `{name}` is listed twice; give each a name of its own")));
        }
        if plan.backend == BackendKind::Null {
            return None;
        }
        let shown = path.display().to_string();
        let key = (plan.backend, path, part.map(|part| part.name.clone()));
        let earlier = match self.places.entry(key) {
            Entry::Occupied(taken) => taken.into_mut(),
            Entry::Vacant(free) => {
                free.insert(name.clone());
                return None;
            }
        };
        let what = format!(
            "targets `{earlier}` and `{name}` would share one probe directory in {shown}; give each a path of its own"
        );
        Some(("path", what))
    }
}

/// Why a path is no folder of this host's: it would be made, or looked for, in the folder that the agent was started in.
pub(super) fn no_folder(path: &Path) -> Option<String> {
    let text = path.to_string_lossy();
    let spelt = "; expected a folder, such as /var/lib/iosonde";
    match text.chars().next() {
        None => Some(format!("is empty{spelt}")),
        Some('~') => Some(format!(
            "`{text}` begins with ~, which only a shell reads; write the folder out, or ${{HOME}}"
        )),
        Some('$') => Some(format!("`{text}` begins with $; a variable is written ${{NAME}}")),
        _ if text.contains("://") => Some(format!("`{text}` is an address{spelt}")),
        _ => None,
    }
}

/// Why nothing can listen on an address; none for one that may, or for `off`.
pub fn cannot_listen(address: &str) -> Option<String> {
    if matches!(address, "off" | "none") {
        return None;
    }
    let example = "expected HOST:PORT such as 127.0.0.1:9748 or [::]:9748, or off";
    match address.to_socket_addrs().map(|found| found.len()) {
        Ok(1..) => None,
        Ok(0) => Some(format!("listen `{address}` leads nowhere; {example}")),
        Err(error) => Some(format!("cannot listen on `{address}`: {error}; {example}")),
    }
}

/// Errors in the keys that no target has.
pub(super) fn whole(config: &Config) -> Vec<ConfigError> {
    let mut problems = Vec::new();
    let mut wrong = |key: &str, what: &str| problems.push(config.places.error(&[key.to_owned()], what));
    if config.target.is_empty() {
        wrong("target", "no target; expected at least one [[target]] with a path");
    }
    if let Some(what) = config.listen.as_deref().and_then(cannot_listen) {
        wrong("listen", &what);
    }
    for (key, path) in [("store", &config.store), ("textfile", &config.textfile)] {
        if let Some(what) = path.as_deref().and_then(no_folder) {
            wrong(key, &format!("{key} {what}"));
        }
    }
    if config.textfile.as_ref().is_some_and(|path| path.extension().is_none_or(|end| end != "prom")) {
        wrong("textfile", "textfile must end in .prom: collectors read no other files");
    }
    if !FLUSH_NS.contains(&config.flush) {
        wrong(
            "flush",
            "flush must be 10 ms to 60 s: it is what a crash may lose, and each is a write to the store",
        );
    }
    problems
}
