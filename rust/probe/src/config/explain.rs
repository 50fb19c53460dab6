//! Turns what a parser says into what a person can act on.

use iosonde_core::text::escaped;

/// Turn serde's words into a suggestion, in one line.
pub(super) fn explain(message: &str) -> String {
    escaped(&suggestion(message))
}

fn suggestion(message: &str) -> String {
    if message.contains("untagged enum NumberOrText") {
        return "expected a number or a text such as \"1s\" or \"1MiB\"".into();
    }
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let [unknown, known @ ..] = quoted.as_slice() else { return one_line(message) };
    if !message.starts_with("unknown ") || known.is_empty() {
        return one_line(message);
    }
    let noun = if message.starts_with("unknown variant") { "value" } else { "key" };
    let near = known
        .iter()
        .max_by(|a, b| strsim::jaro_winkler(unknown, a).total_cmp(&strsim::jaro_winkler(unknown, b)));
    match near.filter(|near| strsim::jaro_winkler(unknown, near) > 0.75) {
        Some(near) => format!("unknown {noun} `{unknown}`; did you mean `{near}`?"),
        None => format!("unknown {noun} `{unknown}`; expected one of {}", known.join(", ")),
    }
}

fn one_line(message: &str) -> String {
    let lines = message.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_values_are_suggested_apart() {
        let key = "unknown field `perod`, expected one of `path`, `period`";
        assert_eq!(explain(key), "unknown key `perod`; did you mean `period`?");
        let value = "unknown variant `xyz`, expected `posix` or `null`";
        assert_eq!(explain(value), "unknown value `xyz`; expected one of posix, null");
        assert_eq!(explain("invalid\n  type"), "invalid, type");
    }
}
