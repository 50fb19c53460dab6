use super::*;
use crate::seed::Random;
use crate::slowdown::buckets::Packed;

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
fn one_interval_an_hour_refreshes_what_is_expected_wherever_in_the_hour_it_ends() {
    for place in 0..6 {
        let (mut guarded, mut random) = (Guarded::default(), Random::stream(7, "guarded"));
        let mut versions = vec![];
        for hour in 0..RELIABLE_INTERVALS as i64 + 48 {
            guarded.learn(&interval(&mut random, 6 * hour + place, 1.0, 1.0));
            versions.push(guarded.version());
        }
        let reliable = &versions[RELIABLE_INTERVALS..];
        assert!(reliable.windows(2).all(|pair| pair[1] == pair[0] + 1), "place {place}: {reliable:?}");
        assert!(versions[PROVISIONAL_INTERVALS] > versions[EARLY_INTERVALS], "place {place}");
    }
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
fn a_baseline_that_was_saved_before_misses_were_counted_is_read() {
    let (mut guarded, mut random) = (Guarded::default(), Random::stream(6, "guarded"));
    live(&mut guarded, &mut random, 0..5, |_| 1.0);
    guarded.misses = Misses::default();
    let mut bytes = guarded.encode();
    bytes.truncate(bytes.len() - postcard::to_allocvec(&guarded.misses).unwrap().len());
    bytes[0] = 2;
    let again = Guarded::decode(&bytes).unwrap();
    assert_eq!(again.expected(), guarded.expected());
    bytes[0] = 1;
    assert!(Guarded::decode(&bytes).unwrap_err().to_string().contains("layout 1"));
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

/// Counts by bucket without drawing each latency: 6 000 of a lognormal whose buckets `spread` apart, some far off.
fn at_ten_hz(random: &mut Random, k: i64, factor: f64, stragglers: u32) -> Interval {
    let middle = f64::from(crate::slowdown::buckets::bucket((1.5e6 * factor) as i64));
    let mut pool = Pool::default();
    for bucket in (middle as i32 - 70)..(middle as i32 + 71) {
        let z = (f64::from(bucket) - middle) / 20.0;
        let mean = 6_000.0 * (-0.5 * z * z).exp() / (20.0 * 2.507);
        pool.put(bucket as u16, (mean + mean.sqrt() * random.normal()).round().max(0.0) as u32);
    }
    for _ in 0..stragglers {
        pool.count(random.below(crate::slowdown::buckets::BUCKETS as u64) as u16);
    }
    let service = pool.packed();
    Interval { start_ns: k * INTERVAL_NS, n_due: pool.total(), n_lost: 0, service, response: None }
}

/// Whatever a history is, an op takes no more: a log, twice 14 days, two pools and a day.
#[test]
fn no_history_takes_more_than_a_fifth_of_a_mebibyte() {
    let most = |factor: fn(f64) -> f64, stragglers: u32, days: i64| {
        let (mut guarded, mut random) = (Guarded::default(), Random::stream(8, "bytes"));
        let (mut heap, mut saved, mut epochs) = (0, 0, 0);
        for k in 0..days * 144 {
            let judged = guarded.learn(&at_ten_hz(&mut random, k, factor(k as f64 / 144.0), stragglers));
            epochs += usize::from(judged.change.is_some());
            heap = heap.max(guarded.heap_bytes());
            if k % 36 == 35 {
                saved = saved.max(guarded.encode().len());
            }
        }
        (heap >> 10, saved >> 10, epochs)
    };
    type Case = (&'static str, fn(f64) -> f64, u32, i64, usize);
    let cases: [Case; 6] = [
        ("quiet", |_| 1.0, 0, 20, 0),
        ("a lasting slowdown", |day| if day < 4.0 { 1.0 } else { 3.0 }, 0, 19, 1),
        ("drifting", |day| 1.05_f64.powf(day), 0, 25, 1),
        ("two speeds in turns", |day| if day.fract() < 0.8 { 2.0 } else { 0.9 }, 0, 20, 0),
        ("heavy tails, slow from day 4 on", |day| if day < 4.0 { 1.0 } else { 3.0 }, 300, 19, 1),
        ("all over the place", |day| (20.0 * day).sin().exp(), 3_000, 10, 0),
    ];
    for (what, factor, stragglers, days, at_least) in cases {
        let (heap, saved, epochs) = most(factor, stragglers, days);
        println!("{what}: {heap} KiB, {saved} KiB saved, {epochs} epochs");
        assert!(heap <= 200 && saved <= 200 && epochs >= at_least, "{what}: {heap}, {saved} KiB, {epochs}");
    }
}

#[test]
fn what_is_put_together_judges_nearly_alike() {
    let run = |stragglers: u32| {
        let (mut guarded, mut random) = (Guarded::default(), Random::stream(9, "span"));
        let mut changes = Vec::new();
        for k in 0..22 * 144 {
            let factor = if k < 4 * 144 { 1.0 } else { 3.0 };
            changes.extend(guarded.learn(&at_ten_hz(&mut random, k, factor, stragglers)).change);
        }
        (changes, *guarded.expected().unwrap())
    };
    // The second takes more bytes than a log has: entries are of 20 or 40 minutes.
    let (whole, put_together) = (run(0), run(120));
    for (changes, expected) in [&whole, &put_together] {
        assert_eq!((changes.len(), changes[0].began_ns), (1, 4 * DAY_NS));
        assert!((changes[0].factor / 3.0).ln().abs() < 0.02, "{changes:?}");
        assert!((expected.q50() / 4.5e6).ln().abs() < 0.02, "{expected:?}");
        let null = expected.null.unwrap();
        assert!(null.typ < 1.05 && null.dispersion.iter().all(|&d| d < 1.5), "{null:?}");
    }
}

#[test]
fn days_held_after_a_clock_was_set_far_back_are_decided_all_the_same() {
    let (mut guarded, mut random) = (Guarded::default(), Random::stream(10, "back"));
    live(&mut guarded, &mut random, 400..405, |_| 1.0);
    let slow = live(&mut guarded, &mut random, 10..40, |_| 3.0);
    assert!(guarded.held.len() < SLOWER_DAYS);
    assert_eq!(slow.iter().filter(|judged| judged.change.is_some()).count(), 1);
}
