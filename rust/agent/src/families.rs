//! The metric families, as declared in schema/metrics/agent.toml.

/// What a family counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Only goes up.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Buckets, sum and count.
    Histogram,
}

impl Kind {
    /// As written after `# TYPE`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        }
    }
}

/// One family.
#[derive(Debug)]
pub struct Family {
    /// Its name.
    pub name: &'static str,
    /// What it counts as.
    pub kind: Kind,
    /// What it says.
    pub help: &'static str,
}

macro_rules! families {
    ($($id:ident $kind:ident $name:literal $help:literal;)*) => {
        $(#[doc = $help] pub const $id: Family = Family { name: $name, kind: Kind::$kind, help: $help };)*
        /// All of them, in the order of the schema.
        #[cfg(test)]
        pub const ALL: &[&Family] = &[$(&$id),*];
    };
}

families! {
    BUILD_INFO Gauge "iosonde_build_info" "Always 1; says which version runs.";
    RESPONSE Histogram "iosonde_op_duration_seconds" "Response time: from when an operation was due until it ended; skipped ticks count with what blocked them.";
    SERVICE Histogram "iosonde_op_service_duration_seconds" "Service time of operations that ended ok: from the system call to its return.";
    OPS Counter "iosonde_ops_total" "Due operations by how they ended: ok, error, timeout, skipped, shed.";
    MISSED Counter "iosonde_ticks_missed_total" "Ticks that fell due while an earlier operation was still open, those behind an operation that is open now included.";
    IN_FLIGHT Gauge "iosonde_op_inflight_seconds" "How long ago the open operation was due; 0 when none is open.";
    SLOWDOWN Gauge "iosonde_slowdown_ratio" "Slowdown of the typical operation in the last window: its quantiles over those expected, or while learning median over baseline; absent while there are too few samples.";
    SLOWDOWN_LOWER Gauge "iosonde_slowdown_ratio_lower" "Lower end of the slowdown's 95 % interval.";
    SLOWDOWN_UPPER Gauge "iosonde_slowdown_ratio_upper" "Upper end of the slowdown's 95 % interval.";
    TAIL Gauge "iosonde_tail_ratio" "Slowdown of the slowest twentieth, by response time; absent while learning and with too few samples.";
    LOST Gauge "iosonde_lost_ratio" "Share of the last window's due operations that were late or did not end ok.";
    ALARM Gauge "iosonde_alarm" "1 from when a detector finds an operation slow until it has been as usual for five minutes.";
    BASELINE Gauge "iosonde_baseline_seconds" "What is usual: the expected median; absent while learning.";
    CLIMATE Gauge "iosonde_climate_ratio" "What is usual now over what was usual when the baseline first became reliable; absent before.";
    STATE Gauge "iosonde_state" "1 for the state a target is in, 0 for the others.";
    HOST_BUSY Gauge "iosonde_host_busy" "1 when the probing host, not the storage, explains a slowdown.";
    BREAKER Gauge "iosonde_breaker_open" "1 from when an operation is overdue until one has ended in time; meanwhile only trials are made.";
    HANGS Counter "iosonde_hangs_total" "How often the breaker has opened.";
    UP Gauge "iosonde_target_up" "1 while the target is probed; 0 while it is being made ready, cannot be, or hangs before the first operation.";
    WORKERS Gauge "iosonde_workers" "Worker processes: working ones, and those that are stuck or on trial.";
    WORKER_CPU Counter "iosonde_worker_cpu_seconds_total" "Processor time that the target's workers have used.";
    PROBE_BYTES Counter "iosonde_probe_bytes_total" "Bytes that operations have read and written.";
    BUDGET_BYTES Gauge "iosonde_budget_bytes_per_second" "Declared limit of what a target is probed with; the period was stretched to fit. Absent when none is declared.";
    BUDGET_OPS Gauge "iosonde_budget_ops_per_second" "Declared limit of operations. Absent when none is declared.";
    BUDGET_CPU Gauge "iosonde_budget_cpu_ratio" "Declared limit of processor time per second of a target's workers; beyond it the rate is lowered. Absent when none is declared.";
    DIVIDER Gauge "iosonde_rate_divider" "Of how many ticks one is worked on: 1 normally, more while the probe has lowered its rate.";
    LAST_SUCCESS Gauge "iosonde_last_success_timestamp_seconds" "When an operation last ended ok; absent before the first.";
    SPOOL_ROWS Counter "iosonde_spool_rows_total" "Samples written to the spool.";
    SPOOL_WAITING Gauge "iosonde_spool_waiting_rows" "Samples in memory because the store cannot take them.";
    SPOOL_DROPPED Counter "iosonde_spool_dropped_rows_total" "Samples given up because too many waited.";
    SPOOL_ERRORS Counter "iosonde_spool_errors_total" "Failed attempts to write to the store.";
    STORE_FILES Counter "iosonde_store_dropped_files_total" "Files of raw samples removed to keep age, size or free space.";
    STORE_BYTES Counter "iosonde_store_dropped_bytes_total" "Bytes of raw samples removed to keep age, size or free space.";
    STORE_APPENDS Gauge "iosonde_store_waiting_appends" "Events and windows in memory because the store cannot take them.";
    STORE_APPENDS_DROPPED Counter "iosonde_store_dropped_appends_total" "Events and windows given up because too many waited.";
    STORE_FULL Gauge "iosonde_store_full" "1 while the store is short of room: a write was refused for it or too little is free.";
    CLOCK_STEPS Counter "iosonde_clock_steps_total" "How often the wall clock was found to have stepped by more than 1 ms against the monotonic clock.";
    CPU Counter "process_cpu_seconds_total" "Processor time the agent has used, user and system.";
    MEMORY Gauge "process_resident_memory_bytes" "Memory the agent holds.";
    FDS Gauge "process_open_fds" "File descriptors the agent holds.";
    START Gauge "process_start_time_seconds" "When the agent started.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_and_the_code_declare_the_same_families() {
        let schema: toml::Table = toml::from_str(include_str!("../../../schema/metrics/agent.toml")).unwrap();
        let declared: Vec<(&str, &str, &str)> = schema["metric"]
            .as_array()
            .unwrap()
            .iter()
            .map(|metric| {
                let text = |key: &str| metric[key].as_str().unwrap();
                (text("name"), text("kind"), text("description"))
            })
            .collect();
        let coded: Vec<_> = ALL.iter().map(|f| (f.name, f.kind.name(), f.help)).collect();
        assert_eq!(coded, declared);
    }
}
