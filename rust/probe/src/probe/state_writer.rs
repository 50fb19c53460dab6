//! Writer of the store's files beside the rows: states, and the windows of a session.

use std::path::{Path, PathBuf};

use super::reading::{self, bytes_of, is_nothing};
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

/// The store of a running session. Nothing here waits for it: the writer's thread does.
pub struct StateWriter {
    /// Writes what is sent to it.
    pub writer: Writer,
    /// Folders and names of the files it writes.
    pub files: Files,
}

/// Places of a session's files in the store.
#[derive(Debug, Clone)]
pub struct Files {
    /// The folder of kept windows.
    pub windows: PathBuf,
    states: PathBuf,
    events: PathBuf,
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
        Ok(Self { writer, files: Files { windows, states, events, baselines, host, window_ns } })
    }
    /// Keep windows, each in the file of its month.
    pub fn remember(&self, plan: &TargetPlan, windows: &[ClosedWindow]) {
        let header = self.files.header(plan);
        for some in windows.chunk_by(|a, b| month_of(a.start_ns) == month_of(b.start_ns)) {
            let path = header.file(&self.files.windows, &slug(&plan.name), some[0].start_ns);
            self.writer.send(Job::Frame { path, head: header.head(), payload: windows::encode(some) });
        }
    }
    /// Replace the file of what is usual of a target.
    pub fn save_baselines(&self, plan: &TargetPlan, accounts: &[LiveOp]) {
        let learnt = Op::ALL.into_iter().zip(accounts.iter().map(LiveOp::guarded));
        let bytes = baselines::encode(&self.files.series(plan), learnt);
        self.writer.send(Job::Replace { path: self.files.baseline_file(plan, "baseline"), bytes });
    }
    /// Append a line to the month's events.
    pub fn keep_event(&self, event: &Event) {
        if let Ok(text) = serde_json::to_string(event) {
            let path = self.files.events.join(month_of(event.began_ns)).with_extension("jsonl");
            self.writer.send(Job::Line { path, text });
        }
    }
    /// Replace the state file of a target.
    pub fn save_state(&self, state: &TargetState) {
        if let Ok(bytes) = serde_json::to_vec(state) {
            let path = self.files.states.join(slug(&state.target)).with_extension("json");
            self.writer.send(Job::Replace { path, bytes });
        }
    }
}

impl Files {
    /// Header shared by the windows of a target.
    pub fn header(&self, plan: &TargetPlan) -> Header {
        Header {
            schema_version: windows::SCHEMA_VERSION,
            host: self.host.clone(),
            target: plan.name.clone(),
            period_ns: plan.period_ns,
            window_ns: self.window_ns,
        }
    }
    /// Reads what an earlier run of the same target and period learnt of the usual times. An unreadable file is moved
    /// aside; the text says why.
    pub fn learnt(&self, plan: &TargetPlan) -> std::io::Result<(Learnt, Option<String>)> {
        let (path, json) = (self.baseline_file(plan, "baseline"), self.baseline_file(plan, "json"));
        let series = self.series(plan);
        let (path, found) = if let Some(bytes) = bytes_of(&path)? {
            // What it was made of, if it was.
            match std::fs::remove_file(&json) {
                Err(error) if !is_nothing(&error) => return Err(error),
                _ => (path, baselines::decode(&series, &bytes)),
            }
        } else {
            let Some(bytes) = bytes_of(&json)? else { return Ok((Learnt::new(), None)) };
            (json, baselines::decode_json(&series, &bytes))
        };
        Ok(found
            .map_or_else(|error| (Learnt::new(), Some(set_aside(&path, &error))), |learnt| (learnt, None)))
    }
    fn series(&self, plan: &TargetPlan) -> Series {
        Series { host: self.host.clone(), target: plan.name.clone(), period_ns: plan.period_ns }
    }
    fn baseline_file(&self, plan: &TargetPlan, extension: &str) -> PathBuf {
        let period_ms = plan.period_ns as f64 / 1e6;
        self.baselines.join(format!("{}.{period_ms}ms.{extension}", slug(&plan.name)))
    }
}

