//! `iosonde-agent config check|show|init`.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use iosonde_probe::config::first_start::SERVICE_SPREAD_NS;
use iosonde_probe::config::{Config, ConfigError};

use crate::exit::{Failure, USAGE};
use crate::options::ConfigCommand;

/// A file to begin with.
const STARTING: &str = include_str!("starting.toml");

/// A configuration and the files it was read from.
pub fn read(file: &Path) -> Result<(Config, Vec<PathBuf>), ConfigError> {
    Config::from_files(file, &environment)
}

/// The same for an agent that probes. One that a service manager starts is one of many hosts, which begin one after the
/// other; who starts one by hand waits for it.
pub fn read_to_run(file: &Path) -> Result<Config, ConfigError> {
    let (mut config, _) = read(file)?;
    if std::env::var_os("NOTIFY_SOCKET").is_some() {
        config.probe.spread.get_or_insert(SERVICE_SPREAD_NS);
    }
    Ok(config)
}

/// Everything that is wrong with it.
pub fn problems(file: &Path) -> Vec<ConfigError> {
    Config::problems(file, &environment)
}

fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Do what was asked.
pub fn run(command: &ConfigCommand) -> Result<(), Failure> {
    match command {
        ConfigCommand::Check { file } => check(file),
        ConfigCommand::Show { file } => show(file),
        ConfigCommand::Init { file } if file.as_os_str() == "-" => print(STARTING),
        ConfigCommand::Init { file } => init(file),
    }
}

fn check(file: &Path) -> Result<(), Failure> {
    let problems = problems(file);
    if problems.is_empty() {
        let config = read(file).and_then(|(config, _)| config.consequences());
        let lines = config.map_err(|error| (USAGE, error.to_string()))?;
        return print(&format!("{}: ok\n{}\n", file.display(), lines.join("\n")));
    }
    let mut text: String = problems.iter().map(|problem| format!("{problem}\n")).collect();
    let number = problems.len();
    text.push_str(&format!("{number} {}", if number == 1 { "problem" } else { "problems" }));
    Err((USAGE, text))
}

fn show(file: &Path) -> Result<(), Failure> {
    let (config, files) = read(file).map_err(|error| (USAGE, error.to_string()))?;
    let shown = config.to_toml().map_err(|error| (USAGE, error.to_string()))?;
    let names: Vec<String> = files.iter().map(|file| format!("{:?}", file.display().to_string())).collect();
    print(&format!("# from {}\n{shown}", names.join(", ")))
}

fn init(file: &Path) -> Result<(), Failure> {
    let name = file.display();
    let failed = |error: std::io::Error| {
        let hint = match error.kind() {
            std::io::ErrorKind::AlreadyExists => "; it is left as it is: try another name, or - for stdout",
            std::io::ErrorKind::NotFound => "; make its folder first, or try - for stdout",
            _ => "; try - for stdout",
        };
        (1, format!("cannot write {name}: {error}{hint}"))
    };
    let mut new = OpenOptions::new().write(true).create_new(true).open(file).map_err(failed)?;
    new.write_all(STARTING.as_bytes()).and_then(|()| new.sync_all()).map_err(failed)?;
    print(&format!("wrote {name}; say what to watch, then try 'iosonde-agent config check {name}'\n"))
}

/// To stdout. A reader that went away is no failure.
fn print(text: &str) -> Result<(), Failure> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err((1, format!("cannot write to stdout: {error}")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_to_begin_with_is_valid_and_changes_no_default() {
        let begun = Config::from_toml(STARTING, "starting.toml").unwrap();
        let plain = Config::from_toml("[[target]]\npath = '/work'", "plain").unwrap();
        assert_eq!(begun.plans().unwrap(), plain.plans().unwrap());
        assert_eq!((begun.window, begun.flush, begun.keep), (plain.window, plain.flush, plain.keep));
    }
}
