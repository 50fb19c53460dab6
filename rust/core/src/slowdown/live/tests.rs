use super::*;
use crate::seed::Random;

const SECOND: i64 = 1_000_000_000;

fn row(k: i64, service_ns: i64, runq_ns: i64) -> Sample {
    Sample {
        due_ns: k * SECOND,
        began_ns: Some(k * SECOND + 1000),
        ended_ns: Some(k * SECOND + 1000 + service_ns),
        offset_bytes: None,
        control_runq_ns: Some(runq_ns),
        target: 0,
        op: Op::MdStat,
        outcome: Outcome::OK,
        cache: Cache::Unknown,
    }
}

fn account() -> LiveOp {
    LiveOp::new(Op::MdStat, SECOND as u64, 10 * SECOND as u64, 86_400 * SECOND as u64)
}

#[test]
fn a_tripling_is_slow_since_the_sample_it_began() {
    let mut live = account();
    for k in 0..100 {
        live.take(&row(k, 2_000_000, 0));
    }
    assert_eq!(live.assess(99 * SECOND, None).state, State::Ok);
    for k in 100..110 {
        live.take(&row(k, 6_000_000, 0));
    }
    let state = live.assess(109 * SECOND, None);
    assert_eq!(state.state, State::Slow);
    assert_eq!(state.slowdown, Some(3.0));
    assert_eq!(state.since_ns, Some(100 * SECOND));
    assert!(!state.host_busy);
}

#[test]
fn the_run_queue_explains_what_it_took() {
    let mut live = account();
    for k in 0..100 {
        live.take(&row(k, 2_000_000, 0));
    }
    for k in 100..110 {
        live.take(&row(k, 6_000_000, 4_100_000));
    }
    assert!(live.assess(109 * SECOND, None).host_busy);
}

#[test]
fn no_number_from_too_few() {
    let mut live = account();
    for k in 0..5 {
        live.take(&row(k, 2_000_000, 0));
    }
    let state = live.assess(5 * SECOND, None);
    assert_eq!((state.state, state.median_ns, state.slowdown), (State::Learning, None, None));
}

#[test]
fn a_clock_set_back_is_followed_at_once() {
    let mut live = account();
    for k in 10_000..10_100 {
        live.take(&row(k, 2_000_000, 0));
    }
    live.set_back();
    for k in 0..100 {
        live.take(&row(k, 6_000_000, 0));
    }
    let state = live.assess(99 * SECOND, None);
    assert_eq!((state.n_due, state.baseline_ns), (10, Some(6_000_000.0)));
}

#[test]
fn hung_and_failing_have_their_own_words() {
    let mut live = account();
    let open = InFlight { due_ns: 7 * SECOND, age_ns: 5 * SECOND as u64 };
    let state = live.assess(12 * SECOND, Some(open));
    assert_eq!((state.state, state.since_ns), (State::Hung, Some(7 * SECOND)));
    for k in 20..23 {
        live.take(&Sample { outcome: Outcome::error(rustix::io::Errno::IO), ..row(k, 1, 0) });
    }
    let state = live.assess(23 * SECOND, None);
    assert_eq!((state.state, state.since_ns), (State::Failing, Some(20 * SECOND)));
    assert_eq!(state.last_outcome.as_deref(), Some("EIO"));
}

/// A second of a lognormal op, at one a second.
fn second(random: &mut Random, k: i64, factor: f64) -> Sample {
    row(k, (2e6 * factor * (0.4 * random.normal()).exp()) as i64, 0)
}

fn live_for(
    live: &mut LiveOp,
    random: &mut Random,
    seconds: std::ops::Range<i64>,
    factor: f64,
) -> Vec<(Alarm, i64)> {
    seconds.filter_map(|k| live.take(&second(random, k, factor)).alarm).collect()
}

fn minutes() -> LiveOp {
    LiveOp::new(Op::MdStat, SECOND as u64, 60 * SECOND as u64, 86_400 * SECOND as u64)
}

