//! The options of the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Where the configuration is when nobody says otherwise.
pub const DEFAULT_FILE: &str = "/etc/iosonde/agent.toml";

/// Probe directories all the time and say at /metrics how slow they are.
///
/// Example: iosonde-agent --config /etc/iosonde/agent.toml
#[derive(Debug, Parser)]
#[command(name = "iosonde-agent", version, args_conflicts_with_subcommands = true)]
pub struct Options {
    /// Something else than probing
    #[command(subcommand)]
    pub command: Option<Command>,
    /// How to probe
    #[command(flatten)]
    pub run: Run,
}

/// Options of the daemon itself.
#[derive(Debug, Args)]
pub struct Run {
    /// TOML file that says what to watch; FILE.d/*.toml beside it (agent.d for agent.toml) are read too
    #[arg(long, default_value = DEFAULT_FILE)]
    pub config: PathBuf,
    /// Address of /metrics, or off; overrides the file (default 127.0.0.1:9748)
    #[arg(long)]
    pub listen: Option<String>,
    /// Check the configuration and exit
    #[arg(long)]
    pub check: bool,
}

/// Something else than probing.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check, show or begin a configuration
    #[command(subcommand)]
    Config(ConfigCommand),
}

/// What to do with a configuration.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print everything that is wrong with it; exit code 2 when something is
    Check {
        /// The main file
        #[arg(default_value = DEFAULT_FILE)]
        file: PathBuf,
    },
    /// Print it with its drop-ins and every default, and what follows for each target
    Show {
        /// The main file
        #[arg(default_value = DEFAULT_FILE)]
        file: PathBuf,
    },
    /// Write a commented file to begin with; - for stdout
    Init {
        /// The file to write; it must not exist
        #[arg(default_value = DEFAULT_FILE)]
        file: PathBuf,
    },
}
