//! The client against a server whose queue is known: what theory says is what it measures.
#![allow(clippy::unwrap_used)]

mod common;

use common::{MS, prepared, request, server};
use iosonde_nfs::point::{Measured, Progress};

const SERVICE_NS: u64 = 500_000;

fn median_ms(measured: &Measured, from_ns: u64) -> f64 {
    let mut latencies: Vec<u64> = measured
        .probes
        .iter()
        .filter(|probe| probe.due_ns >= from_ns)
        .map(|probe| probe.ended_ns - probe.due_ns)
        .collect();
    latencies.sort_unstable();
    latencies[latencies.len() / 2] as f64 / 1e6
}

/// Full queue: a read waits for M before it, k connections that wait in line, and itself.
#[test]
fn the_plateau_is_queue_plus_connections_plus_one_services() {
    for (queue, connections) in [(100, 1), (100, 4), (100, 16), (500, 4)] {
        let server = server(SERVICE_NS, queue);
        let mut session = prepared(&server);
        let fills_ns = 700 * MS;
        let measured = session.point(connections, &request(4000.0, 3.0), &Progress::default()).unwrap();
        let predicted = (queue + connections + 1) as f64 * SERVICE_NS as f64 / 1e6;
        let median = median_ms(&measured, fills_ns);
        println!("M {queue}, k {connections}: median {median:.2} ms, predicted {predicted:.2} ms");
        assert!((median / predicted - 1.0).abs() < 0.02, "M {queue}, k {connections}: {median}, {predicted}");
        assert_eq!(measured.probes.len(), 30);
        assert!(measured.probes.iter().all(|probe| probe.sent_ns > 0 && probe.ended_ns > 0));
        session.clean().unwrap();
        assert_eq!(server.executed().names, 0);
    }
}

/// Below 1/N nothing waits long; above it reads wait as the backlog grows: (r N - 1) s after s seconds.
#[test]
fn latency_grows_beyond_the_rate_of_service_and_no_probe_is_hidden() {
    let server = server(SERVICE_NS, 20_000);
    let mut session = prepared(&server);
    let below = session.point(4, &request(1000.0, 1.0), &Progress::default()).unwrap();
    assert!(median_ms(&below, 0) < 20.0, "{}", median_ms(&below, 0));
    let above = session.point(4, &request(4000.0, 2.0), &Progress::default()).unwrap();
    assert_eq!(above.probes.len(), 20);
    for probe in &above.probes {
        assert!(probe.sent_ns - probe.due_ns < 50 * MS, "a probe was held back: {probe:?}");
        let waited = (probe.ended_ns - probe.due_ns) as f64 / 1e9;
        let predicted = probe.due_ns as f64 / 1e9 * (4000.0 * 5e-4 - 1.0);
        assert!((waited - predicted).abs() < 0.05 * predicted + 0.03, "{probe:?}: {predicted}");
    }
    session.clean().unwrap();
}

#[test]
fn a_ceiling_ends_a_point_and_a_stop_too() {
    let server = server(SERVICE_NS, 20_000);
    let mut session = prepared(&server);
    let mut asked = request(4000.0, 20.0);
    asked.ceiling_ns = 200 * MS;
    let progress = Progress::default();
    let measured = session.point(2, &asked, &progress).unwrap();
    assert!(measured.ceiling && !measured.stopped);
    assert!((100 * MS..2_000 * MS).contains(&measured.lasted_ns), "{}", measured.lasted_ns);
    let progress = Progress::default();
    progress.stop.store(true, std::sync::atomic::Ordering::Relaxed);
    assert!(session.point(2, &asked, &progress).unwrap().stopped);
    session.clean().unwrap();
}

/// Without a queue as many as the client can send; each that it counts was executed.
#[test]
fn what_the_client_counts_is_what_the_server_executed() {
    let server = server(0, 1);
    let mut session = prepared(&server);
    let before = server.executed();
    for (connections, window) in [(1, 1), (1, 128), (4, 1024)] {
        let mut asked = request(f64::INFINITY, 0.3);
        asked.window = window;
        let start = server.executed().writes;
        let writes = session.point(connections, &asked, &Progress::default()).unwrap().writes;
        assert_eq!(writes.done, server.executed().writes - start, "{connections} {window}");
        assert_eq!((writes.sent, writes.failed, writes.strays), (writes.done, 0, 0));
        assert!(writes.outstanding <= window as u64 && writes.done > 500, "{}", writes.done);
    }
    assert_eq!(server.executed().reads - before.reads, 9);
    session.clean().unwrap();
}
