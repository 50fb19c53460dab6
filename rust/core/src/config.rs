//! What to watch and how: the agent's TOML file, or the same keys as JSON.

use std::path::PathBuf;

use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::backend::faulty::{Fault, FaultKind};
use crate::backend::null::Latency;
use crate::sample::{Op, errno_from_name};
use crate::slowdown::baseline::DEFAULT_TRAILING_NS;
use crate::slowdown::quantile::minimum_count;
use crate::units;

/// A wrong configuration: what, where, and what was probably meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub String);

macro_rules! options {
    ($(#[$doc:meta])* $name:ident { $($(#[$fdoc:meta])* $field:ident: $type:ty $(= $with:literal)?,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default, PartialEq, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$fdoc])* $(#[serde(default, deserialize_with = $with)])? pub $field: Option<$type>,)*
            /// How often each op is due; default 1 s.
            #[serde(default, deserialize_with = "some_duration")]
            pub period: Option<u64>,
            /// Bytes of a block that is read or written; default 1 MiB.
            #[serde(default, deserialize_with = "units::some_size_bytes")]
            pub block_size: Option<u64>,
            /// Bytes of the big file; default: larger than memory where space allows.
            #[serde(default, deserialize_with = "units::some_size_bytes")]
            pub file_size: Option<u64>,
            /// Bytes of a file of the pool; default 3901.
            #[serde(default, deserialize_with = "units::some_size_bytes")]
            pub object_size: Option<u64>,
            /// Files in the pool; default 1000.
            pub pool: Option<usize>,
            /// `auto`, `always` or `never` use O_DIRECT; default auto.
            pub direct: Option<Direct>,
            /// An operation open for longer is stuck; default 5 s.
            #[serde(default, deserialize_with = "some_duration")]
            pub deadline: Option<u64>,
            /// Wait before the first trial of a stuck op, doubled each time; default 5 s.
            #[serde(default, deserialize_with = "some_duration")]
            pub retry: Option<u64>,
            /// Longest wait between trials; default 5 min.
            #[serde(default, deserialize_with = "some_duration")]
            pub retry_max: Option<u64>,
            /// Workers that may get stuck on trials of one op; default 3.
            pub replacements: Option<usize>,
        }
    };
}

options! {
    /// Defaults for every target.
    ProbeOptions {}
}
options! {
    /// One watched directory.
    TargetOptions {
        /// Where.
        path: PathBuf,
        /// What to call it; default the path.
        name: String,
        /// `posix` or `null`; default posix.
        backend: BackendKind,
        /// How long each op of the null backend takes.
        latency: LatencyOptions,
        /// Misbehaviour on a schedule, for tests and fire drills.
        fault: Vec<FaultOptions>,
    }
}

/// Whether reads and writes bypass the client's cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direct {
    /// Where the file system grants it.
    #[default]
    Auto,
    /// Or the target is not probed.
    Always,
    /// Through the cache.
    Never,
}

/// What performs the operations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BackendKind {
    /// System calls on a mounted file system.
    #[default]
    Posix,
    /// Nothing; answers after a set time.
    Null,
}

/// Latencies of the null backend.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LatencyOptions {
    #[serde(deserialize_with = "units::duration_ns")]
    data_read: u64,
    #[serde(deserialize_with = "units::duration_ns")]
    data_write: u64,
    #[serde(deserialize_with = "units::duration_ns")]
    md_create: u64,
    #[serde(deserialize_with = "units::duration_ns")]
    md_stat: u64,
    #[serde(deserialize_with = "units::duration_ns")]
    md_read: u64,
    #[serde(deserialize_with = "units::duration_ns")]
    md_delete: u64,
    sigma: f64,
}

/// One fault as written in a file.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultOptions {
    op: Option<String>,
    #[serde(default, deserialize_with = "units::duration_ns")]
    after: u64,
    #[serde(default, rename = "for", deserialize_with = "some_duration")]
    lasts: Option<u64>,
    #[serde(default, deserialize_with = "some_duration")]
    delay: Option<u64>,
    multiply: Option<f64>,
    error: Option<String>,
    hang: Option<bool>,
}

