//! Foreign text, made fit for a line.

use std::fmt::Display;

/// True for a letter that shows as itself: neither a control, a format (such as one that changes the direction of
/// writing), a blank other than the space, nor an unassigned letter.
pub fn is_printable(letter: char) -> bool {
    // The standard library knows the categories but shows them only in what it escapes; behind a letter it leaves
    // combining marks as they are.
    matches!(letter, ' '..='~') || format!("a{letter}").escape_debug().skip(1).eq([letter])
}

/// The text with unprintable letters escaped.
pub fn escaped(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_printable(letter) || matches!(letter, '"' | '\'' | '\\') {
            clean.push(letter);
        } else {
            clean.extend(letter.escape_default());
        }
    }
    clean
}

/// A system's words without the numbers that the standard library puts behind them: ` (os error 13)`.
pub fn without_codes(error: &(impl Display + ?Sized)) -> String {
    const BEGIN: &str = " (os error ";
    let text = error.to_string();
    let mut parts = text.split(BEGIN);
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(')') {
            Some((code, rest)) if code.parse::<u32>().is_ok() => plain.push_str(rest),
            _ => plain.extend([BEGIN, part]),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_codes_are_left_out() {
        let message = "a: No such file (os error 2): b (os error 13) (os error x)";
        assert_eq!(without_codes(&message), "a: No such file: b (os error x)");
        assert_eq!(without_codes(&"(os error 2"), "(os error 2");
    }

    #[test]
    fn what_turns_or_hides_text_is_made_visible() {
        assert_eq!(escaped("a\u{202e}b\x1b\u{200b}c"), "a\\u{202e}b\\u{1b}\\u{200b}c");
        let plain = "Grüße \"a'b\\c\" 日本";
        assert_eq!(escaped(plain), plain);
    }
}
