//! Four read-only addresses over HTTP/1.1, one short connection each: `/`, `/metrics`, `/-/healthy`, `/-/ready`.
//!
//! Requests come from anybody who can reach the port, so they are bounded in size and in time.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use iosonde_core::clock::{Clock, RealClock};

use crate::shown::Shown;

const MAX_REQUEST: usize = 8 << 10;
const PATIENCE: Duration = Duration::from_secs(2);
/// As many slow clients at once do not keep the next one waiting.
const THREADS: usize = 2;
const TEXT: &str = "text/plain; charset=utf-8";
const METRICS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A running server.
pub struct Server {
    address: SocketAddr,
}

impl Server {
    /// Listen on `address`. The error says what to try.
    pub fn start(address: &str, shown: Shown) -> Result<Self, String> {
        let failed = |error: std::io::Error| {
            format!("cannot listen on {address}: {error}; try another --listen, for example 127.0.0.1:0")
        };
        let listener = Arc::new(TcpListener::bind(address).map_err(failed)?);
        let own = listener.local_addr().map_err(failed)?;
        for _ in 0..THREADS {
            let (listener, shown) = (Arc::clone(&listener), shown.clone());
            let thread = std::thread::Builder::new().name("http".into()).stack_size(256 << 10);
            thread.spawn(move || serve(&listener, &shown)).map_err(failed)?;
        }
        Ok(Self { address: own })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

fn serve(listener: &TcpListener, shown: &Shown) {
    for stream in listener.incoming() {
        let Ok(mut stream) = stream else { continue };
        // A client that went away is its own problem.
        let _ = answer(&mut stream, shown);
    }
}

fn answer(stream: &mut TcpStream, shown: &Shown) -> std::io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    let request = read_request(stream)?;
    let (status, kind, body) = match request.as_deref() {
        Some(Request { get: false, .. }) => ("405 Method Not Allowed", TEXT, "only GET and HEAD\n".into()),
        Some(Request { path, .. }) => respond(path, shown),
        None => ("400 Bad Request", TEXT, "not an HTTP request\n".into()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\
         X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    if !request.is_some_and(|request| request.head) {
        stream.write_all(body.as_bytes())?;
    }
    Ok(())
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

struct Request {
    get: bool,
    head: bool,
    path: String,
}

/// Read a request's head; none when it is not one, too long or too slow.
fn read_request(stream: &mut TcpStream) -> std::io::Result<Option<Box<Request>>> {
    let deadline = RealClock.monotonic_ns() + PATIENCE.as_nanos() as u64;
    let mut bytes = vec![0_u8; MAX_REQUEST];
    let mut n = 0;
    while n < bytes.len() {
        let left = deadline.saturating_sub(RealClock.monotonic_ns());
        if left == 0 {
            break;
        }
        stream.set_read_timeout(Some(Duration::from_nanos(left)))?;
        match stream.read(&mut bytes[n..]) {
            Ok(0) | Err(_) => break,
            Ok(more) => n += more,
        }
        match parse(&bytes[..n]) {
            Parsed::Partial => {}
            Parsed::Bad => return Ok(None),
            Parsed::Whole(request) => return Ok(Some(Box::new(request))),
        }
    }
    Ok(None)
}

enum Parsed {
    Partial,
    Bad,
    Whole(Request),
}

fn parse(bytes: &[u8]) -> Parsed {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(bytes) {
        Ok(httparse::Status::Partial) => Parsed::Partial,
        Err(_) => Parsed::Bad,
        Ok(httparse::Status::Complete(_)) => {
            let method = request.method.unwrap_or("");
            Parsed::Whole(Request {
                get: matches!(method, "GET" | "HEAD"),
                head: method == "HEAD",
                path: request.path.unwrap_or("/").to_owned(),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_core::seed::Random;

    fn ask(server: &Server, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.write_all(request).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn answers_what_it_knows_and_refuses_the_rest() {
        let server = Server::start("127.0.0.1:0", Shown::new()).unwrap();
        assert!(ask(&server, b"GET /metrics HTTP/1.1\r\n\r\n").contains("process_open_fds"));
        assert!(ask(&server, b"GET /-/healthy HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200"));
        assert!(ask(&server, b"GET /-/ready HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 503"));
        assert!(ask(&server, b"GET /etc/passwd HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404"));
        assert!(ask(&server, b"POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405"));
        assert!(ask(&server, b"\x16\x03\x01\x02\x00\r\n\r\n").starts_with("HTTP/1.1 400"));
        let head = ask(&server, b"HEAD /metrics HTTP/1.1\r\n\r\n");
        assert!(head.ends_with("\r\n\r\n") && head.contains("Content-Length"));
    }

    #[test]
    fn noise_never_panics() {
        let mut random = Random::stream(6, "http");
        for _ in 0..50_000 {
            let mut noise = vec![0_u8; random.below(80) as usize];
            random.fill(&mut noise);
            let prefix: &[u8] = if random.below(2) == 0 { b"GET /" } else { b"" };
            parse(&[prefix, &noise].concat());
        }
    }

    #[test]
    fn a_taken_port_says_what_to_try() {
        let first = Server::start("127.0.0.1:0", Shown::new()).unwrap();
        let error = Server::start(&first.address().to_string(), Shown::new()).err().unwrap();
        assert!(error.contains("--listen"), "{error}");
    }
}
