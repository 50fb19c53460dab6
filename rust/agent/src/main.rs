//! The always-on probe. This file only chooses: the daemon, a question about its configuration, or one about storage.

mod ask;
mod configure;
mod cost;
mod daemon;
mod exit;
mod exposition;
mod families;
mod http;
mod log;
mod making;
mod notify;
mod options;
mod reload;
mod shown;
mod signals;
mod textfile;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use iosonde_core::clock::RealClock;
use iosonde_probe::config::LogFormat;

use crate::exit::USAGE;
use crate::log::Log;
use crate::options::{Command, Options};

fn main() -> ExitCode {
    match std::env::args_os().nth(1).as_deref().and_then(std::ffi::OsStr::to_str) {
        Some("worker") => return work(),
        Some(ask::CHILD) => return ask::child(),
        Some("check") => return ask::check(),
        _ => {}
    }
    iosonde_probe::probe::worker::frugal();
    let options = Options::parse();
    let (code, message) = match &options.command {
        Some(Command::Config(command)) => match configure::run(command) {
            Ok(()) => return ExitCode::SUCCESS,
            Err((code, message)) => (code, Some(message + "\n")),
        },
        Some(Command::Now(now)) => return ask::now(now),
        Some(Command::Check(_)) => return ask::check(),
        None => match daemon::run(&options.run) {
            Ok(()) => return ExitCode::SUCCESS,
            Err((code, None)) => (code, None),
            Err((code, Some(message))) => {
                let log = Log::stderr(LogFormat::Logfmt);
                log.error("end", &message);
                log.end();
                (code, None)
            }
        },
    };
    if let Some(message) = message {
        // Nobody is left to tell when stderr is gone.
        let _ = std::io::stderr().write_all(message.as_bytes());
    }
    ExitCode::from(code)
}

/// The life of a worker process: not a subcommand, because nobody starts one by hand.
fn work() -> ExitCode {
    match iosonde_probe::probe::worker::process(std::sync::Arc::new(RealClock)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let what = format!("worker: {error}; expected to be started by an agent");
            let log = Log::stderr(LogFormat::Logfmt);
            log.error("worker", &what);
            log.end();
            ExitCode::from(USAGE)
        }
    }
}
