//! Adaptive mode against a simulated store: a table `seed,measurement,level,measured,corrected_per_s` as CSV.
//!
//! Every measurement takes all levels in an order of its own. What is measured may be disturbed on purpose: `--noise` is
//! the coefficient of variation of a single measurement, `--drift` the standard deviation of a step of a random walk
//! that all measurements of a run share, in the order they were taken.

mod network;

use std::io::{BufWriter, Write};

use clap::Parser;
use iosonde_core::seed::Random;
use network::Network;

/// Clients that wait between operations, simulated.
#[derive(Debug, Parser)]
struct Options {
    /// First seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many runs, each with the next seed
    #[arg(long, default_value_t = 1)]
    runs: u64,
    /// Clients
    #[arg(long, default_value_t = 100)]
    clients: usize,
    /// Servers of the one queue
    #[arg(long, default_value_t = 1)]
    servers: usize,
    /// Mean service time, microseconds
    #[arg(long, default_value_t = 177.0)]
    service_us: f64,
    /// Mean delay outside of the queue, microseconds
    #[arg(long, default_value_t = 11_800.0)]
    delay_us: f64,
    /// Spread of the clients' mean delays (standard deviation of the logarithm)
    #[arg(long, default_value_t = 0.2)]
    spread: f64,
    /// Background work that a server begins when its queue runs empty, microseconds
    #[arg(long, default_value_t = 0.0)]
    background_us: f64,
    /// Operations of one measurement, the first fifth of which only warm up
    #[arg(long, default_value_t = 30_000)]
    operations: u64,
    /// Waiting factors
    #[arg(long, value_delimiter = ',', default_values_t = [0.0, 0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0])]
    levels: Vec<f64>,
    /// Measurements of every level
    #[arg(long, default_value_t = 5)]
    measurements: u64,
    /// Coefficient of variation of one measurement
    #[arg(long, default_value_t = 0.0)]
    noise: f64,
    /// Step of the random walk from one measurement to the next
    #[arg(long, default_value_t = 0.0)]
    drift: f64,
}

fn main() {
    let options = Options::parse();
    if options.clients == 0 || options.servers == 0 {
        eprintln!("nothing to simulate; expected at least one client and one server");
        std::process::exit(2);
    }
    let mut out = BufWriter::new(std::io::stdout().lock());
    writeln!(out, "seed,measurement,level,measured,corrected_per_s").expect("standard output");
    for seed in options.seed..options.seed + options.runs {
        run(&options, seed, &mut out).expect("standard output");
    }
}

/// One run: all measurements of all levels, each level a stream of randomness of its own.
fn run(options: &Options, seed: u64, out: &mut impl Write) -> std::io::Result<()> {
    let network = Network {
        clients: options.clients,
        servers: options.servers,
        service_s: options.service_us / 1e6,
        delay_s: options.delay_us / 1e6,
        spread: options.spread,
        background_s: options.background_us / 1e6,
        operations: options.operations,
    };
    let delays_s = network.delays_s(&mut Random::stream(seed, "delays"));
    let mut disturbance = Random::stream(seed, "disturbance");
    let mut walked = 0.0;
    for measurement in 0..options.measurements {
        for level in order(options.levels.len(), &mut Random::stream(seed, &format!("order {measurement}"))) {
            let mut random = Random::stream(seed, &format!("network {measurement} {level}"));
            let measured = network.measure(options.levels[level], &delays_s, &mut random);
            walked += options.drift * disturbance.normal();
            let factor =
                (walked + (1.0 + options.noise * options.noise).ln().sqrt() * disturbance.normal()).exp();
            let (nominal, waited) = (options.levels[level], measured.waiting_factor);
            writeln!(out, "{seed},{measurement},{nominal},{waited},{}", measured.corrected_per_s * factor)?;
        }
    }
    Ok(())
}

/// 0 to n - 1 in random order.
fn order(n: usize, random: &mut Random) -> Vec<usize> {
    let mut places: Vec<usize> = (0..n).collect();
    for last in (1..n).rev() {
        places.swap(last, random.below(last as u64 + 1) as usize);
    }
    places
}
