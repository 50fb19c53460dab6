//! Lines for the journal, on stderr: logfmt or JSON, and never a flood of one kind. Who logs never waits: [`outlet`].

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use iosonde_core::clock::{Clock, RealClock};
use iosonde_core::text::is_printable;
use iosonde_probe::config::LogFormat;
use iosonde_probe::record::dates::second_of;

use outlet::Outlet;

mod outlet;

/// So many lines of a kind are written in a minute.
const BURST: u64 = 5;
const MINUTE_NS: u64 = 60_000_000_000;
/// The end waits so long for who reads the log.
const PATIENCE: Duration = Duration::from_secs(1);

/// How much a line matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Something to know.
    Info,
    /// Something that is not as it should be.
    Warn,
    /// Something that ended the agent, or part of it.
    Error,
}

impl Level {
    fn name(self) -> &'static str {
        match self {
            Level::Info => "info",
            Level::Warn => "warn",
            Level::Error => "error",
        }
    }
}

/// One line.
#[derive(Debug)]
pub struct Line<'a> {
    level: Level,
    kind: &'a str,
    fields: Vec<(&'static str, &'a str)>,
    message: &'a str,
}

impl<'a> Line<'a> {
    /// Lines of the same kind, about the same fields, are limited together.
    pub fn new(level: Level, kind: &'a str, message: &'a str) -> Self {
        Self { level, kind, fields: Vec::new(), message }
    }
    /// With `name=value` before the message, such as target and op.
    #[must_use]
    pub fn field(mut self, name: &'static str, value: &'a str) -> Self {
        self.fields.push((name, value));
        self
    }
}

#[derive(Debug)]
struct Kind {
    since_ns: u64,
    lines: u64,
}

/// How lines look.
#[derive(Clone)]
struct Style {
    format: LogFormat,
    stamped: bool,
    clock: Arc<dyn Clock>,
}

/// Where lines go.
pub struct Log {
    style: Style,
    kinds: Mutex<BTreeMap<String, Kind>>,
    outlet: Outlet,
}

impl Log {
    /// On stderr; with the time unless that is the journal, which has its own.
    pub fn stderr(format: LogFormat) -> Arc<Self> {
        let journal = std::env::var("JOURNAL_STREAM").ok();
        Self::new(format, !is_stderr(journal.as_deref()), Arc::new(RealClock), Box::new(std::io::stderr()))
    }

    /// Anywhere.
    pub fn new(
        format: LogFormat,
        stamped: bool,
        clock: Arc<dyn Clock>,
        out: Box<dyn Write + Send>,
    ) -> Arc<Self> {
        let style = Style { format, stamped, clock };
        let dropped = Box::new({
            let style = style.clone();
            move |number| {
                let message = format!("dropped {number} lines of this log: nobody read it");
                style.text(&Line::new(Level::Warn, "dropped", &message))
            }
        });
        Arc::new(Self { style, kinds: Mutex::default(), outlet: Outlet::new(out, dropped) })
    }

    /// Something to know.
    pub fn info(&self, kind: &str, message: &str) {
        self.say(&Line::new(Level::Info, kind, message));
    }
    /// Something that is not as it should be.
    pub fn warn(&self, kind: &str, message: &str) {
        self.say(&Line::new(Level::Warn, kind, message));
    }
    /// Something that ended the agent, or part of it.
    pub fn error(&self, kind: &str, message: &str) {
        self.say(&Line::new(Level::Error, kind, message));
    }

    /// Write a line, unless there were too many of its kind in the last minute.
    pub fn say(&self, line: &Line<'_>) {
        self.log_suppressed(false);
        let key = line.fields.iter().fold(line.kind.to_owned(), |key, (_, value)| key + " " + value);
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        let now_ns = self.style.clock.monotonic_ns();
        let kind = kinds.entry(key).or_insert(Kind { since_ns: now_ns, lines: 0 });
        kind.lines += 1;
        if kind.lines <= BURST {
            self.outlet.push(self.style.text(line));
        }
    }

    /// One line for each kind whose minute is over (all kinds at the `end`) and that was cut short.
    pub fn log_suppressed(&self, end: bool) {
        let now = self.style.clock.monotonic_ns();
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        kinds.retain(|name, kind| {
            let over = end || now.saturating_sub(kind.since_ns) >= MINUTE_NS;
            if over && kind.lines > BURST {
                let message = format!("suppressed {} more of these", kind.lines - BURST);
                let line = Line::new(Level::Info, name, &message).field("kind", name);
                self.outlet.push(self.style.text(&line));
            }
            !over
        });
    }

    /// The last words: what was cut short, then wait a moment until who reads the log has everything.
    pub fn end(&self) {
        self.log_suppressed(true);
        self.outlet.flush(PATIENCE);
    }

    /// How many lines were dropped because nobody read them.
    pub fn dropped(&self) -> Arc<AtomicU64> {
        self.outlet.dropped()
    }
}

