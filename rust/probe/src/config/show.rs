//! A configuration as TOML with every default filled in.

use std::fmt::Write;
use std::path::Path;

use super::document::{Config, DEFAULT_LISTEN};
use super::first_start::{AT_ONCE_BYTES, DIRECT_BYTES};
use super::options::{BackendKind, BudgetOptions, Direct, FaultOptions, LogFormat, TargetOptions};
use super::target_plan::TargetPlan;
use iosonde_core::sample::Op;
use iosonde_core::text::escaped;

const DAY_NS: u64 = 86_400_000_000_000;

/// Writes the whole page.
pub(super) fn page(config: &Config, plans: &[TargetPlan]) -> String {
    let mut page = Page::default();
    page.path("store", config.store.as_deref());
    page.text("listen", Some(config.listen.as_deref().unwrap_or(DEFAULT_LISTEN)));
    page.value("native_histograms", Some(config.native_histograms));
    page.path("textfile", config.textfile.as_deref());
    page.text("log", Some(if config.log == LogFormat::Json { "json" } else { "logfmt" }));
    page.text("host", config.host.as_deref());
    page.value("seed", config.seed);
    page.time("window", Some(config.window));
    page.time("baseline", Some(config.baseline));
    page.time("flush", Some(config.flush));
    page.line("\n[keep]");
    page.number("days", config.keep.max_age_ns.map(|age| age as f64 / DAY_NS as f64));
    page.size("size", config.keep.max_bytes);
    page.size("free", Some(config.keep.min_free_bytes));
    page.number("windows_days", config.keep.windows_max_age_ns.map(|age| age as f64 / DAY_NS as f64));
    let mut rest = plans;
    for target in &config.target {
        let parts = target.component.as_ref().map_or(1, |parts| parts.len().max(1));
        let (own, others) = rest.split_at(parts.min(rest.len()));
        rest = others;
        if let Some(first) = own.first() {
            page.target(config, target, first);
            page.consequences(own);
        }
    }
    page.0
}

/// Writing into a String cannot fail, so the results of `write!` are of no interest here.
#[derive(Default)]
struct Page(String);

impl Page {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.0, "{line}");
    }
    fn value(&mut self, key: &str, value: Option<impl std::fmt::Display>) {
        if let Some(value) = value {
            self.line(&format!("{key} = {value}"));
        }
    }
    /// Debug writes 1e300 as 1e300, which Display does not.
    fn number(&mut self, key: &str, value: Option<f64>) {
        self.value(key, value.map(|value| format!("{value:?}")));
    }
    fn text(&mut self, key: &str, text: Option<&str>) {
        self.value(key, text.map(quoted));
    }
    fn path(&mut self, key: &str, path: Option<&Path>) {
        self.text(key, path.map(|path| path.display().to_string()).as_deref());
    }
    fn time(&mut self, key: &str, ns: Option<u64>) {
        self.text(key, ns.map(duration).as_deref());
    }
    fn size(&mut self, key: &str, bytes: Option<u64>) {
        self.value(key, bytes.map(size));
    }

    fn target(&mut self, config: &Config, target: &TargetOptions, plan: &TargetPlan) {
        let probe = &config.probe;
        self.line("\n[[target]]");
        let path = target.path.as_deref().unwrap_or(&plan.path);
        match plan.backend {
            BackendKind::Nfs => self.path("path", Some(path)),
            _ => self.path("path", std::path::absolute(path).ok().as_deref()),
        }
        self.text("name", Some(plan.component.as_ref().map_or(&plan.name, |part| &part.of)));
        self.text("backend", Some(plan.backend.name()));
        self.time("period", Some(plan.asked_period_ns));
        self.size("block_size", Some(plan.block_bytes));
        self.size("file_size", plan.file_bytes);
        self.time("spread", target.spread.or(probe.spread));
        self.size("object_size", Some(plan.object_bytes));
        self.value("pool", Some(plan.pool));
        let direct = match plan.direct {
            Direct::Auto => "auto",
            Direct::Always => "always",
            Direct::Never => "never",
        };
        self.text("direct", Some(direct));
        self.time("deadline", Some(plan.deadline_ns));
        self.time("retry", Some(plan.retry_ns));
        self.time("retry_max", Some(plan.retry_max_ns));
        self.value("replacements", Some(plan.replacements));
        self.budget(&[&target.budget, &probe.budget]);
        if target.latency.is_some() {
            self.latency(plan);
        }
        target.fault.iter().flatten().for_each(|fault| self.fault(fault));
        for part in target.component.iter().flatten() {
            self.line("[[target.component]]");
            self.text("name", part.name.as_deref());
            self.value("ost", part.ost);
            self.value("mdt", part.mdt);
            self.path("path", part.path.as_deref());
        }
    }

    fn budget(&mut self, written: &[&BudgetOptions; 2]) {
        let [own, all] = written;
        let members = [
            own.bytes.or(all.bytes).map(|bytes| format!("bytes = {}", size(bytes))),
            own.ops.or(all.ops).map(|ops| format!("ops = {ops:?}")),
            own.cpu.or(all.cpu).map(|cpu| format!("cpu = {}", quoted(&duration(cpu)))),
        ];
        let members: Vec<String> = members.into_iter().flatten().collect();
        if !members.is_empty() {
            self.line(&format!("budget = {{ {} }}", members.join(", ")));
        }
    }

    fn latency(&mut self, plan: &TargetPlan) {
        self.line("[target.latency]");
        for op in Op::ALL {
            self.time(op.name(), Some(plan.latency.median_ns[op as usize]));
        }
        self.number("sigma", Some(plan.latency.sigma));
    }

    fn fault(&mut self, fault: &FaultOptions) {
        self.line("[[target.fault]]");
        self.text("op", fault.op.as_deref());
        self.text("component", fault.component.as_deref());
        self.time("after", Some(fault.after));
        self.time("for", fault.lasts);
        self.time("delay", fault.delay);
        self.number("multiply", fault.multiply);
        self.text("error", fault.error.as_deref());
        self.value("hang", fault.hang);
    }

    /// Adds the costs that follow from the keys, as comments.
    fn consequences(&mut self, plans: &[TargetPlan]) {
        for line in plans.iter().flat_map(consequences) {
            self.line(&format!("# {line}"));
        }
    }
}

