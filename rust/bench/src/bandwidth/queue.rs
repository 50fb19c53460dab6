//! The timed part with several transfers under way at once.

use std::os::fd::AsRawFd;

use rustix::io::Errno;

use super::content::Content;
use super::file::File;
use super::rank::Rank;
use super::records::Records;
use super::running::Running;
use super::work::Bounds;
use crate::ranks::lap::End;

impl Rank {
    /// Keep as many transfers under way as there are buffers, up to the bounds; then wait for the rest.
    pub(super) fn through_ring(
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
            self.gauge.opened(usize::from(!running.write), running.last_ns);
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
}
