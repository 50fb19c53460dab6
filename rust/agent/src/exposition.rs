//! What `/metrics` says, in either format: the families of the agent and their series.

mod content;
pub mod protobuf;
pub mod text;

use std::sync::atomic::Ordering;

use iosonde_core::sample::Op;
use iosonde_core::slowdown::live::{OUTCOME_KINDS, OpState};
use iosonde_core::slowdown::verdict::State;
use iosonde_probe::probe::breaker;
use iosonde_probe::probe::state::TargetState;
use iosonde_probe::probe::view::{View, Watched};

pub use self::content::Content;
use self::content::Value;
use crate::cost::Cost;
use crate::families::{self, Family};

/// What the agent says of itself.
#[derive(Debug, Default)]
pub struct Own {
    /// When it started, UTC.
    pub start_seconds: f64,
    /// Lines of its log that nobody read and that were dropped.
    pub log_lines_dropped: u64,
}

/// The whole page. Without a view (still preparing) only the agent speaks of itself.
pub fn content(view: Option<&View>, own: &Own) -> Content {
    let mut page = Content::default();
    page.family(&families::BUILD_INFO);
    page.line(&[("version", env!("CARGO_PKG_VERSION"))], 1.0);
    if let Some(view) = view {
        let states = view.states(true);
        let watched = view.targets();
        let targets: Vec<_> = watched.iter().map(AsRef::as_ref).zip(&states).collect();
        histograms(&mut page, &targets);
        counters(&mut page, view, &targets);
        gauges(&mut page, &states);
        workers(&mut page, &targets);
        budgets(&mut page, &targets);
        page.per_op(&families::LAST_SUCCESS_TIMESTAMP_SECONDS, &states, |op| {
            op.last_ok_ns.map(|ns| ns as f64 / 1e9)
        });
        spool(&mut page, view);
        page.family(&families::CLOCK_STEPS_TOTAL);
        page.line(&[], view.clock_steps.load(Ordering::Relaxed) as f64);
    }
    page.family(&families::LOG_DROPPED_LINES_TOTAL);
    page.line(&[], own.log_lines_dropped as f64);
    process(&mut page, own.start_seconds);
    page
}

type Targets<'a> = [(&'a Watched, &'a TargetState)];

fn histograms(page: &mut Content, targets: &Targets<'_>) {
    for (family, of) in [(&families::OP_DURATION_SECONDS, 0), (&families::OP_SERVICE_DURATION_SECONDS, 1)] {
        page.family(family);
        for (watched, state) in targets {
            for (op, account) in Op::ALL.iter().zip(watched.accounts().iter()) {
                let histogram = if of == 0 { &account.totals.response } else { &account.totals.service };
                let labels = [("target", state.target.as_str()), ("op", op.name())];
                page.add(&labels, Value::of(histogram));
            }
        }
    }
}

fn counters(page: &mut Content, view: &View, targets: &Targets<'_>) {
    page.family(&families::OPS_TOTAL);
    for (watched, state) in targets {
        for (op, account) in Op::ALL.iter().zip(watched.accounts().iter()) {
            for (kind, &count) in OUTCOME_KINDS.iter().zip(&account.totals.counts) {
                let labels = [("target", state.target.as_str()), ("op", op.name()), ("result", kind)];
                page.line(&labels, count as f64);
            }
        }
    }
    page.family(&families::TICKS_MISSED_TOTAL);
    for (watched, state) in targets {
        for (&op, of) in Op::ALL.iter().zip(&state.ops) {
            let open = view.in_flight(watched, op).map_or(0, |open| open.age_ns / state.period_ns);
            let labels = [("target", state.target.as_str()), ("op", op.name())];
            page.line(&labels, (of.ticks_skipped + open) as f64);
        }
    }
}

fn gauges(page: &mut Content, states: &[TargetState]) {
    let seconds = |ns: f64| ns / 1e9;
    page.per_op(&families::OP_INFLIGHT_SECONDS, states, |op| {
        Some(seconds(op.inflight_ns.unwrap_or(0) as f64))
    });
    page.per_op(&families::SLOWDOWN_RATIO, states, |op| op.slowdown);
    page.per_op(&families::SLOWDOWN_RATIO_LOWER, states, |op| op.slowdown_lower);
    page.per_op(&families::SLOWDOWN_RATIO_UPPER, states, |op| op.slowdown_upper);
    page.per_op(&families::STRETCH_SLOWDOWN_RATIO, states, |op| op.stretch_slowdown);
    page.per_op(&families::STRETCH_SLOWDOWN_RATIO_LOWER, states, |op| op.stretch_lower);
    page.per_op(&families::STRETCH_SLOWDOWN_RATIO_UPPER, states, |op| op.stretch_upper);
    page.per_op(&families::TAIL_RATIO, states, |op| op.tail);
    page.per_op(&families::LOST_RATIO, states, |op| op.lost);
    page.per_op(&families::HIT_RATIO, states, |op| op.hits);
    page.per_op(&families::HIT_RATIO_USUAL, states, |op| op.hits_usual);
    page.per_op(&families::ALARM, states, |op| Some(f64::from(u8::from(op.alarm.is_some()))));
    page.per_op(&families::BASELINE_SECONDS, states, |op| op.baseline_ns.map(seconds));
    page.per_op(&families::CLIMATE_RATIO, states, |op| op.climate);
    page.family(&families::STATE);
    for state in states {
        for (which, name) in State::ALL {
            let labels = [("target", state.target.as_str()), ("state", name)];
            page.line(&labels, f64::from(u8::from(state.state == which)));
        }
    }
    page.family(&families::OP_STATE);
    for state in states {
        for op in &state.ops {
            for name in OpState::VERDICTS {
                let labels = [("target", state.target.as_str()), ("op", op.op), ("state", name)];
                page.line(&labels, f64::from(u8::from(op.verdict() == name)));
            }
        }
    }
    page.per_op(&families::HOST_BUSY, states, |op| Some(f64::from(u8::from(op.host_busy))));
}

