//! The threads of a point: one writes over its connections at a rate, one reads a byte whenever that is due.
//!
//! Both are open loops: a call is due at an instant of the schedule, whatever became of those before, and its latency
//! counts from there. A server that stalls delays answers, never the calls.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use iosonde_core::clock::{Clock, precise_sleeps};
use iosonde_core::pace::Schedule;
use iosonde_core::seed::Random;
use nfs3_types::nfs3::NFS_PROGRAM;

use crate::connection::{Connection, Connector};
use crate::error::NfsError;
use crate::files::{procedure, put_read, put_write, read_data, written};
use crate::message::put_call;
use crate::point::{MOST_LATENCIES, Probe, Progress, Request, Writes};
use crate::record;
use crate::socket::ready;

/// Between two looks at the schedule while many writes are due.
const QUANTUM_NS: u64 = 100_000;
const BATCH: u64 = 512;
const MOST_UNSENT: usize = 1 << 16;
const LOOK_NS: u64 = 50_000_000;

/// Where calls go.
#[derive(Clone)]
pub struct Aim {
    /// How to connect.
    pub connector: Connector,
    /// The server.
    pub address: SocketAddr,
    /// Handle of the file.
    pub file: Vec<u8>,
}

/// A WRITE of eight random bytes to the beginning of a file, but for its number.
fn prepared(aim: &Aim, request: &Request, seed: u64) -> Vec<u8> {
    let mut data = [0; 8];
    Random::stream(seed, "written").fill(&mut data);
    let mut whole = Vec::new();
    let at = record::begin(&mut whole);
    put_call(&mut whole, 0, procedure(NFS_PROGRAM::NFSPROC3_WRITE), aim.connector.caller);
    put_write(&mut whole, &aim.file, 0, request.stable, &data);
    record::end(&mut whole, at);
    whole
}

struct Writer<'a> {
    clock: Arc<dyn Clock>,
    request: &'a Request,
    progress: &'a Progress,
    start_ns: u64,
    end_ns: u64,
    found: Writes,
    problems: Vec<String>,
}

/// Write as due from `start_ns` on. The connections are opened before.
pub fn write(
    aim: &Aim,
    connections: Vec<Connection>,
    request: &Request,
    progress: &Progress,
    start_ns: u64,
    seed: u64,
) -> (Writes, Vec<String>) {
    precise_sleeps();
    let mut writer = Writer {
        clock: Arc::clone(&aim.connector.clock),
        request,
        progress,
        start_ns,
        end_ns: start_ns + request.duration_ns,
        found: Writes { latency_ns: Vec::with_capacity(1 << 16), ..Writes::default() },
        problems: Vec::new(),
    };
    writer.run(connections, &prepared(aim, request, seed));
    (writer.found, writer.problems)
}

