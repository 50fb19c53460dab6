//! Judgement of a whole history of intervals, one after the other, as by the live probe.

use super::detect::{Alarm, Detector, LOOK_NS, TICK_NS};
use super::guarded::{EpochChange, Guarded, INTERVAL_NS, Interval, Judged, Stage};
use super::levels::{Levels, RankTable};
use super::limits::Limits;
use super::seen::Seen;
use super::triple::{Expected, Triple};

/// An interval with its judgement and the state of the baseline.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Its slowdown, and true if it was not learnt.
    pub judged: Judged,
    /// Reliability of the expectation.
    pub stage: Stage,
    /// Number of the epoch.
    pub epoch: u32,
}

/// Expectation from an instant on.
#[derive(Debug, Clone, Copy)]
pub struct Version {
    /// First instant of its validity.
    pub from_ns: i64,
    /// The quantile function.
    pub expected: Expected,
    /// Reliability of the expectation.
    pub stage: Stage,
    /// Number of the epoch.
    pub epoch: u32,
    /// Ratio to the reference; none before there is one.
    pub climate: Option<f64>,
}

/// The history of one series.
#[derive(Debug, Default)]
pub struct History {
    /// A row per interval.
    pub rows: Vec<Row>,
    /// All quantile functions, ascending.
    pub versions: Vec<Version>,
    /// All epoch changes.
    pub changes: Vec<EpochChange>,
}

impl History {
    /// Judge intervals in ascending order; `reference` replaces the first epoch's.
    pub fn of(intervals: impl Iterator<Item = Interval>, reference: Option<Expected>) -> Self {
        let mut guarded = Guarded::of_history();
        if let Some(reference) = reference {
            guarded.set_reference(reference);
        }
        let mut history = Self::default();
        let mut version = 0;
        let mut end_ns = i64::MIN;
        for interval in intervals {
            let (stage, epoch) = (guarded.stage(), guarded.epoch());
            let judged = guarded.learn(&interval);
            history.rows.push(Row { judged, stage, epoch });
            end_ns = interval.start_ns + INTERVAL_NS;
            if guarded.version() != version {
                version = guarded.version();
                history.note(&guarded, end_ns);
            }
        }
        let last = guarded.version();
        guarded.refresh();
        if guarded.version() != last {
            history.note(&guarded, end_ns);
        }
        history.changes = guarded.changes().to_vec();
        history
    }

    fn note(&mut self, guarded: &Guarded, from_ns: i64) {
        let Some(&expected) = guarded.expected() else { return };
        let (stage, epoch, climate) = (guarded.stage(), guarded.epoch(), guarded.climate());
        if self.versions.last().is_some_and(|last| last.from_ns == from_ns) {
            self.versions.pop();
        }
        self.versions.push(Version { from_ns, expected, stage, epoch, climate });
    }
}

/// All alarms of a series, raised or ended, ascending; `expected`: the expectation at an operation's due time.
pub fn alarms<'a>(
    rows: &[Seen],
    expected: impl Fn(usize) -> Option<(&'a Expected, Option<&'a Limits>)>,
) -> Vec<Alarm> {
    let mut detector = Detector::default();
    let mut found = Vec::new();
    let mut ranks = RankTable::of_history();
    let (mut from, mut tick_ns) = (0, i64::MIN);
    for (i, row) in rows.iter().enumerate() {
        let tick = row.due_ns.div_euclid(TICK_NS) * TICK_NS;
        if tick > tick_ns && i > 0 {
            while rows[from].due_ns < tick - LOOK_NS {
                from += 1;
                if from == i {
                    break;
                }
            }
            if from < i {
                let known = expected(i - 1);
                let last =
                    Triple::of(&Levels::of_rows(&rows[from..i], &mut ranks), known.map(|known| known.0));
                found.extend(detector.tick(tick, &last, known.and_then(|known| known.1)));
            }
        }
        tick_ns = tick;
        if let Some((_, Some(limits))) = expected(i) {
            detector.take(row.response_ns, limits);
        }
    }
    found
}