#[test]
fn after_an_hour_it_compares_with_quantiles_and_after_six_it_raises_alarms() {
    let (mut live, mut random) = (minutes(), Random::stream(1, "live"));
    assert_eq!(live_for(&mut live, &mut random, 0..4 * 3600, 1.0), []);
    let state = live.assess((4 * 3600 - 1) * SECOND, None);
    assert_eq!((state.state, state.stage, state.baseline_windows), (State::Ok, "early", 23));
    assert!((state.slowdown.unwrap()).ln().abs() < 0.2 && state.tail.unwrap() < 2.0);
    assert_eq!((state.lost, state.alarm), (Some(0.0), None));
    let early = live_for(&mut live, &mut random, 4 * 3600..4 * 3600 + 120, 5.0);
    assert_eq!(early, [], "what is usual of an alarm's numbers is not known yet");
    assert_eq!(live.assess((4 * 3600 + 119) * SECOND, None).state, State::Slow);
    let began = 8 * 3600;
    assert_eq!(live_for(&mut live, &mut random, 4 * 3600 + 120..began, 1.0), []);
    assert_eq!(live.assess((began - 1) * SECOND, None).state, State::Ok);
    let alarms = live_for(&mut live, &mut random, began..began + 120, 5.0);
    let (alarm, since_ns) = alarms[0];
    assert!(alarm.raised_ns <= (began + 60) * SECOND, "{alarm:?}");
    assert!((since_ns - began * SECOND).abs() <= 3 * SECOND, "{since_ns}");
    let state = live.assess((began + 119) * SECOND, None);
    assert_eq!((state.state, state.alarm_ns, state.partly), (State::Slow, Some(alarm.raised_ns), false));
    assert!((state.slowdown.unwrap() / 5.0).ln().abs() < 0.15, "{state:?}");
    assert!((state.since_ns.unwrap() - began * SECOND).abs() <= 3 * SECOND);
    let over = live_for(&mut live, &mut random, began + 120..began + 1000, 1.0);
    assert!(over.len() == 1 && over[0].0.cleared_ns.is_some(), "{over:?}");
}

#[test]
fn an_alarm_of_losses_begins_with_the_first_of_them() {
    let (mut live, mut random) = (minutes(), Random::stream(3, "live"));
    live_for(&mut live, &mut random, 0..8 * 3600, 1.0);
    let mut alarms = Vec::new();
    for k in 8 * 3600..8 * 3600 + 60 {
        let failed = Sample { outcome: Outcome::CORRUPT, ..second(&mut random, k, 1.0) };
        alarms.extend(live.take(&failed).alarm);
    }
    assert_eq!((alarms[0].0.cause, alarms[0].1), (Cause::Lost, 8 * 3600 * SECOND));
}

#[test]
fn a_part_that_is_slow_is_slow_though_the_typical_operation_is_not() {
    let (mut live, mut random) = (minutes(), Random::stream(2, "live"));
    live_for(&mut live, &mut random, 0..8 * 3600, 1.0);
    for k in 8 * 3600..8 * 3600 + 300 {
        live.take(&second(&mut random, k, if k % 8 == 0 { 30.0 } else { 1.0 }));
    }
    let state = live.assess((8 * 3600 + 299) * SECOND, None);
    assert!(state.slowdown.unwrap() < 1.5 && state.tail.unwrap() > 5.0, "{state:?}");
    assert_eq!((state.state, state.since_ns, state.partly), (State::Slow, state.alarm_ns, true));
    assert!(state.alarm.is_some());
}

/// A minute of operations of which every fourth begins half a second late; `held_up` by the one before, which goes on until
/// then, or else by the host.
fn late_minute(seed: u64, held_up: bool) -> OpState {
    let (mut live, mut random) = (minutes(), Random::stream(seed, "live"));
    live_for(&mut live, &mut random, 0..2 * 3600, 1.0);
    for k in 2 * 3600..2 * 3600 + 60 {
        let on_time = second(&mut random, k, 1.0);
        let by = if k % 4 == 1 { SECOND / 2 } else { 0 };
        let long = if held_up && k % 4 == 0 { 5 * SECOND / 4 } else { 0 };
        live.take(&Sample {
            began_ns: on_time.began_ns.map(|ns| ns + by),
            ended_ns: on_time.ended_ns.map(|ns| ns + by + long),
            ..on_time
        });
    }
    live.assess((2 * 3600 + 59) * SECOND, None)
}

#[test]
fn operations_that_others_held_up_are_lost_and_count_in_the_tail() {
    let state = late_minute(3, true);
    assert_eq!((state.lost, state.late, state.host_busy), (Some(0.25), Some(0.0), false));
    assert!(state.tail.unwrap() > 50.0);
}

#[test]
fn operations_that_the_host_began_late_are_the_hosts() {
    let state = late_minute(3, false);
    assert_eq!((state.lost, state.late, state.host_busy), (Some(0.0), Some(0.25), true));
    assert_eq!(state.state, State::Ok);
    assert!(state.tail.unwrap() < 2.0 && state.slowdown.unwrap() < 1.5);
}

#[test]
fn ticks_that_the_host_missed_are_told_and_not_lost() {
    let (mut live, mut random) = (minutes(), Random::stream(5, "live"));
    live_for(&mut live, &mut random, 0..600, 1.0);
    for k in 600..660 {
        let row = second(&mut random, k, 1.0);
        let missed = Sample { began_ns: None, ended_ns: None, outcome: Outcome::SHED, ..row };
        live.take(if k % 3 == 0 { &missed } else { &row });
    }
    let state = live.assess(659 * SECOND, None);
    assert_eq!((state.n_due, state.n_lost, state.lost), (40, 0, Some(0.0)));
    assert!((state.late.unwrap() - 1.0 / 3.0).abs() < 1e-9 && state.host_busy, "{state:?}");
}

