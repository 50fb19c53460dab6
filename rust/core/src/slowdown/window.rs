//! A window of one op: filled row by row, then closed into statistics, the same as SQL computes over raw samples.

use super::quantile::{WINDOW_QUANTILES, WindowStatistics, minimum_count, of_sorted};
use super::recent::Times;
use crate::sample::{Op, Outcome, Sample};

/// Integer statistics of a closed window, in the order of [`ClosedWindow::values_ns`].
pub const STATISTICS: [&str; 24] = [
    "min_ns",
    "q25_lower_ns",
    "q25_ns",
    "q25_upper_ns",
    "q50_lower_ns",
    "q50_ns",
    "q50_upper_ns",
    "q75_lower_ns",
    "q75_ns",
    "q75_upper_ns",
    "q90_lower_ns",
    "q90_ns",
    "q90_upper_ns",
    "q95_lower_ns",
    "q95_ns",
    "q95_upper_ns",
    "q99_lower_ns",
    "q99_ns",
    "q99_upper_ns",
    "max_ns",
    "response_q99_ns",
    "runq_q50_ns",
    "late_q50_ns",
    "unqueued_q50_ns",
];
const MEDIAN: usize = 5;

/// A closed window, worth storing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClosedWindow {
    /// Operation.
    pub op: Op,
    /// Its start, UTC.
    pub start_ns: i64,
    /// Its rows of any outcome, without shed ones.
    pub n_due: u64,
    /// Its successful rows.
    pub n_seen: u64,
    /// Mean service time of these; none without any.
    pub mean_ns: Option<f64>,
    /// Values of [`STATISTICS`]; none for too few rows.
    pub values_ns: [Option<i64>; STATISTICS.len()],
}

impl ClosedWindow {
    /// Its median service time.
    pub fn median_ns(&self) -> Option<i64> {
        self.values_ns[MEDIAN]
    }
    /// Median service time with the ends of its interval.
    pub fn median(&self) -> Option<(i64, (i64, i64))> {
        Some((self.values_ns[MEDIAN]?, (self.values_ns[MEDIAN - 1]?, self.values_ns[MEDIAN + 1]?)))
    }
}

/// Rows of the current window.
#[derive(Debug, Default)]
pub struct OpenWindow {
    rows: Vec<Times>,
}

impl OpenWindow {
    /// Take a row.
    pub fn take(&mut self, sample: &Sample) {
        if sample.outcome == Outcome::SHED {
            return;
        }
        if self.rows.len() == self.rows.capacity() {
            self.rows.reserve_exact(64 + self.rows.len() / 4);
        }
        self.rows.push(Times::of(sample));
    }
    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.rows.capacity() * size_of::<Times>()
    }

    /// Close the window; none without a row.
    pub fn close(self, op: Op, start_ns: i64) -> Option<ClosedWindow> {
        if self.rows.is_empty() {
            return None;
        }
        // One column after the other: all at once they would take twice the room of the rows.
        let all = || self.rows.iter().map(|times| times.sample(op, start_ns));
        let ok = || all().filter(|sample| sample.outcome == Outcome::OK);
        let mut column: Vec<i64> = ok().filter_map(|sample| sample.service_ns()).collect();
        let statistics = WindowStatistics::of(&mut column);
        let enough = column.len() >= minimum_count(0.5);
        let mut values_ns = [None; STATISTICS.len()];
        let mut put = |at: usize, value: Option<i64>| values_ns[at] = value;
        put(0, statistics.min_ns);
        for (i, quantile) in statistics.quantiles.iter().enumerate() {
            put(1 + 3 * i, quantile.map(|q| q.lower as i64));
            put(2 + 3 * i, quantile.map(|q| q.value as i64));
            put(3 + 3 * i, quantile.map(|q| q.upper as i64));
        }
        let after = 1 + 3 * WINDOW_QUANTILES.len();
        put(after, statistics.max_ns);
        drop(column);
        let fill = |values: &mut dyn Iterator<Item = i64>| {
            let mut column: Vec<i64> = values.collect();
            column.sort_unstable();
            column
        };
        let response = fill(&mut all().filter_map(|sample| sample.response_ns()));
        put(after + 1, nearest(&response, 0.99).filter(|_| response.len() >= minimum_count(0.99)));
        let run_queue = fill(&mut ok().filter_map(|sample| sample.control_runq_ns));
        put(after + 2, nearest(&run_queue, 0.5).filter(|_| enough));
        let late = fill(&mut ok().filter_map(|sample| Some(sample.began_ns? - start_ns)));
        put(after + 3, nearest(&late, 0.5));
        let alone = |sample: Sample| Some(sample.service_ns()? - sample.control_runq_ns.unwrap_or(0));
        let unqueued = fill(&mut ok().filter_map(alone));
        put(after + 4, of_sorted(&unqueued, 0.5).map(|q| q.value as i64));
        let (n_due, n_seen) = (self.rows.len() as u64, ok().count() as u64);
        Some(ClosedWindow { op, start_ns, n_due, n_seen, mean_ns: statistics.mean_ns, values_ns })
    }
}

/// The q quantile by nearest rank, from any number of ascending values.
fn nearest(values: &[i64], q: f64) -> Option<i64> {
    let rank = ((q * values.len() as f64).ceil() as usize).max(1);
    values.get(rank - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Cache;

    #[test]
    fn every_row_is_due_and_only_the_ok_ones_are_seen() {
        let mut window = OpenWindow::default();
        let row = |i: i64, outcome| Sample {
            due_ns: i,
            began_ns: Some(i + 2),
            ended_ns: Some(i + 2 + i),
            offset_bytes: None,
            control_runq_ns: Some(1),
            target: 0,
            op: Op::MdStat,
            outcome,
            cache: Cache::Unknown,
        };
        for i in 1..=7 {
            window.take(&row(i * 10, Outcome::OK));
        }
        window.take(&row(1_000, Outcome::TIMEOUT));
        let closed = window.close(Op::MdStat, 0).unwrap();
        assert_eq!((closed.n_due, closed.n_seen), (8, 7));
        assert_eq!((closed.mean_ns, closed.median_ns()), (Some(40.0), Some(40)));
        let value = |name| closed.values_ns[STATISTICS.iter().position(|&n| n == name).unwrap()];
        assert_eq!((value("min_ns"), value("q50_lower_ns"), value("max_ns")), (Some(10), Some(10), Some(70)));
        assert_eq!((value("q90_ns"), value("response_q99_ns")), (None, None));
        assert_eq!((value("late_q50_ns"), value("runq_q50_ns")), (Some(2), Some(1)));
        assert_eq!(value("unqueued_q50_ns"), Some(39));
        assert_eq!(OpenWindow::default().close(Op::MdStat, 0), None);
    }
}
