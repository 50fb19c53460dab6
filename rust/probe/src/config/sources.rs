//! The files of a configuration, and where in them something was written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::error::ConfigError;
use iosonde_core::text::escaped;

/// Files in the order they count. Their texts share one row of offsets, so that a span of the merged tree
/// still tells the file it came from.
#[derive(Debug, Default)]
pub(super) struct Sources {
    files: Vec<Source>,
}

#[derive(Debug)]
pub(super) struct Source {
    name: String,
    pub(super) text: String,
    pub(super) base: usize,
    /// Offsets of its line ends: asked for once a key, of which there may be a hundred thousand.
    line_ends: Vec<usize>,
}

impl Sources {
    pub(super) fn add(&mut self, name: &str, text: String) {
        let base = self.files.last().map_or(0, |last| last.base + last.text.len() + 1);
        let bytes = text.bytes().enumerate();
        let line_ends = bytes.filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at).collect();
        self.files.push(Source { name: name.to_owned(), text, base, line_ends });
    }

    /// `main`, then `<main without .toml>.d/*.toml` in the order of their names. The only I/O of a configuration.
    pub(super) fn read(main: &Path) -> Result<(Self, Vec<PathBuf>), ConfigError> {
        let mut sources = Self::default();
        let mut paths = vec![main.to_owned()];
        paths.extend(drop_ins(main)?);
        for path in &paths {
            sources.add(&path.display().to_string(), text(path)?);
        }
        Ok((sources, paths))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Source> {
        self.files.iter()
    }

    /// Sorts messages that begin with `file:line: `.
    pub(super) fn order(&self, message: &str) -> Option<(usize, u64)> {
        self.files.iter().enumerate().find_map(|(i, file)| {
            let rest = message.strip_prefix(&file.name)?.strip_prefix(':')?;
            Some((i, rest.split(':').next()?.parse().ok()?))
        })
    }

    /// `file:line` of an offset.
    pub(super) fn place(&self, offset: usize) -> String {
        let Some(file) = self.files.iter().rev().find(|file| file.base <= offset) else {
            return String::new();
        };
        let line = 1 + file.line_ends.partition_point(|&end| end < offset - file.base);
        format!("{}:{line}", file.name)
    }
}

fn drop_ins(main: &Path) -> Result<Vec<PathBuf>, ConfigError> {
    let folder = main.with_extension("d");
    let failed = |error: std::io::Error| {
        ConfigError(format!("{}: {error}; expected a readable folder of *.toml files", folder.display()))
    };
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if !hidden && path.extension().is_some_and(|extension| extension == "toml") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn text(path: &Path) -> Result<String, ConfigError> {
    let file = path.display();
    let bytes = std::fs::read(path).map_err(|error| {
        ConfigError(format!(
            "{file}: {error}; expected a TOML file with a [[target]]: try 'iosonde-agent config init {file}'"
        ))
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + good.iter().filter(|&&byte| byte == b'\n').count();
        ConfigError(format!("{file}:{line}: this is not UTF-8; expected a TOML text"))
    })
}

/// Places of the keys: `target[0].period` at `agent.toml:7`. Places make no configuration different, so any two are
/// equal.
#[derive(Debug, Clone, Default)]
pub(super) struct Places(BTreeMap<String, String>);

impl PartialEq for Places {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Places {
    pub(super) fn insert(&mut self, key: String, place: String) {
        self.0.insert(key, place);
    }

    /// An error about the first of `keys` that was written; the file's first line when none was.
    pub(super) fn error(&self, keys: &[String], what: &str) -> ConfigError {
        let (whole, what) = (String::new(), escaped(what));
        match keys.iter().chain([&whole]).find_map(|key| self.0.get(key)) {
            Some(place) => ConfigError(format!("{place}: {what}")),
            None => ConfigError(what),
        }
    }
}
