//! Answers to requests.

use super::request::Request;
use crate::shown::Shown;

const TEXT: &str = "text/plain; charset=utf-8";
const METRICS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Why there is no request to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It is none.
    Malformed,
    /// It does not end.
    TooLong,
    /// It did not come in time.
    Late,
}

/// The answer to a request.
pub fn answer(request: &Request, shown: &Shown) -> Vec<u8> {
    let (status, kind, body) = if request.reads {
        respond(&request.path, shown)
    } else {
        ("405 Method Not Allowed", TEXT, "only GET and HEAD\n".into())
    };
    compose(status, kind, &body, request.head)
}

/// The answer to what is no request.
pub fn refuse(why: Refusal) -> Vec<u8> {
    let (status, body) = match why {
        Refusal::Malformed => ("400 Bad Request", "not an HTTP request\n"),
        Refusal::TooLong => (
            "431 Request Header Fields Too Large",
            "expected at most 8 KiB and 64 headers; try a shorter request\n",
        ),
        Refusal::Late => ("408 Request Timeout", "expected a whole request within 2 s\n"),
    };
    compose(status, TEXT, body, false)
}

fn respond(path: &str, shown: &Shown) -> (&'static str, &'static str, String) {
    match path.split('?').next().unwrap_or(path) {
        "/metrics" => ("200 OK", METRICS, shown.page()),
        "/-/healthy" => ("200 OK", TEXT, "healthy\n".into()),
        "/-/ready" if shown.is_ready() => ("200 OK", TEXT, "ready\n".into()),
        "/-/ready" => ("503 Service Unavailable", TEXT, "still preparing the targets\n".into()),
        "/" => ("200 OK", TEXT, "iosonde-agent: see /metrics, /-/healthy, /-/ready\n".into()),
        _ => ("404 Not Found", TEXT, "expected /metrics, /-/healthy or /-/ready\n".into()),
    }
}

fn compose(status: &str, kind: &str, body: &str, head_only: bool) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\
         X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let mut bytes = head.into_bytes();
    if !head_only {
        bytes.extend_from_slice(body.as_bytes());
    }
    bytes
}
