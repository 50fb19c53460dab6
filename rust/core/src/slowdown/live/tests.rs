use super::*;

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
