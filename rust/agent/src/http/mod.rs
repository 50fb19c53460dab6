//! Four read-only addresses over HTTP/1.1, one short connection each: `/`, `/metrics`, `/-/healthy`, `/-/ready`.
//!
//! Requests come from anybody who can reach the port, so they are bounded in size, in time and in number, and one
//! thread that never waits for a single client serves them all: whoever is slow keeps only himself waiting.

mod answer;
mod connection;
#[cfg(test)]
mod fuzz;
mod request;

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};

use iosonde_core::clock::{Clock, RealClock};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use self::connection::{Connection, Wants};
use crate::shown::Shown;

/// Connections at a time; a new one then takes the place of the oldest.
const LIMIT: usize = 64;
/// For so long a connection keeps its place, so that a flood cannot push out one who has just come.
const GRACE_NS: u64 = 20_000_000;
/// Pause after the system had no descriptor for a new connection.
const REST_NS: u64 = 100_000_000;

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
        let listener = TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let own = listener.local_addr().map_err(failed)?;
        let thread = std::thread::Builder::new().name("http".into()).stack_size(256 << 10);
        let crowd = Crowd { listener, shown, clients: Vec::new(), rests_until_ns: 0 };
        thread.spawn(move || crowd.serve()).map_err(failed)?;
        Ok(Self { address: own })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// All who are connected.
struct Crowd {
    listener: TcpListener,
    shown: Shown,
    clients: Vec<Connection>,
    rests_until_ns: u64,
}

impl Crowd {
    fn serve(mut self) {
        loop {
            let now_ns = RealClock.monotonic_ns();
            self.clients.retain_mut(|client| now_ns < client.deadline_ns() || client.expire(now_ns));
            let listens = now_ns >= self.opens_ns();
            let Some(ready) = self.wait(now_ns, listens) else { continue };
            let now_ns = RealClock.monotonic_ns();
            let mut is_ready = ready.iter();
            let shown = &self.shown;
            self.clients
                .retain_mut(|client| !is_ready.next().is_some_and(|&is| is) || client.step(shown, now_ns));
            if listens && ready.last().is_some_and(|&is| is) {
                self.accept(now_ns);
            }
        }
    }

    /// Wait until something can be done; says of every client, and of the listener behind them, whether it is ready.
    fn wait(&self, now_ns: u64, listens: bool) -> Option<Vec<bool>> {
        let mut polled: Vec<PollFd<'_>> = Vec::with_capacity(self.clients.len() + 1);
        polled.extend(self.clients.iter().map(|client| {
            let events = match client.wants() {
                Wants::Read => PollFlags::IN,
                Wants::Write => PollFlags::OUT,
            };
            PollFd::new(client.stream(), events)
        }));
        if listens {
            polled.push(PollFd::new(&self.listener, PollFlags::IN));
        }
        let opens_ns = (!listens).then(|| self.opens_ns());
        let next_ns = self.clients.iter().map(Connection::deadline_ns).chain(opens_ns).min();
        let timeout = next_ns.map(|next_ns| {
            let left_ns = next_ns.saturating_sub(now_ns);
            Timespec { tv_sec: (left_ns / 1_000_000_000) as i64, tv_nsec: (left_ns % 1_000_000_000) as _ }
        });
        // Interrupted: look again.
        poll(&mut polled, timeout.as_ref()).ok()?;
        Some(polled.iter().map(|one| !one.revents().is_empty()).collect())
    }

    /// From when on there is room for another connection.
    fn opens_ns(&self) -> u64 {
        let full = self.clients.len() >= LIMIT;
        let room_ns = self.oldest().filter(|_| full).map_or(0, |i| self.clients[i].began_ns() + GRACE_NS);
        room_ns.max(self.rests_until_ns)
    }

    /// Who has to go first: those who are being answered last.
    fn oldest(&self) -> Option<usize> {
        let order = |&i: &usize| (self.clients[i].wants() == Wants::Write, self.clients[i].began_ns());
        (0..self.clients.len()).min_by_key(order)
    }

    fn accept(&mut self, now_ns: u64) {
        while now_ns >= self.opens_ns() {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    if self.clients.len() >= LIMIT {
                        self.oldest().map(|i| self.clients.swap_remove(i));
                    }
                    // A client that went away is its own problem.
                    let Ok(mut client) = Connection::new(stream, now_ns) else { continue };
                    if client.step(&self.shown, now_ns) {
                        self.clients.push(client);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error)
                    if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionAborted) => {}
                // No descriptor left: asking again at once would only burn the processor.
                Err(_) => {
                    self.oldest().map(|i| self.clients.swap_remove(i));
                    self.rests_until_ns = now_ns + REST_NS;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::time::Duration;

    fn send(server: &Server, request: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(request).unwrap();
        stream
    }

    fn ask(server: &Server, request: &[u8]) -> String {
        let mut answer = String::new();
        send(server, request).read_to_string(&mut answer).unwrap();
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
    fn who_sends_too_much_still_reads_why() {
        let server = Server::start("127.0.0.1:0", Shown::new()).unwrap();
        let long = [b"GET /".as_slice(), &[b'a'; 40_000], b" HTTP/1.1\r\n\r\n"].concat();
        assert!(ask(&server, &long).starts_with("HTTP/1.1 431"));
        let pipelined = b"GET /-/healthy HTTP/1.1\r\n\r\n".repeat(400);
        assert_eq!(ask(&server, &pipelined).matches("HTTP/1.1 200").count(), 1);
    }

    #[test]
    fn half_a_request_is_told_so_after_a_while() {
        let server = Server::start("127.0.0.1:0", Shown::new()).unwrap();
        assert!(ask(&server, b"GET /metrics HT").starts_with("HTTP/1.1 408"));
    }

    #[test]
    fn many_silent_clients_keep_nobody_waiting() {
        let server = Server::start("127.0.0.1:0", Shown::new()).unwrap();
        // Ten times as many as there is room for, each with half a request.
        let silent: Vec<TcpStream> = (0..10 * LIMIT).map(|_| send(&server, b"GET /me")).collect();
        let began_ns = RealClock.monotonic_ns();
        assert!(ask(&server, b"GET /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200"));
        // Those before it go at the pace of one crowd per grace.
        let waited_ns = RealClock.monotonic_ns() - began_ns;
        assert!(waited_ns < 1_500_000_000, "waited {} ms", waited_ns / 1_000_000);
        assert_eq!(silent.len(), 10 * LIMIT);
    }

    #[test]
    fn a_taken_port_says_what_to_try() {
        let first = Server::start("127.0.0.1:0", Shown::new()).unwrap();
        let error = Server::start(&first.address().to_string(), Shown::new()).err().unwrap();
        assert!(error.contains("--listen"), "{error}");
    }
}
