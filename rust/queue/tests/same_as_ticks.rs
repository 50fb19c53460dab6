//! Random scenarios in fixed order: bit-identical to the tick loop.

mod ticks;

use iosonde_core::seed::Random;
use iosonde_queue::{
    ArrivalTimes, Arrivals, Cache, Client, Discipline, Duration, Kind, Order, PhaseKind, Process, Scenario,
    Service, Simulation, Storage, WhenFull,
};
use ticks::{Happened, TickLoop};

/// Random scenarios of a routine run; `IOSONDE_QUEUE_SCENARIOS` asks for another number.
const SCENARIOS: u64 = 10_000;

fn simulated(scenario: &Scenario, steps: u64) -> (Happened, Vec<Vec<u64>>) {
    let mut simulation = Simulation::new(scenario).expect("a scenario that can be simulated");
    while !simulation.done() {
        simulation.advance(steps);
    }
    let account = simulation.account();
    let totals = account.tallies.iter().map(|tally| {
        let waited: u64 = tally.read_ticks;
        assert!(waited >= tally.longest_read_ticks && tally.read_waits.len() == tally.reads);
        let blocked = [tally.blocked_read_ticks, tally.blocked_write_ticks];
        [
            tally.reads,
            tally.writes_stored,
            tally.writes_executed,
            blocked[0],
            blocked[1],
            tally.cycles,
            tally.lost,
        ]
    });
    let happened = Happened {
        totals: totals.collect(),
        reads: account.reads.iter().map(|read| (read.client, read.due, read.ended)).collect(),
        phases: account
            .phases
            .iter()
            .map(|p| (p.client, p.kind == PhaseKind::Write, p.began, p.ended))
            .collect(),
        busy: account.busy_ticks,
        inside: account.inside_ticks,
        ..Happened::default()
    };
    let traces = account.traces;
    let wide = |counts: &[u32]| counts.iter().map(|count| u64::from(*count)).collect();
    (happened, vec![wide(&traces.reads), wide(&traces.writes), wide(&traces.stored), traces.longest])
}

/// Traces as they follow from single events.
fn binned(scenario: &Scenario, happened: &Happened) -> Vec<Vec<u64>> {
    let bins = scenario.ticks.div_ceil(scenario.bin_ticks) as usize;
    let mut traces = vec![vec![0; bins * scenario.clients.len()]; 4];
    let place = |client: u32, tick: u64| client as usize * bins + (tick / scenario.bin_ticks) as usize;
    for &(client, due, ended) in &happened.reads {
        traces[0][place(client, ended)] += 1;
        let longest = &mut traces[3][place(client, ended)];
        *longest = (ended - due).max(*longest);
    }
    happened.writes.iter().for_each(|&(client, tick)| traces[1][place(client, tick)] += 1);
    happened.stored.iter().for_each(|&(client, tick)| traces[2][place(client, tick)] += 1);
    traces
}

fn client(random: &mut Random) -> Client {
    let weight = 1 + random.below(3) as u32;
    if random.below(4) > 0 {
        let mut part = |most: u64| random.below(3).min(1) * random.below(most);
        let [initial, reads, compute, writes] = [part(120), part(30), part(120), part(200)];
        let initial = initial.max(u64::from(reads + compute + writes == 0));
        return Client::Process(Process { initial, reads, compute, writes, weight });
    }
    let times = match random.below(2) {
        0 => ArrivalTimes::Regular(0.5 + 20.0 * random.unit()),
        _ => {
            let mut at: Vec<u64> = (0..random.below(60)).map(|_| random.below(2_000)).collect();
            at.sort_unstable();
            ArrivalTimes::At(at)
        }
    };
    Client::Arrivals(Arrivals {
        kind: if random.below(2) == 0 { Kind::Read } else { Kind::Write },
        times,
        batch: 1 + random.below(3),
        when_full: if random.below(2) == 0 { WhenFull::Wait } else { WhenFull::Lose },
        weight,
    })
}

fn scenario(random: &mut Random) -> Scenario {
    let every = 1 + random.below(9);
    let cache = (random.below(4) == 0).then(|| {
        let (low, more) = (random.below(8), 1 + random.below(20));
        Cache { writes: low + more + random.below(20), high: low + more, low }
    });
    let clients = if random.below(50) == 0 { 60 + random.below(20) } else { 1 + random.below(5) };
    Scenario {
        ticks: 200 + random.below(1_500),
        bin_ticks: 1 + random.below(150),
        order: Order::Fixed,
        seed: random.bits(),
        most_records: usize::MAX,
        storage: Storage {
            service: match random.below(3) {
                0 => Service::Timed(Duration::Constant(every as f64)),
                _ => Service::Slots(every),
            },
            servers: 1 + random.below(3).saturating_sub(1) as u32,
            queue: [1, 2, 5, 17, 60, u64::MAX][random.below(6) as usize],
            discipline: [Discipline::Fifo, Discipline::Fair, Discipline::ReadsFirst]
                [random.below(3) as usize],
            cache,
        },
        clients: (0..clients).map(|_| client(random)).collect(),
    }
}

#[test]
fn random_scenarios_are_those_of_the_tick_loop() {
    let wanted = std::env::var("IOSONDE_QUEUE_SCENARIOS").ok().and_then(|text| text.parse().ok());
    let mut random = Random::stream(16, "scenarios");
    let mut executed = 0;
    for number in 0..wanted.unwrap_or(SCENARIOS) {
        let scenario = scenario(&mut random);
        let expected = TickLoop::new(&scenario).run();
        executed += expected.reads.len() + expected.writes.len();
        let traces = binned(&scenario, &expected);
        let (mut found, found_traces) = simulated(&scenario, 1 + random.below(1_000));
        found.writes = expected.writes.clone();
        found.stored = expected.stored.clone();
        assert_eq!(found, expected, "scenario {number}: {scenario:?}");
        assert_eq!(found_traces, traces, "scenario {number}: {scenario:?}");
    }
    assert!(executed > 0);
}

#[test]
fn a_simulation_that_stops_early_says_what_happened_until_then() {
    let mut random = Random::stream(17, "stopped");
    for _ in 0..200 {
        let mut whole = scenario(&mut random);
        let mut simulation = Simulation::new(&whole).unwrap();
        simulation.advance(1 + random.below(40));
        let early = simulation.account();
        whole.ticks = simulation.now();
        let expected = TickLoop::new(&whole).run();
        let reads: Vec<_> = early.reads.iter().map(|read| (read.client, read.due, read.ended)).collect();
        assert_eq!(reads, expected.reads);
        let blocked: Vec<_> =
            early.tallies.iter().map(|t| [t.blocked_read_ticks, t.blocked_write_ticks]).collect();
        assert_eq!(blocked, expected.totals.iter().map(|t| [t[3], t[4]]).collect::<Vec<_>>(), "{whole:?}");
        assert_eq!(early.inside_ticks, expected.inside);
    }
}
