//! The metric families of schema/metrics/agent.toml, one constant each, which `build.rs` writes.

// A family that nothing exports is an error.
#![deny(dead_code)]

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

include!(concat!(env!("OUT_DIR"), "/families.rs"));
