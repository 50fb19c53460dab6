//! Several transfers under way at once, through the kernel's io_uring.

use std::os::fd::RawFd;

use io_uring::{IoUring, opcode, types};
use rustix::io::Errno;

use crate::ranks::BenchError;

/// A ring of one rank. Whoever pushes keeps the buffers until their transfers are completed.
pub struct Ring(IoUring);

impl Ring {
    /// For this many transfers.
    pub fn new(depth: u32) -> Result<Self, BenchError> {
        IoUring::new(depth.next_power_of_two()).map(Self).map_err(|error| {
            BenchError::wrong(
                format!("the kernel refuses io_uring: {}", errno_of(&error)),
                "--queue-depth 1, or a kernel where sysctl kernel.io_uring_disabled is 0 and no container forbids it",
            )
        })
    }

    /// Put a transfer into the queue; `number` comes back with its result.
    ///
    /// # Safety
    ///
    /// `bytes` must be valid for `length` bytes, for reads too or for writes, until the transfer is completed.
    pub unsafe fn push(&mut self, write: bool, file: RawFd, number: u64, bytes: (*mut u8, u32), offset: u64) {
        let (at, length) = bytes;
        let file = types::Fd(file);
        let entry = if write {
            opcode::Write::new(file, at, length).offset(offset).build()
        } else {
            opcode::Read::new(file, at, length).offset(offset).build()
        };
        let entry = entry.user_data(number);
        // SAFETY: the caller keeps the buffer; there are as many places as transfers under way.
        while unsafe { self.0.submission().push(&entry) }.is_err() {
            let _ = self.0.submit();
        }
    }

    /// Hand the queue to the kernel and wait until a transfer is completed.
    pub fn wait(&mut self) -> Result<(), Errno> {
        loop {
            match self.0.submit_and_wait(1) {
                Ok(_) => return Ok(()),
                Err(error) if errno_of(&error) == Errno::INTR => {}
                Err(error) => return Err(errno_of(&error)),
            }
        }
    }

    /// A completed transfer's number and its bytes or error; none when no other is.
    pub fn completed(&mut self) -> Option<(u64, Result<usize, Errno>)> {
        let entry = self.0.completion().next()?;
        let result = usize::try_from(entry.result()).map_err(|_| Errno::from_raw_os_error(-entry.result()));
        Some((entry.user_data(), result))
    }
}

fn errno_of(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}
