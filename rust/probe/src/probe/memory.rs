//! Memory that a supervisor and its workers share: words and bytes, all atomic.
//!
//! Nothing in it is ever borrowed as plain data, so another process that dies, hangs or misbehaves can leave wrong
//! numbers behind but no undefined behaviour.

use std::ffi::c_void;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU64};

use rustix::fs::{MemfdFlags, fstat, ftruncate, memfd_create};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// Zeroed memory that can be handed to another process as a descriptor.
#[derive(Debug)]
pub struct Memory {
    base: NonNull<c_void>,
    bytes: usize,
    descriptor: OwnedFd,
}

// SAFETY: the memory is reached through atomics only.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// `bytes` zero bytes; pages that are never touched cost nothing.
    pub fn new(bytes: usize) -> Result<Self, Errno> {
        let descriptor = memfd_create("iosonde", MemfdFlags::CLOEXEC)?;
        ftruncate(&descriptor, bytes as u64)?;
        Self::map(descriptor, bytes)
    }

    /// Memory that another process made.
    pub fn attach(descriptor: OwnedFd) -> Result<Self, Errno> {
        let bytes = usize::try_from(fstat(&descriptor)?.st_size).map_err(|_| Errno::INVAL)?;
        Self::map(descriptor, bytes)
    }

    fn map(descriptor: OwnedFd, bytes: usize) -> Result<Self, Errno> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a fresh mapping of a descriptor we own, at an address the kernel chooses.
        let base = unsafe {
            mmap(std::ptr::null_mut(), bytes.max(1), protection, MapFlags::SHARED, &descriptor, 0)
        }?;
        let base = NonNull::new(base).ok_or(Errno::NOMEM)?;
        Ok(Self { base, bytes, descriptor })
    }

    /// For handing it over.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
    /// The word at byte `at`, which must be a multiple of eight.
    pub fn word(&self, at: usize) -> &AtomicU64 {
        assert!(at.is_multiple_of(8) && at + 8 <= self.bytes, "word {at} of {}", self.bytes);
        // SAFETY: in bounds and aligned (a mapping begins at a page); only ever used as an atomic.
        unsafe { self.base.cast::<AtomicU64>().byte_add(at).as_ref() }
    }
    /// `count` words from byte `at` on, which must be a multiple of eight: one check for all of them.
    pub fn words(&self, at: usize, count: usize) -> &[AtomicU64] {
        assert!(
            at.is_multiple_of(8) && at + count * 8 <= self.bytes,
            "{count} words from {at} of {}",
            self.bytes
        );
        // SAFETY: in bounds and aligned; only ever used as atomics.
        unsafe { std::slice::from_raw_parts(self.base.cast::<AtomicU64>().byte_add(at).as_ptr(), count) }
    }
    /// The byte at `at`.
    pub fn byte(&self, at: usize) -> &AtomicU8 {
        assert!(at < self.bytes, "byte {at} of {}", self.bytes);
        // SAFETY: in bounds; only ever used as an atomic.
        unsafe { self.base.cast::<AtomicU8>().byte_add(at).as_ref() }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `map` and nothing borrowed from it outlives `self`.
        let _ = unsafe { munmap(self.base.as_ptr(), self.bytes.max(1)) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering::Relaxed;

    #[test]
    fn what_one_side_stores_the_other_reads() {
        let ours = Memory::new(8192).unwrap();
        let theirs = Memory::attach(ours.descriptor().try_clone_to_owned().unwrap()).unwrap();
        ours.word(4096).store(7, Relaxed);
        theirs.byte(3).store(9, Relaxed);
        assert_eq!((theirs.word(4096).load(Relaxed), ours.byte(3).load(Relaxed)), (7, 9));
        assert_eq!(theirs.bytes(), 8192);
    }

    #[test]
    #[should_panic(expected = "word 8192 of 8192")]
    fn nothing_beyond_the_end() {
        Memory::new(8192).unwrap().word(8192);
    }
}
