//! The timed part: a rank opens its file, transfers and closes it. Between the first and the last transfer nothing here
//! allocates, formats, prints or waits for others.

use std::os::fd::AsRawFd;
use std::sync::{Arc, PoisonError};

use rustix::io::Errno;

use super::content::Content;
use super::file::{File, Manner};
use super::parameters::Fsync;
use super::rank::Rank;
use super::records::{Mark, Records};
use super::running::Running;
use crate::ranks::lap::{End, Lap, Limit, OpLap};
use iosonde_core::clock::{Anchor, thread_cpu_ns};
use iosonde_core::sample::Outcome;

/// What a rank can have open, for those who look at it.
pub const OPS: [&str; 5] = ["data_write", "data_read", "open", "fsync", "close"];
const READ: usize = 1;
const OPEN: usize = 2;
const FSYNC: usize = 3;
const CLOSE: usize = 4;

/// Where a rank ends.
struct Bounds {
    deadline_ns: u64,
    most: u64,
}

impl Rank {
    /// Go on with the phase that was loaded, up to a limit, and say what was done of it so far.
    pub fn go(&mut self, limit: &Limit) -> Lap {
        let Some(mut running) = self.running.take() else {
            return self.lap(None, End::Done);
        };
        let records = Arc::clone(&self.records);
        let mut records = records.lock().unwrap_or_else(PoisonError::into_inner);
        let cpu_before = thread_cpu_ns();
        running.failures_in_row = 0;
        if running.origin_ns.is_none() {
            self.open(&mut running, &mut records);
        }
        let end = match running.file.take() {
            Some(mut file) => {
                let end = self.transfers(&mut running, &mut records, limit, &mut file);
                records.mark(Mark::End, running.last_ns);
                if running.held && end == End::Limit && limit.steps.is_none() {
                    running.file = Some(file);
                } else {
                    self.close(&mut running, &mut records, file);
                }
                end
            }
            None if running.at == running.transfers.count() && running.problems.is_empty() => End::Done,
            None => End::Failing,
        };
        running.cpu_ns += thread_cpu_ns() - cpu_before;
        let lap = self.lap(Some(&running), end);
        self.running = Some(running);
        lap
    }

    fn open(&mut self, running: &mut Running, records: &mut Records) {
        let parameters = Arc::clone(&self.common.parameters);
        let clock = Arc::clone(&self.common.clock);
        let faults = parameters.faults_of(self.number);
        let manner = Manner { write: running.write, direct: parameters.direct };
        let anchor = Anchor::take(clock.as_ref());
        let began_ns = clock.monotonic_ns();
        records.begin(anchor, began_ns);
        self.gauge.opened(OPEN, began_ns);
        let opened = match &mut self.own {
            None => Ok(File::null(&clock)),
            Some(own) => own
                .root()
                .and_then(|root| File::open(root, &running.name, manner))
                .map(|file| File::with(file, faults, &clock, self.common.origin_ns)),
        };
        let ended_ns = clock.monotonic_ns();
        self.gauge.settled();
        (running.origin_ns, running.last_ns) = (Some(began_ns), ended_ns);
        records.mark(Mark::Open, began_ns);
        records.mark(Mark::Opened, ended_ns);
        match opened {
            Ok(file) => {
                records.mark(Mark::Begin, ended_ns);
                running.file = Some(file);
            }
            Err(errno) => self.failed(running, "open", errno, ended_ns - began_ns),
        }
    }

    fn close(&mut self, running: &mut Running, records: &mut Records, file: File) {
        let clock = Arc::clone(&self.common.clock);
        if running.write && self.common.parameters.fsync == Fsync::End {
            let began_ns = clock.monotonic_ns();
            self.gauge.opened(FSYNC, began_ns);
            let result = file.sync();
            running.last_ns = clock.monotonic_ns();
            records.mark(Mark::End, running.last_ns);
            if let Err(errno) = result {
                self.failed(running, "fsync", errno, running.last_ns - began_ns);
            }
        }
        let began_ns = clock.monotonic_ns();
        self.gauge.opened(CLOSE, began_ns);
        let result = file.close();
        running.last_ns = clock.monotonic_ns();
        self.gauge.settled();
        records.mark(Mark::Close, began_ns);
        records.mark(Mark::Closed, running.last_ns);
        if let Err(errno) = result {
            self.failed(running, "close", errno, running.last_ns - began_ns);
        }
    }

