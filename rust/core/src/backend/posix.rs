//! Files of a mounted file system, by plain system calls.

use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags, StatxFlags, fsync, openat, statat, statx, unlinkat};
use rustix::io::{Errno, pread, pwrite, read, write};
use serde::{Deserialize, Serialize};

use super::store::Manner;
use super::{Backend, BlockFile, ObjectName};
use crate::sample::Cache;

/// The files of one directory.
#[derive(Debug)]
pub struct PosixDirectory {
    directory: OwnedFd,
    fsync: bool,
    extra: OFlags,
}

impl PosixDirectory {
    /// Backend whose objects are the files directly below `directory`.
    pub fn new(directory: OwnedFd) -> Self {
        Self::with_manner(directory, Manner::default())
    }
    /// As `new`; with `direct`, contents and read buffers must be aligned as [`direct_alignment`] requires.
    pub fn with_manner(directory: OwnedFd, manner: Manner) -> Self {
        let extra = if manner.direct { OFlags::DIRECT } else { OFlags::empty() };
        Self { directory, fsync: manner.fsync, extra }
    }
}

/// Close and report an error: NFS and Lustre report a lost write here.
fn close(file: OwnedFd) -> Result<(), Errno> {
    // SAFETY: the descriptor is owned and given up here, so it is closed exactly once.
    match unsafe { libc::close(file.into_raw_fd()) } {
        0 => Ok(()),
        _ => Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)),
    }
}

impl Backend for PosixDirectory {
    fn create(&mut self, name: &ObjectName, content: &[u8]) -> Result<(), Errno> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&self.directory, name.as_c_str(), flags | self.extra, Mode::RUSR | Mode::WUSR)?;
        let mut rest = content;
        while !rest.is_empty() {
            match write(&file, rest) {
                Ok(0) => return Err(Errno::IO),
                Ok(n) => rest = &rest[n..],
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
        if self.fsync {
            fsync(&file)?;
        }
        close(file)
    }

    fn stat(&mut self, name: &ObjectName) -> Result<u64, Errno> {
        Ok(statat(&self.directory, name.as_c_str(), AtFlags::SYMLINK_NOFOLLOW)?.st_size as u64)
    }

    fn read(&mut self, name: &ObjectName, buffer: &mut [u8]) -> Result<usize, Errno> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&self.directory, name.as_c_str(), flags | self.extra, Mode::empty())?;
        let n = fill(buffer, |at, rest| match at {
            0 => read(&file, rest),
            _ => pread(&file, rest, at as u64),
        })?;
        close(file)?;
        Ok(n)
    }

    fn delete(&mut self, name: &ObjectName) -> Result<(), Errno> {
        unlinkat(&self.directory, name.as_c_str(), AtFlags::empty())
    }
}

/// Call until the buffer is full or the file ends.
fn fill(
    buffer: &mut [u8],
    mut call: impl FnMut(usize, &mut [u8]) -> Result<usize, Errno>,
) -> Result<usize, Errno> {
    let mut done = 0;
    while done < buffer.len() {
        match call(done, &mut buffer[done..]) {
            Ok(0) => break,
            Ok(n) => done += n,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(done)
}

/// Alignment that O_DIRECT needs according to `statx` (Linux 6.1 and later).
pub fn direct_alignment(file: &OwnedFd) -> Option<u64> {
    let status = statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).ok()?;
    let (memory, offset) = (status.stx_dio_mem_align, status.stx_dio_offset_align);
    let stated = status.stx_mask & StatxFlags::DIOALIGN.bits() != 0 && offset > 0;
    stated.then_some(u64::from(memory.max(offset)))
}

/// A big file on a mounted file system.
#[derive(Debug)]
pub struct PosixFile {
    file: OwnedFd,
    access: Access,
}

/// Access path to a big file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// O_DIRECT: bypasses the client's cache.
    Direct,
    /// Through the cache, because the file is larger than memory or nothing else is granted.
    Buffered,
    /// The file system is memory itself.
    Memory,
}

impl PosixFile {
    /// `file` was opened with O_DIRECT if `access` says so.
    pub fn new(file: OwnedFd, access: Access) -> Self {
        Self { file, access }
    }

    /// The descriptor.
    pub fn descriptor(&self) -> &OwnedFd {
        &self.file
    }

    /// Force written data to stable storage.
    pub fn sync(&self) -> Result<(), Errno> {
        fsync(&self.file)
    }

    /// Close it and report an error: NFS and Lustre report a lost write here.
    pub fn close(self) -> Result<(), Errno> {
        close(self.file)
    }

    /// Number of cached pages in a range, if the kernel tells (6.5 and later).
    fn cached_pages(&self, offset: u64, length: usize) -> Option<u64> {
        const CACHESTAT: libc::c_long = 451;
        let range = [offset, length as u64];
        let mut found = [0_u64; 5];
        // SAFETY: both arrays have the sizes of struct cachestat_range and struct cachestat.
        let result =
            unsafe { libc::syscall(CACHESTAT, self.file.as_raw_fd(), range.as_ptr(), found.as_mut_ptr(), 0) };
        (result == 0).then_some(found[0])
    }
}

impl BlockFile for PosixFile {
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, Errno> {
        fill(buffer, |at, rest| pread(&self.file, rest, offset + at as u64))
    }

    fn write_at(&mut self, offset: u64, content: &[u8]) -> Result<usize, Errno> {
        let mut done = 0;
        while done < content.len() {
            match pwrite(&self.file, &content[done..], offset + done as u64) {
                Ok(0) => break,
                Ok(n) => done += n,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(done)
    }

    fn cache(&self, offset: u64, length: usize) -> Cache {
        const PAGE: u64 = 4096;
        match self.access {
            Access::Direct => Cache::Direct,
            Access::Memory => Cache::Cached,
            Access::Buffered => match self.cached_pages(offset, length) {
                None => Cache::Unknown,
                Some(0) => Cache::Evicted,
                Some(pages) if pages * PAGE >= length as u64 => Cache::Cached,
                Some(_) => Cache::Buffered,
            },
        }
    }

    fn forget(&self, offset: u64, length: usize) {
        if self.access == Access::Buffered {
            let _ = rustix::fs::fadvise(
                &self.file,
                offset,
                std::num::NonZeroU64::new(length as u64),
                rustix::fs::Advice::DontNeed,
            );
        }
    }
}
