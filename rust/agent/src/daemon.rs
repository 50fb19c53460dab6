//! The daemon: session, server, text file, and the loop that waits for signals.

use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use iosonde_core::clock::{Clock, RealClock};
use iosonde_core::slowdown::verdict::State;
use iosonde_probe::config::{Config, ConfigError, DEFAULT_LISTEN, LogFormat, TargetPlan, cannot_listen};
use iosonde_probe::probe::ProbeError;
use iosonde_probe::probe::collector::OnNote;
use iosonde_probe::probe::session::Session;
use iosonde_probe::probe::worker::large_files_fail;

use crate::configure;
use crate::exit::{Failure, USAGE};
use crate::http::Server;
use crate::log::{Level, Line, Log};
use crate::making::Making;
use crate::notify::{Notify, watchdog_every_ns};
use crate::options::Run;
use crate::reload;
use crate::shown::Shown;
use crate::signals::{Event, Signals};
use crate::textfile::Textfile;

/// How often the status line and suppressed messages are looked after.
const HOUSEKEEPING: Duration = Duration::from_secs(15);

struct Daemon {
    session: Session,
    config: Config,
    shown: Shown,
    notify: Arc<Notify>,
    signals: Signals,
    log: Arc<Log>,
}

/// Probe until told to end. A failure is in the log already when the configuration says how to write one.
pub fn run(options: &Run) -> Result<(), (u8, Option<String>)> {
    let config = configure::read_to_run(&options.config);
    let log = Log::stderr(config.as_ref().map_or(LogFormat::Logfmt, |config| config.log));
    let problems = configure::problems(&options.config);
    let config = match config {
        Ok(config) if problems.is_empty() => config,
        // What is told at once is bounded; each line is a kind of its own.
        config => {
            let problems = if problems.is_empty() { config.err().into_iter().collect() } else { problems };
            problems.iter().map(ToString::to_string).for_each(|problem| log.error(&problem, &problem));
            log.end();
            return Err((USAGE, None));
        }
    };
    let ended = run_logged(options, config, &log).map_err(|(code, message)| {
        log.log_suppressed(true);
        log.error("end", &message);
        (code, None)
    });
    log.end();
    ended
}

fn run_logged(options: &Run, config: Config, log: &Arc<Log>) -> Result<(), Failure> {
    let wrong = |error: ConfigError| (USAGE, error.to_string());
    let clock: Arc<dyn Clock> = Arc::new(RealClock);
    if let Some(what) = options.listen.as_deref().and_then(cannot_listen) {
        return Err((USAGE, what));
    }
    let plans = config.plans().map_err(wrong)?;
    let mut session = Session::new(config.clone(), Arc::clone(&clock)).map_err(wrong)?;
    if options.check {
        log.info("check", &format!("{}: ok", options.config.display()));
        return Ok(());
    }
    end_on_panic(Arc::clone(log));
    large_files_fail();
    session.with_worker("/proc/self/exe".into());
    session.on_note(note_logger(Arc::clone(log)));
    let ended = |error: String| (1, error);
    let signals = Signals::watch().map_err(|error| (1, format!("cannot watch for signals: {error}")))?;
    let shown = Shown::new().counting(log.dropped()).native(config.native_histograms);
    if let Some(server) = listen(options, &config, &shown).map_err(ended)? {
        log.info("metrics", &format!("metrics at http://{}/metrics", server.address()));
    }
    let notify = Notify::new(std::env::var_os("NOTIFY_SOCKET").as_deref()).unwrap_or_else(|error| {
        log.warn("notify", &error);
        Notify::default()
    });
    let notify = Arc::new(notify);
    let variable = |name: &str| std::env::var(name).ok();
    let (usec, pid) = (variable("WATCHDOG_USEC"), variable("WATCHDOG_PID"));
    if let Some(every_ns) = watchdog_every_ns(usec.as_deref(), pid.as_deref(), std::process::id()) {
        session.on_beat(notify.watchdog(Arc::clone(&clock), every_ns));
    }
    let start = |path| Textfile::start(path, shown.clone(), Arc::clone(&clock), Arc::clone(log));
    let textfile = config.textfile.clone().map(start).transpose();
    let textfile = textfile.map_err(|error| (1, format!("cannot start a thread: {error}")))?;
    warn_stretched(&plans, log);
    let mut daemon = Daemon { session, config, shown, notify, signals, log: Arc::clone(log) };
    let result = daemon.watch(options);
    if let Some(textfile) = textfile {
        textfile.end();
    }
    result
}

/// Whichever thread panics, the process ends with an error: without it the others would go on and say what was true before.
fn end_on_panic(log: Arc<Log>) {
    std::panic::set_hook(Box::new(move |info| {
        let thread = std::thread::current();
        let name = thread.name().unwrap_or("unnamed");
        log.error(
            "panic",
            &format!("the thread '{name}' panicked: {info}; this is a defect of the agent, which ends"),
        );
        log.end();
        std::process::exit(1);
    }));
}

