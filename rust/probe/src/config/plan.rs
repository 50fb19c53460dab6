//! Makes plans of options: fills in defaults, budgets and faults, and finds every error.

use std::path::{Path, PathBuf};

use iosonde_nfs::url::{ExportUrl, SCHEME};
use rustix::io::Errno;

use super::budget::Budget;
use super::checks::{Taken, no_folder, whole, wrong_numbers};
use super::component::component;
use super::document::Config;
use super::error::ConfigError;
use super::options::{BackendKind, FaultOptions, LatencyOptions, TargetOptions};
use super::target_plan::TargetPlan;
use iosonde_core::backend::faulty::{Fault, FaultKind};
use iosonde_core::backend::null::Latency;
use iosonde_core::sample::{Op, errno_from_name};

/// The plans of all targets, or everything that is wrong.
pub(super) fn every_plan(config: &Config) -> Result<Vec<TargetPlan>, Vec<ConfigError>> {
    let mut problems = whole(config);
    let mut plans: Vec<TargetPlan> = Vec::new();
    let mut taken = Taken::default();
    for (i, target) in config.target.iter().enumerate() {
        match (Planner { config, target, i }).plans() {
            Ok(more) => {
                for plan in more {
                    if let Some((key, what)) = taken.clash(&plan) {
                        let keys = [format!("target[{i}].{key}"), format!("target[{i}]")];
                        problems.push(config.places.error(&keys, &what));
                    }
                    plans.push(plan);
                }
            }
            Err(more) => problems.extend(more),
        }
    }
    if problems.is_empty() { Ok(plans) } else { Err(problems) }
}

struct Planner<'a> {
    config: &'a Config,
    target: &'a TargetOptions,
    i: usize,
}

