//! Whether the numbers of a plan make sense, and several plans together.

use std::ops::RangeInclusive;

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

/// Why two targets cannot both be probed, and which key says so.
pub(super) fn clash(earlier: &TargetPlan, plan: &TargetPlan) -> Option<(&'static str, String)> {
    let name = &plan.name;
    if earlier.name == *name {
        return Some(("name", format!("target `{name}` is listed twice; give each a name of its own")));
    }
    let same = plan.backend != BackendKind::Null && earlier.backend == plan.backend;
    let pinned = |plan: &TargetPlan| plan.component.clone().filter(|part| part.pin != Pin::Directory);
    let part = |plan| pinned(plan).map(|part| part.name);
    // Options of an export do not make it another one.
    let place = |plan: &TargetPlan| match plan.backend {
        BackendKind::Nfs => plan.path.to_string_lossy().split('?').next().unwrap_or_default().into(),
        _ => plan.path.clone(),
    };
    (same && place(earlier) == place(plan) && part(earlier) == part(plan)).then(|| {
        let path = place(plan);
        let path = path.display();
        let what = format!(
            "targets `{}` and `{name}` would share one probe directory in {path}; give each a path of its own",
            earlier.name
        );
        ("path", what)
    })
}

/// What is wrong with the keys that no target has.
pub(super) fn whole(config: &Config) -> Vec<ConfigError> {
    let mut problems = Vec::new();
    let mut wrong = |key: &str, what: &str| problems.push(config.places.error(&[key.to_owned()], what));
    if config.target.is_empty() {
        wrong("target", "no target; expected at least one [[target]] with a path");
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
