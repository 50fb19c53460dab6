//! The constants of the detectors: what raises an alarm, the three sums, the load that is divided out.

/// Share of lost operations that raises an alarm.
pub const ALARM_LOST: f64 = 0.05;
/// Harmless load at most, either way, as a logarithm.
pub const LOAD: (f64, f64) = (-0.15, 0.8);

/// The harmless load g that a typical slowdown amounts to.
pub fn load(typ: f64) -> f64 {
    if typ > 0.0 { typ.ln().clamp(LOAD.0, LOAD.1).exp() } else { 1.0 }
}

/// What raised an alarm.
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
}

impl Cause {
    /// In the order of the causes.
    pub const NAMES: [&str; 5] = ["typ", "shift", "share", "tail", "lost"];
    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// The constants of a cumulative sum.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// What it raises an alarm as.
    pub cause: Cause,
    /// An operation counts above this level of the baseline ...
    pub level: f64,
    /// ... and above so many times its middle.
    pub least: f64,
    /// Usual share of operations that count, at least.
    pub p0: f64,
    /// Share that it waits for then.
    pub p1: f64,
    /// Limit where operations are independent.
    pub limit: f64,
    /// Whether only the first operation of a run counts.
    pub runs: bool,
}

/// The three sums.
pub const RULES: [Rule; 3] = [
    Rule { cause: Cause::Shift, level: 0.90, least: 1.5, p0: 0.15, p1: 0.40, limit: 12.0, runs: false },
    Rule { cause: Cause::Share, level: 0.995, least: 2.0, p0: 0.01, p1: 0.08, limit: 7.0, runs: true },
    Rule { cause: Cause::Tail, level: 0.999, least: 3.0, p0: 0.003, p1: 0.05, limit: 8.0, runs: true },
];
