//! The suite of the backends on an NFS server in this process.
#![allow(clippy::unwrap_used)]

use std::net::TcpStream;
use std::sync::Arc;

use iosonde_bench::backend::nfs::{NfsPlace, NfsStore};
use iosonde_core::backend::conformance;
use iosonde_core::backend::store::ObjectStore;
use iosonde_core::clock::{Clock, RealClock};
use iosonde_core::seed::Random;
use iosonde_nfs::server::{EXPORT, Model, Server};

fn place(port: u16) -> NfsPlace {
    NfsPlace {
        host: "127.0.0.1".into(),
        path: EXPORT.into(),
        nfs_port: None,
        mount_port: None,
        portmap_port: port,
        uid: 0,
        gid: 0,
        reserved: None,
        timeout_ms: 10_000,
    }
}

#[test]
fn an_nfs_export_conforms_and_nothing_stays() {
    let clock: Arc<dyn Clock> = Arc::new(RealClock);
    let model = Model { service_ns: 0, queue: 1, most_bytes: 1 << 28 };
    let server = Server::start(model, 0, Arc::clone(&clock)).unwrap();
    let mut connect = || {
        NfsStore::connect(&place(server.port()), &clock, Random::stream(1, "conformance"))
            .map(|store| Box::new(store) as Box<dyn ObjectStore>)
            .map_err(|error| error.to_string())
    };
    let verdicts = conformance::run(&mut connect, None);
    assert_eq!(verdicts.len(), 15);
    let wrong: Vec<_> = verdicts.into_iter().filter(|(_, verdict)| verdict.is_err()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    assert_eq!(server.executed().names, 0);
}

#[test]
fn nobody_there_says_what_to_check() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
    let clock: Arc<dyn Clock> = Arc::new(RealClock);
    let error = NfsStore::connect(&place(port), &clock, Random::stream(1, "x")).err().unwrap().to_string();
    assert!(error.starts_with("nfs://127.0.0.1/export: ") && error.contains("expected an NFSv3"), "{error}");
}