    /// Open, fsync or close failed: what was written may be lost.
    #[cold]
    fn failed(&mut self, running: &mut Running, what: &str, errno: Errno, took_ns: u64) {
        let outcome = Outcome::error(errno);
        self.account.transfers.fail(outcome, took_ns);
        if !running.knows(outcome) {
            running.problems.push((outcome, format!("cannot {what} {}: {errno}", running.name)));
        }
    }

    fn transfers(
        &mut self,
        running: &mut Running,
        records: &mut Records,
        limit: &Limit,
        file: &mut File,
    ) -> End {
        let origin_ns = running.origin_ns.unwrap_or(0);
        let bounds = Bounds {
            deadline_ns: limit.after_ns.map_or(u64::MAX, |after| origin_ns.saturating_add(after)),
            most: limit.steps.unwrap_or(u64::MAX).min(running.transfers.count()),
        };
        // A pause before a second lap is nobody's transfer.
        running.last_ns = self.common.clock.monotonic_ns();
        if self.ring.is_some() {
            return self.through_ring(running, records, &bounds, file);
        }
        loop {
            if let Some(end) = self.ends(running, &bounds) {
                return end;
            }
            let offset = running.transfers.offset(running.at);
            running.at += 1;
            // The end of one transfer is the beginning of the next.
            let began_ns = running.last_ns;
            self.gauge.opened(usize::from(!running.write), began_ns);
            let result = self.transfer(running, file, offset);
            let ended_ns = self.common.clock.monotonic_ns();
            self.ended(running, records, (0, offset), result, (began_ns, ended_ns));
        }
    }

    #[inline]
    fn transfer(&mut self, running: &Running, file: &mut File, offset: u64) -> Result<usize, Errno> {
        if running.write {
            let bytes = file.write_at(offset, self.content.written(0, running.writer, offset))?;
            if self.common.parameters.fsync == Fsync::Each {
                file.sync()?;
            }
            Ok(bytes)
        } else {
            file.read_at(offset, self.content.room(0))
        }
    }

    /// Whether the next transfer is not to be begun.
    #[inline]
    fn ends(&mut self, running: &Running, bounds: &Bounds) -> Option<End> {
        if running.at >= bounds.most {
            let all = running.at == running.transfers.count();
            return Some(if all { End::Done } else { End::Limit });
        }
        if self.common.stop.raised() {
            return Some(End::Stopped);
        }
        if running.last_ns >= bounds.deadline_ns {
            return Some(End::Limit);
        }
        if running.failures_in_row >= self.common.parameters.max_errors {
            return Some(End::Failing);
        }
        if self.gauge.asked() {
            self.gauge.publish(&self.account);
        }
        None
    }

    /// A transfer through the buffer and at the offset `place` came to `result`.
    #[inline]
    fn ended(
        &mut self,
        running: &mut Running,
        records: &mut Records,
        place: (usize, u64),
        result: Result<usize, Errno>,
        (began_ns, ended_ns): (u64, u64),
    ) {
        let size = self.common.parameters.transfer_bytes;
        running.last_ns = ended_ns;
        let outcome = match result {
            Ok(bytes) if bytes as u64 != size => Outcome::SHORT,
            Ok(_) if self.common.parameters.verify && !running.write => {
                self.verified(running, records, place)
            }
            Ok(_) => Outcome::OK,
            Err(errno) => Outcome::error(errno),
        };
        let ok = outcome == Outcome::OK;
        self.gauge.closed(ok);
        if ok {
            running.failures_in_row = 0;
            self.account.transfers.succeed(ended_ns - began_ns, size);
            records.credit(ended_ns, size);
        } else {
            // Wrong bytes are no reason to stop looking for others.
            running.failures_in_row += u32::from(outcome != Outcome::CORRUPT);
            self.account.transfers.fail(outcome, ended_ns - began_ns);
            if !running.knows(outcome) {
                let words = failure(&running.name, outcome, place.1, records.mismatches());
                running.problems.push((outcome, words));
            }
        }
    }

    /// Compare what was read; not part of any transfer's latency.
    fn verified(&self, running: &mut Running, records: &mut Records, place: (usize, u64)) -> Outcome {
        let (at, offset) = place;
        let mismatch = self.content.mismatch(at, running.writer, offset);
        running.last_ns = self.common.clock.monotonic_ns();
        match mismatch {
            None => Outcome::OK,
            Some(wrong) => {
                records.mismatch(wrong);
                Outcome::CORRUPT
            }
        }
    }