/// Set a file of baselines aside, and say so.
fn set_aside(path: &Path, error: &str) -> String {
    reading::set_aside(path);
    let name = |path: &Path| path.file_name().unwrap_or_default().display().to_string();
    let aside = path.with_extension("unreadable");
    format!(
        "what was usual is learnt anew: baselines/{}: {error}; it was renamed to {}",
        name(path),
        name(&aside)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::probe::past::Remembered;
    use crate::record::disk::RealDisk;
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

    fn remembered(writer: &StateWriter, trailing_ns: u64) -> Vec<Remembered> {
        writer.files.remembered(&RealDisk, &plan(), trailing_ns).unwrap()
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
        let file = first.files.header(&plan).file(&first.files.windows, &slug(&plan.name), 1);
        first.writer.finish();
        let whole = std::fs::read(&file).unwrap();
        std::fs::write(&file, &whole[..whole.len() - 3]).unwrap();
        let second = state_writer(&root);
        assert_eq!(remembered(&second, 500), [known(1_000)]);
        second.remember(&plan, &[window(1_200)]);
        second.writer.finish();
        assert_eq!(remembered(&state_writer(&root), 500), [known(1_000), known(1_200)]);
        assert_eq!(remembered(&state_writer(&root), 5_000).len(), 3);
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn what_is_usual_is_kept_and_a_damaged_file_is_set_aside() {
        let root = std::env::temp_dir().join(format!("iosonde-state-writer-{}", iosonde_core::seed::fresh()));
        let plan = plan();
        let first = state_writer(&root);
        let nothing = |writer: &StateWriter, plan: &TargetPlan| {
            let (learnt, error) = writer.files.learnt(plan).unwrap();
            learnt.is_empty() && error.is_none()
        };
        assert!(nothing(&first, &plan));
        let accounts: Vec<LiveOp> = Op::ALL.map(|op| LiveOp::new(op, plan.period_ns, 60, 60)).into();
        first.save_baselines(&plan, &accounts);
        let file = first.files.baseline_file(&plan, "baseline");
        first.writer.finish();
        let found: Vec<Op> =
            state_writer(&root).files.learnt(&plan).unwrap().0.into_iter().map(|(op, _)| op).collect();
        assert_eq!(found, Op::ALL);
        let other = TargetPlan { period_ns: 7, ..plan.clone() };
        assert!(nothing(&state_writer(&root), &other));
        let mut bytes = std::fs::read(&file).unwrap();
        bytes.truncate(bytes.len() / 2);
        std::fs::write(&file, bytes).unwrap();
        let error = state_writer(&root).files.learnt(&plan).unwrap().1.unwrap();
        assert!(error.contains("renamed to") && error.contains("incomplete"), "{error}");
        assert!(file.with_extension("unreadable").exists() && !file.exists());
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn json_of_before_is_read_until_there_is_a_file_of_now() {
        let root = std::env::temp_dir().join(format!("iosonde-state-writer-{}", iosonde_core::seed::fresh()));
        let plan = plan();
        let first = state_writer(&root);
        let file = first.files.baseline_file(&plan, "json");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let text = format!(
            r#"{{"schema_version": 1, "host": "h", "target": "{}", "period_ns": {}, "ops": {{"md_stat": {}}}}}"#,
            plan.name,
            plan.period_ns,
            include_str!("../record/baselines/young.json")
        );
        std::fs::write(&file, &text).unwrap();
        for _ in 0..2 {
            let learnt = first.files.learnt(&plan).unwrap().0;
            assert_eq!((learnt.len(), learnt[0].0, learnt[0].1.intervals()), (1, Op::MdStat, 40));
        }
        let accounts: Vec<LiveOp> = Op::ALL.map(|op| LiveOp::new(op, plan.period_ns, 60, 60)).into();
        first.save_baselines(&plan, &accounts);
        assert_eq!(first.files.learnt(&plan).unwrap().0.len(), 6);
        assert!(!file.exists());
        std::fs::write(&file, &text[..text.len() / 2]).unwrap();
        std::fs::remove_file(first.files.baseline_file(&plan, "baseline")).unwrap();
        assert!(first.files.learnt(&plan).unwrap().1.unwrap().contains(".json: EOF while parsing"));
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn months_have_files_of_their_own_and_a_foreign_one_is_set_aside() {
        let root = std::env::temp_dir().join(format!("iosonde-state-writer-{}", iosonde_core::seed::fresh()));
        let plan = plan();
        let first = state_writer(&root);
        first.remember(&plan, &[window(0), window(1), window(MONTH_NS), window(2 * MONTH_NS)]);
        let files = first.files.months(&first.files.header(&plan), &slug(&plan.name)).unwrap();
        assert_eq!(files.len(), 3);
        assert_eq!(remembered(&first, u64::MAX / 2).len(), 4);
        assert_eq!(remembered(&first, MONTH_NS as u64), [known(MONTH_NS), known(2 * MONTH_NS)]);
        std::fs::write(&files[2], "something else").unwrap();
        assert_eq!(remembered(&first, 5), [known(MONTH_NS)]);
        assert_eq!(std::fs::read(files[2].with_extension("unreadable")).unwrap(), b"something else");
        std::fs::remove_dir_all(root).unwrap();
    }
}
