//! A page of a listing: keys that anybody who may write to the bucket chose.

use rusty_s3::actions::ListObjectsV2;

use crate::failure::Failure;

const NAMESPACE: &str = "http://s3.amazonaws.com/doc/2006-03-01/";

/// One object.
#[derive(Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its whole key.
    pub key: String,
    /// Its size.
    pub bytes: u64,
    /// ISO 8601; empty: the server does not say.
    pub modified: String,
}

/// Objects in the order of their keys, and what the next page is asked for with.
#[derive(Debug)]
pub struct Page {
    /// At most a thousand.
    pub objects: Vec<Listed>,
    /// None: this is the last one.
    pub next: Option<String>,
}

/// A listing in XML.
pub(crate) fn parse(text: &str) -> Result<Page, Failure> {
    // The parser takes what is there of a text that was cut: objects would be missing without a word.
    if !text.trim_end().ends_with("ListBucketResult>") {
        return Err(Failure::Broken("no listing: its end is missing".into()));
    }
    let page = ListObjectsV2::parse_response(&in_namespace(&legal(text)))
        .map_err(|error| Failure::Broken(format!("no listing: {error}")))?;
    let objects = page.contents.into_iter().filter_map(|one| {
        // A size that is missing is no size.
        Some(Listed { key: one.key, bytes: one.size?, modified: one.last_modified.unwrap_or_default() })
    });
    Ok(Page { objects: objects.collect(), next: page.next_continuation_token })
}

/// XML without the characters that XML may not hold: a key may hold them, and servers write them all the same.
fn legal(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("&#") {
        clean.extend(rest[..at].chars().map(or_sign));
        rest = &rest[at..];
        let end = rest.find(';').map_or(2, |end| end + 1);
        let digits = rest[2..end].trim_end_matches(';');
        let code = match digits.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => digits.parse(),
        };
        match code.ok().and_then(char::from_u32).map(|letter| (letter, or_sign(letter))) {
            Some((letter, legal)) if letter == legal => clean.push_str(&rest[..end]),
            _ => clean.push(char::REPLACEMENT_CHARACTER),
        }
        rest = &rest[end..];
    }
    clean.extend(rest.chars().map(or_sign));
    clean
}

fn or_sign(letter: char) -> char {
    match letter {
        '\t' | '\n' | '\r' => letter,
        '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => char::REPLACEMENT_CHARACTER,
        _ => letter,
    }
}

/// With the namespace of Amazon's documentation: some servers have another one, or none.
fn in_namespace(text: &str) -> String {
    if text.contains(NAMESPACE) {
        return text.to_owned();
    }
    let Some((before, rest)) = text.split_once("<ListBucketResult") else { return text.to_owned() };
    let Some((_, after)) = rest.split_once('>') else { return text.to_owned() };
    format!("{before}<ListBucketResult xmlns=\"{NAMESPACE}\">{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(inside: &str) -> String {
        format!("<?xml version=\"1.0\"?><ListBucketResult xmlns=\"{NAMESPACE}\">{inside}</ListBucketResult>")
    }

    fn object(key: &str) -> String {
        format!(
            "<Contents><Key>{key}</Key><LastModified>2026-01-01T00:00:00Z</LastModified><Size>5</Size></Contents>"
        )
    }

    fn keys(text: &str) -> Vec<String> {
        parse(text).unwrap().objects.into_iter().map(|one| one.key).collect()
    }

    #[test]
    fn no_key_hides_the_others() {
        let names = [
            "a",
            "&#1;b",
            "&#x2;",
            "c\u{7}d",
            "..",
            "a/../b",
            "\u{202e}x",
            "&#x202E;",
            "&#xffffff;",
            "&#;",
            "&#",
        ];
        let text: String = names.iter().map(|name| object(name)).collect();
        let found = keys(&page(&text));
        assert_eq!(found.len(), names.len(), "{found:?}");
        assert_eq!((found[0].as_str(), found[5].as_str()), ("a", "a/../b"));
    }

    #[test]
    fn the_namespace_is_the_servers() {
        for root in ["", " xmlns=\"http://doc.s3.amazonaws.com/2006-03-01\""] {
            let text = format!("<ListBucketResult{root}>{}</ListBucketResult>", object("a"));
            assert_eq!(keys(&text), ["a"]);
        }
    }

    #[test]
    fn what_is_no_listing_is_an_error() {
        let half = page(&object("a")).replace("</ListBucketResult>", "");
        for text in
            ["", "<html>", "<Error/>", &half, &page("<Contents>"), &page("<IsTruncated>true</IsTruncated>")]
        {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
