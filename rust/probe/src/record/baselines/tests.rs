use super::*;
use iosonde_core::seed::Random;
use iosonde_core::slowdown::buckets::Packed;
use iosonde_core::slowdown::guarded::{INTERVAL_NS, Interval};

/// As they were written before there was this file: 40 young intervals; eight days, of which three are held.
const OLD: [&str; 2] = [include_str!("young.json"), include_str!("held.json")];

fn series() -> Series {
    Series { host: "h".into(), target: "t".into(), period_ns: 1_000_000_000 }
}

fn interval(random: &mut Random, k: i64) -> Interval {
    let factor = if k > 700 { 3.0 } else { 1.0 };
    let mut values: Vec<i64> =
        (0..60).map(|_| (1.5e6 * factor * (0.4 * random.normal()).exp()) as i64).collect();
    values.sort_unstable();
    Interval {
        start_ns: k * INTERVAL_NS,
        n_due: 60,
        n_lost: 0,
        service: Packed::of_sorted(&values),
        response: None,
    }
}

fn learnt() -> Learnt {
    let mut random = Random::stream(1, "baselines");
    Op::ALL
        .into_iter()
        .map(|op| {
            let mut guarded = Guarded::default();
            for k in 0..150 * (1 + op as i64) {
                guarded.learn(&interval(&mut random, k));
            }
            (op, guarded)
        })
        .collect()
}

fn file(learnt: &Learnt) -> Vec<u8> {
    encode(&series(), learnt.iter().map(|(op, guarded)| (*op, guarded)))
}

#[test]
fn what_was_learnt_comes_back_the_same() {
    let learnt = learnt();
    let bytes = file(&learnt);
    let again = decode(&series(), &bytes).unwrap();
    assert_eq!(file(&again), bytes);
    let mut random = Random::stream(2, "baselines");
    for ((op, mut one), (_, mut other)) in learnt.into_iter().zip(again) {
        for k in 2_000..2_200 {
            let next = interval(&mut random, k);
            assert_eq!(one.learn(&next), other.learn(&next), "{op:?} {k}");
            assert_eq!(one.expected(), other.expected(), "{op:?} {k}");
        }
    }
}

#[test]
fn a_cut_or_a_flipped_bit_is_refused_with_a_reason() {
    let bytes = file(&learnt());
    let mut random = Random::stream(3, "baselines");
    for _ in 0..300 {
        let cut = random.below(bytes.len() as u64) as usize;
        assert!(!decode(&series(), &bytes[..cut]).err().unwrap().is_empty(), "cut at {cut}");
        let mut flipped = bytes.clone();
        flipped[cut] ^= 1 << random.below(8);
        assert!(decode(&series(), &flipped).is_err(), "flipped in {cut}");
    }
    let other = Series { period_ns: 7, ..series() };
    assert!(decode(&other, &bytes).err().unwrap().contains("every 1000000000 ns"));
    let longer = [bytes.as_slice(), &frames::encode(b"x")].concat();
    assert!(decode(&series(), &longer).err().unwrap().contains("follows"));
}

#[test]
fn damage_with_a_right_checksum_never_panics() {
    let mut random = Random::stream(4, "baselines");
    let whole: Vec<Vec<u8>> = learnt().iter().map(|(_, guarded)| guarded.encode()).collect();
    for k in 0..3_000 {
        let mut bytes = whole[k % whole.len()].clone();
        for _ in 0..1 + random.below(4) {
            let at = random.below(bytes.len() as u64) as usize;
            bytes[at] = random.below(256) as u8;
        }
        let Ok(mut guarded) = Guarded::decode(&bytes) else { continue };
        for k in 3_000..3_003 {
            guarded.learn(&interval(&mut random, k));
        }
    }
}

#[test]
fn json_of_before_says_the_same() {
    for (text, (intervals, epoch, days)) in OLD.into_iter().zip([(40, 0, 0), (1_300, 0, 8)]) {
        let mut lately = Guarded::default();
        let mut random = Random::stream(5, "json");
        for k in 0..intervals as i64 {
            lately.learn(&old_interval(&mut random, k));
        }
        let json = format!(
            r#"{{"schema_version": 1, "host": "h", "target": "t", "period_ns": 1000000000, "ops": {{"md_stat": {}}}}}"#,
            with_rates_of(&lately, text)
        );
        let mut learnt = decode_json(&series(), json.as_bytes()).unwrap();
        let (op, guarded) = learnt.remove(0);
        assert_eq!((op, guarded.intervals(), guarded.epoch()), (Op::MdStat, intervals, epoch));
        assert_eq!(lately.expected(), guarded.expected(), "after {days} days");
        assert_eq!(lately.encode(), guarded.encode(), "after {days} days");
    }
}

/// The file with rates as today's rule learns them: a file keeps those of its time, all else is as it was written.
fn with_rates_of(lately: &Guarded, text: &str) -> serde_json::Value {
    let mut json: serde_json::Value = serde_json::from_str(text).unwrap();
    let now = serde_json::to_value(lately).unwrap();
    json["rates"] = now["rates"].clone();
    for name in ["expected", "reference"] {
        if !json[name].is_null() {
            json[name]["null"] = now[name]["null"].clone();
        }
    }
    json
}

/// Interval that the files were made of: ten latencies, twice as slow from day 6 on.
fn old_interval(random: &mut Random, k: i64) -> Interval {
    let factor = if k >= 6 * 144 { 2.0 } else { 1.0 };
    let mut values: Vec<i64> =
        (0..10).map(|_| (1.5e6 * factor * (0.4 * random.normal()).exp()) as i64).collect();
    values.sort_unstable();
    let service = Packed::of_sorted(&values);
    let held_up: Vec<i64> = values.iter().map(|ns| ns + 1_000_000).collect();
    let response = (k % 50 == 7).then(|| Packed::of_sorted(&held_up));
    Interval { start_ns: k * INTERVAL_NS, n_due: 10, n_lost: 0, service, response }
}