impl Style {
    fn text(&self, line: &Line<'_>) -> String {
        let stamp = self.stamped.then(|| rfc3339(self.clock.wall_ns()));
        let stamp = stamp.as_deref().map(|stamp| ("time", stamp));
        let level = [("level", line.level.name())];
        let fields = stamp.into_iter().chain(level).chain(line.fields.iter().copied());
        match self.format {
            LogFormat::Json => {
                let pairs = fields.chain([("msg", line.message)]);
                let pairs: Vec<String> =
                    pairs.map(|(name, value)| format!("\"{name}\":{}", json(value))).collect();
                format!("{{{}}}\n", pairs.join(","))
            }
            LogFormat::Logfmt => {
                let mut text = String::new();
                for (name, value) in fields {
                    let plain = !value.is_empty() && value.chars().all(|c| !needs_quotes(c));
                    // Writing into a String cannot fail.
                    let _ = if plain {
                        write!(text, "{name}={value} ")
                    } else {
                        write!(text, "{name}={} ", quoted(value))
                    };
                }
                format!("{text}msg={}\n", quoted(line.message))
            }
        }
    }
}

fn needs_quotes(c: char) -> bool {
    c.is_whitespace() || !is_printable(c) || matches!(c, '"' | '=' | '\\')
}

/// In quotes; quotes, backslashes and what does not show as itself are escaped, all else is as it was.
fn quoted(value: &str) -> String {
    let mut text = String::from("\"");
    for c in value.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            c if !is_printable(c) => text.extend(c.escape_default()),
            c => text.push(c),
        }
    }
    text + "\""
}

/// The same in JSON's way, which escapes only controls by itself.
fn json(value: &str) -> String {
    let mut text = String::new();
    for c in serde_json::Value::from(value).to_string().chars() {
        if is_printable(c) {
            text.push(c);
        } else {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| text.push_str(&format!("\\u{unit:04x}")));
        }
    }
    text
}

/// `2026-09-21T14:13:20.000Z`.
fn rfc3339(wall_ns: i64) -> String {
    let millisecond = wall_ns.rem_euclid(1_000_000_000) / 1_000_000;
    format!("{}.{millisecond:03}Z", second_of(wall_ns))
}

/// Whether `device:inode` is what stderr leads to.
fn is_stderr(journal: Option<&str>) -> bool {
    let Some((device, inode)) = journal.and_then(|stream| stream.split_once(':')) else { return false };
    rustix::fs::fstat(std::io::stderr())
        .is_ok_and(|stat| device == stat.st_dev.to_string() && inode == stat.st_ino.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_core::clock::SimClock;

    #[derive(Clone, Default)]
    struct Paper(Arc<Mutex<Vec<u8>>>);

    impl Write for Paper {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn log_in(format: LogFormat) -> (Arc<Log>, SimClock, Paper) {
        let (clock, paper) = (SimClock::new(1_790_000_000_123_456_789), Paper::default());
        (Log::new(format, true, Arc::new(clock.clone()), Box::new(paper.clone())), clock, paper)
    }

    fn lines(log: &Log, paper: &Paper) -> Vec<String> {
        assert!(log.outlet.flush(Duration::from_secs(10)));
        let bytes = std::mem::take(&mut *paper.0.lock().unwrap());
        String::from_utf8(bytes).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn logfmt_and_json_say_the_same() {
        let line = Line::new(Level::Warn, "k", "it \"hangs\"\nC:\\")
            .field("target", "/wo rk")
            .field("op", "md_stat");
        let (log, _, paper) = log_in(LogFormat::Logfmt);
        log.say(&line);
        let expected =
            r#"time=2026-09-21T14:13:20.123Z level=warn target="/wo rk" op=md_stat msg="it \"hangs\"\nC:\\""#;
        assert_eq!(lines(&log, &paper), [expected]);
        let (log, _, paper) = log_in(LogFormat::Json);
        log.say(&line);
        let read: serde_json::Value = serde_json::from_str(&lines(&log, &paper)[0]).unwrap();
        assert_eq!((&read["level"], &read["target"]), (&"warn".into(), &"/wo rk".into()));
        assert_eq!((&read["msg"], &read["op"]), (&"it \"hangs\"\nC:\\".into(), &"md_stat".into()));
    }

    #[test]
    fn a_flood_of_one_kind_is_cut_short_and_counted() {
        let (log, clock, paper) = log_in(LogFormat::Logfmt);
        for _ in 0..12 {
            log.warn("flood", "again");
            clock.advance(1_000_000_000);
        }
        log.info("other", "something else");
        assert_eq!(lines(&log, &paper).len(), 5 + 1);
        clock.advance(MINUTE_NS);
        log.warn("flood", "again");
        let written = lines(&log, &paper);
        assert!(written[0].ends_with(r#"kind=flood msg="suppressed 7 more of these""#), "{written:?}");
        assert!(written[1].ends_with(r#"level=warn msg="again""#) && written.len() == 2, "{written:?}");
    }

    #[test]
    fn what_was_suppressed_is_told_at_the_end() {
        let (log, _, paper) = log_in(LogFormat::Json);
        (0..7).for_each(|_| log.warn("flood", "again"));
        assert_eq!(lines(&log, &paper).len(), 5);
        log.log_suppressed(true);
        assert!(lines(&log, &paper)[0].contains("suppressed 2 more"));
    }

    #[test]
    fn a_stream_that_is_not_the_journal_is_stamped() {
        assert!(!is_stderr(None) && !is_stderr(Some("0:0")) && !is_stderr(Some("nonsense")));
        let stat = rustix::fs::fstat(std::io::stderr()).unwrap();
        assert!(is_stderr(Some(&format!("{}:{}", stat.st_dev, stat.st_ino))));
    }
}
