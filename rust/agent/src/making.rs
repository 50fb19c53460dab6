//! What the log says while files are made: seldom enough for it, and nothing where nothing is to be made.

use std::collections::BTreeMap;

/// A line about the same part of the same target comes at most this often.
const EVERY_NS: u64 = 15_000_000_000;

/// When each part of each target was last reported.
#[derive(Debug, Default)]
pub struct Making {
    told_ns: BTreeMap<(String, String), u64>,
}

impl Making {
    /// The line for this progress in bytes, if it is time for one. A part that is whole is not reported, nor is the
    /// empty part, with which a preparation only asks whether to go on.
    pub fn line(&mut self, target: &str, what: &str, done: u64, all: u64, now_ns: u64) -> Option<String> {
        if what.is_empty() || done >= all {
            return None;
        }
        let key = (target.to_owned(), what.to_owned());
        if self.told_ns.get(&key).is_some_and(|&told_ns| now_ns.saturating_sub(told_ns) < EVERY_NS) {
            return None;
        }
        self.told_ns.insert(key, now_ns);
        let (shift, unit) = match all {
            0..10_240 => (0, "bytes"),
            10_240..10_485_760 => (10, "KiB"),
            _ => (20, "MiB"),
        };
        Some(format!("making its {what}: {} of {} {unit}", done >> shift, all >> shift))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_lines_a_minute_of_each_part_of_each_target() {
        let mut making = Making::default();
        let mut lines = BTreeMap::new();
        for step in 0..600_u64 {
            for target in ["/a", "/b"] {
                for what in ["big file", "pool"] {
                    if making.line(target, what, step << 20, 600 << 20, step * 100_000_000).is_some() {
                        *lines.entry((target, what)).or_insert(0) += 1;
                    }
                }
            }
        }
        assert_eq!(lines.len(), 4);
        assert!(lines.values().all(|&n| n == 4), "{lines:?}");
    }

    #[test]
    fn what_is_whole_is_not_told_and_small_things_have_small_units() {
        let mut making = Making::default();
        for (what, done, all) in
            [("", 0, 0), ("pool", 0, 0), ("pool", 9, 9), ("big file", 256 << 20, 256 << 20)]
        {
            assert_eq!(making.line("/a", what, done, all, 0), None);
        }
        let mut line = |target, done, all| making.line(target, "pool", done, all, 0);
        assert_eq!(line("/a", 900, 1_000).as_deref(), Some("making its pool: 900 of 1000 bytes"));
        assert_eq!(line("/b", 3 << 10, 250 << 10).as_deref(), Some("making its pool: 3 of 250 KiB"));
        assert_eq!(line("/c", 68 << 20, 256 << 20).as_deref(), Some("making its pool: 68 of 256 MiB"));
    }
}
