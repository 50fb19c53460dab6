//! Durations and sizes as people write them in a configuration.

use serde::{Deserialize, Deserializer, de};

/// Parse nanoseconds from `1s`, `500ms`, `2h30m`, `7d`; a bare number is seconds.
pub fn parse_duration_ns(text: &str) -> Result<u64, String> {
    let expected = || format!("`{text}` is not a duration; expected for example 1s, 500ms, 2h30m or 7d");
    let text = text.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return to_ns(seconds * 1e9).ok_or_else(expected);
    }
    let mut rest = text;
    let mut total = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).ok_or_else(expected)?;
        let value: f64 = rest[..digits].parse().map_err(|_| expected())?;
        rest = &rest[digits..];
        let letters = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        total += value * unit_ns(&rest[..letters]).ok_or_else(expected)?;
        rest = &rest[letters..];
    }
    if text.is_empty() { Err(expected()) } else { to_ns(total).ok_or_else(expected) }
}

fn unit_ns(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" => 1.0,
        "us" | "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "m" | "min" => 60e9,
        "h" => 3600e9,
        "d" => 86_400e9,
        "w" => 604_800e9,
        _ => return None,
    })
}

fn to_ns(value: f64) -> Option<u64> {
    (value.is_finite() && (0.0..=i64::MAX as f64).contains(&value)).then_some(value.round() as u64)
}

/// Parse bytes from `1M`, `4KiB`, `200GB`, `3901`. One letter and `KiB` count in 1024s, `kB` in 1000s.
pub fn parse_size_bytes(text: &str) -> Result<u64, String> {
    let expected = || format!("`{text}` is not a size; expected for example 3901, 64k, 1MiB or 200GB");
    let clean = text.trim().replace('_', "");
    let digits = clean.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(clean.len());
    let value: f64 = clean[..digits].parse().map_err(|_| expected())?;
    let bytes = value * unit_bytes(clean[digits..].trim()).ok_or_else(expected)?;
    let whole = bytes.fract() == 0.0 && bytes <= i64::MAX as f64;
    if whole { Ok(bytes as u64) } else { Err(expected()) }
}

fn unit_bytes(unit: &str) -> Option<f64> {
    let (letter, base) = match unit.len() {
        0 => return Some(1.0),
        1 if unit.eq_ignore_ascii_case("b") => return Some(1.0),
        1 => (unit, 1024.0_f64),
        2 if unit.ends_with('B') => (&unit[..1], 1000.0),
        3 if unit.ends_with("iB") => (&unit[..1], 1024.0),
        _ => return None,
    };
    let power = "kmgtp".find(letter.to_ascii_lowercase().as_str())?;
    Some(base.powi(power as i32 + 1))
}

#[derive(Deserialize)]
#[serde(untagged)]
enum NumberOrText {
    Number(f64),
    Text(String),
}

/// For `#[serde(deserialize_with)]`: a duration in nanoseconds; numbers are seconds.
pub fn duration_ns<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    match NumberOrText::deserialize(from)? {
        NumberOrText::Number(seconds) => parse_duration_ns(&seconds.to_string()),
        NumberOrText::Text(text) => parse_duration_ns(&text),
    }
    .map_err(de::Error::custom)
}

/// For `#[serde(deserialize_with)]`: a size in bytes.
pub fn size_bytes<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    match NumberOrText::deserialize(from)? {
        NumberOrText::Number(bytes) => parse_size_bytes(&bytes.to_string()),
        NumberOrText::Text(text) => parse_size_bytes(&text),
    }
    .map_err(de::Error::custom)
}

/// For `#[serde(deserialize_with)]`: an optional size in bytes.
pub fn some_size_bytes<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    size_bytes(from).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, ns) in [
            ("1s", 1_000_000_000),
            ("500ms", 500_000_000),
            ("100us", 100_000),
            ("2h30m", 9_000_000_000_000),
            ("7d", 604_800_000_000_000),
            ("1.5s", 1_500_000_000),
            ("10", 10_000_000_000),
        ] {
            assert_eq!(parse_duration_ns(text), Ok(ns), "{text}");
        }
        for bad in ["", "s", "1x", "-1s", "1s2", "1e400", "nan"] {
            assert!(parse_duration_ns(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes() {
        for (text, bytes) in [
            ("3901", 3901),
            ("64k", 65_536),
            ("1MiB", 1 << 20),
            ("1M", 1 << 20),
            ("200GB", 200_000_000_000),
            ("1.5K", 1536),
            ("1_000", 1000),
        ] {
            assert_eq!(parse_size_bytes(text), Ok(bytes), "{text}");
        }
        for bad in ["", "1mi", "1.3", "-1", "1XB", "1.5"] {
            assert!(parse_size_bytes(bad).is_err(), "{bad}");
        }
    }
}
