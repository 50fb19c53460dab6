//! A server's no, in its words; they are foreign text.

use std::io;

/// Code and message of an answer, else its status. `to`: where a redirect leads.
pub(crate) fn of(status: u16, body: &str, to: Option<&str>) -> String {
    let said = match (element(body, "Code"), element(body, "Message")) {
        (Some(code), Some(message)) => format!("{code}: {message} (HTTP {status})"),
        (Some(code), None) => format!("{code} (HTTP {status})"),
        _ => format!("HTTP {status}"),
    };
    match to.filter(|_| (300..400).contains(&status)) {
        Some(to) => format!("{said}; its redirect to {} was not followed", place(to)),
        None => said,
    }
}

/// The server that a redirect leads to: what follows names the object, and may be signed.
fn place(to: &str) -> &str {
    let begin = to.find("://").map_or(0, |at| at + 3);
    let end = to[begin..].find(['/', '?', '#']).map_or(to.len(), |at| begin + at);
    if begin == 0 { "another place" } else { &to[..end] }
}

/// The system's words without the number that Rust adds.
pub(crate) fn plain(error: &io::Error) -> String {
    error.to_string().split(" (os error").next().unwrap_or_default().to_owned()
}

fn element(body: &str, name: &str) -> Option<String> {
    let (_, rest) = body.split_once(&format!("<{name}>"))?;
    let (text, _) = rest.split_once(&format!("</{name}>"))?;
    let plain =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&apos;", "'"), ("&amp;", "&")]
            .iter()
            .fold(text.to_owned(), |text, (written, meant)| text.replace(written, meant));
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn a_no_is_told_in_the_servers_words() {
        let body = "<Error><Code>NoSuchKey</Code><Message>not &lt;here&gt;</Message></Error>";
        assert_eq!(of(404, body, None), "NoSuchKey: not <here> (HTTP 404)");
        assert_eq!(of(502, "<html>go away</html>", None), "HTTP 502");
        let told = of(307, "", Some("http://elsewhere/b/k?X-Amz-Security-Token=t"));
        assert_eq!(told, "HTTP 307; its redirect to http://elsewhere was not followed");
        assert!(of(301, "", Some("/b/k?x")).ends_with("redirect to another place was not followed"));
    }
}
