use super::text::escaped;
use super::*;

use iosonde_core::clock::SimClock;
use iosonde_core::sample::{Cache, Outcome, Sample};
use iosonde_core::seed::Random;
use iosonde_probe::config::Config;
use iosonde_probe::probe::simulate::Simulation;
use iosonde_probe::record::disk::RealDisk;

const SECOND: i64 = 1_000_000_000;
const HOUR: i64 = 3600;
/// A whole hour, UTC.
const START: i64 = 1_790_002_800 * SECOND;

#[test]
fn labels_cannot_break_out() {
    assert_eq!(escaped("a\"b\\c\nd"), "a\\\"b\\\\c\\nd");
}

#[test]
fn a_page_without_a_view_still_speaks_of_the_agent() {
    let page = text::page(&content(None, &Own { start_seconds: 1.5, ..Own::default() }));
    assert!(page.contains("process_start_time_seconds 1.5"));
    assert!(page.contains("iosonde_build_info{version="));
    assert!(!page.contains("iosonde_state"));
}

/// A probe of one target on simulated clocks.
fn probe(host: &str, period: &str, faults: &str) -> (Simulation, SimClock) {
    let text = format!(
        "seed = 7\nhost = '{host}'\n[probe]\nperiod = '{period}'\n[[target]]\npath = '/work'\nname = '/work'\nbackend = 'null'\n\
         [target.latency]\nsigma = 0.3\ndata_read = '5ms'\ndata_write = '4ms'\nmd_create = '1ms'\n\
         md_stat = '200us'\nmd_read = '400us'\nmd_delete = '600us'\n{faults}"
    );
    let clock = SimClock::new(START);
    let config = Config::from_toml(&text, "sim").unwrap();
    (Simulation::new(config, clock.clone(), Box::new(RealDisk)).unwrap(), clock)
}

fn fault(op: &str, after_s: i64, what: &str) -> String {
    format!("[[target.fault]]\nop = '{op}'\nafter = '{after_s}s'\n{what}\n")
}

/// `/metrics` of a simulated probe.
struct Metrics(String);

impl Metrics {
    fn of(simulation: &Simulation) -> Self {
        Self(text::page(&content(Some(simulation.view()), &Own::default())))
    }
    /// The value of the one line of a family whose labels hold `label`.
    fn value(&self, family: &str, label: &str) -> f64 {
        let begin = format!("{family}{{");
        let mut lines = self.0.lines().filter(|line| line.starts_with(&begin) && line.contains(label));
        let line = lines.next().unwrap_or_else(|| panic!("no {family} of {label}"));
        assert!(lines.next().is_none(), "{family} of {label} twice");
        line.rsplit(' ').next().unwrap().parse().unwrap()
    }
    fn of_op(&self, family: &str, op: &str) -> f64 {
        self.value(family, &format!("op=\"{op}\""))
    }
    fn states(&self) -> Vec<&'static str> {
        let is = |name: &str| self.value("iosonde_state", &format!("state=\"{name}\"")) > 0.0;
        State::ALL.iter().map(|&(_, name)| name).filter(|&name| is(name)).collect()
    }
}

/// As in tests/kit/samples/troubled.py: small reads 2.4x for half an hour, at its end reads 40x for a minute and a half.
#[test]
fn of_several_slow_ops_each_has_its_own_numbers() {
    let mild = fault("md_read", 17 * HOUR / 2, "multiply = 2.4");
    let hard = fault("data_read", 9 * HOUR - 90, "multiply = 40.0");
    let (mut simulation, _) = probe("login2", "2s", &format!("{mild}{hard}"));
    simulation.run_until((9 * HOUR * SECOND) as u64);
    let metrics = Metrics::of(&simulation);
    assert_eq!(metrics.states(), ["slow"]);
    for (op, factor) in [("data_read", 40.0_f64), ("md_read", 2.4), ("md_create", 1.0), ("data_write", 1.0)] {
        let (found, slow) = (metrics.of_op("iosonde_slowdown_ratio", op), factor > 1.0);
        assert!((found / factor).ln().abs() < 0.25, "{op}: {found}");
        assert!(metrics.of_op("iosonde_slowdown_ratio_lower", op) < found);
        assert!(metrics.of_op("iosonde_slowdown_ratio_upper", op) > found);
        assert_eq!(metrics.of_op("iosonde_alarm", op) > 0.0, slow, "{op}");
        let verdict = format!("op=\"{op}\",state=\"{}\"", if slow { "slow" } else { "ok" });
        assert_eq!(metrics.value("iosonde_op_state", &verdict), 1.0, "{op}");
        if slow {
            let whole = metrics.of_op("iosonde_stretch_slowdown_ratio", op);
            assert!((whole / factor).ln().abs() < 0.25, "{op}: {whole}");
        }
        assert_eq!(metrics.of_op("iosonde_host_busy", op), 0.0);
        assert_eq!(metrics.of_op("iosonde_lost_ratio", op), 0.0);
    }
}

