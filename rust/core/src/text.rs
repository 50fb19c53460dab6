//! Foreign text, made fit for a line.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_turns_or_hides_text_is_made_visible() {
        assert_eq!(escaped("a\u{202e}b\x1b\u{200b}c"), "a\\u{202e}b\\u{1b}\\u{200b}c");
        let plain = "Grüße \"a'b\\c\" 日本";
        assert_eq!(escaped(plain), plain);
    }
}
