//! What the rows of one target must be, from nothing but its plan, its faults, and when it was watched.
//!
//! ```text
//! every tick from the start of the schedule to the end of the watch      one row
//! an operation that begins meets the first fault of then                 its error, or it ends when that lets it
//! a tick that never begins                                               the operation before it is open, or all ops fail
//! operations of one op that are open at a time                           the owner, trials, a predecessor
//! ```

use iosonde_core::sample::{Op, Outcome, Sample};

use crate::faults::{Spell, failed_before, met, slow_before};

/// Longest that an operation takes which meets a fault that multiplies it.
const LENGTHENED_NS: i64 = 10_000_000_000;
/// Longest that an operation takes which meets no fault: medians are 5 ms at most.
const USUAL_NS: i64 = 300_000_000;
/// After failures of all ops a target begins afresh: its longest wait, and some beats.
const AFRESH_NS: i64 = 12_000_000_000;
/// A target that is watched begins within this, and a period.
const BEGINS_NS: i64 = 1_500_000_000;
/// An operation that is open when its target is let go may be any.
const LAST_NS: i64 = 1_000_000_000;

/// A target as it was watched for a while.
#[derive(Debug, Clone)]
pub struct Span {
    pub number: u16,
    pub name: String,
    pub period_ns: i64,
    pub posix: bool,
    pub replacements: usize,
    pub faults: Vec<Spell>,
    pub from_ns: i64,
    pub ended_ns: i64,
    /// Longest that the supervisor was blocked while it was watched.
    pub blocked_ns: i64,
}

impl Span {
    /// Check the rows of one op, ascending by due time, of a schedule that begins at `start_ns`.
    pub fn check(&self, op: Op, start_ns: i64, rows: &[&Sample], what: &str) {
        self.check_ticks(op, start_ns, rows, what);
        let mut last: Option<&Sample> = None;
        for row in rows {
            if row.began_ns.is_some() {
                self.check_begun(op, start_ns, row, what);
                last = Some(row);
            } else {
                self.check_never_begun(op, start_ns, row, last, what);
            }
        }
        self.check_open(rows, what);
    }

    /// Every due tick between begin and end is one row.
    fn check_ticks(&self, op: Op, start_ns: i64, rows: &[&Sample], what: &str) {
        let first = start_ns + self.period_ns / 6 * op as i64;
        let due = (0..).map(|k| first + k * self.period_ns).take_while(|due| *due < self.ended_ns);
        let mut seen = rows.iter().map(|row| row.due_ns);
        for due_ns in due {
            let next = seen.next();
            assert_eq!(next, Some(due_ns), "a tick is no row, or two: {what}");
        }
        // Simulated tidying up runs ahead of everybody else's clock, further when it meets a fault that makes it slow.
        let tidies = |op| matches!(op, Op::MdCreate | Op::MdDelete);
        let lengthened = self
            .faults
            .iter()
            .any(|spell| spell.error().is_none() && (spell.is_of(Op::MdCreate) || spell.is_of(Op::MdDelete)));
        let ahead = match (tidies(op), lengthened) {
            (false, _) => 0,
            (true, false) => USUAL_NS,
            (true, true) => LENGTHENED_NS,
        };
        let beyond = seen.next().is_none_or(|due_ns| due_ns < self.ended_ns + ahead);
        assert!(beyond, "a row that was never due: {what}");
        let begins = self.from_ns + BEGINS_NS + self.period_ns + self.blocked_ns;
        assert!((self.from_ns..=begins).contains(&start_ns), "it begins at {start_ns}: {self:?} {what}");
    }

    fn check_begun(&self, op: Op, start_ns: i64, row: &Sample, what: &str) {
        let began_ns = row.began_ns.unwrap_or(0);
        let late = began_ns - row.due_ns;
        assert!((0..self.period_ns).contains(&late), "it began {late} ns late: {row:?} {what}");
        let met = met(&self.faults, op, began_ns - start_ns);
        let slow = met.is_some_and(|spell| spell.error().is_none());
        let Some(ended_ns) = row.ended_ns else {
            let at_the_end = self.ended_ns - row.due_ns < LAST_NS;
            assert!(row.outcome == Outcome::PENDING && (slow || at_the_end), "{row:?} {what}");
            return;
        };
        if self.posix {
            return; // Its files may miss after faults.
        }
        match met.and_then(Spell::error) {
            None => assert_eq!(row.outcome, Outcome::OK, "{row:?} {what}"),
            Some(error) => assert_eq!(row.outcome.name(), error, "{row:?} {what}"),
        }
        assert!(slow || ended_ns - began_ns < USUAL_NS, "slow without a cause: {row:?} {what}");
    }

    /// `last` began last of the ticks before.
    fn check_never_begun(&self, op: Op, start_ns: i64, row: &Sample, last: Option<&Sample>, what: &str) {
        let open = last.is_some_and(|last| {
            last.ended_ns.is_none_or(|ended_ns| self.free_at(op, start_ns, ended_ns) >= row.due_ns)
        });
        let afresh = failed_before(&self.faults, row.due_ns - start_ns, AFRESH_NS + self.blocked_ns);
        let late = last.is_none() && row.due_ns - start_ns <= self.blocked_ns;
        let creates = |spell: &Spell| spell.is_of(Op::MdCreate) || spell.is_of(Op::MdDelete);
        // There was no file to work on.
        let without = !op.is_data() && row.ended_ns.is_none() && self.faults.iter().any(creates);
        let allowed = match row.outcome {
            Outcome::SKIPPED => open || afresh || late || self.posix,
            // When a quarter of all ticks is missed, fewer are worked on.
            Outcome::SHED => {
                without || slow_before(&self.faults, row.due_ns - start_ns) || self.blocked_ns > 0
            }
            outcome => afresh && outcome.kind() == "error",
        };
        assert!(allowed, "nothing kept it from beginning: {row:?} after {last:?} {self:?} {what}");
    }

    /// When a lane whose operation ended then is free: what tidying up takes counts too, and may meet a fault. A
    /// supervisor that is behind, or ahead of its lanes, may take a tick away a moment late.
    fn free_at(&self, op: Op, start_ns: i64, ended_ns: i64) -> i64 {
        let ended_ns = ended_ns + self.blocked_ns;
        if !matches!(op, Op::MdCreate | Op::MdDelete) {
            return ended_ns;
        }
        let slow =
            |op| met(&self.faults, op, ended_ns - start_ns).is_some_and(|spell| spell.error().is_none());
        if slow(Op::MdCreate) || slow(Op::MdDelete) { i64::MAX } else { ended_ns + USUAL_NS }
    }

    fn check_open(&self, rows: &[&Sample], what: &str) {
        let mut ends: Vec<i64> = Vec::new();
        for row in rows.iter().filter(|row| row.began_ns.is_some()) {
            ends.retain(|end| *end > row.began_ns.unwrap_or(0));
            ends.push(row.ended_ns.unwrap_or(i64::MAX));
            assert!(ends.len() <= 2 + self.replacements, "{} are open at {}: {what}", ends.len(), row.due_ns);
        }
    }
}