fn some_duration<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    units::duration_ns(from).map(Some)
}
fn default_window() -> u64 {
    60_000_000_000
}
fn default_trailing() -> u64 {
    DEFAULT_TRAILING_NS
}
fn default_flush() -> u64 {
    2_000_000_000
}

/// A whole configuration.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Folder of the store.
    pub store: Option<PathBuf>,
    /// Address of `/metrics`; default loopback.
    pub listen: Option<String>,
    /// Name of this host in every row; default the host name.
    pub host: Option<String>,
    /// Seed of every random choice; default a fresh one.
    pub seed: Option<u64>,
    /// Length of a window.
    #[serde(default = "default_window", deserialize_with = "units::duration_ns")]
    pub window: u64,
    /// How far back the baseline looks.
    #[serde(default = "default_trailing", deserialize_with = "units::duration_ns")]
    pub baseline: u64,
    /// How often rows go to the store: what a crash may lose.
    #[serde(default = "default_flush", deserialize_with = "units::duration_ns")]
    pub flush: u64,
    /// Defaults for every target.
    #[serde(default)]
    pub probe: ProbeOptions,
    /// The targets.
    #[serde(default)]
    pub target: Vec<TargetOptions>,
}

/// One target with every default filled in: what a worker is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetPlan {
    /// What it is called.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// How often each op is due.
    pub period_ns: u64,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// Bytes of the big file; none means choose.
    pub file_bytes: Option<u64>,
    /// Bytes of a file of the pool.
    pub object_bytes: u64,
    /// Files in the pool.
    pub pool: usize,
    /// Whether to bypass the cache.
    pub direct: Direct,
    /// What performs the operations.
    pub backend: BackendKind,
    /// How long each op of the null backend takes.
    pub latency: Latency,
    /// Misbehaviour.
    pub faults: Vec<Fault>,
    /// An operation open for longer is stuck.
    pub deadline_ns: u64,
    /// Wait before the first trial of a stuck op.
    pub retry_ns: u64,
    /// Longest wait between trials.
    pub retry_max_ns: u64,
    /// Workers that may get stuck on trials of one op.
    pub replacements: usize,
}

