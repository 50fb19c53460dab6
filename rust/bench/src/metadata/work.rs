//! The timed part: a rank goes through its steps. Nothing here allocates, formats, prints or waits for others.

use std::sync::{Arc, PoisonError};

use rustix::io::Errno;

use super::account::{op_laps, place};
use super::pattern::{Step, Steps};
use super::rank::Rank;
use super::rows::Row;
use super::running::Running;
use super::waiting::Waiting;
use crate::ranks::lap::{End, Lap, Limit};
use iosonde_core::backend::ObjectName;
use iosonde_core::clock::{precise_sleeps, thread_cpu_ns};
use iosonde_core::sample::{Op, Outcome};

/// A rank to which nothing succeeds for this long gives up, however few its failures: each may be a timeout.
pub const GIVE_UP_NS: u64 = 60_000_000_000;

/// A create that ended so has made nothing, or nobody could remove it now; a repair finds what is left.
const UNMADE: [Errno; 11] = [
    Errno::EXIST,
    Errno::ACCESS,
    Errno::PERM,
    Errno::ROFS,
    Errno::TIMEDOUT,
    Errno::CONNREFUSED,
    Errno::CONNRESET,
    Errno::HOSTUNREACH,
    Errno::NETUNREACH,
    Errno::NOTCONN,
    Errno::PIPE,
];

/// One operation that ended.
struct Done {
    outcome: Outcome,
    began_ns: u64,
    ended_ns: u64,
}

impl Rank {
    /// Go on with the phase that was loaded, up to a limit, and say what was done of it so far.
    pub fn go(&mut self, limit: &Limit, waiting_factor: f64) -> Lap {
        let Some(mut running) = self.running.take() else {
            return self.lap(&Running::new(nothing()), End::Done);
        };
        if waiting_factor > 0.0 {
            precise_sleeps();
        }
        let clock = Arc::clone(&self.common.clock);
        let cpu_before = thread_cpu_ns();
        let origin = *running.origin_ns.get_or_insert_with(|| {
            running.waiting = Waiting::new(waiting_factor);
            running.last_ns = clock.monotonic_ns();
            running.last_ns
        });
        running.failures_in_row = 0;
        running.last_ok_ns = clock.monotonic_ns();
        let end = self.steps(&mut running, origin, limit);
        let rows = Arc::clone(&self.rows);
        let size_bytes = self.common.parameters.size_bytes;
        rows.lock().unwrap_or_else(PoisonError::into_inner).settle(&mut self.account, size_bytes);
        running.cpu_ns += thread_cpu_ns() - cpu_before;
        let lap = self.lap(&running, end);
        self.running = Some(running);
        lap
    }

    fn steps(&mut self, running: &mut Running, origin_ns: u64, limit: &Limit) -> End {
        let stop = Arc::clone(&self.common.stop);
        let clock = Arc::clone(&self.common.clock);
        let rows = Arc::clone(&self.rows);
        let mut rows = rows.lock().unwrap_or_else(PoisonError::into_inner);
        let deadline_ns = limit.after_ns.map_or(u64::MAX, |after| origin_ns.saturating_add(after));
        let most_steps = limit.steps.unwrap_or(u64::MAX);
        let give_up = self.common.parameters.give_up;
        loop {
            if running.steps.between() {
                if running.steps.done() >= most_steps.min(running.steps.total()) {
                    return if running.steps.done() == running.steps.total() {
                        End::Done
                    } else {
                        End::Limit
                    };
                }
                if stop.raised() {
                    return End::Stopped;
                }
                if running.last_ns >= deadline_ns {
                    return End::Limit;
                }
                let failing_ns = running.last_ns.saturating_sub(running.last_ok_ns);
                if running.failures_in_row >= give_up
                    || running.failures_in_row > 1 && failing_ns > GIVE_UP_NS
                {
                    return End::Failing;
                }
                if self.gauge.asked() {
                    rows.settle(&mut self.account, self.common.parameters.size_bytes);
                    self.gauge.publish(&self.account);
                }
            }
            let Some(step) = running.steps.next_step() else { return End::Done };
            let done = self.perform(step);
            let latency_ns = done.ended_ns - done.began_ns;
            let ok = done.outcome == Outcome::OK;
            self.gauge.closed(ok);
            if ok {
                running.failures_in_row = 0;
                running.last_ok_ns = done.ended_ns;
            } else {
                running.failures_in_row += 1;
                self.failed(step, &done, &mut running.problems);
            }
            let began_ns = done.began_ns - origin_ns;
            if rows.push(Row { began_ns, latency_ns, op: step.op, outcome: done.outcome }) {
                rows.settle(&mut self.account, self.common.parameters.size_bytes);
            }
            running.last_ns = done.ended_ns;
            if let Some(ns) = running.waiting.after(latency_ns) {
                let began_ns = clock.monotonic_ns();
                clock.sleep_until(began_ns + ns, &stop);
                running.last_ns = clock.monotonic_ns();
                running.waiting.slept(running.last_ns - began_ns);
            }
        }
    }

