//! Tells the service manager how it goes: datagrams to `$NOTIFY_SOCKET`, as sd_notify(3) describes.

use std::ffi::OsStr;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::Arc;

use iosonde_core::clock::Clock;
use iosonde_core::text::is_printable;
use iosonde_probe::probe::session::Beat;

/// The way to the service manager; without one, every message is dropped.
#[derive(Debug, Default)]
pub struct Notify {
    way: Option<(UnixDatagram, SocketAddr)>,
}

impl Notify {
    /// To what `$NOTIFY_SOCKET` names: a path, or `@name` for an abstract socket.
    pub fn new(address: Option<&OsStr>) -> Result<Self, String> {
        let Some(address) = address.filter(|address| !address.is_empty()) else { return Ok(Self::default()) };
        let failed = |error: std::io::Error| format!("cannot notify {}: {error}", address.display());
        let to = match address.as_bytes() {
            [b'@', name @ ..] => SocketAddr::from_abstract_name(name),
            _ => SocketAddr::from_pathname(address),
        };
        let to = to.map_err(failed)?;
        let socket = UnixDatagram::unbound().map_err(failed)?;
        // A manager that does not listen must not stop us.
        socket.set_nonblocking(true).map_err(failed)?;
        Ok(Self { way: Some((socket, to)) })
    }

    fn send(&self, text: &str) {
        if let Some((socket, to)) = &self.way {
            // A manager that went away comes back without our help.
            let _ = socket.send_to_addr(text.as_bytes(), to);
        }
    }

    /// Probing has begun, or goes on after a reload.
    pub fn ready(&self, status: &str) {
        self.send(&format!("READY=1\nSTATUS={}", one_line(status)));
    }
    /// One line for `systemctl status`.
    pub fn status(&self, status: &str) {
        self.send(&format!("STATUS={}", one_line(status)));
    }
    /// The configuration is being read anew.
    pub fn reloading(&self, clock: &dyn Clock) {
        self.send(&format!("RELOADING=1\nMONOTONIC_USEC={}", clock.monotonic_ns() / 1000));
    }
    /// The end has begun.
    pub fn stopping(&self) {
        self.send("STOPPING=1\nSTATUS=stopping");
    }

    /// What the scheduling thread calls to say that it is alive; sends at most every `every_ns`.
    pub fn watchdog(self: &Arc<Self>, clock: Arc<dyn Clock>, every_ns: u64) -> Beat {
        let notify = Arc::clone(self);
        let mut next_ns = 0;
        Box::new(move || {
            let now = clock.monotonic_ns();
            if now >= next_ns {
                notify.send("WATCHDOG=1");
                next_ns = now + every_ns;
            }
        })
    }
}

/// How often to feed the watchdog: a quarter of `$WATCHDOG_USEC`. None when there is no watchdog, or
/// `$WATCHDOG_PID` is another process.
pub fn watchdog_every_ns(usec: Option<&str>, pid: Option<&str>, own: u32) -> Option<u64> {
    let usec: u64 = usec?.parse().ok().filter(|&usec| usec > 0)?;
    let mine = pid.is_none_or(|pid| pid.parse() == Ok(own));
    mine.then_some(usec.saturating_mul(1000) / 4)
}

fn one_line(text: &str) -> String {
    text.replace(|c| !is_printable(c), " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_core::clock::SimClock;

    fn heard(socket: &UnixDatagram) -> String {
        let mut buffer = [0; 256];
        let n = socket.recv(&mut buffer).unwrap();
        String::from_utf8_lossy(&buffer[..n]).into_owned()
    }

    #[test]
    fn abstract_sockets_hear_it_too() {
        let name = format!("iosonde-notify-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(name.as_bytes()).unwrap();
        let socket = UnixDatagram::bind_addr(&address).unwrap();
        let notify = Notify::new(Some(OsStr::new(&format!("@{name}")))).unwrap();
        notify.ready("two\nlines");
        assert_eq!(heard(&socket), "READY=1\nSTATUS=two lines");
        notify.reloading(&SimClock::new(0));
        assert_eq!(heard(&socket), "RELOADING=1\nMONOTONIC_USEC=1000000");
    }

    #[test]
    fn the_watchdog_is_fed_no_more_often_than_asked() {
        let name = format!("iosonde-watchdog-{}", std::process::id());
        let socket =
            UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(name.as_bytes()).unwrap()).unwrap();
        socket.set_nonblocking(true).unwrap();
        let notify = Arc::new(Notify::new(Some(OsStr::new(&format!("@{name}")))).unwrap());
        let clock = SimClock::new(0);
        let mut beat = notify.watchdog(Arc::new(clock.clone()), 5_000_000_000);
        let mut fed = 0;
        for _ in 0..20 {
            beat();
            clock.advance(1_000_000_000);
            fed += u32::from(socket.recv(&mut [0; 64]).is_ok());
        }
        assert_eq!(fed, 4);
    }

    #[test]
    fn nobody_to_tell_is_fine() {
        Notify::new(None).unwrap().ready("x");
        Notify::new(Some(OsStr::new("/nowhere/at/all"))).unwrap().ready("x");
        assert!(Notify::new(Some(OsStr::new(&"x".repeat(300)))).is_err());
    }

    #[test]
    fn a_watchdog_of_another_process_is_not_ours() {
        assert_eq!(watchdog_every_ns(Some("30000000"), None, 7), Some(7_500_000_000));
        assert_eq!(watchdog_every_ns(Some("30000000"), Some("7"), 7), Some(7_500_000_000));
        assert_eq!(watchdog_every_ns(Some("30000000"), Some("8"), 7), None);
        assert_eq!(watchdog_every_ns(Some("soon"), None, 7), None);
        assert_eq!(watchdog_every_ns(None, None, 7), None);
    }
}
