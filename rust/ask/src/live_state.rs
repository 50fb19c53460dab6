//! What verdicts need of a live state, whoever has read it: the agent's `now` from JSON, Python from its dictionaries.
//!
//! What is missing or of another type is None, as in [`crate::state`].

use serde_json::Value;

use crate::state::Members;

/// A table whose members are asked for by name.
pub trait Fields: Sized {
    /// A member; null: there is none.
    fn get(&self, name: &'static str) -> Value;
    /// The tables of a member that is a list of them.
    fn tables(&self, name: &'static str) -> Vec<Self>;
}

impl Fields for &Members {
    fn get(&self, name: &'static str) -> Value {
        (*self).get(name).cloned().unwrap_or_default()
    }

    fn tables(&self, name: &'static str) -> Vec<Self> {
        let list = (*self).get(name).and_then(Value::as_array);
        list.map_or(Vec::new(), |list| list.iter().filter_map(Value::as_object).collect())
    }
}

/// What is known now of one target.
#[derive(Debug, Clone, Default)]
pub struct LiveState {
    /// The probing host.
    pub host: String,
    /// The watched target.
    pub target: String,
    /// Its directory.
    pub path: String,
    /// What the agent calls it; `damaged`: the file is no state.
    pub state: String,
    /// What is wrong with the file.
    pub error: Value,
    /// Instants and durations (ns).
    pub written_ns: i64,
    /// See `written_ns`.
    pub period_ns: i64,
    /// See `written_ns`.
    pub window_ns: Option<i64>,
    /// When the storage saw the file change (ns, UTC).
    pub heard_ns: Option<i64>,
    /// When a copy of it was made for another store (ns, UTC).
    pub shipped_ns: Option<i64>,
    /// When its probe saw the state of another machine in its place (ns, UTC).
    pub namesake_ns: Option<i64>,
    /// Which boot of its machine wrote it.
    pub boot_id: String,
    /// Whether its probe has not said that it ends.
    pub running: bool,
    /// Which server of which target it is about.
    pub component: Option<Members>,
    /// About the target, for people.
    pub notes: Vec<String>,
    /// A row an operation.
    pub ops: Vec<LiveOp>,
}

/// What is known of one operation. Slowdowns are ratios.
#[derive(Debug, Clone, Default)]
pub struct LiveOp {
    /// Its name.
    pub op: String,
    /// What the agent calls it.
    pub state: String,
    /// Of the typical operation in the last window, with its 95 % interval.
    pub slowdown: Option<f64>,
    /// See `slowdown`.
    pub lower: Option<f64>,
    /// See `slowdown`.
    pub upper: Option<f64>,
    /// The same over the whole stretch of a slow one.
    pub stretch: Option<(f64, Option<f64>, Option<f64>)>,
    /// Slowdown of the slowest twentieth.
    pub tail: Option<f64>,
    /// Share of due operations that the storage made late, missing or failed, and the lower end of its interval.
    pub lost: Option<f64>,
    /// See `lost`.
    pub lost_lower: Option<f64>,
    /// Share of due operations that the probing host alone began late, or never.
    pub late: Option<f64>,
    /// Share of cache hits in the last window and the usual one, where fewer hits are the alarm.
    pub cold: Option<(f64, f64)>,
    /// What is usual now / what was usual at first.
    pub climate: Option<f64>,
    /// The 0.95 quantile (ns).
    pub q95_ns: Option<f64>,
    /// Operations of the last window.
    pub n: i64,
    /// Usual latency, ns.
    pub usual_ns: Option<f64>,
    /// Windows that the baseline has learnt.
    pub baseline_windows: i64,
    /// Since when it is slow or fails (ns, UTC).
    pub since_ns: Option<i64>,
    /// When the operation that hangs was due (ns, UTC).
    pub inflight_due_ns: Option<i64>,
    /// The probing host explains that it is slow, or made many operations late.
    pub host_busy: bool,
    /// A part of the operations is slow, the typical one is not.
    pub partly: bool,
    /// How the last operation ended.
    pub outcome: Option<String>,
    /// How far the baseline is.
    pub stage: String,
    /// The kernel function that a stuck operation waits in.
    pub wchan: String,
}

impl LiveState {
    /// The whole state.
    pub fn of<F: Fields>(fields: &F) -> Self {
        let ops = fields.tables("ops").iter().map(LiveOp::of).collect();
        Self { notes: texts(&fields.get("notes")), ops, ..Self::head(fields) }
    }

    /// Without operations and notes: enough to see whether its probe runs.
    pub fn head<F: Fields>(fields: &F) -> Self {
        let text = |name| text(fields.get(name)).unwrap_or_default();
        let integer = |name| fields.get(name).as_i64();
        let component = match fields.get("component") {
            Value::Object(component) if component.get("of").is_some_and(Value::is_string) => Some(component),
            _ => None,
        };
        Self {
            host: text("host"),
            target: text("target"),
            path: text("path"),
            state: text("state"),
            error: fields.get("error"),
            written_ns: integer("written_ns").unwrap_or(0),
            period_ns: integer("period_ns").unwrap_or(0),
            window_ns: integer("window_ns"),
            heard_ns: integer("heard_ns"),
            shipped_ns: integer("shipped_ns"),
            namesake_ns: integer("namesake_ns"),
            boot_id: text("boot_id"),
            running: fields.get("running") == Value::Bool(true),
            component,
            notes: Vec::new(),
            ops: Vec::new(),
        }
    }

    /// The target that a state's server belongs to.
    pub fn whole_target(&self) -> Option<&str> {
        self.component.as_ref()?.get("of")?.as_str()
    }
}

impl LiveOp {
    fn of<F: Fields>(fields: &F) -> Self {
        let word = |name| text(fields.get(name)).unwrap_or_default();
        let integer = |name| fields.get(name).as_i64();
        let number = |name| fields.get(name).as_f64();
        let flag = |name| fields.get(name) == Value::Bool(true);
        Self {
            op: word("op"),
            state: word("state"),
            slowdown: number("slowdown"),
            lower: number("slowdown_lower"),
            upper: number("slowdown_upper"),
            stretch: number("stretch_slowdown")
                .map(|typ| (typ, number("stretch_lower"), number("stretch_upper"))),
            tail: number("tail"),
            lost: number("lost"),
            lost_lower: number("lost_lower"),
            late: number("late"),
            cold: number("hits").zip(number("hits_usual")).filter(|_| word("alarm") == "cache"),
            climate: number("climate"),
            q95_ns: number("q95_ns"),
            n: integer("n_seen").unwrap_or(0),
            usual_ns: number("baseline_ns"),
            baseline_windows: integer("baseline_windows").unwrap_or(0),
            since_ns: integer("since_ns"),
            inflight_due_ns: integer("inflight_due_ns"),
            host_busy: flag("host_busy"),
            partly: flag("partly"),
            outcome: text(fields.get("last_outcome")),
            stage: word("stage"),
            wchan: word("wchan"),
        }
    }
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

fn texts(value: &Value) -> Vec<String> {
    let list = value.as_array().map_or(&[][..], Vec::as_slice);
    list.iter().filter_map(Value::as_str).map(str::to_string).collect()
}
