//! Civil dates in UTC, as the store names its folders and files by them.

/// Nanoseconds of a day.
pub const DAY_NS: i64 = 86_400 * 1_000_000_000;

/// True if a text is written as a date: YYYY-MM-DD.
pub fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 10
        && bytes
            .iter()
            .enumerate()
            .all(|(i, b)| if i == 4 || i == 7 { *b == b'-' } else { b.is_ascii_digit() })
}

/// The UTC date of an instant, YYYY-MM-DD.
pub fn date_of(ns: i64) -> String {
    // Days to a civil date of the proleptic Gregorian calendar, counting years from March.
    let days = ns.div_euclid(DAY_NS) + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", year + era * 400 + carry)
}

/// The second of an instant, UTC, YYYY-MM-DDTHH:MM:SS without a zone's letter.
pub fn second_of(ns: i64) -> String {
    let second = ns.rem_euclid(DAY_NS) / 1_000_000_000;
    format!("{}T{:02}:{:02}:{:02}", date_of(ns), second / 3600, second / 60 % 60, second % 60)
}

/// When a date began; the inverse of [`date_of`]. The text is a date by [`is_date`].
pub fn start_of(date: &str) -> i64 {
    let number = |range: std::ops::Range<usize>| date[range].parse::<i64>().unwrap_or(1);
    let (year, month, day) = (number(0..4), number(5..7), number(8..10));
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, year) = (year.div_euclid(400), year.rem_euclid(400));
    let days = era * 146_097 + year * 365 + year / 4 - year / 100 + (153 * month + 2) / 5 + day - 1 - 719_468;
    days.saturating_mul(DAY_NS)
}

/// The UTC month of an instant, YYYY-MM.
pub fn month_of(ns: i64) -> String {
    let mut date = date_of(ns);
    date.truncate(date.len() - 3);
    date
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_those_of_a_clock() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00"),
            (951_782_399, "2000-02-28T23:59:59"),
            (951_782_400, "2000-02-29T00:00:00"),
            (1_709_251_200, "2024-03-01T00:00:00"),
            (-1, "1969-12-31T23:59:59"),
        ] {
            assert_eq!(second_of(seconds * 1_000_000_000), text);
        }
    }

    #[test]
    fn dates_are_dates() {
        let known = [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (1_790_000_000_000_000_000, "2026-09-21"),
            (951_782_400_000_000_000, "2000-02-29"),
        ];
        for (ns, date) in known {
            assert_eq!(date_of(ns), date);
            assert_eq!(start_of(date), ns.div_euclid(DAY_NS) * DAY_NS);
            assert_eq!(month_of(ns), date[..7]);
        }
        assert!(is_date("2026-09-21") && !is_date("2026-9-21") && !is_date("../../etc/"));
    }
}