#[test]
fn a_slow_storage_is_slow_though_the_host_is_late() {
    let (mut live, mut random) = (minutes(), Random::stream(6, "live"));
    live_for(&mut live, &mut random, 0..2 * 3600, 1.0);
    for k in 2 * 3600..2 * 3600 + 60 {
        let slow = row(k, 400_000_000, 0);
        let late = |ns: Option<i64>| ns.map(|ns| ns + 150_000_000);
        live.take(&Sample { began_ns: late(slow.began_ns), ended_ns: late(slow.ended_ns), ..slow });
    }
    let state = live.assess((2 * 3600 + 59) * SECOND, None);
    assert_eq!((state.state, state.host_busy, state.lost), (State::Slow, false, Some(0.0)), "{state:?}");
}

/// Reads of which 45 % are cached (0.1 ms), the others 8 ms; `factor` on the uncached ones.
fn read(random: &mut Random, k: i64, hits: f64, factor: f64, runq_ns: i64) -> Sample {
    let hit = random.unit() < hits;
    let (median, sigma) = if hit { (1e5, 0.25) } else { (8e6 * factor, 0.5) };
    Sample { op: Op::DataRead, ..row(k, (median * (sigma * random.normal()).exp()) as i64, runq_ns) }
}

#[test]
fn a_short_run_queue_does_not_excuse_slow_reads_of_two_modes() {
    for seed in 0..20 {
        let (mut live, mut random) = (minutes(), Random::stream(seed, "modes"));
        for k in 0..2 * 3600 {
            live.take(&read(&mut random, k, 0.45, 1.0, 50_000));
        }
        for k in 2 * 3600..2 * 3600 + 60 {
            live.take(&read(&mut random, k, 0.55, 4.0, 90_000));
        }
        let state = live.assess((2 * 3600 + 59) * SECOND, None);
        assert_eq!((state.state, state.host_busy), (State::Slow, false), "seed {seed}: {state:?}");
        for k in 2 * 3600 + 60..2 * 3600 + 120 {
            let slow = read(&mut random, k, 0.55, 1.0, 0);
            live.take(&Sample {
                ended_ns: slow.ended_ns.map(|ns| ns + 30_000_000),
                control_runq_ns: Some(30_000_000),
                ..slow
            });
        }
        let state = live.assess((2 * 3600 + 119) * SECOND, None);
        assert!(state.host_busy, "seed {seed}: {state:?}");
    }
}

#[test]
fn what_is_usual_survives_a_restart() {
    let (mut live, mut random) = (minutes(), Random::stream(4, "live"));
    live_for(&mut live, &mut random, 0..2 * 3600, 1.0);
    let saved = live.guarded().encode();
    let mut next = minutes();
    next.resume(Guarded::decode(&saved).unwrap());
    for k in 2 * 3600..2 * 3600 + 60 {
        next.take(&second(&mut random, k, 3.0));
    }
    let state = next.assess((2 * 3600 + 59) * SECOND, None);
    assert_eq!((state.state, state.stage), (State::Slow, "early"));
    assert!((state.slowdown.unwrap() / 3.0).ln().abs() < 0.2);
}

#[test]
fn a_cache_that_stops_is_an_alarm_of_its_own_until_it_serves_again() {
    let (mut live, mut random) = (minutes(), Random::stream(9, "live"));
    let began = 32 * 3600;
    let before: Vec<_> =
        (0..began).filter_map(|k| live.take(&read(&mut random, k, 0.5, 1.0, 0)).alarm).collect();
    assert_eq!(before, []);
    let usual = live.assess((began - 1) * SECOND, None);
    assert!(usual.state == State::Ok && (usual.hits.unwrap() - 0.5).abs() < 0.25, "{usual:?}");
    let alarms: Vec<_> =
        (began..began + 120).filter_map(|k| live.take(&read(&mut random, k, 0.0, 1.0, 0)).alarm).collect();
    let (alarm, since_ns) = alarms[0];
    assert!(alarm.cause == Cause::Cache && alarm.raised_ns <= (began + 60) * SECOND, "{alarm:?}");
    assert!((since_ns - began * SECOND).abs() <= 10 * SECOND, "{since_ns}");
    let state = live.assess((began + 119) * SECOND, None);
    assert_eq!(
        (state.state, state.partly, state.alarm, state.hits),
        (State::Slow, true, Some("cache"), Some(0.0))
    );
    assert!((state.hits_usual.unwrap() - 0.5).abs() < 0.02 && state.slowdown.unwrap() < 2.0, "{state:?}");
    for k in began + 120..began + 200 {
        live.take(&read(&mut random, k, 0.5, 1.0, 0));
    }
    assert_eq!(live.assess((began + 199) * SECOND, None).state, State::Ok);
}