fn workers(page: &mut Content, targets: &Targets<'_>) {
    let per_op = |page: &mut Content, family: &'static Family, of: &dyn Fn(&Watched, Op) -> f64| {
        page.family(family);
        for (watched, state) in targets {
            for op in Op::ALL {
                let labels = [("target", state.target.as_str()), ("op", op.name())];
                page.line(&labels, of(watched, op));
            }
        }
    };
    let open = |watched: &Watched, op| f64::from(u8::from(watched.breaker(op) != breaker::State::Closed));
    per_op(page, &families::BREAKER_OPEN, &open);
    per_op(page, &families::HANGS_TOTAL, &|watched, op| watched.hangs(op) as f64);
    page.per_target(&families::TARGET_UP, targets, |watched| Some(f64::from(u8::from(watched.is_running()))));
    page.family(&families::WORKERS);
    for (watched, state) in targets {
        let (all, stuck) = watched.workers();
        for (kind, count) in [("working", all.saturating_sub(stuck)), ("stuck", stuck)] {
            let labels = [("target", state.target.as_str()), ("kind", kind)];
            page.line(&labels, count as f64);
        }
    }
    page.per_target(&families::WORKER_CPU_SECONDS_TOTAL, targets, |watched| {
        Some(watched.cpu_ns() as f64 / 1e9)
    });
    page.per_target(&families::PROBE_BYTES_TOTAL, targets, |watched| Some(watched.bytes() as f64));
}

fn budgets(page: &mut Content, targets: &Targets<'_>) {
    let budget = |watched: &Watched| watched.plan.budget;
    page.per_target(&families::BUDGET_BYTES_PER_SECOND, targets, |w| {
        budget(w).bytes_per_s.map(|bytes| bytes as f64)
    });
    page.per_target(&families::BUDGET_OPS_PER_SECOND, targets, |w| budget(w).ops_per_s);
    page.per_target(&families::BUDGET_CPU_RATIO, targets, |w| {
        budget(w).cpu_ns_per_s.map(|ns| ns as f64 / 1e9)
    });
    page.per_target(&families::RATE_DIVIDER, targets, |watched| Some(watched.divider() as f64));
}

fn spool(page: &mut Content, view: &View) {
    let Some(health) = &view.health else { return };
    for (family, value) in [
        (&families::SPOOL_ROWS_TOTAL, &health.rows_written),
        (&families::SPOOL_WAITING_ROWS, &health.rows_waiting),
        (&families::SPOOL_DROPPED_ROWS_TOTAL, &health.rows_dropped),
        (&families::SPOOL_ERRORS_TOTAL, &health.errors),
        (&families::STORE_DROPPED_FILES_TOTAL, &health.files_dropped),
        (&families::STORE_DROPPED_BYTES_TOTAL, &health.bytes_dropped),
        (&families::STORE_WAITING_APPENDS, &health.appends_waiting),
        (&families::STORE_DROPPED_APPENDS_TOTAL, &health.appends_dropped),
    ] {
        page.family(family);
        page.line(&[], value.load(Ordering::Relaxed) as f64);
    }
    page.family(&families::STORE_FULL);
    let full = health.store_full_since_ns().is_some();
    page.line(&[], f64::from(u8::from(full)));
}

fn process(page: &mut Content, start_seconds: f64) {
    let cost = Cost::now();
    for (family, value) in [
        (&families::PROCESS_CPU_SECONDS_TOTAL, cost.cpu_seconds),
        (&families::PROCESS_RESIDENT_MEMORY_BYTES, cost.resident_bytes as f64),
        (&families::PROCESS_OPEN_FDS, cost.open_fds as f64),
        (&families::PROCESS_START_TIME_SECONDS, start_seconds),
    ] {
        page.family(family);
        page.line(&[], value);
    }
}

impl Content {
    fn per_target(
        &mut self,
        family: &'static Family,
        targets: &Targets<'_>,
        of: impl Fn(&Watched) -> Option<f64>,
    ) {
        self.family(family);
        for (watched, state) in targets {
            if let Some(value) = of(watched) {
                self.line(&[("target", &state.target)], value);
            }
        }
    }

    fn per_op(
        &mut self,
        family: &'static Family,
        states: &[TargetState],
        of: impl Fn(&OpState) -> Option<f64>,
    ) {
        self.family(family);
        for state in states {
            for op in &state.ops {
                let mut labels = vec![("target", state.target.as_str()), ("op", op.op)];
                if family.name.starts_with("iosonde_slowdown_ratio") {
                    labels.push(("stat", "typ"));
                }
                if let Some(value) = of(op) {
                    self.line(&labels, value);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