impl Planner<'_> {
    fn plans(&self) -> Result<Vec<TargetPlan>, Vec<ConfigError>> {
        let base = self.base().map_err(|error| vec![error])?;
        let (faults, mut problems) = self.faults();
        for (key, what) in wrong_numbers(&base, self.config.window) {
            problems.push(self.error(key, &format!("target `{}`: {what}", base.name)));
        }
        let components = self.target.component.as_deref().unwrap_or_default();
        let of = |name: Option<&str>| {
            let here = faults.iter().filter(|(part, _)| part.is_none_or(|part| Some(part) == name));
            here.map(|(_, fault)| fault.clone()).collect()
        };
        let mut plans = Vec::new();
        for (c, options) in components.iter().enumerate() {
            match component(options, &base.name, &base.path) {
                Ok((part, path)) => plans.push(TargetPlan {
                    name: format!("{}/{}", base.name, part.name),
                    path: path.unwrap_or_else(|| base.path.clone()),
                    faults: of(Some(&part.name)),
                    component: Some(part),
                    ..base.clone()
                }),
                Err(what) => problems.push(self.error(&format!("component[{c}]"), &what)),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(if components.is_empty() { vec![TargetPlan { faults: of(None), ..base }] } else { plans })
    }

    /// The faults, each with the component it is of, and what is wrong with them.
    fn faults(&self) -> (Vec<(Option<&str>, Fault)>, Vec<ConfigError>) {
        let (mut faults, mut problems) = (Vec::new(), Vec::new());
        let parts = self.target.component.as_deref().unwrap_or_default();
        for (f, written) in self.target.fault.iter().flatten().enumerate() {
            let part = written.component.as_deref();
            let known = part.is_none_or(|name| parts.iter().any(|one| one.name.as_deref() == Some(name)));
            let read = match part {
                Some(name) if !known => Err(format!("fault: the target has no component `{name}`")),
                _ => fault(written),
            };
            match read {
                Ok(fault) => faults.push((part, fault)),
                Err(what) => problems.push(self.error(&format!("fault[{f}]"), &what)),
            }
        }
        (faults, problems)
    }

    /// An error about a key of this target, or of [probe], or the target.
    fn error(&self, key: &str, what: &str) -> ConfigError {
        let i = self.i;
        let keys = [format!("target[{i}].{key}"), format!("probe.{key}"), format!("target[{i}]")];
        self.config.places.error(&keys, what)
    }

    fn base(&self) -> Result<TargetPlan, ConfigError> {
        let (target, probe) = (self.target, &self.config.probe);
        let path = target.path.clone().ok_or_else(|| {
            self.error("path", "a [[target]] has no path; expected path = \"/directory/to/watch\"")
        })?;
        let (path, backend) = self.place(path)?;
        let parts = target.component.as_ref().map_or(1, Vec::len);
        let asked_period_ns = target.period.or(probe.period).unwrap_or(1_000_000_000);
        let block_bytes = target.block_size.or(probe.block_size).unwrap_or(1 << 20);
        let object_bytes = target.object_size.or(probe.object_size).unwrap_or(3901);
        let budget = Budget::new(&target.budget, &probe.budget, parts);
        let fits = budget.problem().is_none();
        Ok(TargetPlan {
            name: target.name.clone().unwrap_or_else(|| display_name(&path, backend)),
            path,
            component: None,
            period_ns: if fits {
                budget.stretch(asked_period_ns, block_bytes, object_bytes)
            } else {
                asked_period_ns
            },
            asked_period_ns,
            budget,
            block_bytes,
            file_bytes: target.file_size.or(probe.file_size),
            spread_ns: target.spread.or(probe.spread).unwrap_or(0),
            object_bytes,
            pool: target.pool.or(probe.pool).unwrap_or(1000),
            direct: target.direct.or(probe.direct).unwrap_or_default(),
            backend,
            latency: target.latency.as_ref().map(latency).unwrap_or_default(),
            faults: Vec::new(),
            deadline_ns: target.deadline.or(probe.deadline).unwrap_or(5_000_000_000),
            retry_ns: target.retry.or(probe.retry).unwrap_or(5_000_000_000),
            retry_max_ns: target.retry_max.or(probe.retry_max).unwrap_or(300_000_000_000),
            replacements: target.replacements.or(probe.replacements).unwrap_or(3),
        })
    }

    /// The absolute path, or the address of an export, and what performs operations there.
    fn place(&self, path: PathBuf) -> Result<(PathBuf, BackendKind), ConfigError> {
        let text = path.to_string_lossy();
        let export = text.starts_with(SCHEME);
        let backend =
            self.target.backend.unwrap_or(if export { BackendKind::Nfs } else { BackendKind::Posix });
        match (backend, export) {
            (BackendKind::Nfs, _) => {
                ExportUrl::parse(&text).map_err(|what| self.error("path", &format!("`{text}`: {what}")))?;
                if self.target.component.is_some() {
                    let what = "an export has no components; expected a [[target]] for each export";
                    return Err(self.error("component", what));
                }
                Ok((path, backend))
            }
            (BackendKind::Posix, true) => {
                let what = format!("`{text}` is an export; expected backend = \"nfs\", or no backend");
                Err(self.error("backend", &what))
            }
            _ => {
                if let Some(what) = no_folder(&path).filter(|_| backend == BackendKind::Posix) {
                    return Err(self.error("path", &format!("a target's path {what}")));
                }
                let path = std::path::absolute(&path);
                Ok((path.map_err(|_| self.error("path", "a target's path is empty"))?, backend))
            }
        }
    }
}

/// The path; an export without its options.
fn display_name(path: &Path, backend: BackendKind) -> String {
    let text = path.display().to_string();
    match backend {
        BackendKind::Nfs => text.split('?').next().unwrap_or_default().to_owned(),
        _ => text,
    }
}

fn latency(options: &LatencyOptions) -> Latency {
    Latency {
        median_ns: [
            options.data_read,
            options.data_write,
            options.md_create,
            options.md_stat,
            options.md_read,
            options.md_delete,
        ],
        sigma: options.sigma,
    }
}

fn fault(options: &FaultOptions) -> Result<Fault, String> {
    let op = options.op.as_deref().map(|name| {
        Op::from_name(name)
            .ok_or_else(|| format!("fault: `{name}` is no op; expected one of {}", Op::NAMES.join(", ")))
    });
    let errno = |name: &String| -> Result<Errno, String> {
        errno_from_name(name).ok_or_else(|| format!("fault: `{name}` is no error; expected for example EIO"))
    };
    if options.multiply.is_some_and(|factor| !(factor.is_finite() && factor >= 0.0)) {
        return Err("fault: multiply must be a number from 0 on".into());
    }
    let kinds = [
        options.delay.map(FaultKind::Delay),
        options.multiply.map(FaultKind::Multiply),
        options.error.as_ref().map(errno).transpose()?.map(FaultKind::Error),
        options.hang.unwrap_or(false).then_some(FaultKind::Hang),
    ];
    let mut kinds = kinds.into_iter().flatten();
    match (kinds.next(), kinds.next()) {
        (Some(kind), None) => {
            Ok(Fault { op: op.transpose()?, after_ns: options.after, for_ns: options.lasts, kind })
        }
        _ => Err("a fault needs exactly one of delay, multiply, error, hang".into()),
    }
}
