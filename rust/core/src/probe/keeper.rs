//! What a session keeps in the store beside its rows: states, and the windows its baselines rest on.

use std::path::{Path, PathBuf};

use super::state::{TargetState, slug};
use crate::config::TargetPlan;
use crate::record::frames::Frames;
use crate::record::spool;
use crate::record::writer::{Job, Writer};
use crate::sample::Op;
use crate::slowdown::live::ClosedWindow;

/// Bytes of a remembered window: op, start, median.
const WINDOW: usize = 17;

/// The store of a running session.
pub struct Keeper {
    /// Writes what is sent to it.
    pub writer: Writer,
    states: PathBuf,
    window_ns: u64,
}

impl Keeper {
    /// Start a writer below `root`; `header` is the first segment's.
    pub fn start(root: &Path, header: spool::Header, window_ns: u64) -> std::io::Result<Self> {
        let host = slug(&header.host);
        let writer = Writer::start(root.join("spool").join(&host), header)?;
        Ok(Self { writer, states: root.join("state").join(host), window_ns })
    }
    fn baseline_file(&self, plan: &TargetPlan) -> PathBuf {
        let (period_ms, window_s) = (plan.period_ns / 1_000_000, self.window_ns as f64 / 1e9);
        self.states.join(format!("{}.{period_ms}ms-{window_s}s.baseline", slug(&plan.name)))
    }
    /// Windows of earlier runs of the same target, period and window length.
    pub fn remembered(&self, plan: &TargetPlan) -> Vec<ClosedWindow> {
        let path = self.baseline_file(plan);
        let Ok(bytes) = std::fs::read(path) else { return Vec::new() };
        Frames::new(&bytes, 0).flat_map(|payload| payload.chunks_exact(WINDOW)).filter_map(window).collect()
    }
    /// Keep windows for the next start.
    pub fn remember(&self, plan: &TargetPlan, windows: &[ClosedWindow]) {
        let payload: Vec<u8> = windows
            .iter()
            .flat_map(|window| {
                let mut bytes = vec![window.op as u8];
                bytes.extend(window.start_ns.to_le_bytes());
                bytes.extend(window.median_ns.to_le_bytes());
                bytes
            })
            .collect();
        if !payload.is_empty() {
            self.writer.send(Job::Frame { path: self.baseline_file(plan), payload });
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

fn window(bytes: &[u8]) -> Option<ClosedWindow> {
    let word = |at: usize| Some(i64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    Some(ClosedWindow {
        op: *Op::ALL.get(usize::from(*bytes.first()?))?,
        start_ns: word(1)?,
        median_ns: word(9)?,
    })
}
