//! The whole probe on simulated clocks: as fast as the CPU goes, the same every time.

use std::sync::Arc;

use super::ProbeError;
use super::collector::Summary;
use super::session::{Rig, Session};
use crate::clock::{Clock, SimClock, Stop};
use crate::config::Config;

/// Why a simulation could not run.
#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] crate::config::ConfigError),
    /// A target could not be made ready.
    #[error(transparent)]
    Probe(#[from] ProbeError),
}

/// Run a session from `start_ns` (UTC) for `duration_ns`. Each lane has its own clock, so a hanging operation
/// holds up its own lane only, as threads would.
pub fn simulate(config: Config, start_ns: i64, duration_ns: u64) -> Result<Summary, SimulateError> {
    let clock = SimClock::new(start_ns);
    let flush_ns = config.flush.max(1);
    let mut session = Session::new(config, Arc::new(clock.clone()))?;
    session.write_inline();
    session.prepare(&mut |_, _, _, _| true)?;
    let mut own = Vec::new();
    let begin = clock.monotonic_ns();
    let rig = session.rig(begin, &mut || {
        let lane_clock = clock.sibling();
        own.push(lane_clock.clone());
        Arc::new(lane_clock)
    })?;
    let Rig { mut lanes, mut collector } = rig;
    let never = Stop::default();
    let end = begin + duration_ns;
    let mut now = begin;
    while now < end {
        now = (now + flush_ns).min(end);
        for (lane, clock) in lanes.iter_mut().zip(&own) {
            while lane.next_due_ns() < now {
                clock.sleep_until(lane.next_due_ns(), &never);
                lane.step();
            }
        }
        clock.sleep_until(now, &never);
        collector.round(true);
    }
    Ok(collector.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slowdown::verdict::State;

    const START: i64 = 1_790_000_000_000_000_000;

    fn run(faults: &str, seconds: u64) -> Summary {
        let text = format!(
            "seed = 7\nwindow = '10s'\n[[target]]\npath = '/sim'\nname = 'sim'\nbackend = 'null'\n\
             [target.latency]\nsigma = 0.3\ndata_read = '5ms'\ndata_write = '4ms'\nmd_create = '1ms'\n\
             md_stat = '200us'\nmd_read = '400us'\nmd_delete = '600us'\n{faults}"
        );
        let config = Config::from_toml(&text, "sim").unwrap();
        simulate(config, START, seconds * 1_000_000_000).unwrap()
    }

    #[test]
    fn a_quiet_storage_is_ok() {
        let summary = run("", 600);
        assert_eq!(summary.targets[0].state, State::Stopped);
        for op in &summary.targets[0].ops {
            assert_eq!(op.state, State::Ok, "{}", op.op);
            assert!((op.slowdown.unwrap() - 1.0).abs() < 0.5, "{}: {:?}", op.op, op.slowdown);
        }
    }

    #[test]
    fn a_tripled_read_is_found_and_dated() {
        let summary = run("[[target.fault]]\nop = 'data_read'\nafter = '500s'\nmultiply = 3.0", 600);
        let ops = &summary.targets[0].ops;
        assert_eq!(ops[0].state, State::Slow);
        let since = ops[0].since_ns.unwrap() - START;
        assert!((since - 500_000_000_000).abs() < 10_000_000_000, "{since}");
        assert!(ops[1..].iter().all(|op| op.state == State::Ok));
    }

    #[test]
    fn every_tick_is_accounted_for_during_a_hang() {
        let summary =
            run("[[target.fault]]\nop = 'md_create'\nafter = '100s'\nfor = '30s'\nhang = true", 200);
        let create = &summary.targets[0].ops[2];
        assert!((28..=31).contains(&create.ticks_skipped), "{}", create.ticks_skipped);
        let others = summary.targets[0].ops.iter().filter(|op| op.op != "md_create");
        assert_eq!(others.map(|op| op.ticks_skipped).sum::<u64>(), 0);
    }
}