/// A server, unless no port is wanted.
fn listen(options: &Run, config: &Config, shown: &Shown) -> Result<Option<Server>, String> {
    let address = options.listen.as_deref().or(config.listen.as_deref()).unwrap_or(DEFAULT_LISTEN);
    if matches!(address, "off" | "none") {
        return Ok(None);
    }
    Server::start(address, shown.clone()).map(Some)
}

/// Notes about targets go to the log.
fn note_logger(log: Arc<Log>) -> OnNote {
    Box::new(move |note| {
        let level = if note.warning { Level::Warn } else { Level::Info };
        let line = Line::new(level, note.text, note.text);
        log.say(&if note.target.is_empty() { line } else { line.field("target", note.target) });
    })
}

fn warn_stretched(plans: &[TargetPlan], log: &Log) {
    for plan in plans.iter().filter(|plan| plan.period_ns > plan.asked_period_ns) {
        let seconds = |ns: u64| ns as f64 / 1e9;
        let (asked, period) = (seconds(plan.asked_period_ns), seconds(plan.period_ns));
        let what = format!("probed every {period} s instead of {asked} s: its budget allows no more");
        log.say(&Line::new(Level::Info, "stretched", &what).field("target", &plan.name));
    }
}

impl Daemon {
    fn watch(&mut self, options: &Run) -> Result<(), Failure> {
        // Each target begins as soon as it is ready; one that hangs keeps nobody waiting.
        self.session.start().map_err(|error| (1, error.to_string()))?;
        if let Some(view) = self.session.view() {
            self.shown.show(view);
        }
        if !self.prepare()? {
            return Ok(());
        }
        self.notify.ready(&self.status());
        loop {
            match self.signals.events.recv_timeout(HOUSEKEEPING) {
                Ok(Event::Reload) => {
                    self.notify.reloading(&RealClock);
                    reload::reload(&mut self.session, &options.config, &mut self.config, &self.log);
                    self.notify.ready(&self.status());
                }
                Err(RecvTimeoutError::Timeout) => {
                    iosonde_probe::probe::worker::trim();
                    self.notify.status(&self.status());
                    self.log.log_suppressed(false);
                }
                Ok(Event::End) | Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.notify.stopping();
        self.stop()
    }

    /// Make the targets ready; false when the end was asked for meanwhile.
    fn prepare(&mut self) -> Result<bool, Failure> {
        let mut making = Making::default();
        let notes = self.session.prepare(&mut |target, what, done, all| {
            if let Some(text) = making.line(target, what, done, all, RealClock.monotonic_ns()) {
                self.log.say(&Line::new(Level::Info, what, &text).field("target", target));
                self.notify.status(&format!("{target}: {text}"));
            }
            !self.signals.stop.raised()
        });
        match notes {
            // Each was told when it came up.
            Ok(_) => Ok(true),
            Err(ProbeError::Stopped { .. }) => Ok(false),
            Err(error) => Err((1, error.to_string())),
        }
    }

    fn stop(&mut self) -> Result<(), Failure> {
        let Some(summary) = self.session.stop() else { return Ok(()) };
        let lost = match summary.rows_lost {
            0 => String::new(),
            lost => format!(", {lost} lost"),
        };
        self.log.info("stopped", &format!("stopped; {} samples written{lost}", summary.rows_written));
        match summary.store_error {
            Some(error) => Err((1, format!("{} samples lost: {error}", summary.rows_lost))),
            None => Ok(()),
        }
    }

    /// One line for the service manager: how many targets, and those that are not well.
    fn status(&self) -> String {
        let states = self.session.view().map(|view| view.states(true)).unwrap_or_default();
        let word =
            |state: State| State::ALL.iter().find(|(one, _)| *one == state).map_or("", |(_, name)| name);
        let unwell: Vec<String> = states
            .iter()
            .filter(|state| !matches!(state.state, State::Ok | State::Learning))
            .map(|state| format!("; {} is {}", state.target, word(state.state)))
            .collect();
        let number = states.len();
        format!("watching {number} {}{}", if number == 1 { "target" } else { "targets" }, unwell.concat())
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    const IN_CHILD: &str = "IOSONDE_TEST_PANICS";

    #[test]
    fn a_panic_of_any_thread_ends_the_process_with_an_error() {
        if std::env::var_os(IN_CHILD).is_some() {
            end_on_panic(Log::stderr(LogFormat::Logfmt));
            let supervisor = std::thread::Builder::new().name("supervisor".into());
            let ended = supervisor.spawn(|| panic!("the clock ran backwards")).unwrap().join();
            unreachable!("{ended:?}");
        }
        let name = "daemon::tests::a_panic_of_any_thread_ends_the_process_with_an_error";
        let mut child = Command::new(std::env::current_exe().unwrap());
        let done = child.args([name, "--exact", "--nocapture"]).env(IN_CHILD, "1").output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(1), "{said}");
        assert!(said.contains("'supervisor' panicked") && said.contains("the clock ran backwards"), "{said}");
    }
}