impl Writer<'_> {
    fn run(&mut self, mut connections: Vec<Connection>, whole: &[u8]) {
        let share = (self.request.window / connections.len().max(1)).max(1);
        let mut at = 0;
        loop {
            let now = self.clock.monotonic_ns();
            if now >= self.end_ns || self.progress.over() {
                break;
            }
            self.send(&mut connections, &mut at, whole, share, now);
            if connections.is_empty() || !self.exchange(&mut connections, self.until_next(now, share)) {
                break;
            }
        }
        // Calls that were due when the end was asked for.
        let end_ns = self.clock.monotonic_ns().min(self.end_ns);
        self.progress.lasted_ns.fetch_max(end_ns.saturating_sub(self.start_ns), Ordering::Relaxed);
        self.found.due = self.due(end_ns).max(self.found.sent);
        let begun_ns = self.clock.monotonic_ns();
        while connections.iter().any(|each| each.outstanding() > 0) {
            let now = self.clock.monotonic_ns();
            let left_ns = (begun_ns + self.progress.patience_ns(self.request)).saturating_sub(now);
            if left_ns == 0 || !self.exchange(&mut connections, LOOK_NS.min(left_ns)) {
                break;
            }
        }
        for connection in connections {
            self.found.unanswered += connection.outstanding() as u64;
            self.found.strays += connection.strays();
        }
    }

    fn due(&self, now_ns: u64) -> u64 {
        if self.request.write_rate.is_infinite() {
            return 0;
        }
        (now_ns.saturating_sub(self.start_ns) as f64 * 1e-9 * self.request.write_rate) as u64
    }

    /// Queue what is due, in turn over connections that have room.
    fn send(&mut self, connections: &mut [Connection], at: &mut usize, whole: &[u8], share: usize, now: u64) {
        let free_running = self.request.write_rate.is_infinite();
        let due = if free_running { u64::MAX } else { self.due(now) };
        let (many, mut queued, mut full) = (connections.len(), 0, 0);
        while self.found.sent < due && queued < BATCH * many as u64 && full < many {
            *at = (*at + 1) % many;
            let connection = &mut connections[*at];
            if connection.outstanding() >= share || connection.unsent() > MOST_UNSENT {
                full += 1;
                continue;
            }
            full = 0;
            let token = if free_running {
                now
            } else {
                // Write k is due when k + 1 periods have passed: that is when it may go.
                self.start_ns + ((self.found.sent + 1) as f64 * 1e9 / self.request.write_rate) as u64
            };
            connection.begin_prepared(whole, token);
            self.found.sent += 1;
            queued += 1;
        }
        let outstanding: usize = connections.iter().map(Connection::outstanding).sum();
        self.found.outstanding = self.found.outstanding.max(outstanding as u64);
    }

    /// How long to wait for answers before the next write is due.
    fn until_next(&self, now: u64, share: usize) -> u64 {
        if self.request.write_rate <= 0.0 {
            return LOOK_NS.min(self.end_ns.saturating_sub(now));
        }
        if self.request.write_rate.is_infinite() {
            return if share > 1 { QUANTUM_NS } else { LOOK_NS };
        }
        let next = self.start_ns + ((self.found.sent + 1) as f64 * 1e9 / self.request.write_rate) as u64;
        let quantum = if self.request.write_rate > 5e3 { QUANTUM_NS } else { 0 };
        next.saturating_sub(now).max(quantum).min(LOOK_NS).min(self.end_ns.saturating_sub(now) + 1)
    }

    /// Hand over calls, wait, take answers. A connection that fails goes; false when none is left.
    fn exchange(&mut self, connections: &mut Vec<Connection>, limit_ns: u64) -> bool {
        let mut broken = Vec::new();
        for (at, connection) in connections.iter_mut().enumerate() {
            if let Err(error) = connection.flush() {
                broken.push((at, error));
            }
        }
        let mut fds: Vec<_> = connections.iter().map(Connection::poll_fd).collect();
        let any = ready(&mut fds, if broken.is_empty() { limit_ns } else { 0 });
        drop(fds);
        if any != Ok(0) {
            let now = self.clock.monotonic_ns();
            for (at, connection) in connections.iter_mut().enumerate() {
                let taken = connection.receive(|due_ns, results| self.answered(due_ns, results, now));
                if let (Err(error), false) = (taken, broken.iter().any(|(other, _)| *other == at)) {
                    broken.push((at, error));
                }
            }
        }
        broken.sort_by_key(|(at, _)| *at);
        for (at, error) in broken.into_iter().rev() {
            let connection = connections.remove(at);
            self.found.failed += connection.outstanding() as u64;
            self.found.strays += connection.strays();
            self.problems.push(format!("a connection of the writes: {error}"));
        }
        !connections.is_empty()
    }

    fn answered(&mut self, due_ns: u64, results: Result<&[u8], NfsError>, now: u64) {
        match results.and_then(written) {
            Ok((_, committed)) => {
                let found = &mut self.found;
                found.done += 1;
                found.done_in_time += u64::from(now <= self.end_ns);
                found.committed[committed.min(2) as usize] += 1;
                if found.latency_ns.len() < MOST_LATENCIES {
                    found.latency_ns.push(now.saturating_sub(due_ns) as i64);
                } else {
                    found.left_out += 1;
                }
                self.progress.written.fetch_add(1, Ordering::Relaxed);
            }
            Err(error) => {
                self.found.failed += 1;
                if self.problems.len() < 8 {
                    self.problems.push(format!("a WRITE: {error}"));
                }
            }
        }
    }
}