/// Costs of a plan: at any time, and at its first start.
pub(super) fn consequences(plan: &TargetPlan) -> [String; 3] {
    let seconds = plan.period_ns as f64 / 1e9;
    let bytes = 2.0 * (plan.block_bytes + plan.object_bytes) as f64 / seconds;
    let stretched = if plan.period_ns > plan.asked_period_ns {
        format!(" ({} was asked for; the budget allows no more)", duration(plan.asked_period_ns))
    } else {
        String::new()
    };
    let (name, path) = (escaped(&plan.name), escaped(&plan.path.display().to_string()));
    [
        format!("{name} at {path}: every {}{stretched}", duration(plan.period_ns)),
        format!("  {:.3} ops/s, {:.3} MiB/s", 6.0 / seconds, bytes / f64::from(1 << 20)),
        first_start(plan),
    ]
}

fn first_start(plan: &TargetPlan) -> String {
    if plan.backend == BackendKind::Null {
        return "  first start: writes nothing".into();
    }
    let rate = plan.fill_bytes_per_s();
    let whole = plan.file_bytes.unwrap_or(DIRECT_BYTES);
    let most = match plan.file_bytes {
        Some(_) => String::new(),
        None => " with O_DIRECT, at most a tenth of the room".into(),
    };
    let begins = match plan.spread_ns {
        spread_ns if spread_ns > 0 && whole > AT_ONCE_BYTES => {
            format!(", begun within {} by a hash of the host", duration(spread_ns))
        }
        _ => String::new(),
    };
    format!(
        "  first start: a file of {}{most} at {:.3} MiB/s ({:.0} s){begins}",
        size(whole).trim_matches('"'),
        rate as f64 / f64::from(1 << 20),
        whole as f64 / rate as f64
    )
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// The largest units that say it exactly.
fn duration(ns: u64) -> String {
    let units = [(DAY_NS, "d"), (3_600_000_000_000, "h"), (60_000_000_000, "m"), (1_000_000_000, "s")];
    let units = units.into_iter().chain([(1_000_000, "ms"), (1_000, "us")]);
    let (unit, name) =
        units.into_iter().find(|&(unit, _)| ns > 0 && ns.is_multiple_of(unit)).unwrap_or((1, "ns"));
    format!("{}{name}", ns / unit)
}

/// In the largest unit that says it exactly; a plain number in bytes.
fn size(bytes: u64) -> String {
    let units = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let found = units.into_iter().find(|&(unit, _)| bytes > 0 && bytes.is_multiple_of(unit));
    found.map_or_else(|| bytes.to_string(), |(unit, name)| format!("\"{}{name}\"", bytes / unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_unit_that_is_exact() {
        for (ns, text) in [(0, "0ns"), (90_000_000_000, "90s"), (7 * DAY_NS, "7d"), (1_500, "1500ns")] {
            assert_eq!(duration(ns), text);
        }
        for (bytes, text) in [(0, "0"), (3901, "3901"), (1 << 20, "\"1MiB\""), (3 << 29, "\"1536MiB\"")] {
            assert_eq!(size(bytes), text);
        }
    }
}
