//! Constants of the detectors: causes of an alarm, the three sums, the load that is divided out.

/// Least share of lost operations of an alarm.
pub const ALARM_LOST: f64 = 0.05;
/// Added latency of which no verdict is given: what a processor takes to wake, with its caches and clock as they are then.
pub const FLOOR_NS: f64 = 30_000.0;
/// Largest harmless load, either way, as a logarithm.
pub const LOAD: (f64, f64) = (-0.15, 0.8);

/// Harmless load g of a typical slowdown.
pub fn load(typ: f64) -> f64 {
    if typ > 0.0 { typ.ln().clamp(LOAD.0, LOAD.1).exp() } else { 1.0 }
}

/// Cause of an alarm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The typical operation takes twice as long.
    Typ,
    /// Many operations take longer.
    Shift,
    /// A part of them takes much longer.
    Share,
    /// A few of them take very long.
    Tail,
    /// Operations are lost.
    Lost,
    /// Fewer operations come from a cache.
    Cache,
}

impl Cause {
    /// Names in the order of the causes.
    pub const NAMES: [&str; 6] = ["typ", "shift", "share", "tail", "lost", "cache"];
    /// Name of the cause.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// Constants of a cumulative sum.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Cause of its alarm.
    pub cause: Cause,
    /// An operation counts above this level of the baseline ...
    pub level: f64,
    /// ... and above so many times its middle.
    pub least: f64,
    /// Least usual share of operations that count.
    pub p0: f64,
    /// Share of operations that it detects.
    pub p1: f64,
    /// Limit for independent operations.
    pub limit: f64,
    /// True if only the first operation of a run counts.
    pub runs: bool,
}

impl Rule {
    /// Least limit of an op that usually takes `middle_ns`.
    pub fn least_ns(&self, middle_ns: f64) -> f64 {
        (self.least * middle_ns).max(middle_ns + FLOOR_NS)
    }
    /// The share that it detects where `p0` is usual: the odds ratio is its own.
    pub fn detected(&self, p0: f64) -> f64 {
        let odds = p0 / (1.0 - p0) * (self.p1 / (1.0 - self.p1)) / (self.p0 / (1.0 - self.p0));
        odds / (1.0 + odds)
    }
}

/// Exponent of the dispersion in H.
pub const CLUSTERS: f64 = 1.5;

/// Limit of a cumulative sum for one op.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SumLimit {
    /// Cause of its alarm.
    pub cause: Cause,
    /// Latency above which an operation counts, ns.
    pub above_ns: f64,
    /// Step of an operation that counts, and of one that does not.
    pub rise: f64,
    /// See `rise`.
    pub fall: f64,
    /// H.
    pub limit: f64,
    /// True if only the first operation of a run counts.
    pub runs: bool,
}

impl SumLimit {
    /// The limit of a rule for an op of which a share `p0` counts on ordinary days, with a dispersion.
    pub fn of(rule: &Rule, above_ns: f64, p0: f64, dispersion: f64) -> Self {
        let p1 = rule.detected(p0);
        Self {
            cause: rule.cause,
            above_ns,
            rise: (p1 / p0).ln(),
            fall: ((1.0 - p1) / (1.0 - p0)).ln(),
            limit: rule.limit * dispersion.max(1.0).powf(CLUSTERS),
            runs: rule.runs,
        }
    }
}

/// The three sums.
pub const RULES: [Rule; 3] = [
    Rule { cause: Cause::Shift, level: 0.90, least: 1.5, p0: 0.15, p1: 0.40, limit: 12.0, runs: false },
    Rule { cause: Cause::Share, level: 0.995, least: 2.0, p0: 0.01, p1: 0.08, limit: 7.0, runs: true },
    Rule { cause: Cause::Tail, level: 0.999, least: 3.0, p0: 0.003, p1: 0.05, limit: 8.0, runs: true },
];
