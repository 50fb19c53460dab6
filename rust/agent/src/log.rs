//! Lines for the journal, on stderr.

use std::io::Write;

/// Something to know.
pub fn info(message: &str) {
    line("info", message);
}

/// Something that ended the agent.
pub fn error(message: &str) {
    line("error", message);
}

fn line(level: &str, message: &str) {
    // Nobody is left to tell when stderr is gone.
    let _ = writeln!(std::io::stderr(), "iosonde-agent: level={level} {message}");
}

/// Says how far a preparation is, every tenth of the way.
#[derive(Debug, Default)]
pub struct Progress {
    last: Option<(String, u64)>,
}

impl Progress {
    /// `done` of `all` bytes.
    pub fn report(&mut self, target: &str, what: &str, done: u64, all: u64) {
        let tenth = done * 10 / all.max(1);
        let now = (format!("{target} {what}"), tenth);
        if self.last.as_ref() != Some(&now) {
            info(&format!("{target}: making its {what}: {} of {} MiB", done >> 20, all >> 20));
            self.last = Some(now);
        }
    }
}
