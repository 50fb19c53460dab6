//! What a session keeps in the store beside its rows: states, and what its windows amounted to.

use std::path::{Path, PathBuf};

use super::state::{TargetState, slug};
use crate::config::TargetPlan;
use crate::record::baselines::{self, Learnt, Series};
use crate::record::dates::month_of;
use crate::record::event::Event;
use crate::record::job::{Job, Setup};
use crate::record::windows::{self, Header};
use crate::record::writer::Writer;
use iosonde_core::sample::Op;
use iosonde_core::slowdown::live::{ClosedWindow, LiveOp};

/// What a baseline needs to know of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Remembered {
    /// Which op.
    pub op: Op,
    /// Its start, UTC.
    pub start_ns: i64,
    /// Its median service time.
    pub median_ns: i64,
}

/// The store of a running session.
pub struct StateWriter {
    /// Writes what is sent to it.
    pub writer: Writer,
    states: PathBuf,
    events: PathBuf,
    windows: PathBuf,
    baselines: PathBuf,
    host: String,
    window_ns: u64,
}

impl StateWriter {
    /// Start a writer; `inline` means without a thread, for simulations.
    pub fn start(setup: Setup, window_ns: u64, inline: bool) -> std::io::Result<Self> {
        let [states, windows, events, baselines] =
            ["state", "windows", "events", "baselines"].map(|kind| setup.root.join(kind).join(&setup.host));
        let host = setup.header.host.clone();
        let writer = if inline { Writer::inline(setup) } else { Writer::start(setup)? };
        Ok(Self { writer, states, events, windows, baselines, host, window_ns })
    }
    fn header(&self, plan: &TargetPlan) -> Header {
        Header {
            schema_version: windows::SCHEMA_VERSION,
            host: self.host.clone(),
            target: plan.name.clone(),
            period_ns: plan.period_ns,
            window_ns: self.window_ns,
        }
    }
    /// Medians of windows of earlier runs of the same target, period and window length, from the last `trailing_ns`
    /// of them, in the order of their starts. A file that a crash cut short is written anew as far as it is good.
    pub fn remembered(&self, plan: &TargetPlan, trailing_ns: u64) -> Vec<Remembered> {
        let header = self.header(plan);
        let mut found: Vec<Remembered> = Vec::new();
        for path in self.files(&header, &slug(&plan.name)).into_iter().rev() {
            let newest = found.iter().map(|window| window.start_ns).max();
            let oldest = newest.map(|newest| month_of(newest.saturating_sub_unsigned(trailing_ns)));
            if oldest.is_some_and(|month| month_in(&path) < Some(month.as_str())) {
                break;
            }
            found.extend(self.read(&header, &path));
        }
        let newest = found.iter().map(|window| window.start_ns).max().unwrap_or(0);
        let oldest = newest.saturating_sub_unsigned(trailing_ns);
        found.retain(|window| window.start_ns >= oldest);
        found.sort_by_key(|window| window.start_ns);
        found
    }
    /// Files of one series of windows, oldest month first.
    fn files(&self, header: &Header, slug: &str) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(&self.windows) else { return Vec::new() };
        let prefix = header.prefix(slug);
        let ours = |path: &PathBuf| {
            let rest = path.file_name().and_then(|name| name.to_str()?.strip_prefix(&prefix));
            rest.and_then(|rest| rest.strip_suffix(".windows")).is_some_and(|month| month.len() == 7)
        };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(ours).collect();
        paths.sort();
        paths
    }
    fn read(&self, header: &Header, path: &Path) -> Vec<Remembered> {
        let Ok(mut bytes) = std::fs::read(path) else { return Vec::new() };
        let mut found = Vec::new();
        let read = windows::each(&bytes, i64::MIN, i64::MAX, &mut |window| {
            let (op, start_ns) = (window.op, window.start_ns);
            found.extend(window.median_ns().map(|median_ns| Remembered { op, start_ns, median_ns }));
        });
        let Some(read) = read.ok().filter(|read| read.header == *header) else {
            // What cannot be read must not be appended to, nor be lost.
            let _ = std::fs::rename(path, path.with_extension("unreadable"));
            return Vec::new();
        };
        if read.good < bytes.len() {
            bytes.truncate(read.good);
            self.writer.send(Job::Replace { path: path.to_owned(), bytes });
        }
        found
    }
    /// Keep windows, each in the file of its month.
    pub fn remember(&self, plan: &TargetPlan, windows: &[ClosedWindow]) {
        let header = self.header(plan);
        for some in windows.chunk_by(|a, b| month_of(a.start_ns) == month_of(b.start_ns)) {
            let path = header.file(&self.windows, &slug(&plan.name), some[0].start_ns);
            self.writer.send(Job::Frame { path, head: header.head(), payload: windows::encode(some) });
        }
    }
    /// What an earlier run of the same target and period knew of what is usual. A file that cannot be read is set aside; the
    /// error says why.
    pub fn learnt(&self, plan: &TargetPlan) -> Result<Learnt, String> {
        let (path, json) = (self.baseline_file(plan, "baseline"), self.baseline_file(plan, "json"));
        let series = self.series(plan);
        let (path, found) = if let Ok(bytes) = std::fs::read(&path) {
            // What it was made of, if it was; an operation of a store that may be away tells nothing.
            let _ = std::fs::remove_file(&json);
            (path, baselines::decode(&series, &bytes))
        } else {
            let Ok(bytes) = std::fs::read(&json) else { return Ok(Learnt::new()) };
            (json, baselines::decode_json(&series, &bytes))
        };
        found.map_err(|error| {
            let aside = path.with_extension("unreadable");
            let _ = std::fs::rename(&path, &aside);
            let name = |path: &Path| path.file_name().unwrap_or_default().display().to_string();
            format!(
                "what was usual is learnt anew: baselines/{}: {error}; it was renamed to {}",
                name(&path),
                name(&aside)
            )
        })
    }
    /// Replace the file of what is usual of a target.
    pub fn save_baselines(&self, plan: &TargetPlan, accounts: &[LiveOp]) {
        let learnt = Op::ALL.into_iter().zip(accounts.iter().map(LiveOp::guarded));
        let bytes = baselines::encode(&self.series(plan), learnt);
        self.writer.send(Job::Replace { path: self.baseline_file(plan, "baseline"), bytes });
    }
    fn series(&self, plan: &TargetPlan) -> Series {
        Series { host: self.host.clone(), target: plan.name.clone(), period_ns: plan.period_ns }
    }
    fn baseline_file(&self, plan: &TargetPlan, extension: &str) -> PathBuf {
        let period_ms = plan.period_ns as f64 / 1e6;
        self.baselines.join(format!("{}.{period_ms}ms.{extension}", slug(&plan.name)))
    }
    /// Append a line to the month's events.
    pub fn keep_event(&self, event: &Event) {
        if let Ok(text) = serde_json::to_string(event) {
            let path = self.events.join(month_of(event.began_ns)).with_extension("jsonl");
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

/// The month in a file's name.
fn month_in(path: &Path) -> Option<&str> {
    path.file_stem()?.to_str()?.rsplit('.').next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::record::spool;

    const MONTH_NS: i64 = 31 * 86_400 * 1_000_000_000;

    fn state_writer(root: &Path) -> StateWriter {
        let header = spool::Header {
            schema_version: spool::SCHEMA_VERSION,
            run_id: "r".into(),
            host: "h".into(),
            seed: 0,
            segment: 0,
            opened_ns: 0,
            targets: Vec::new(),
        };
        StateWriter::start(Setup::new(root.to_owned(), "h".into(), header), 60, true).unwrap()
    }

    fn window(start_ns: i64) -> ClosedWindow {
        let values_ns = std::array::from_fn(|i| Some(7 + i as i64));
        ClosedWindow { op: Op::MdStat, start_ns, n_due: 9, n_seen: 8, mean_ns: Some(7.5), values_ns }
    }

    fn known(start_ns: i64) -> Remembered {
        Remembered { op: Op::MdStat, start_ns, median_ns: 12 }
    }

    fn plan() -> TargetPlan {
        Config::from_toml("[[target]]\npath = '/t'", "t").unwrap().plans().unwrap().remove(0)
    }

    #[test]
    fn a_torn_file_is_written_anew_and_the_past_is_left_out() {
        let root = std::env::temp_dir().join(format!("iosonde-state-writer-{}", iosonde_core::seed::fresh()));
        let plan = plan();
        let first = state_writer(&root);
        for start_ns in [1, 1_000, 1_100] {
            first.remember(&plan, &[window(start_ns)]);
        }
        let file = first.header(&plan).file(&first.windows, &slug(&plan.name), 1);
        first.writer.finish();
        let whole = std::fs::read(&file).unwrap();
        std::fs::write(&file, &whole[..whole.len() - 3]).unwrap();
        let second = state_writer(&root);
        assert_eq!(second.remembered(&plan, 500), [known(1_000)]);
        second.remember(&plan, &[window(1_200)]);
        second.writer.finish();
        assert_eq!(state_writer(&root).remembered(&plan, 500), [known(1_000), known(1_200)]);
        assert_eq!(state_writer(&root).remembered(&plan, 5_000).len(), 3);
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn what_is_usual_is_kept_and_a_damaged_file_is_set_aside() {
        let root = std::env::temp_dir().join(format!("iosonde-state-writer-{}", iosonde_core::seed::fresh()));
        let plan = plan();
        let first = state_writer(&root);
        assert!(first.learnt(&plan).unwrap().is_empty());
        let accounts: Vec<LiveOp> = Op::ALL.map(|op| LiveOp::new(op, plan.period_ns, 60, 60)).into();
        first.save_baselines(&plan, &accounts);
        let file = first.baseline_file(&plan, "baseline");
        first.writer.finish();
        let found: Vec<Op> =
            state_writer(&root).learnt(&plan).unwrap().into_iter().map(|(op, _)| op).collect();
        assert_eq!(found, Op::ALL);
        let other = TargetPlan { period_ns: 7, ..plan.clone() };
        assert!(state_writer(&root).learnt(&other).unwrap().is_empty());
        let mut bytes = std::fs::read(&file).unwrap();
        bytes.truncate(bytes.len() / 2);
        std::fs::write(&file, bytes).unwrap();
        let error = state_writer(&root).learnt(&plan).err().unwrap();
        assert!(error.contains("renamed to") && error.contains("incomplete"), "{error}");
        assert!(file.with_extension("unreadable").exists() && !file.exists());
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn json_of_before_is_read_until_there_is_a_file_of_now() {
        let root = std::env::temp_dir().join(format!("iosonde-state-writer-{}", iosonde_core::seed::fresh()));
        let plan = plan();
        let first = state_writer(&root);
        let file = first.baseline_file(&plan, "json");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let text = format!(
            r#"{{"schema_version": 1, "host": "h", "target": "{}", "period_ns": {}, "ops": {{"md_stat": {}}}}}"#,
            plan.name,
            plan.period_ns,
            include_str!("../record/baselines/young.json")
        );
        std::fs::write(&file, &text).unwrap();
        for _ in 0..2 {
            let learnt = first.learnt(&plan).unwrap();
            assert_eq!((learnt.len(), learnt[0].0, learnt[0].1.intervals()), (1, Op::MdStat, 40));
        }
        let accounts: Vec<LiveOp> = Op::ALL.map(|op| LiveOp::new(op, plan.period_ns, 60, 60)).into();
        first.save_baselines(&plan, &accounts);
        assert_eq!(first.learnt(&plan).unwrap().len(), 6);
        assert!(!file.exists());
        std::fs::write(&file, &text[..text.len() / 2]).unwrap();
        std::fs::remove_file(first.baseline_file(&plan, "baseline")).unwrap();
        assert!(first.learnt(&plan).err().unwrap().contains(".json: EOF while parsing"));
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn months_have_files_of_their_own_and_a_foreign_one_is_set_aside() {
        let root = std::env::temp_dir().join(format!("iosonde-state-writer-{}", iosonde_core::seed::fresh()));
        let plan = plan();
        let first = state_writer(&root);
        first.remember(&plan, &[window(0), window(1), window(MONTH_NS), window(2 * MONTH_NS)]);
        let files = first.files(&first.header(&plan), &slug(&plan.name));
        assert_eq!(files.len(), 3);
        assert_eq!(first.remembered(&plan, u64::MAX / 2).len(), 4);
        assert_eq!(first.remembered(&plan, MONTH_NS as u64), [known(MONTH_NS), known(2 * MONTH_NS)]);
        std::fs::write(&files[2], "something else").unwrap();
        assert_eq!(first.remembered(&plan, 5), [known(MONTH_NS)]);
        assert_eq!(std::fs::read(files[2].with_extension("unreadable")).unwrap(), b"something else");
        std::fs::remove_dir_all(root).unwrap();
    }
}
