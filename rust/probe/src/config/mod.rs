//! Configuration of the probe: the agent's TOML file with its drop-ins, or the same keys as JSON.
//!
//! ```text
//! agent.toml, agent.d/*.toml --sources--> texts --tree--> one tree, places kept --options--> Config --plan--> TargetPlan
//! ```

mod budget;
mod checks;
mod component;
mod document;
mod error;
mod explain;
pub mod first_start;
mod options;
mod plan;
mod show;
mod sources;
mod target_plan;
mod tree;

use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

pub use budget::Budget;
pub use checks::cannot_listen;
pub use component::{Component, Pin};
pub use document::{Config, DEFAULT_LISTEN};
pub use error::ConfigError;
use explain::explain;
pub use options::{
    BackendKind, BudgetOptions, ComponentOptions, Direct, FaultOptions, Keep, LatencyOptions, LogFormat,
    ProbeOptions, TargetOptions,
};
use sources::Sources;
pub use target_plan::TargetPlan;
pub use tree::Environment;

/// So many problems are listed at once.
const MOST_PROBLEMS: usize = 50;

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
        Ok(show::page(self, &self.plans()?))
    }

    /// Costs of each target, at any time and at its first start, one line each.
    pub fn consequences(&self) -> Result<Vec<String>, ConfigError> {
        Ok(self.plans()?.iter().flat_map(show::consequences).collect())
    }
}

fn first(problems: Vec<ConfigError>) -> ConfigError {
    problems.into_iter().next().unwrap_or_else(|| ConfigError("the configuration is wrong".into()))
}

/// True if no problem was found yet on the line that `one` is about: a key that was taken out is not missing.
fn elsewhere(one: &ConfigError, found: &[ConfigError]) -> bool {
    let place = |error: &ConfigError| error.0.split(": ").next().map(str::to_owned);
    found.iter().all(|earlier| place(earlier) != place(one))
}

#[cfg(test)]
mod tests;
