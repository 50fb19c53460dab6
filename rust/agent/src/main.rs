//! The always-on probe. This file only wires: options, configuration, session, server, signals.

mod cost;
mod exposition;
mod families;
mod http;
mod log;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use iosonde_core::clock::{RealClock, Stop};
use iosonde_core::config::Config;
use iosonde_core::probe::ProbeError;
use iosonde_core::probe::session::Session;
use signal_hook::consts::{SIGINT, SIGTERM};

/// Probe directories all the time and say at /metrics how slow they are.
///
/// Example: iosonde-agent --config /etc/iosonde/agent.toml
#[derive(Debug, Parser)]
#[command(name = "iosonde-agent", version)]
struct Options {
    /// TOML file that says what to watch
    #[arg(long, default_value = "/etc/iosonde/agent.toml")]
    config: PathBuf,
    /// Address of /metrics; overrides the file (default 127.0.0.1:9748)
    #[arg(long)]
    listen: Option<String>,
    /// Check the configuration and exit
    #[arg(long)]
    check: bool,
}

const DEFAULT_LISTEN: &str = "127.0.0.1:9748";
const USAGE: u8 = 2;

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|first| first == "worker") {
        return match iosonde_core::probe::worker::process(Arc::new(RealClock)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                log::error(&format!("worker: {error}; it is started by the agent, not by hand"));
                ExitCode::from(USAGE)
            }
        };
    }
    iosonde_core::probe::worker::frugal();
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err((code, message)) => {
            log::error(&message);
            ExitCode::from(code)
        }
    }
}

type Failure = (u8, String);

fn run(options: &Options) -> Result<(), Failure> {
    let file = options.config.display().to_string();
    let text = std::fs::read_to_string(&options.config).map_err(|error| {
        (USAGE, format!("{file}: {error}; expected a TOML file with a [[target]]: see --help"))
    })?;
    let config = Config::from_toml(&text, &file).map_err(|error| (USAGE, error.to_string()))?;
    let listen = options.listen.clone().or_else(|| config.listen.clone());
    let mut session =
        Session::new(config, Arc::new(RealClock)).map_err(|error| (USAGE, format!("{file}: {error}")))?;
    if options.check {
        log::info(&format!("{file}: ok"));
        return Ok(());
    }
    session.with_worker("/proc/self/exe".into());
    session.on_note(Box::new(|target, note| log::info(&format!("{target}: {note}"))));
    let stop = stop_on_signals().map_err(|error| (1, format!("cannot watch for signals: {error}")))?;
    let server =
        http::Server::start(listen.as_deref().unwrap_or(DEFAULT_LISTEN)).map_err(|error| (1, error))?;
    log::info(&format!("metrics at http://{}/metrics", server.address()));
    watch(&mut session, &server, &stop)
}

fn watch(session: &mut Session, server: &http::Server, stop: &Arc<Stop>) -> Result<(), Failure> {
    let mut progress = log::Progress::default();
    let notes = session.prepare(&mut |target, what, done, all| {
        progress.report(target, what, done, all);
        !stop.raised()
    });
    match notes {
        Ok(notes) => notes.iter().for_each(|note| log::info(note)),
        Err(ProbeError::Stopped { .. }) => return Ok(()),
        Err(error) => return Err((1, error.to_string())),
    }
    session.start().map_err(|error| (1, error.to_string()))?;
    if let Some(view) = session.view() {
        server.show(view);
    }
    while !stop.raised() {
        std::thread::park();
    }
    if let Some(summary) = session.stop() {
        log::info(&format!("stopped; {} samples written", summary.rows_written));
        if let Some(error) = summary.store_error {
            return Err((1, format!("{} samples lost: {error}", summary.rows_lost)));
        }
    }
    Ok(())
}

/// The first SIGTERM or SIGINT asks for the end and wakes the main thread; a second one ends at once.
fn stop_on_signals() -> std::io::Result<Arc<Stop>> {
    let stop = Stop::new();
    let mut signals = signal_hook::iterator::Signals::new([SIGTERM, SIGINT])?;
    let (main, raised) = (std::thread::current(), Arc::clone(&stop));
    std::thread::Builder::new().name("signals".into()).stack_size(64 << 10).spawn(move || {
        for signal in signals.forever() {
            if raised.raised() {
                std::process::exit(128 + signal);
            }
            raised.raise([&main]);
        }
    })?;
    Ok(stop)
}
