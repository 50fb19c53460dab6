//! Text of others, made safe for a terminal.

use iosonde_core::text::is_printable;

/// `bytes` as text without characters that a terminal would obey: each of them becomes `?`.
pub fn cleaned(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.extend(chunk.valid().chars().map(|letter| if is_printable(letter) { letter } else { '?' }));
        text.extend(chunk.invalid().iter().map(|_| '?'));
    }
    text
}

/// `a`, `a and b`, `a, b and c`.
pub fn joined<S: AsRef<str>>(words: &[S]) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.split_last() {
        None => String::new(),
        Some((last, [])) => (*last).to_string(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    }
}

/// The choice that was probably meant, by the share of letters in common (Ratcliff and Obershelp 1988); None: none is near.
pub fn nearest<'a>(word: &str, choices: &[&'a str]) -> Option<&'a str> {
    let near =
        choices.iter().map(|choice| (similarity(choice, word), *choice)).filter(|(share, _)| *share >= 0.7);
    near.max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(b.1))).map(|(_, choice)| choice)
}

fn similarity(a: &str, b: &str) -> f64 {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let letters = a.len() + b.len();
    if letters == 0 { 1.0 } else { 2.0 * common(&a, &b) as f64 / letters as f64 }
}

/// Letters of the longest run that both have, and of those left and right of it.
fn common(a: &[char], b: &[char]) -> usize {
    let mut best = (0, 0, 0);
    for i in 0..a.len() {
        for j in 0..b.len() {
            let length = a[i..].iter().zip(&b[j..]).take_while(|(x, y)| x == y).count();
            if length > best.0 {
                best = (length, i, j);
            }
        }
    }
    let (length, i, j) = best;
    if length == 0 {
        0
    } else {
        length + common(&a[..i], &b[..j]) + common(&a[i + length..], &b[j + length..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_becomes_a_question_mark() {
        assert_eq!(cleaned("a\x1b[31mb\u{202e}\u{a0}\t".as_bytes()), "a?[31mb???");
        assert_eq!(cleaned(b"\xff\xfework"), "??work");
        assert_eq!(
            cleaned("'q' \"w\" \\ \u{e9} e\u{301} \u{4e2d}".as_bytes()),
            "'q' \"w\" \\ \u{e9} e\u{301} \u{4e2d}"
        );
    }

    #[test]
    fn the_nearest_name_is_near() {
        assert_eq!(nearest("wrok", &["home", "work"]), Some("work"));
        assert_eq!(nearest("scratch", &["home", "work"]), None);
    }
}