impl Config {
    /// From TOML; `file` names it in errors.
    pub fn from_toml(text: &str, file: &str) -> Result<Self, ConfigError> {
        toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
            ConfigError(format!("{file}:{line}: {}", explain(error.message())))
        })
    }
    /// From JSON with the same keys.
    pub fn from_json(text: &str) -> Result<Self, ConfigError> {
        serde_json::from_str(text).map_err(|error| ConfigError(explain(&error.to_string())))
    }

    /// Fill in defaults and check that the numbers make sense together.
    pub fn plans(&self) -> Result<Vec<TargetPlan>, ConfigError> {
        if self.target.is_empty() {
            return Err(ConfigError("no target; expected at least one [[target]] with a path".into()));
        }
        let plans: Vec<TargetPlan> =
            self.target.iter().map(|target| self.plan(target)).collect::<Result<_, _>>()?;
        for (i, plan) in plans.iter().enumerate() {
            if plans[..i].iter().any(|earlier| earlier.name == plan.name) {
                return Err(ConfigError(format!(
                    "target `{}` is listed twice; give each a name of its own",
                    plan.name
                )));
            }
        }
        Ok(plans)
    }

    fn plan(&self, target: &TargetOptions) -> Result<TargetPlan, ConfigError> {
        let path = target.path.clone().ok_or_else(|| {
            ConfigError("a [[target]] has no path; expected path = \"/directory/to/watch\"".into())
        })?;
        let path = std::path::absolute(&path).map_err(|_| ConfigError("a target's path is empty".into()))?;
        let probe = &self.probe;
        let plan = TargetPlan {
            name: target.name.clone().unwrap_or_else(|| path.display().to_string()),
            path,
            period_ns: target.period.or(probe.period).unwrap_or(1_000_000_000),
            block_bytes: target.block_size.or(probe.block_size).unwrap_or(1 << 20),
            file_bytes: target.file_size.or(probe.file_size),
            object_bytes: target.object_size.or(probe.object_size).unwrap_or(3901),
            pool: target.pool.or(probe.pool).unwrap_or(1000),
            direct: target.direct.or(probe.direct).unwrap_or_default(),
            backend: target.backend.unwrap_or_default(),
            latency: target.latency.as_ref().map(latency).unwrap_or_default(),
            faults: target.fault.iter().flatten().map(fault).collect::<Result<_, _>>()?,
            deadline_ns: target.deadline.or(probe.deadline).unwrap_or(5_000_000_000),
            retry_ns: target.retry.or(probe.retry).unwrap_or(5_000_000_000),
            retry_max_ns: target.retry_max.or(probe.retry_max).unwrap_or(300_000_000_000),
            replacements: target.replacements.or(probe.replacements).unwrap_or(3),
        };
        self.check(&plan)?;
        Ok(plan)
    }

    fn check(&self, plan: &TargetPlan) -> Result<(), ConfigError> {
        let wrong = |what: String| Err(ConfigError(format!("target `{}`: {what}", plan.name)));
        if plan.period_ns < 1_000_000 {
            return wrong("the period is below 1 ms; a probe must stay negligible".into());
        }
        if self.window / plan.period_ns < minimum_count(0.5) as u64 {
            return wrong(format!(
                "a window of {} s holds {} ticks of its period; expected at least {} for a median: \
                 lengthen `window` or shorten `period`",
                self.window as f64 / 1e9,
                self.window / plan.period_ns,
                minimum_count(0.5)
            ));
        }
        if plan.block_bytes == 0 || !plan.block_bytes.is_multiple_of(4096) || plan.block_bytes > 64 << 20 {
            return wrong("block_size must be a multiple of 4096 bytes, at most 64 MiB".into());
        }
        if plan.file_bytes.is_some_and(|bytes| bytes < 2 * plan.block_bytes) {
            return wrong("file_size must hold at least two blocks".into());
        }
        if !(1..=64 << 20).contains(&plan.object_bytes) {
            return wrong("object_size must be 1 byte to 64 MiB".into());
        }
        if plan.deadline_ns < 10_000_000 || plan.retry_ns < 10_000_000 {
            return wrong("deadline and retry must be at least 10 ms".into());
        }
        if plan.retry_max_ns < plan.retry_ns {
            return wrong("retry_max must not be shorter than retry".into());
        }
        if plan.replacements > 16 {
            return wrong("replacements must be at most 16: each may be a process that never ends".into());
        }
        if !(16..=10_000_000).contains(&plan.pool) {
            return wrong("pool must be 16 to 10 000 000 files".into());
        }
        Ok(())
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

fn fault(options: &FaultOptions) -> Result<Fault, ConfigError> {
    let op = options
        .op
        .as_deref()
        .map(|name| {
            Op::from_name(name).ok_or_else(|| {
                ConfigError(format!("fault: `{name}` is no op; expected one of {}", Op::NAMES.join(", ")))
            })
        })
        .transpose()?;
    let errno = |name: &String| -> Result<Errno, ConfigError> {
        errno_from_name(name)
            .ok_or_else(|| ConfigError(format!("fault: `{name}` is no error; expected for example EIO")))
    };
    let kinds = [
        options.delay.map(FaultKind::Delay),
        options.multiply.map(FaultKind::Multiply),
        options.error.as_ref().map(errno).transpose()?.map(FaultKind::Error),
        options.hang.unwrap_or(false).then_some(FaultKind::Hang),
    ];
    let mut kinds = kinds.into_iter().flatten();
    match (kinds.next(), kinds.next()) {
        (Some(kind), None) => Ok(Fault { op, after_ns: options.after, for_ns: options.lasts, kind }),
        _ => Err(ConfigError("a fault needs exactly one of delay, multiply, error, hang".into())),
    }
}

/// Turn serde's "unknown field" into a suggestion.
fn explain(message: &str) -> String {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let [unknown, known @ ..] = quoted.as_slice() else { return message.to_owned() };
    if !message.starts_with("unknown ") || known.is_empty() {
        return message.to_owned();
    }
    let near = known
        .iter()
        .max_by(|a, b| strsim::jaro_winkler(unknown, a).total_cmp(&strsim::jaro_winkler(unknown, b)));
    match near.filter(|near| strsim::jaro_winkler(unknown, near) > 0.75) {
        Some(near) => format!("unknown key `{unknown}`; did you mean `{near}`?"),
        None => format!("unknown key `{unknown}`; expected one of {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toml(text: &str) -> Result<Vec<TargetPlan>, ConfigError> {
        Config::from_toml(text, "agent.toml")?.plans()
    }

    #[test]
    fn defaults_are_the_published_ones() {
        let plans = toml("[[target]]\npath = '/work'").unwrap();
        let plan = &plans[0];
        assert_eq!((plan.name.as_str(), plan.period_ns), ("/work", 1_000_000_000));
        assert_eq!((plan.block_bytes, plan.object_bytes, plan.pool), (1 << 20, 3901, 1000));
    }

    #[test]
    fn targets_override_the_defaults() {
        let plans =
            toml("[probe]\nperiod='100ms'\n[[target]]\npath='/a'\n[[target]]\npath='/b'\nperiod=2").unwrap();
        assert_eq!((plans[0].period_ns, plans[1].period_ns), (100_000_000, 2_000_000_000));
    }

    #[test]
    fn a_plan_reaches_a_worker_unchanged() {
        let text = "[[target]]\npath='/a'\nbackend='null'\n[target.latency]\nsigma=0.5\nmd_stat='1ms'\n\
                    [[target.fault]]\nop='md_stat'\nerror='ESTALE'\n[[target.fault]]\nmultiply=2.5";
        let plan = toml(text).unwrap().remove(0);
        let told: TargetPlan = serde_json::from_str(&serde_json::to_string(&plan).unwrap()).unwrap();
        assert_eq!(told, plan);
    }

    #[test]
    fn a_typo_gets_its_line_and_a_suggestion() {
        let error = toml("[probe]\nperod = '1s'\n").unwrap_err();
        assert_eq!(error.0, "agent.toml:2: unknown key `perod`; did you mean `period`?");
    }

    #[test]
    fn every_wrong_number_is_refused_with_a_reason() {
        for (text, word) in [
            ("", "no target"),
            ("[[target]]\nname='x'", "no path"),
            ("[[target]]\npath='/a'\nperiod='10us'", "below 1 ms"),
            ("window='2s'\n[[target]]\npath='/a'", "at least 6"),
            ("[[target]]\npath='/a'\nblock_size=1000", "multiple of 4096"),
            ("[[target]]\npath='/a'\nfile_size=4096", "two blocks"),
            ("[[target]]\npath='/a'\npool=1", "16 to"),
            ("[[target]]\npath='/a'\ndeadline='1ms'", "at least 10 ms"),
            ("[[target]]\npath='/a'\nretry_max='1s'", "retry_max"),
            ("[[target]]\npath='/a'\nreplacements=99", "at most 16"),
            ("[[target]]\npath='/a'\n[[target]]\npath='/a'", "twice"),
            ("[[target]]\npath='/a'\n[[target.fault]]\nop='data_raed'\nhang=true", "no op"),
            ("[[target]]\npath='/a'\n[[target.fault]]\nop='data_read'", "exactly one"),
            ("window='1 fortnight'", "not a duration"),
        ] {
            let error = toml(text).unwrap_err();
            assert!(error.0.contains(word), "{text}: {error}");
        }
    }

    #[test]
    fn noise_never_panics() {
        let mut random = crate::seed::Random::stream(2, "config");
        let words = ["[", "]", "target", "=", "'", "\n", "path", "1s", "probe", "\u{7f}", "{", "9e9", "é"];
        for _ in 0..20_000 {
            let text: String = (0..random.below(20)).map(|_| words[random.below(13) as usize]).collect();
            let _ = toml(&text);
        }
    }
}
