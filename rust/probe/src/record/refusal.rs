//! Why the store took something not: a kind that people can act on.

use std::io;

/// Why the store refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The file system is full (ENOSPC).
    Full,
    /// A quota is (EDQUOT).
    Quota,
    /// We may not write there (EACCES, EPERM).
    Denied,
    /// The file system is mounted read-only (EROFS).
    ReadOnly,
    /// The device fails (EIO).
    Device,
    /// The file system is away (ESTALE, ENOTCONN, ETIMEDOUT and their like).
    Away,
    /// Something that is no folder or no file is in the way (ENOTDIR, EISDIR, ELOOP).
    InTheWay,
    /// Anything else.
    Other,
}

impl Kind {
    /// Classifies an error.
    pub fn of(error: &io::Error) -> Self {
        match error.raw_os_error() {
            Some(libc::ENOSPC) => Self::Full,
            Some(libc::EDQUOT) => Self::Quota,
            Some(libc::EACCES | libc::EPERM) => Self::Denied,
            Some(libc::EROFS) => Self::ReadOnly,
            Some(libc::EIO) => Self::Device,
            Some(
                libc::ESTALE
                | libc::ENOTCONN
                | libc::ETIMEDOUT
                | libc::ENODEV
                | libc::ENXIO
                | libc::ESHUTDOWN
                | libc::EHOSTDOWN
                | libc::EHOSTUNREACH
                | libc::EREMOTEIO,
            ) => Self::Away,
            Some(libc::ENOTDIR | libc::EISDIR | libc::ELOOP) => Self::InTheWay,
            _ => Self::Other,
        }
    }
    /// A word for logs and labels.
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Quota => "quota",
            Self::Denied => "denied",
            Self::ReadOnly => "read-only",
            Self::Device => "device",
            Self::Away => "away",
            Self::InTheWay => "in the way",
            Self::Other => "other",
        }
    }
    /// Remedy to try.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Full => "free some room, or set [keep] limits",
            Self::Quota => "raise the quota, or set keep.size below it",
            Self::Denied => "give the agent's user the right to write there",
            Self::ReadOnly => "mount it read-write, or set another store",
            Self::Device => "look at the kernel's log of its device",
            Self::Away => "bring its file system back, or set another store",
            Self::InTheWay => "move what lies there",
            Self::Other => "look at its file system",
        }
    }
}

/// The trouble with the store as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Why.
    pub kind: Kind,
    /// The trouble, its place, and the remedy to try.
    pub text: String,
    /// Number of refusals since the store last took everything.
    pub count: u64,
    /// Since when, UTC.
    pub since_ns: i64,
}
