//! Speed of the simulator: operations per second of the scenario of figure 5, and the tick loop beside it on a scenario
//! that is idle for 99.9 % of the time. Run alternately, A B B A; `benchmarks/speed/queue_speed.py` prints the table.

#[path = "../tests/ticks/mod.rs"]
mod ticks;

use std::io::Write;

use iosonde_core::clock::thread_cpu_ns;
use iosonde_queue::{Client, Discipline, Order, Process, Scenario, Service, Simulation, Storage};
use ticks::TickLoop;

const ROUNDS: usize = 5;

fn scenario(ticks: u64, queue: u64, order: Order, patterns: &[[u64; 4]]) -> Scenario {
    let client = |&[initial, reads, compute, writes]: &[u64; 4]| {
        Client::Process(Process { initial, reads, compute, writes, weight: 1 })
    };
    Scenario {
        ticks,
        bin_ticks: ticks.div_ceil(500),
        order,
        seed: 1,
        most_records: 0,
        storage: Storage {
            service: Service::Slots(4),
            servers: 1,
            queue,
            discipline: Discipline::Fifo,
            cache: None,
        },
        clients: patterns.iter().map(client).collect(),
    }
}

/// Seconds of the CPU, and operations executed.
fn simulated(scenario: &Scenario) -> (f64, u64) {
    let began = thread_cpu_ns();
    let mut simulation = Simulation::new(scenario).expect("a scenario that can be simulated");
    simulation.advance(u64::MAX);
    let account = simulation.account();
    let operations = account.tallies.iter().map(|tally| tally.reads + tally.writes_executed).sum();
    ((thread_cpu_ns() - began) as f64 / 1e9, operations)
}

fn by_ticks(scenario: &Scenario) -> (f64, u64) {
    let began = thread_cpu_ns();
    let happened = TickLoop::new(scenario).run();
    let operations = happened.totals.iter().map(|totals| totals[0] + totals[2]).sum();
    ((thread_cpu_ns() - began) as f64 / 1e9, operations)
}

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let writer = [0, 0, 6_000, 100_000];
    let reader = [1_000, 200, 1_000, 100];
    let busy = scenario(80_000_000, 500, Order::Random, &[reader, reader, writer]);
    for round in 1..=ROUNDS {
        let (seconds, operations) = simulated(&busy);
        writeln!(out, "figure-5 {round} {operations} {seconds:.6}")?;
    }
    // 250 operations of 4 ticks in every million ticks.
    let idle = scenario(20_000_000, 500, Order::Fixed, &[[999_000, 250, 0, 0]]);
    for round in 1..=ROUNDS {
        let runs = [simulated(&idle), by_ticks(&idle), by_ticks(&idle), simulated(&idle)];
        assert!(runs.iter().all(|run| run.1 == runs[0].1));
        writeln!(
            out,
            "idle {round} {} {:.9} {:.9} {:.9} {:.9}",
            runs[0].1, runs[0].0, runs[1].0, runs[2].0, runs[3].0
        )?;
    }
    Ok(())
}
