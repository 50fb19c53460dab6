//! Servers: what is in service, and for how long.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use iosonde_core::seed::Random;

use crate::scenario::Duration;
use crate::waiting::Operation;

/// Servers that keep an operation for a drawn time.
#[derive(Debug)]
pub struct Timed {
    duration: Duration,
    random: Random,
    free: u32,
    begun: u64,
    /// (end, number, operation): what ends in the same tick ends in the order in which it began.
    serving: BinaryHeap<Reverse<(u64, u64, Operation)>>,
}

impl Timed {
    pub fn new(duration: Duration, servers: u32, seed: u64) -> Self {
        let random = Random::stream(seed, "service");
        Self { duration, random, free: servers, begun: 0, serving: BinaryHeap::new() }
    }
    pub fn free(&self) -> bool {
        self.free > 0
    }
    /// Begin, and say how long it takes.
    pub fn begin(&mut self, operation: Operation, now: u64) -> u64 {
        let ticks = draw(&self.duration, &mut self.random);
        self.free -= 1;
        self.begun += 1;
        self.serving.push(Reverse((now + ticks, self.begun, operation)));
        ticks
    }
    /// The next operation that ends by `now`.
    pub fn ended(&mut self, now: u64) -> Option<Operation> {
        let Reverse((end, _, operation)) = *self.serving.peek()?;
        if end > now {
            return None;
        }
        self.serving.pop();
        self.free += 1;
        Some(operation)
    }
    /// When the next one ends.
    pub fn next_end(&self) -> Option<u64> {
        self.serving.peek().map(|Reverse((end, ..))| *end)
    }
    /// Ticks of service that lie after `now`.
    pub fn outstanding(&self, now: u64) -> u64 {
        self.serving.iter().map(|Reverse((end, ..))| end.saturating_sub(now)).sum()
    }
}

/// A service time: at least one tick.
fn draw(duration: &Duration, random: &mut Random) -> u64 {
    let ticks = match duration {
        Duration::Constant(ticks) => *ticks,
        Duration::Exponential(mean) => -mean * random.unit().ln(),
        Duration::Lognormal(mean, cv) => {
            let variance = (1.0 + cv * cv).ln();
            mean * (variance.sqrt() * random.normal() - variance / 2.0).exp()
        }
        Duration::Values(values) => values[random.below(values.len() as u64) as usize],
    };
    (ticks.round() as u64).max(1)
}
