//! The file of a rank while it is open.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::fs::{OFlags, openat};
use rustix::io::Errno;

use iosonde_core::backend::BlockFile;
use iosonde_core::backend::faulty::{Fault, Faulty};
use iosonde_core::backend::null::{Latency, Null};
use iosonde_core::backend::posix::{Access, PosixFile};
use iosonde_core::clock::Clock;
use iosonde_core::marked::{FOLLOW_NOTHING, OWN_FILE};
use iosonde_core::seed::Random;

/// An open file.
pub enum File {
    /// Of a mounted file system.
    Posix(PosixFile),
    /// The same, misbehaving.
    Faulty(Faulty<PosixFile>),
    /// None: every call returns at once.
    Null(Null),
}

/// How to open one.
#[derive(Debug, Clone, Copy)]
pub struct Manner {
    /// To write; it is made if it is missing.
    pub write: bool,
    /// O_DIRECT.
    pub direct: bool,
}

impl File {
    /// Open a file of `directory`.
    pub fn open(directory: &OwnedFd, name: &str, manner: Manner) -> Result<PosixFile, Errno> {
        let mode = if manner.write { OFlags::RDWR | OFlags::CREATE } else { OFlags::RDONLY };
        let direct = if manner.direct { OFlags::DIRECT } else { OFlags::empty() };
        let file = openat(directory, name, mode | direct | FOLLOW_NOTHING, OWN_FILE)?;
        Ok(PosixFile::new(file, if manner.direct { Access::Direct } else { Access::Buffered }))
    }

    /// With faults that count from `origin_ns`.
    pub fn with(file: PosixFile, faults: Vec<Fault>, clock: &Arc<dyn Clock>, origin_ns: u64) -> Self {
        if faults.is_empty() {
            Self::Posix(file)
        } else {
            Self::Faulty(Faulty::new(file, Arc::clone(clock), origin_ns, faults))
        }
    }

    /// Nothing.
    pub fn null(clock: &Arc<dyn Clock>) -> Self {
        let latency = Latency { median_ns: [0; 6], sigma: 0.0 };
        Self::Null(Null::new(Arc::clone(clock), latency, 0, Random::stream(0, "null")))
    }

    /// The descriptor, where there is one.
    pub fn descriptor(&self) -> Option<&OwnedFd> {
        match self {
            Self::Posix(file) => Some(file.descriptor()),
            Self::Faulty(file) => Some(file.inner().descriptor()),
            Self::Null(_) => None,
        }
    }

    /// Write all of it; how many bytes went.
    #[inline]
    pub fn write_at(&mut self, offset: u64, content: &[u8]) -> Result<usize, Errno> {
        match self {
            Self::Posix(file) => file.write_at(offset, content),
            Self::Faulty(file) => file.write_at(offset, content),
            Self::Null(file) => file.write_at(offset, content),
        }
    }

    /// Fill the buffer; how many bytes there were.
    #[inline]
    pub fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, Errno> {
        match self {
            Self::Posix(file) => file.read_at(offset, buffer),
            Self::Faulty(file) => file.read_at(offset, buffer),
            Self::Null(file) => file.read_at(offset, buffer),
        }
    }

    /// Force what was written to stable storage.
    pub fn sync(&self) -> Result<(), Errno> {
        match self {
            Self::Posix(file) => file.sync(),
            Self::Faulty(file) => file.inner().sync(),
            Self::Null(_) => Ok(()),
        }
    }

    /// Close it and say if that failed.
    pub fn close(self) -> Result<(), Errno> {
        match self {
            Self::Posix(file) => file.close(),
            Self::Faulty(file) => file.into_inner().close(),
            Self::Null(_) => Ok(()),
        }
    }
}
