//! Path of a supervisor's findings into rows, log and events.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::collector::{Collector, Note, sample};
use super::evidence::Evidence;
use super::slot::Tick;
use super::view::Watched;
use super::watch::EventSink;
use crate::record::event::{self, Alarmed, Event};
use iosonde_core::clock::Anchor;
use iosonde_core::sample::{Op, Outcome};
use iosonde_core::slowdown::detect::Alarm;
use iosonde_core::slowdown::rules::Cause;

/// Receiver of the findings of one target's supervisor.
pub struct TargetSink<'a> {
    collector: &'a mut Collector,
    target: Arc<Watched>,
    anchor: Anchor,
}

impl TargetSink<'_> {
    fn emit(&mut self, text: &str, warning: bool) {
        let target = self.target.plan.name.as_str();
        (self.collector.on_note)(Note { target, text, warning });
    }
    fn now_ns(&self) -> i64 {
        self.anchor.utc_ns(self.collector.view.clock.monotonic_ns())
    }
}

impl EventSink for TargetSink<'_> {
    fn row(&mut self, op: Op, tick: Tick) {
        if self.target.is_theirs() {
            return; // The other probe's rows say what happened at this tick.
        }
        self.collector.waiting.push(sample(&tick, self.target.number, op, &self.anchor));
    }

    fn note(&mut self, text: &str) {
        self.emit(text, false);
    }
    fn warn(&mut self, text: &str) {
        self.emit(text, true);
    }

    fn opened(&mut self, op: Option<Op>, since_ns: u64, evidence: Option<Evidence>) {
        self.collector.assess_next();
        let kind = if op.is_some() { "hang" } else { "unreachable" };
        let mut event = self.collector.event(kind, self.anchor.utc_ns(since_ns));
        event.target = Some(self.target.plan.name.clone());
        event.op = op.map(Op::name);
        event.evidence = evidence.unwrap_or_default();
        let wchan = event.evidence.wchan.as_deref().unwrap_or("an unknown place");
        self.warn(&match op {
            Some(op) => format!("{} does not return; waits in {wchan}", op.name()),
            None => format!("cannot be made ready: hanging in {wchan}"),
        });
        self.collector.keep(&event);
        self.collector.events.insert((self.target.number, op), event);
    }

    fn closed(&mut self, op: Option<Op>, ended_ns: u64, outcome: Option<Outcome>, attempts: u32) {
        self.collector.assess_next();
        let Some(mut event) = self.collector.events.remove(&(self.target.number, op)) else { return };
        event.ended_ns = Some(self.anchor.utc_ns(ended_ns));
        event.written_ns = self.now_ns();
        event.outcome = outcome.map(Outcome::name);
        event.attempts = attempts;
        let lasted_s = (event.ended_ns.unwrap_or(0) - event.began_ns) as f64 / 1e9;
        let what = op.map_or("it", Op::name);
        self.note(&format!("{what} answers again after {lasted_s:.1} s"));
        self.collector.keep(&event);
    }
}

impl Collector {
    /// Receiver for the supervisor of a target.
    pub fn sink(&mut self, target: &Arc<Watched>) -> TargetSink<'_> {
        let anchor = self.view.anchor();
        TargetSink { collector: self, target: Arc::clone(target), anchor }
    }

    /// An event that begins now.
    fn event(&mut self, kind: &'static str, began_ns: i64) -> Event {
        self.event_number += 1;
        let view = &self.view;
        Event {
            schema_version: event::SCHEMA_VERSION,
            id: format!("{}-{}", view.run_id, self.event_number),
            kind,
            host: view.host.clone(),
            target: None,
            op: None,
            began_ns,
            ended_ns: None,
            written_ns: view.anchor().utc_ns(view.clock.monotonic_ns()),
            outcome: None,
            attempts: 0,
            slowdown: None,
            evidence: Evidence::default(),
        }
    }

    /// A detector raised an alarm, or it is over.
    pub(super) fn alarmed(&mut self, target: &Watched, op: Op, alarm: &Alarm, since_ns: i64) {
        self.assess_next();
        let key = (target.number, op);
        let known = self.alarms.remove(&key);
        let slowdown = Alarmed {
            cause: alarm.cause.name(),
            raised_ns: alarm.raised_ns,
            peak: alarm.peak,
            peak_tail: alarm.peak_tail,
        };
        let mut event = known.unwrap_or_else(|| Event {
            target: Some(target.plan.name.clone()),
            op: Some(op.name()),
            ..self.event("slow", since_ns)
        });
        event.ended_ns = alarm.cleared_ns;
        event.written_ns = alarm.cleared_ns.unwrap_or(alarm.raised_ns);
        event.slowdown = Some(slowdown);
        let text = match (alarm.cleared_ns, alarm.cause) {
            (Some(_), _) => format!("{} is as usual again", op.name()),
            (None, Cause::Lost) => format!("{} loses operations", op.name()),
            (None, Cause::Cache) => format!("{} comes from a cache less often", op.name()),
            (None, _) => {
                format!(
                    "{} is slow: {:.1} times as long, its tail {:.1} times",
                    op.name(),
                    alarm.peak,
                    alarm.peak_tail
                )
            }
        };
        let warning = alarm.cleared_ns.is_none();
        (self.on_note)(Note { target: &target.plan.name, text: &text, warning });
        self.keep(&event);
        if warning {
            self.alarms.insert(key, event);
        }
    }

    /// An alarm that was raised before the past of the target was known, and would not have been.
    pub(super) fn disarm(&mut self, target: &Watched, op: Op) {
        let Some(mut event) = self.alarms.remove(&(target.number, op)) else { return };
        event.written_ns = self.view.anchor().utc_ns(self.view.clock.monotonic_ns());
        event.ended_ns = Some(event.written_ns);
        let text = format!("{} is as usual, as earlier runs knew it", op.name());
        (self.on_note)(Note { target: &target.plan.name, text: &text, warning: false });
        self.keep(&event);
    }

    /// The store itself is short of room, or no longer.
    pub(super) fn notice_a_full_store(&mut self, now_ns: i64) {
        let Some(health) = &self.view.health else { return };
        let since_ns = health.store_full_since_ns();
        let dropped = health.files_dropped.load(Ordering::Relaxed);
        match (since_ns, self.store_full.take()) {
            (Some(since_ns), None) => {
                let event = self.event("store_full", since_ns);
                let text = "the store is short of room: the oldest raw samples go first, windows stay";
                (self.on_note)(Note { target: "", text, warning: true });
                self.keep(&event);
                self.store_full = Some(event);
            }
            (None, Some(mut event)) => {
                event.ended_ns = Some(now_ns);
                event.written_ns = now_ns;
                let text =
                    format!("the store has room again; {dropped} files of raw samples were dropped so far");
                (self.on_note)(Note { target: "", text: &text, warning: false });
                self.keep(&event);
            }
            (_, unchanged) => self.store_full = unchanged,
        }
    }

    /// The store does not answer, refuses, or has no locks; or does so no longer.
    pub(super) fn notice_a_store_in_trouble(&mut self) {
        let Some(health) = &self.view.health else { return };
        let (now_ns, view) = (self.view.clock.monotonic_ns(), &self.view);
        for (text, warning) in self.store_watch.look(health, now_ns, view.anchor().utc_ns(now_ns), &view.host)
        {
            (self.on_note)(Note { target: "", text: &text, warning });
        }
    }

    fn keep(&self, event: &Event) {
        if let Some(store) = &self.store {
            store.keep_event(event);
        }
    }
}
