//! A server of known truth, and a way to it.
#![allow(dead_code, clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Duration;

use iosonde_core::clock::RealClock;
use iosonde_nfs::connection::Connector;
use iosonde_nfs::message::Caller;
use iosonde_nfs::mount::Place;
use iosonde_nfs::point::Request;
use iosonde_nfs::server::{EXPORT, Model, Server};
use iosonde_nfs::session::Session;
use iosonde_nfs::socket::SourcePort;
use nfs3_types::nfs3::stable_how;

pub const MS: u64 = 1_000_000;

pub fn server(service_ns: u64, queue: usize) -> Server {
    let model = Model { service_ns, queue, most_bytes: 1 << 28 };
    Server::start(model, 0, Arc::new(RealClock)).unwrap()
}

pub fn connector(limit: Duration) -> Connector {
    let (clock, caller) = (Arc::new(RealClock), Caller { uid: 0, gid: 0 });
    Connector { clock, caller, source: SourcePort::Any, limit }
}

pub fn place(port: u16) -> Place {
    let (host, path) = ("127.0.0.1".into(), EXPORT.into());
    Place { host, path, nfs_port: None, mount_port: None, portmap_port: port }
}

pub fn prepared(server: &Server) -> Session {
    let mut session =
        Session::open(connector(Duration::from_secs(20)), &place(server.port()), 7, "a test").unwrap();
    assert!(session.prepare(4096, |_| true).unwrap());
    session
}

pub fn request(write_rate: f64, seconds: f64) -> Request {
    Request {
        write_rate,
        duration_ns: (seconds * 1e9) as u64,
        probe_period_ns: 100 * MS,
        window: 4096,
        stable: stable_how::UNSTABLE,
        ceiling_ns: 60_000 * MS,
        patience_ns: 20_000 * MS,
    }
}