    fn through_ring(
        &mut self,
        running: &mut Running,
        records: &mut Records,
        bounds: &Bounds,
        file: &mut File,
    ) -> End {
        let (Some(mut ring), Some(descriptor)) = (self.ring.take(), file.descriptor()) else {
            return End::Failing;
        };
        let descriptor = descriptor.as_raw_fd();
        let depth = self.common.parameters.depth as usize;
        let mut free: Vec<usize> = (0..depth).rev().collect();
        let mut begun = vec![(0_u64, 0_u64); depth];
        let mut end = None;
        while end.is_none() || free.len() < depth {
            while end.is_none()
                && let Some(&slot) = free.last()
            {
                end = self.ends(running, bounds);
                if end.is_some() {
                    break;
                }
                free.pop();
                let offset = running.transfers.offset(running.at);
                running.at += 1;
                if running.write {
                    self.content.written(slot, running.writer, offset);
                }
                begun[slot] = (self.common.clock.monotonic_ns(), offset);
                let room = self.content.room(slot);
                let bytes = (room.as_mut_ptr(), room.len() as u32);
                // SAFETY: slot's buffer is nobody else's before it is free again, and lives as long as the rank, which
                // does not leave this loop before.
                unsafe { ring.push(running.write, descriptor, slot as u64, bytes, offset) };
            }
            if free.len() == depth {
                continue;
            }
            self.gauge.opened(usize::from(!running.write) * READ, running.last_ns);
            if ring.wait().is_err() {
                // The kernel takes no more; buffers that it may still use are not given back.
                let parameters = &self.common.parameters;
                let fresh = Content::new(parameters.seed, parameters.transfer_bytes, parameters.depth);
                std::mem::forget(std::mem::replace(&mut self.content, fresh));
                return End::Failing;
            }
            while let Some((slot, result)) = ring.completed() {
                let slot = slot as usize;
                let (began_ns, offset) = begun[slot];
                let result = result.and_then(|bytes| self.rest(running.write, file, (slot, offset), bytes));
                let ended_ns = self.common.clock.monotonic_ns();
                self.ended(running, records, (slot, offset), result, (began_ns, ended_ns));
                free.push(slot);
            }
        }
        self.ring = Some(ring);
        end.unwrap_or(End::Done)
    }

    /// What the kernel left of a transfer, done at once.
    fn rest(
        &mut self,
        write: bool,
        file: &mut File,
        (slot, offset): (usize, u64),
        done: usize,
    ) -> Result<usize, Errno> {
        let room = self.content.room(slot);
        if done == room.len() || done == 0 {
            return Ok(done);
        }
        let (rest, at) = (&mut room[done..], offset + done as u64);
        let more = if write { file.write_at(at, rest) } else { file.read_at(at, rest) };
        more.map(|more| done + more)
    }

    fn lap(&self, running: Option<&Running>, end: End) -> Lap {
        let clock = self.common.clock.as_ref();
        let origin_ns = running.and_then(|running| running.origin_ns);
        let since_ns = origin_ns.map_or(0, |origin| clock.monotonic_ns().saturating_sub(origin));
        Lap {
            rank: self.number,
            began_ns: clock.wall_ns() - since_ns as i64,
            duration_ns: running.map_or(0, |running| running.last_ns - origin_ns.unwrap_or(running.last_ns)),
            end,
            steps: running.map_or(0, |running| running.at),
            of_steps: running.map_or(0, |running| running.transfers.count()),
            waited_ns: 0,
            cpu_ns: running.map_or(0, |running| running.cpu_ns),
            ops: OpLap::of([(self.account.op, &self.account.transfers)]),
            rows_left_out: 0,
            problems: running.map_or_else(Vec::new, |running| {
                running.problems.iter().map(|(outcome, words)| (outcome.name(), words.clone())).collect()
            }),
        }
    }
}

/// The first failure of a kind in words; empty where the error number says it all.
#[cold]
fn failure(name: &str, outcome: Outcome, offset: u64, mismatches: &[u64]) -> String {
    match outcome {
        Outcome::SHORT => format!("{name} has fewer bytes at offset {offset} than were asked for"),
        Outcome::CORRUPT => {
            let at = mismatches.last().copied().unwrap_or(offset);
            format!("{name} at offset {at}: not the byte that was written")
        }
        _ => String::new(),
    }
}
