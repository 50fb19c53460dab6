//! Servers that are absent, refuse, stall, lie and babble: errors, counted, and no crash.
#![allow(clippy::unwrap_used)]

mod common;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use common::{MS, connector, place, prepared, request, server};
use iosonde_core::seed::Random;
use iosonde_nfs::connection::Connection;
use iosonde_nfs::error::NfsError;
use iosonde_nfs::message::Procedure;
use iosonde_nfs::mount::mount;
use iosonde_nfs::point::Progress;
use rustix::io::Errno;

const NULL: Procedure = Procedure { program: 100_003, version: 3, procedure: 0 };

/// A server that does one thing with the first connection once a call has arrived.
fn answering(act: impl FnOnce(TcpStream, Vec<u8>) + Send + 'static) -> Connection {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut call = vec![0; 4096];
        let n = stream.read(&mut call).unwrap();
        call.truncate(n);
        act(stream, call);
    });
    Connection::open(&connector(Duration::from_millis(400)), address, 5).unwrap()
}

fn call_of(act: impl FnOnce(TcpStream, Vec<u8>) + Send + 'static) -> NfsError {
    answering(act).call("calling", NULL, |_| {}).unwrap_err()
}

fn reply(xid: u32) -> Vec<u8> {
    let words = [1 << 31 | 24, xid, 1, 0, 0, 0, 0];
    words.iter().flat_map(|word: &u32| word.to_be_bytes()).collect()
}

fn hold(stream: TcpStream) {
    let mut stream = stream;
    let _ = stream.read(&mut [0]);
}

#[test]
fn nobody_there() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let error = mount(&connector(Duration::from_secs(5)), &place(port)).unwrap_err();
    assert_eq!(error.errno(), Errno::CONNREFUSED);
    let mut nowhere = place(port);
    nowhere.host = "no-such-host.invalid".into();
    assert!(matches!(mount(&connector(Duration::from_secs(5)), &nowhere), Err(NfsError::System { .. })));
}

#[test]
fn an_export_that_is_not_there() {
    let server = server(0, 1);
    let mut other = place(server.port());
    other.path = "/other".into();
    let error = mount(&connector(Duration::from_secs(5)), &other).unwrap_err();
    assert_eq!(
        (error.errno(), error.to_string()),
        (Errno::NOENT, "mounting the export: NFS3ERR_NOENT".into())
    );
}

#[test]
fn a_server_that_hangs_closes_or_stops_in_a_record() {
    assert_eq!(call_of(|stream, _| hold(stream)).errno(), Errno::TIMEDOUT);
    assert_eq!(call_of(|stream, _| drop(stream)), NfsError::Closed { in_record: false });
    let cut = |keep: usize| move |mut stream: TcpStream, _| stream.write_all(&reply(5)[..keep]).unwrap();
    for keep in [2, 4, 11, 27] {
        assert_eq!(call_of(cut(keep)), NfsError::Closed { in_record: true }, "{keep}");
    }
    let stalls = |mut stream: TcpStream, _| {
        stream.write_all(&reply(5)[..11]).unwrap();
        hold(stream);
    };
    assert_eq!(call_of(stalls).errno(), Errno::TIMEDOUT);
}

#[test]
fn oversized_garbage_and_denied() {
    let oversized = |mut stream: TcpStream, _| {
        stream.write_all(&[0xff; 64]).unwrap();
        hold(stream);
    };
    assert!(matches!(call_of(oversized), NfsError::Oversized { .. }));
    for (word, value) in [(2, 0), (3, 7), (6, 9)] {
        let garbage = move |mut stream: TcpStream, _| {
            let mut bytes = reply(5);
            bytes[4 * word + 3] = value;
            stream.write_all(&bytes).unwrap();
            hold(stream);
        };
        assert!(matches!(call_of(garbage), NfsError::Malformed { .. }), "{word}");
    }
    let denied = |mut stream: TcpStream, _| {
        let words = [1_u32 << 31 | 20, 5, 1, 1, 1, 5];
        stream.write_all(&words.map(u32::to_be_bytes).concat()).unwrap();
        hold(stream);
    };
    assert!(matches!(call_of(denied), NfsError::Rejected { why } if why.contains("AUTH_TOOWEAK")));
}

#[test]
fn answers_to_no_call_are_counted_and_the_right_one_is_found() {
    let mut connection = answering(|mut stream, _| {
        for xid in [4, 6, 77, u32::MAX, 5, 5] {
            stream.write_all(&reply(xid)).unwrap();
        }
        hold(stream);
    });
    assert_eq!(connection.call("calling", NULL, |_| {}), Ok(Vec::new()));
    // The second answer to call 5 may still be on its way.
    while connection.strays() < 5 {
        connection.receive(|_, _| panic!("an answer to nothing")).unwrap();
    }
}

#[test]
fn random_bytes_from_a_server_never_crash_the_client() {
    let mut refused = 0;
    for seed in 0..300 {
        let mut connection = answering(move |mut stream, _| {
            let mut random = Random::stream(seed, "server");
            let mut bytes = reply(5);
            bytes.resize(4 + random.below(60) as usize, 0);
            for _ in 0..1 + random.below(6) {
                let at = random.below(bytes.len() as u64) as usize;
                bytes[at] = random.bits() as u8;
            }
            let _ = stream.write_all(&bytes);
        });
        // A few are whole answers by luck.
        refused += u32::from(connection.call("calling", NULL, |_| {}).is_err());
    }
    assert!(refused > 200, "{refused}");
}

#[test]
fn random_bytes_from_a_client_never_stop_the_server() {
    let server = server(100_000, 4);
    for seed in 0..200 {
        let mut random = Random::stream(seed, "client");
        let mut bytes = vec![0; 40 + random.below(200) as usize];
        random.fill(&mut bytes);
        if seed % 2 == 0 {
            // A whole record with the head of a call to NFS, and rubbish for arguments.
            let length = (bytes.len() - 4) as u32;
            let words = [1 << 31 | length, 9, 0, 2, 100_003, 3, random.below(23) as u32, 0, 0, 0, 0];
            for (place, word) in bytes.chunks_exact_mut(4).zip(words) {
                place.copy_from_slice(&u32::to_be_bytes(word));
            }
        }
        let mut stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
        let _ = stream.write_all(&bytes);
    }
    let mut session = prepared(&server);
    let measured = session.point(2, &request(100.0, 0.4), &Progress::default()).unwrap();
    assert!(measured.writes.done >= 39 && measured.problems.is_empty(), "{measured:?}");
    session.clean().unwrap();
}

/// The server goes away in the middle of a point: what was due is counted, as failures.
#[test]
fn a_server_that_dies_leaves_counts() {
    let running = server(500_000, 50);
    let mut session = prepared(&running);
    let mut asked = request(3000.0, 1.5);
    asked.patience_ns = 500 * MS;
    let killer = thread::spawn(move || {
        while running.executed().reads < 5 {
            thread::yield_now();
        }
        drop(running);
    });
    let measured = session.point(2, &asked, &Progress::default()).unwrap();
    killer.join().unwrap();
    assert_eq!(measured.probes.len(), 15);
    let good = measured.probes.iter().filter(|probe| probe.ended_ns > 0).count();
    assert!((4..15).contains(&good) && measured.probes.iter().all(|p| p.ended_ns > 0 || p.errno > 0));
    let writes = &measured.writes;
    assert_eq!(writes.sent, writes.done + writes.failed + writes.unanswered);
    assert!(!measured.problems.is_empty() && session.clean().is_err());
}
