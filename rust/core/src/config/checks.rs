//! Whether the numbers of a plan make sense together.

use super::plan::TargetPlan;
use crate::slowdown::quantile::minimum_count;

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