    #[inline]
    fn perform(&mut self, step: Step) -> Done {
        let name = ObjectName::new(step.object);
        let open = &mut self.open[step.set];
        let size = self.common.parameters.size_bytes;
        let clock = self.common.clock.as_ref();
        let content = match step.op {
            Op::MdCreate => self.content.of(open.id, step.object),
            _ => &[],
        };
        let began_ns = clock.monotonic_ns();
        self.gauge.opened(place(step.op), began_ns);
        let result = match step.op {
            Op::MdCreate => open.backend.create(&name, content).map(|()| size),
            Op::MdStat => open.backend.stat(&name),
            Op::MdRead => open.backend.read(&name, self.content.room()).map(|bytes| bytes as u64),
            _ => open.backend.delete(&name).map(|()| size),
        };
        let ended_ns = clock.monotonic_ns();
        let verify = self.common.parameters.verify && step.op == Op::MdRead;
        let outcome = match result {
            Ok(bytes) if bytes != size => Outcome::SHORT,
            Ok(_) if verify && !self.content.matches(open.id, step.object) => Outcome::CORRUPT,
            Ok(_) => Outcome::OK,
            Err(errno) => Outcome::error(errno),
        };
        Done { outcome, began_ns, ended_ns }
    }

    /// Keep the storage's words, and leave no half-made object behind. Not timed.
    #[cold]
    fn failed(&mut self, step: Step, done: &Done, problems: &mut Vec<(Outcome, String)>) {
        if !problems.iter().any(|(outcome, _)| *outcome == done.outcome) {
            problems.push((done.outcome, self.store.problem().unwrap_or_default()));
        }
        let unmade = UNMADE.iter().any(|&errno| done.outcome == Outcome::error(errno));
        if step.op == Op::MdCreate && !unmade && self.store.capabilities().stores {
            let _ = self.open[step.set].backend.delete(&ObjectName::new(step.object));
        }
    }

    fn lap(&self, running: &Running, end: End) -> Lap {
        let origin = running.origin_ns.unwrap_or(0);
        let clock = self.common.clock.as_ref();
        let since = clock.monotonic_ns().saturating_sub(origin);
        let left_out = self.rows.lock().unwrap_or_else(PoisonError::into_inner).left_out();
        Lap {
            rank: self.number,
            began_ns: clock.wall_ns() - since as i64,
            duration_ns: running.last_ns.saturating_sub(origin),
            end,
            steps: running.steps.done(),
            of_steps: running.steps.total(),
            waited_ns: running.waiting.waited_ns(),
            cpu_ns: running.cpu_ns,
            ops: op_laps(&self.account),
            rows_left_out: left_out,
            problems: running
                .problems
                .iter()
                .map(|(outcome, words)| (outcome.name(), words.clone()))
                .collect(),
        }
    }
}

fn nothing() -> Steps {
    Steps::each(Op::MdStat, Vec::new(), None)
}