/// Read a byte whenever that is due from `start_ns` on. Every due probe is in the result, in order.
pub fn probe(
    aim: &Aim,
    mut connection: Connection,
    request: &Request,
    progress: &Progress,
    start_ns: u64,
) -> (Vec<Probe>, Vec<String>) {
    precise_sleeps();
    let clock = Arc::clone(&aim.connector.clock);
    // Half a period of phase: not at the instant at which writes begin.
    let schedule = Schedule::new(start_ns, request.probe_period_ns / 2, request.probe_period_ns);
    let end_ns = start_ns + request.duration_ns;
    let mut probes: Vec<Probe> = Vec::new();
    let mut problems = Vec::new();
    let mut broken = None;
    let mut give_up = None;
    loop {
        let now = clock.monotonic_ns();
        let over = progress.over() || now >= end_ns;
        while schedule.due_ns(probes.len() as u64) <= now.min(end_ns) && give_up.is_none() {
            let k = probes.len() as u64;
            let due_ns = schedule.due_ns(k) - start_ns;
            let errno = broken.unwrap_or(0);
            let sent_ns = if errno == 0 { now - start_ns } else { 0 };
            probes.push(Probe { due_ns, sent_ns, ended_ns: 0, errno });
            if errno == 0 {
                connection
                    .begin(procedure(NFS_PROGRAM::NFSPROC3_READ), k, |to| put_read(to, &aim.file, 0, 1));
            }
        }
        if over && give_up.is_none() {
            progress.lasted_ns.fetch_max(now.min(end_ns).saturating_sub(start_ns), Ordering::Relaxed);
            give_up = Some(now);
        }
        let waiting = broken.is_none() && connection.outstanding() > 0;
        if give_up.is_some_and(|begun_ns| !waiting || now >= begun_ns + progress.patience_ns(request)) {
            return (probes, problems);
        }
        let next =
            if give_up.is_some() { u64::MAX } else { schedule.due_ns(probes.len() as u64).min(end_ns) };
        let limit_ns = next.saturating_sub(now).min(LOOK_NS);
        if broken.is_some() {
            let _ = ready(&mut [], limit_ns);
            continue;
        }
        let exchanged = exchange(&mut connection, limit_ns, |k, results| {
            let ended = clock.monotonic_ns() - start_ns;
            let Some(probe) = probes.get_mut(k as usize) else { return };
            probe.ended_ns = ended;
            match results.and_then(read_data) {
                Ok(_) => {
                    progress.longest_ns.fetch_max(ended - probe.due_ns, Ordering::Relaxed);
                    progress.read.fetch_add(1, Ordering::Relaxed);
                }
                Err(error) => {
                    probe.errno = error.errno().raw_os_error() as u16;
                    problems.push(format!("a READ: {error}"));
                }
            }
        });
        if let Err(error) = exchanged {
            let errno = error.errno().raw_os_error() as u16;
            probes.iter_mut().filter(|each| each.ended_ns == 0).for_each(|each| each.errno = errno);
            problems.push(format!("the connection of the reads: {error}"));
            broken = Some(errno);
        }
        let age = connection
            .oldest()
            .and_then(|k| probes.get(k as usize))
            .map_or(0, |oldest| clock.monotonic_ns().saturating_sub(start_ns + oldest.due_ns));
        if age.max(progress.longest_ns.load(Ordering::Relaxed)) > request.ceiling_ns {
            progress.ceiling.store(true, Ordering::Relaxed);
        }
    }
}

fn exchange(
    connection: &mut Connection,
    limit_ns: u64,
    answer: impl FnMut(u64, Result<&[u8], NfsError>),
) -> Result<(), NfsError> {
    connection.flush()?;
    ready(&mut [connection.poll_fd()], limit_ns)
        .map_err(|errno| NfsError::system("waiting for an answer", errno))?;
    connection.receive(answer)
}
