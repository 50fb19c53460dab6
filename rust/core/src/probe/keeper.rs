//! What a session keeps in the store beside its rows: states, and the windows its baselines rest on.

use std::path::{Path, PathBuf};

use super::state::{TargetState, slug};
use crate::config::TargetPlan;
use crate::record::event::Event;
use crate::record::frames::{Frames, encode};
use crate::record::spool;
use crate::record::writer::{Job, Writer};
use crate::sample::Op;
use crate::slowdown::live::ClosedWindow;

/// Bytes of a remembered window: op, start, median.
const WINDOW: usize = 17;
/// A file of windows longer than this is cut to what still counts: a week of 60 s windows takes a tenth of it.
const REWRITE_BYTES: usize = 16 << 20;

/// The store of a running session.
pub struct Keeper {
    /// Writes what is sent to it.
    pub writer: Writer,
    states: PathBuf,
    events: PathBuf,
    window_ns: u64,
}

impl Keeper {
    /// Start a writer below `root`; `header` is the first segment's.
    pub fn start(root: &Path, header: spool::Header, window_ns: u64) -> std::io::Result<Self> {
        let host = slug(&header.host);
        let writer = Writer::start(root.join("spool").join(&host), header)?;
        let (states, events) = (root.join("state").join(&host), root.join("events").join(&host));
        Ok(Self { writer, states, events, window_ns })
    }
    fn baseline_file(&self, plan: &TargetPlan) -> PathBuf {
        let (period_ms, window_s) = (plan.period_ns / 1_000_000, self.window_ns as f64 / 1e9);
        self.states.join(format!("{}.{period_ms}ms-{window_s}s.baseline", slug(&plan.name)))
    }
    /// Windows of earlier runs of the same target, period and window length, from the last `trailing_ns` of them.
    /// A file that has grown long or was torn by a crash is written anew without what is past.
    pub fn remembered(&self, plan: &TargetPlan, trailing_ns: u64) -> Vec<ClosedWindow> {
        let path = self.baseline_file(plan);
        let Ok(bytes) = std::fs::read(&path) else { return Vec::new() };
        let mut frames = Frames::new(&bytes, 0);
        let mut windows: Vec<ClosedWindow> =
            frames.by_ref().flat_map(|payload| payload.chunks_exact(WINDOW)).filter_map(window).collect();
        let newest = windows.iter().map(|window| window.start_ns).max().unwrap_or(0);
        let oldest = newest.saturating_sub_unsigned(trailing_ns);
        windows.retain(|window| window.start_ns >= oldest);
        if frames.torn().is_some() || bytes.len() > REWRITE_BYTES {
            let bytes = windows.chunks(4096).flat_map(|some| encode(&payload(some))).collect();
            self.writer.send(Job::Replace { path, bytes });
        }
        windows
    }
    /// Keep windows for the next start.
    pub fn remember(&self, plan: &TargetPlan, windows: &[ClosedWindow]) {
        if !windows.is_empty() {
            self.writer.send(Job::Frame { path: self.baseline_file(plan), payload: payload(windows) });
        }
    }
    /// Append a line to the month's events.
    pub fn keep_event(&self, event: &Event) {
        if let Ok(text) = serde_json::to_string(event) {
            let path = self.events.join(month(event.began_ns)).with_extension("jsonl");
            self.writer.send(Job::Line { path, text });
        }
    }
    /// Replace the state file of a target.
    pub fn save_state(&self, state: &TargetState) {
        if let Ok(bytes) = serde_json::to_vec(state) {
            let path = self.states.join(slug(&state.target)).with_extension("json");
            self.writer.send(Job::Replace { path, bytes });
        }
    }
}

/// `2026-11`, of an instant in UTC.
fn month(utc_ns: i64) -> String {
    // Civil calendar from days: years begin in March, so that the leap day is the last.
    let days = utc_ns.div_euclid(86_400_000_000_000) + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153 + 3;
    let (year, month) = (year_of_era + era * 400 + i64::from(month > 12), (month - 1) % 12 + 1);
    format!("{year:04}-{month:02}")
}

fn payload(windows: &[ClosedWindow]) -> Vec<u8> {
    let bytes = windows.iter().flat_map(|window| {
        let mut bytes = vec![window.op as u8];
        bytes.extend(window.start_ns.to_le_bytes());
        bytes.extend(window.median_ns.to_le_bytes());
        bytes
    });
    bytes.collect()
}

fn window(bytes: &[u8]) -> Option<ClosedWindow> {
    let word = |at: usize| Some(i64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    Some(ClosedWindow {
        op: *Op::ALL.get(usize::from(*bytes.first()?))?,
        start_ns: word(1)?,
        median_ns: word(9)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn months_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01"),
            (951_782_399, "2000-02"),
            (951_868_799, "2000-02"),
            (951_868_800, "2000-03"),
            (1_798_761_599, "2026-12"),
            (1_798_761_600, "2027-01"),
            (-1, "1969-12"),
        ] {
            assert_eq!(month(seconds * 1_000_000_000), expected);
        }
    }

    #[test]
    fn a_torn_file_is_written_anew_and_the_past_is_left_out() {
        let root = std::env::temp_dir().join(format!("iosonde-keeper-{}", crate::seed::fresh()));
        let plan = Config::from_toml("[[target]]\npath = '/t'", "t").unwrap().plans().unwrap().remove(0);
        let header = || spool::Header {
            schema_version: spool::SCHEMA_VERSION,
            run_id: "r".into(),
            host: "h".into(),
            seed: 0,
            segment: 0,
            opened_ns: 0,
            targets: Vec::new(),
        };
        let window = |start_ns| ClosedWindow { op: Op::MdStat, start_ns, median_ns: 7 };
        let file = {
            let keeper = Keeper::start(&root, header(), 60).unwrap();
            std::fs::create_dir_all(&keeper.states).unwrap();
            let file = keeper.baseline_file(&plan);
            for start_ns in [1, 1_000, 1_100] {
                keeper.remember(&plan, &[window(start_ns)]);
            }
            keeper.writer.finish();
            file
        };
        let whole = std::fs::read(&file).unwrap();
        std::fs::write(&file, &whole[..whole.len() - 3]).unwrap();
        let keeper = Keeper::start(&root, header(), 60).unwrap();
        assert_eq!(keeper.remembered(&plan, 500), [window(1_000)]);
        keeper.remember(&plan, &[window(1_200)]);
        keeper.writer.finish();
        let keeper = Keeper::start(&root, header(), 60).unwrap();
        assert_eq!(keeper.remembered(&plan, 500), [window(1_000), window(1_200)]);
        keeper.writer.finish();
        std::fs::remove_dir_all(root).unwrap();
    }
}