#[test]
fn a_hang_on_one_host_of_four_is_on_its_page_alone() {
    for host in ["login0", "login1", "login2", "login3"] {
        let hang = fault("md_create", 900, "for = '600s'\nhang = true");
        let (mut simulation, _) = probe(host, "2s", if host == "login3" { &hang } else { "" });
        simulation.run_until(960 * SECOND as u64);
        let (metrics, hung) = (Metrics::of(&simulation), host == "login3");
        assert_eq!(metrics.states(), [if hung { "hung" } else { "ok" }], "{host}");
        for op in ["data_read", "md_create", "md_stat"] {
            let stuck = hung && op == "md_create";
            assert_eq!(metrics.of_op("iosonde_breaker_open", op) > 0.0, stuck, "{host} {op}");
            assert_eq!(metrics.of_op("iosonde_op_inflight_seconds", op) > 50.0, stuck, "{host} {op}");
            assert_eq!(metrics.of_op("iosonde_hangs_total", op) > 0.0, stuck, "{host} {op}");
            assert_eq!(metrics.of_op("iosonde_host_busy", op), 0.0);
        }
    }
}

/// What an op goes through: latencies times `factor`, of what is added `queued` is the wait for a CPU.
#[derive(Clone, Copy)]
struct Trouble {
    factor: f64,
    queued: f64,
}

/// A busy host holds up a cache hit for so long, ns: about as long as it takes.
const HIT_QUEUED: i64 = 90_000;

/// `/metrics` after nine hours of a row a second in every account; `trouble` of each op in the last minute and a half, on
/// reads that a cache does not answer: of them a share `hits` is answered by one.
fn told(trouble: &dyn Fn(Op) -> Trouble, hits: f64) -> Metrics {
    let (simulation, clock) = probe("login2", "1s", "");
    let targets = simulation.view().targets();
    let mut random = Random::stream(3, "metrics");
    for (&op, account) in Op::ALL.iter().zip(targets[0].accounts().iter_mut()) {
        for k in 0..9 * HOUR {
            let Trouble { factor, queued } = if k >= 9 * HOUR - 90 { trouble(op) } else { CALM };
            let hit = op == Op::DataRead && random.unit() < hits;
            let usual_ns = if hit { 1e5 } else { 5e6 } * (0.3 * random.normal()).exp();
            let (added, queued) = match (hit, queued > 0.0) {
                (true, busy) => (HIT_QUEUED * i64::from(busy), HIT_QUEUED * i64::from(busy)),
                (false, _) => {
                    let added = usual_ns * (factor - 1.0);
                    (added as i64, (added * queued) as i64)
                }
            };
            let due_ns = START + k * SECOND;
            account.take(&Sample {
                due_ns,
                began_ns: Some(due_ns + 1000),
                ended_ns: Some(due_ns + 1000 + usual_ns as i64 + added),
                offset_bytes: None,
                control_runq_ns: Some(queued),
                target: 0,
                op,
                outcome: Outcome::OK,
                cache: Cache::Direct,
            });
        }
    }
    clock.advance((9 * HOUR * SECOND) as u64);
    Metrics::of(&simulation)
}

const CALM: Trouble = Trouble { factor: 1.0, queued: 0.0 };
const BUSY: Trouble = Trouble { factor: 4.0, queued: 1.0 };
const FAULT: Trouble = Trouble { factor: 5.0, queued: 0.2 };

#[test]
fn a_busy_host_is_no_slow_target_and_raises_no_alarm() {
    for hits in [0.0, 0.55] {
        let metrics = told(&|op| if op == Op::DataRead { BUSY } else { CALM }, hits);
        assert_eq!(metrics.states(), ["ok"], "{hits}");
        for op in Op::ALL {
            let busy = f64::from(u8::from(op == Op::DataRead));
            assert_eq!(metrics.of_op("iosonde_host_busy", op.name()), busy, "{hits} {}", op.name());
            assert_eq!(metrics.of_op("iosonde_alarm", op.name()), 0.0, "{hits} {}", op.name());
        }
    }
}

#[test]
fn a_fault_of_the_storage_is_not_excused_by_a_busy_host() {
    let metrics = told(&|op| if op == Op::MdCreate { FAULT } else { BUSY }, 0.0);
    assert_eq!(metrics.states(), ["slow"]);
    for op in Op::ALL {
        let fault = op == Op::MdCreate;
        assert_eq!(metrics.of_op("iosonde_alarm", op.name()) > 0.0, fault, "{}", op.name());
        assert_eq!(metrics.of_op("iosonde_host_busy", op.name()) > 0.0, !fault, "{}", op.name());
    }
}

#[test]
fn reads_whose_median_is_a_cache_hit_are_slow_when_the_storage_is() {
    let metrics = told(&|op| if op == Op::DataRead { FAULT } else { CALM }, 0.55);
    assert_eq!(metrics.states(), ["slow"]);
    assert_eq!(metrics.of_op("iosonde_host_busy", "data_read"), 0.0);
    assert_eq!(metrics.of_op("iosonde_alarm", "data_read"), 1.0);
}
