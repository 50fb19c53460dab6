//! Detects another probe that writes the states of this one: two machines of one name share a store.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::disk::Disk;

/// A state names its run within so many bytes.
const HEAD_BYTES: usize = 4096;
/// Text before the run's name; within a string its quotes would be escaped.
const RUN: &str = "\"run_id\":\"";
/// Window for a second strange state: the first may be the last word of an ended probe, a second is another probe's.
const AGAIN_NS: i64 = 60 * 1_000_000_000;

/// Looks at states before they are replaced: what stands where this run has written before is its own, or a namesake's.
#[derive(Debug)]
pub struct NamesakeWatch {
    /// Text that a state of this run contains.
    own: String,
    written: HashSet<PathBuf>,
    strange_ns: Option<i64>,
}

impl NamesakeWatch {
    /// Makes a detector for this run.
    pub fn new(run_id: &str) -> Self {
        Self { own: run_of(run_id), written: HashSet::new(), strange_ns: None }
    }

    /// True if the file that this run is about to replace shows that another probe writes there, too.
    pub fn sees(&mut self, disk: &dyn Disk, path: &Path, now_ns: i64) -> bool {
        let table = path.parent().and_then(Path::parent).and_then(Path::file_name);
        if table.is_none_or(|table| table != "state") || self.written.insert(path.to_owned()) {
            return false; // What an earlier run left is nobody's.
        }
        // What cannot be read says nothing.
        let Ok(head) = disk.head(path, HEAD_BYTES) else { return false };
        let text = String::from_utf8_lossy(&head);
        if !text.contains(RUN) || text.contains(&self.own) {
            return false;
        }
        let before_ns = self.strange_ns.replace(now_ns);
        before_ns.is_some_and(|before_ns| {
            now_ns.saturating_sub(before_ns).unsigned_abs() <= AGAIN_NS.unsigned_abs()
        })
    }
}

fn run_of(run_id: &str) -> String {
    format!("{RUN}{run_id}\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::disk::RealDisk;

    const SECOND: i64 = 1_000_000_000;

    /// A folder for states of host `h`, and what a probe called `run` writes there.
    fn place() -> (PathBuf, PathBuf) {
        let root = std::env::temp_dir().join(format!("iosonde-namesake-{}", iosonde_core::seed::fresh()));
        (root.clone(), root.join("state/h/work.json"))
    }

    fn state(run: &str) -> Vec<u8> {
        format!(r#"{{"schema_version":1,"path":"/\"run_id\":\"a\"","run_id":"{run}","ops":[]}}"#).into_bytes()
    }

    fn write(path: &Path, run: &str) {
        RealDisk.replace(path, &state(run)).unwrap();
    }

    #[test]
    fn two_probes_that_take_turns_find_each_other_and_one_alone_nobody() {
        let (root, path) = place();
        let (mut a, mut b) = (NamesakeWatch::new("a"), NamesakeWatch::new("b"));
        write(&path, "of before");
        let mut seen = (0, 0);
        for second in (0..20).step_by(4) {
            seen.0 += usize::from(a.sees(&RealDisk, &path, second * SECOND));
            write(&path, "a");
            seen.1 += usize::from(b.sees(&RealDisk, &path, (second + 1) * SECOND));
            write(&path, "b");
        }
        assert_eq!(seen, (3, 3));
        let mut alone = NamesakeWatch::new("c");
        for second in 0..20 {
            assert!(!alone.sees(&RealDisk, &path, second * SECOND));
            write(&path, "c");
        }
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn the_last_word_of_a_probe_that_ends_and_what_is_no_state_are_no_namesake() {
        let (root, path) = place();
        let mut own = NamesakeWatch::new("a");
        for (second, found) in [(0, "x"), (4, "late"), (8, "a"), (300, "late"), (304, "a")] {
            write(&path, found);
            assert!(!own.sees(&RealDisk, &path, second * SECOND), "{second}");
        }
        for (second, bytes) in [(310, &b""[..]), (311, b"\xff{}"), (312, b"{\"run_id\":7}")] {
            RealDisk.replace(&path, bytes).unwrap();
            assert!(!own.sees(&RealDisk, &path, second * SECOND));
        }
        std::fs::remove_file(&path).unwrap();
        assert!(!own.sees(&RealDisk, &path, 313 * SECOND));
        let other = root.join("baselines/h/work.baseline");
        for second in 400..410 {
            RealDisk.replace(&other, &state("b")).unwrap();
            assert!(!own.sees(&RealDisk, &other, second * SECOND));
        }
        std::fs::remove_dir_all(root).unwrap();
    }
}
