use super::*;
use crate::seed::Random;

/// Ten minutes of a lognormal op whose every `share`-th operation takes `factor` times as long.
fn interval(random: &mut Random, k: i64, factor: f64, share: f64) -> Interval {
    let mut values: Vec<i64> = (0..600)
        .map(|_| {
            let by = if random.unit() < share { factor } else { 1.0 };
            (1.5e6 * by * (0.4 * random.normal()).exp()) as i64
        })
        .collect();
    values.sort_unstable();
    let service = Packed::of_sorted(&values);
    Interval { start_ns: k * INTERVAL_NS, n_due: 600, n_lost: 0, service, response: None }
}

/// Days of ten-minute intervals; `factor(day)`.
fn live(
    guarded: &mut Guarded,
    random: &mut Random,
    days: std::ops::Range<i64>,
    factor: impl Fn(i64) -> f64,
) -> Vec<Judged> {
    (days.start * 144..days.end * 144)
        .map(|k| guarded.learn(&interval(random, k, factor(k / 144), 1.0)))
        .collect()
}

fn typ(judged: &[Judged]) -> f64 {
    let mut values: Vec<f64> = judged.iter().filter_map(|j| j.triple.typ_value()).collect();
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

#[test]
fn it_learns_for_an_hour_and_becomes_reliable_in_three_days() {
    let (mut guarded, mut random) = (Guarded::default(), Random::stream(1, "guarded"));
    for k in 0..RELIABLE_INTERVALS as i64 + 1 {
        let stage = match k {
            0..6 => Stage::Learning,
            6..36 => Stage::Early,
            36..432 => Stage::Provisional,
            _ => Stage::Reliable,
        };
        assert_eq!(guarded.stage(), stage, "interval {k}");
        assert_eq!(guarded.expected().is_some(), k >= 6, "interval {k}");
        guarded.learn(&interval(&mut random, k, 1.0, 1.0));
    }
    assert!((guarded.expected().unwrap().q50() / 1.5e6).ln().abs() < 0.02);
    assert!((guarded.climate().unwrap() - 1.0).abs() < 0.01);
}

#[test]
fn a_slow_week_is_never_learnt() {
    let (mut guarded, mut random) = (Guarded::default(), Random::stream(2, "guarded"));
    live(&mut guarded, &mut random, 0..20, |_| 1.0);
    let slow = live(&mut guarded, &mut random, 20..33, |_| 27.0);
    assert!(slow.iter().all(|judged| judged.flagged && judged.change.is_none()));
    assert!((typ(&slow[slow.len() - 144..]) / 27.0).ln().abs() < 0.03);
    let after = live(&mut guarded, &mut random, 33..35, |_| 1.0);
    assert!(typ(&after).ln().abs() < 0.03 && guarded.changes().is_empty());
}

#[test]
fn a_slow_first_day_is_not_taken_for_usual_once_there_is_more() {
    let (mut guarded, mut random) = (Guarded::default(), Random::stream(3, "guarded"));
    live(&mut guarded, &mut random, 0..3, |day| if day == 0 { 3.0 } else { 1.0 });
    assert!((guarded.expected().unwrap().q50() / 1.5e6).ln().abs() < 0.03);
}

#[test]
fn what_is_faster_for_three_days_or_slower_for_fourteen_begins_an_epoch() {
    let (mut guarded, mut random) = (Guarded::default(), Random::stream(4, "guarded"));
    live(&mut guarded, &mut random, 0..20, |_| 1.0);
    let faster = live(&mut guarded, &mut random, 20..24, |_| 0.6);
    let changes: Vec<EpochChange> = faster.iter().filter_map(|judged| judged.change).collect();
    assert_eq!((changes.len(), changes[0].epoch, changes[0].began_ns), (1, 1, 20 * DAY_NS));
    assert!((changes[0].factor / 0.6).ln().abs() < 0.03);
    assert!(typ(&faster[3 * 144..]).ln().abs() < 0.03);
    let slower = live(&mut guarded, &mut random, 24..40, |_| 0.9);
    let change = slower.iter().filter_map(|judged| judged.change).next().expect("a slower epoch");
    assert_eq!((change.epoch, change.began_ns), (2, 24 * DAY_NS));
    assert!(typ(&slower[13 * 144..14 * 144 - 1]) > 1.4 && typ(&slower[14 * 144 + 6..]).ln().abs() < 0.03);
    assert!((guarded.climate().unwrap() / 0.9).ln().abs() < 0.03);
}

#[test]
fn an_op_whose_tail_grew_for_good_is_followed_in_the_end() {
    let (mut guarded, mut random) = (Guarded::default(), Random::stream(5, "guarded"));
    live(&mut guarded, &mut random, 0..10, |_| 1.0);
    let mut last = None;
    for k in 10 * 144..25 * 144 {
        let judged = guarded.learn(&interval(&mut random, k, 50.0, 0.1));
        last = judged.change.or(last);
    }
    assert_eq!(last.map(|change| change.epoch), Some(1));
    assert!(!guarded.learn(&interval(&mut random, 25 * 144, 50.0, 0.1)).flagged);
}

#[test]
fn a_saved_baseline_goes_on_as_if_it_had_not_been() {
    let (mut guarded, mut random) = (Guarded::default(), Random::stream(6, "guarded"));
    for k in 0..700 {
        let factor = if (500..560).contains(&k) { 3.0 } else { 1.0 };
        let next = interval(&mut random, k, factor, 1.0);
        if k % 97 == 0 {
            let mut again = Guarded::decode(&guarded.encode()).unwrap();
            assert_eq!(again.learn(&next), guarded.learn(&next), "interval {k}");
            assert_eq!(again.expected(), guarded.expected());
            guarded = again;
        } else {
            guarded.learn(&next);
        }
    }
}

#[test]
fn a_clock_set_back_is_followed_and_a_repetition_is_not_learnt() {
    let (mut guarded, mut random) = (Guarded::default(), Random::stream(7, "guarded"));
    live(&mut guarded, &mut random, 400..405, |_| 1.0);
    let version = guarded.version();
    guarded.learn(&interval(&mut random, 405 * 144 - 3, 9.0, 1.0));
    assert_eq!(guarded.version(), version);
    live(&mut guarded, &mut random, 10..15, |_| 2.0);
    assert!((guarded.expected().unwrap().q50() / 1.5e6).ln() >= -0.02);
    assert_eq!(guarded.last_ns, Some((15 * 144 - 1) * INTERVAL_NS));
}
