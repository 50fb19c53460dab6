//! What a session keeps in the store beside its rows: states, and what its windows amounted to.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::reading::{bytes_of, set_aside};
use super::state::{TargetState, slug};
use crate::config::TargetPlan;
use crate::record::dates::month_of;
use crate::record::event::Event;
use crate::record::job::{Job, Setup};
use crate::record::windows::{self, Header};
use crate::record::writer::Writer;
use iosonde_core::sample::Op;
use iosonde_core::slowdown::guarded::Guarded;
use iosonde_core::slowdown::live::{ClosedWindow, LiveOp};

/// Layout of the files of baselines.
const BASELINES_VERSION: u32 = 1;

/// A file of baselines: of each op what is usual, and how it came to be known.
#[derive(Serialize, Deserialize)]
struct Baselines<G = BTreeMap<String, Guarded>> {
    schema_version: u32,
    host: String,
    target: String,
    period_ns: u64,
    ops: G,
}

/// The store of a running session. Nothing here waits for it: the writer's thread does.
pub struct StateWriter {
    /// Writes what is sent to it.
    pub writer: Writer,
    /// Where what it writes lies.
    pub files: Files,
}

/// Where a session's files lie in the store.
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
        let ops: BTreeMap<&str, &Guarded> =
            Op::ALL.iter().zip(accounts).map(|(op, account)| (op.name(), account.guarded())).collect();
        let document = Baselines {
            schema_version: BASELINES_VERSION,
            host: self.files.host.clone(),
            target: plan.name.clone(),
            period_ns: plan.period_ns,
            ops,
        };
        if let Ok(bytes) = serde_json::to_vec(&document) {
            self.writer.send(Job::Replace { path: self.files.baseline_file(plan), bytes });
        }
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
    /// What the windows of a target share.
    pub fn header(&self, plan: &TargetPlan) -> Header {
        Header {
            schema_version: windows::SCHEMA_VERSION,
            host: self.host.clone(),
            target: plan.name.clone(),
            period_ns: plan.period_ns,
            window_ns: self.window_ns,
        }
    }
    /// What an earlier run of the same target and period knew of what is usual. A file that cannot be read is set aside.
    pub fn learnt(&self, plan: &TargetPlan) -> std::io::Result<Vec<(Op, Guarded)>> {
        let path = self.baseline_file(plan);
        let Some(bytes) = bytes_of(&path)? else { return Ok(Vec::new()) };
        let found: Option<Baselines> = serde_json::from_slice(&bytes).ok();
        let ours = |found: &Baselines| {
            found.schema_version == BASELINES_VERSION
                && (found.host.as_str(), found.target.as_str(), found.period_ns)
                    == (self.host.as_str(), plan.name.as_str(), plan.period_ns)
        };
        let Some(found) = found.filter(ours) else {
            set_aside(&path);
            return Ok(Vec::new());
        };
        let known = |(name, guarded): (String, Guarded)| Some((Op::from_name(&name)?, guarded));
        Ok(found.ops.into_iter().filter_map(known).collect())
    }
    fn baseline_file(&self, plan: &TargetPlan) -> PathBuf {
        let period_ms = plan.period_ns as f64 / 1e6;
        self.baselines.join(format!("{}.{period_ms}ms.json", slug(&plan.name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

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
        assert!(first.files.learnt(&plan).unwrap().is_empty());
        let accounts: Vec<LiveOp> = Op::ALL.map(|op| LiveOp::new(op, plan.period_ns, 60, 60)).into();
        first.save_baselines(&plan, &accounts);
        let file = first.files.baseline_file(&plan);
        first.writer.finish();
        let found: Vec<Op> =
            state_writer(&root).files.learnt(&plan).unwrap().into_iter().map(|(op, _)| op).collect();
        assert_eq!(found.len(), 6);
        let other = TargetPlan { period_ns: 7, ..plan.clone() };
        assert!(state_writer(&root).files.learnt(&other).unwrap().is_empty());
        std::fs::write(&file, "{\"schema_version\": 1").unwrap();
        assert!(state_writer(&root).files.learnt(&plan).unwrap().is_empty());
        assert!(file.with_extension("unreadable").exists() && !file.exists());
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
