//! The options of the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use iosonde_ask::ranges::AlertRange;
use iosonde_core::units::parse_duration_ns;

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
    /// Is it slow? One sentence a target, with its evidence
    Now(Now),
    /// Tell a monitoring system whether storage is slower than usual; exit code 0, 1, 2 or 3
    #[command(version)]
    Check(Check),
}

/// What `now` may be asked.
#[derive(Debug, Args)]
pub struct Now {
    /// Name or path of a watched target (default: all)
    pub target: Vec<String>,
    /// Output format: text or json
    #[arg(long, default_value = "text", value_parser = ["text", "json"])]
    pub format: String,
    /// Short for --format json
    #[arg(long)]
    pub json: bool,
    /// Print notes about each target
    #[arg(short, long)]
    pub verbose: bool,
    /// Store folder (default: $IOSONDE_STORE, else ~/.local/state/iosonde)
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
    /// Time limit, even where storage hangs
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = patience_ns)]
    pub timeout: u64,
}

fn patience_ns(text: &str) -> Result<u64, String> {
    match parse_duration_ns(text)? {
        0 => Err(format!("a time limit of {text} is none; expected a time above 0")),
        limit_ns => Ok(limit_ns),
    }
}

/// What `check` may be asked.
#[derive(Debug, Args)]
pub struct Check {
    /// Name or path of a watched target (default: all)
    pub target: Vec<String>,
    /// Slowdown to warn for (default: 2)
    #[arg(short, long, value_name = "RANGE", allow_hyphen_values = true)]
    pub warning: Option<AlertRange>,
    /// Slowdown that is critical (default: 5)
    #[arg(short, long, value_name = "RANGE", allow_hyphen_values = true)]
    pub critical: Option<AlertRange>,
    /// Answer within this time
    #[arg(short, long, value_name = "TIME", default_value = "10s", value_parser = parse_duration_ns)]
    pub timeout: u64,
    /// Print notes about each target
    #[arg(short, long, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// Store folder (default: $IOSONDE_STORE, else ~/.local/state/iosonde)
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
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
