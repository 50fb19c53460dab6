//! Answers to requests.

use super::request::Request;
use crate::exposition::protobuf;
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
        respond(request, shown)
    } else {
        ("405 Method Not Allowed", TEXT, b"only GET and HEAD\n".into())
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
    compose(status, TEXT, body.as_bytes(), false)
}

fn respond(request: &Request, shown: &Shown) -> (&'static str, &'static str, Vec<u8>) {
    let path = &request.path;
    let said = |status, body: &str| (status, TEXT, body.into());
    match path.split('?').next().unwrap_or(path) {
        "/metrics" if request.protobuf && shown.is_native() => {
            ("200 OK", protobuf::CONTENT_TYPE, protobuf::page(&shown.content()))
        }
        "/metrics" => ("200 OK", METRICS, shown.page().into()),
        "/-/healthy" => said("200 OK", "healthy\n"),
        "/-/ready" if shown.is_ready() => said("200 OK", "ready\n"),
        "/-/ready" => said("503 Service Unavailable", "still preparing the targets\n"),
        "/" => said("200 OK", "iosonde-agent: see /metrics, /-/healthy, /-/ready\n"),
        _ => said("404 Not Found", "expected /metrics, /-/healthy or /-/ready\n"),
    }
}

fn compose(status: &str, kind: &str, body: &[u8], head_only: bool) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\
         X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let mut bytes = head.into_bytes();
    if !head_only {
        bytes.extend_from_slice(body);
    }
    bytes
}
