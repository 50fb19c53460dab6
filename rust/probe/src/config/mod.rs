//! What to watch and how: the agent's TOML file with its drop-ins, or the same keys as JSON.
//!
//! ```text
//! agent.toml, agent.d/*.toml --sources--> texts --tree--> one tree, places kept --options--> Config --plan--> TargetPlan
//! ```

mod budget;
mod checks;
mod component;
mod explain;
mod options;
mod plan;
mod show;
mod sources;
mod tree;

use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

pub use budget::Budget;
pub use component::{Component, Pin};
use explain::explain;
pub use options::{
    BackendKind, BudgetOptions, ComponentOptions, Direct, FaultOptions, Keep, LatencyOptions, LogFormat,
    ProbeOptions, TargetOptions,
};
pub use plan::TargetPlan;
use sources::{Places, Sources};

use iosonde_core::slowdown::baseline::DEFAULT_TRAILING_NS;
use iosonde_core::units;

/// A wrong configuration: where, what, and what was probably meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub String);

/// Looks up a variable of the environment.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Where `/metrics` is when nobody says otherwise.
pub const DEFAULT_LISTEN: &str = "127.0.0.1:9748";

/// So many problems are told at once.
const MOST_PROBLEMS: usize = 50;

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
    /// Address of `/metrics`, or `off`; default loopback.
    pub listen: Option<String>,
    /// File the metrics are written to, for a collector that reads text files.
    pub textfile: Option<PathBuf>,
    /// How lines of the log look.
    #[serde(default)]
    pub log: LogFormat,
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
    /// What the store may hold.
    #[serde(default)]
    pub keep: Keep,
    /// Defaults for every target.
    #[serde(default)]
    pub probe: ProbeOptions,
    /// The targets.
    #[serde(default)]
    pub target: Vec<TargetOptions>,
    #[serde(skip)]
    places: Places,
}

impl Config {
    /// From TOML; `file` names it in errors.
    pub fn from_toml(text: &str, file: &str) -> Result<Self, ConfigError> {
        let mut sources = Sources::default();
        sources.add(file, text.to_owned());
        Self::read(&sources, None, 1).map_err(first)
    }
    /// From JSON with the same keys.
    pub fn from_json(text: &str) -> Result<Self, ConfigError> {
        serde_json::from_str(text).map_err(|error| ConfigError(explain(&error.to_string())))
    }

    /// From a TOML file and its drop-ins: beside `agent.toml` the files `agent.d/*.toml` in the order of their
    /// names. Later scalars override, tables merge, `[[target]]` adds. `${NAME}` in a string is looked up in
    /// `environment`. Also says which files were read.
    pub fn from_files(
        main: &Path,
        environment: Environment<'_>,
    ) -> Result<(Self, Vec<PathBuf>), ConfigError> {
        let (sources, paths) = Sources::read(main)?;
        Ok((Self::read(&sources, Some(environment), 1).map_err(first)?, paths))
    }

    /// Everything that is wrong with a file and its drop-ins, in the order it stands there.
    pub fn problems(main: &Path, environment: Environment<'_>) -> Vec<ConfigError> {
        let (sources, _) = match Sources::read(main) {
            Ok(read) => read,
            Err(error) => return vec![error],
        };
        let config = Self::read(&sources, Some(environment), MOST_PROBLEMS);
        let mut problems = config.and_then(|config| config.every_plan()).err().unwrap_or_default();
        problems.sort_by_key(|error| sources.order(&error.0));
        problems.dedup();
        problems
    }

    fn read(
        sources: &Sources,
        environment: Option<Environment<'_>>,
        most: usize,
    ) -> Result<Self, Vec<ConfigError>> {
        let mut tree = tree::assemble(sources, environment)?;
        let places = tree::places(&tree, sources);
        let mut problems = Vec::new();
        loop {
            let text = toml::Deserializer::from(Spanned::new(0..0, tree.clone()));
            match Self::deserialize(text) {
                Ok(config) if problems.is_empty() => return Ok(Self { places, ..config }),
                Ok(config) => {
                    let more = Self { places, ..config }.every_plan().err().unwrap_or_default();
                    problems
                        .extend(more.into_iter().filter(|one| elsewhere(one, &problems)).collect::<Vec<_>>());
                    return Err(problems);
                }
                Err(error) => {
                    let span = error.span().unwrap_or(0..0);
                    let what = explain(error.message());
                    problems.push(ConfigError(format!("{}: {what}", sources.place(span.start))));
                    if problems.len() >= most || !tree::prune(&mut tree, &span) {
                        return Err(problems);
                    }
                }
            }
        }
    }

    /// Fill in defaults and check that the numbers make sense together.
    pub fn plans(&self) -> Result<Vec<TargetPlan>, ConfigError> {
        self.every_plan().map_err(first)
    }

    fn every_plan(&self) -> Result<Vec<TargetPlan>, Vec<ConfigError>> {
        plan::every_plan(self)
    }

    /// All of it as TOML, defaults filled in, with what follows for each target as comments. Reading it back
    /// gives the same plans.
    pub fn to_toml(&self) -> Result<String, ConfigError> {
        show::page(self)
    }
}

fn first(problems: Vec<ConfigError>) -> ConfigError {
    problems.into_iter().next().unwrap_or_else(|| ConfigError("the configuration is wrong".into()))
}

/// Whether nothing was said yet about the line that `one` is about: a key that was taken out is not missing.
fn elsewhere(one: &ConfigError, said: &[ConfigError]) -> bool {
    let place = |error: &ConfigError| error.0.split(": ").next().map(str::to_owned);
    said.iter().all(|earlier| place(earlier) != place(one))
}

#[cfg(test)]
mod tests;
