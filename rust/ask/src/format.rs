//! Numbers, ages and instants as people read them.

/// A slowdown without its `x`: `1.1`, `3.1`, `27`, `n/a`.
pub fn factor(value: Option<f64>) -> String {
    match value {
        Some(value) if value.is_nan() => "n/a".into(),
        None => "n/a".into(),
        Some(value) if value < 9.95 => format!("{value:.1}"),
        Some(value) => format!("{value:.0}"),
    }
}

/// `3.1x (2.8-3.4)`; `n/a` where there is no number.
pub fn slowdown(value: Option<f64>, lower: Option<f64>, upper: Option<f64>) -> String {
    match (value, lower, upper) {
        (None, _, _) => "n/a".into(),
        (_, Some(_), Some(_)) => format!("{}x ({}-{})", factor(value), factor(lower), factor(upper)),
        _ => format!("{}x", factor(value)),
    }
}

/// A number of things, thousands parted by commas: `87`, `69,441`.
pub fn count(number: usize) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy);
    groups.collect::<Vec<_>>().join(",")
}

/// An age in whole seconds: `0 s`, `12 s`, `2 min 5 s`.
pub fn seconds(ns: i64) -> String {
    let seconds = ns.div_euclid(1_000_000_000);
    if seconds < 120 {
        return format!("{seconds} s");
    }
    let parts = [
        (seconds / 86_400, "d"),
        (seconds / 3600 % 24, "h"),
        (seconds / 60 % 60, "min"),
        (seconds % 60, "s"),
    ];
    let first = parts.iter().position(|(count, _)| *count > 0).unwrap_or(3);
    let two = parts[first..].iter().take(2).filter(|(count, _)| *count > 0);
    two.map(|(count, unit)| format!("{count} {unit}")).collect::<Vec<_>>().join(" ")
}

/// What an instant (ns, UTC) is on the clocks of a place.
pub type Zone<'a> = dyn Fn(i64) -> libc::tm + 'a;

/// A local time: `14:05` (with seconds: `14:05:03`), with the date in front when it is not that of `now_ns`.
pub fn time(ns: i64, now_ns: i64, zone: &Zone<'_>, with_seconds: bool) -> String {
    let (then, now) = (zone(ns), zone(now_ns));
    let mut text = format!("{:02}:{:02}", then.tm_hour, then.tm_min);
    if with_seconds {
        text += &format!(":{:02}", then.tm_sec);
    }
    let date = |at: &libc::tm| (at.tm_year, at.tm_mon, at.tm_mday);
    if date(&then) == date(&now) {
        return text;
    }
    format!("{}-{:02}-{:02} {text}", i64::from(then.tm_year) + 1900, then.tm_mon + 1, then.tm_mday)
}

/// `from 14:05 to 14:10`, to the second for short stretches.
pub fn span(since_ns: i64, until_ns: i64, now_ns: i64, zone: &Zone<'_>) -> String {
    let is_short = until_ns.saturating_sub(since_ns) < 120_000_000_000;
    let [since, until] = [since_ns, until_ns].map(|ns| time(ns, now_ns, zone, is_short));
    let until = match (since.split_once(' '), until.split_once(' ')) {
        (Some((one, _)), Some((other, clock))) if one == other => clock,
        _ => until.as_str(),
    };
    format!("from {since} to {until}")
}

/// The zone of the system.
pub fn system_zone(ns: i64) -> libc::tm {
    broken_down(ns, |seconds, found| {
        // SAFETY: both are references.
        unsafe { libc::localtime_r(seconds, found) };
    })
}

/// The clocks of a place that are so much ahead of UTC.
pub fn ahead_of_utc(ns: i64, offset_s: i64) -> libc::tm {
    broken_down(ns.saturating_add(offset_s.saturating_mul(1_000_000_000)), |seconds, found| {
        // SAFETY: both are references.
        unsafe { libc::gmtime_r(seconds, found) };
    })
}

fn broken_down(ns: i64, fill: impl Fn(&libc::time_t, &mut libc::tm)) -> libc::tm {
    let seconds: libc::time_t = ns.div_euclid(1_000_000_000);
    // SAFETY: a zeroed tm is a tm.
    let mut found: libc::tm = unsafe { std::mem::zeroed() };
    fill(&seconds, &mut found);
    found
}

/// Six significant digits without an exponent, as the guideline of plugins asks for.
pub fn six_digits(value: f64) -> String {
    let scientific = format!("{value:.5e}");
    let exponent: i32 =
        scientific.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    let text = match exponent {
        -4..6 => format!("{value:.*}", usize::try_from(5 - exponent).unwrap_or(0)),
        _ => format!("{value:.9}"),
    };
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_spans() {
        const S: i64 = 1_000_000_000;
        let (now, berlin) = (1_790_000_000 * S, |ns| ahead_of_utc(ns, 7200));
        assert_eq!(time(now - 500 * S, now, &berlin, false), "16:05");
        assert_eq!(time(now - 86_400 * S, now, &berlin, true), "2026-09-20 16:13:20");
        assert_eq!(time(-S, now, &|ns| ahead_of_utc(ns, 0), true), "1969-12-31 23:59:59");
        assert_eq!(span(now - 60 * S, now - 50 * S, now, &berlin), "from 16:12:20 to 16:12:30");
        let old = now - 40 * 3600 * S;
        assert_eq!(span(old, old + 3600 * S, now, &berlin), "from 2026-09-20 00:13 to 01:13");
        assert_eq!(span(old, now, now, &berlin), "from 2026-09-20 00:13 to 16:13");
        for far in [i64::MIN, i64::MAX] {
            assert!(!span(far, now, far, &|ns| ahead_of_utc(ns, 50_400)).is_empty());
        }
    }

    #[test]
    fn ages() {
        for (seconds_since, text) in
            [(0, "0 s"), (119, "119 s"), (125, "2 min 5 s"), (7200, "2 h"), (90_061, "1 d 1 h")]
        {
            assert_eq!(seconds(seconds_since * 1_000_000_000 + 1), text);
        }
    }

    #[test]
    fn digits() {
        for (value, text) in
            [(1.1, "1.1"), (0.412, "0.412"), (1.5028e-5, "0.000015028"), (1234567.0, "1234567"), (0.0, "0")]
        {
            assert_eq!(six_digits(value), text);
        }
        assert_eq!(
            (count(87).as_str(), count(69_441).as_str(), count(1_000_000).as_str()),
            ("87", "69,441", "1,000,000")
        );
        assert_eq!(factor(Some(9.96)), "10");
        assert_eq!(slowdown(Some(3.12), Some(2.8), Some(3.4)), "3.1x (2.8-3.4)");
    }
}
