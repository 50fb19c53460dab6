//! TCP connections that give up in time, from a reserved source port if asked.

use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use iosonde_core::clock::Clock;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, connect, socket_with, sockopt};

use crate::error::NfsError;

/// Which source port a connection has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SourcePort {
    /// Any.
    Any,
    /// Below 1024 where this user may bind one and one is free, as the kernel's client does.
    #[default]
    ReservedIfAllowed,
    /// Below 1024, or no connection.
    Reserved,
}

/// Ports that only root may bind; below 300 others are at home.
const RESERVED: std::ops::Range<u16> = 300..1024;

/// The first address of a host. Errors: System.
pub fn resolve(host: &str) -> Result<IpAddr, NfsError> {
    let failed =
        |problem: String| NfsError::System { what: host.to_owned(), errno: Errno::HOSTUNREACH, problem };
    let found = (host, 0_u16).to_socket_addrs().map_err(|error| failed(error.to_string()))?;
    found.map(|address| address.ip()).next().ok_or_else(|| failed("no address".into()))
}

/// Wait until one of `fds` is ready, for at most `limit_ns`; nothing is ready after a signal.
pub fn ready(fds: &mut [PollFd<'_>], limit_ns: u64) -> Result<usize, Errno> {
    let limit =
        Timespec { tv_sec: (limit_ns / 1_000_000_000) as i64, tv_nsec: (limit_ns % 1_000_000_000) as _ };
    match poll(fds, Some(&limit)) {
        Err(Errno::INTR) => Ok(0),
        result => result,
    }
}

/// Connect. The stream does not block and sends small messages at once. Errors: System, TimedOut.
pub fn open(
    address: SocketAddr,
    source: SourcePort,
    limit: Duration,
    clock: &dyn Clock,
) -> Result<TcpStream, NfsError> {
    let what = format!("{address}");
    let failed = |errno| NfsError::system(&what, errno);
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let fd = socket_with(family, SocketType::STREAM, flags, None).map_err(failed)?;
    if source != SourcePort::Any {
        match bind_reserved(&fd, address, clock.monotonic_ns()) {
            Err(errno) if source == SourcePort::Reserved => {
                return Err(NfsError::system("binding a source port below 1024", errno));
            }
            _ => {}
        }
    }
    sockopt::set_tcp_nodelay(&fd, true).map_err(failed)?;
    keep_alive(&fd).map_err(failed)?;
    match connect(&fd, &address) {
        Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => {}
        Err(errno) => return Err(failed(errno)),
    }
    let give_up = clock.monotonic_ns() + limit.as_nanos() as u64;
    loop {
        let now = clock.monotonic_ns();
        if now >= give_up {
            return Err(NfsError::TimedOut { what, seconds: limit.as_secs() });
        }
        let mut fds = [PollFd::new(&fd, PollFlags::OUT)];
        if ready(&mut fds, give_up - now).map_err(failed)? > 0 {
            break;
        }
    }
    match sockopt::socket_error(&fd).map_err(failed)? {
        Ok(()) => Ok(TcpStream::from(fd)),
        Err(errno) => Err(failed(errno)),
    }
}

/// A server that vanished without a word ends a connection that waits for it.
fn keep_alive(fd: &rustix::fd::OwnedFd) -> Result<(), Errno> {
    sockopt::set_socket_keepalive(fd, true)?;
    sockopt::set_tcp_keepidle(fd, Duration::from_secs(60))?;
    sockopt::set_tcp_keepintvl(fd, Duration::from_secs(10))?;
    sockopt::set_tcp_keepcnt(fd, 6)
}

fn bind_reserved(fd: &rustix::fd::OwnedFd, to: SocketAddr, seed: u64) -> Result<(), Errno> {
    let own: IpAddr = if to.is_ipv4() { [0; 4].into() } else { [0_u16; 8].into() };
    let many = RESERVED.end - RESERVED.start;
    let first = (seed / 1000 % u64::from(many)) as u16;
    let ports = (0..many).map(|step| RESERVED.start + (first + step) % many);
    for port in ports {
        match bind(fd, &SocketAddr::new(own, port)) {
            Err(Errno::ADDRINUSE) => {}
            result => return result,
        }
    }
    Err(Errno::ADDRINUSE)
}
