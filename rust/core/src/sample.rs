//! A timed operation, with its op, outcome and cache state.

use rustix::io::Errno;
use serde::{Deserialize, Serialize};

/// The six operations of a probe round, in the order of their due times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Op {
    /// Read a block at a random aligned place of the big file.
    DataRead,
    /// Write a block at a random aligned place of the big file.
    DataWrite,
    /// Create the newest file of the pool.
    MdCreate,
    /// Stat a file of the pool.
    MdStat,
    /// Open, read and close a file of the pool.
    MdRead,
    /// Delete the oldest file of the pool.
    MdDelete,
}

impl Op {
    /// All ops, in order.
    pub const ALL: [Op; 6] =
        [Op::DataRead, Op::DataWrite, Op::MdCreate, Op::MdStat, Op::MdRead, Op::MdDelete];
    /// Names of all ops, in order.
    pub const NAMES: [&str; 6] = ["data_read", "data_write", "md_create", "md_stat", "md_read", "md_delete"];

    /// The name used in tables, labels and configuration.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
    /// Op by name.
    pub fn from_name(name: &str) -> Option<Op> {
        Self::ALL.into_iter().find(|op| op.name() == name)
    }
    /// True for operations on a block of the big file.
    pub fn is_data(self) -> bool {
        matches!(self, Op::DataRead | Op::DataWrite)
    }
}

/// Outcome of an operation: a small number that fits a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Outcome(u16);

const FIRST_ERRNO: u16 = 16;

impl Outcome {
    /// Success.
    pub const OK: Outcome = Outcome(0);
    /// Never started: an earlier operation of its lane was still open.
    pub const SKIPPED: Outcome = Outcome(1);
    /// Not finished when recording stopped.
    pub const PENDING: Outcome = Outcome(2);
    /// Given up after a timeout.
    pub const TIMEOUT: Outcome = Outcome(3);
    /// Fewer bytes moved than asked, without an error.
    pub const SHORT: Outcome = Outcome(4);
    /// Omitted on purpose: the probe had lowered its rate, or there was no file to work on. Neither seen nor lost.
    pub const SHED: Outcome = Outcome(5);
    /// Data read differ from data written.
    pub const CORRUPT: Outcome = Outcome(6);

    /// Failure with an error number.
    pub fn error(errno: Errno) -> Self {
        Self(FIRST_ERRNO.saturating_add(errno.raw_os_error() as u16))
    }
    /// Number stored in a row.
    pub fn code(self) -> u16 {
        self.0
    }
    /// Outcome by the number in a row.
    pub fn from_code(code: u16) -> Self {
        Self(code)
    }
    /// `ok`, `skipped`, `pending`, `timeout`, `short`, `shed`, `corrupt` or the errno's name.
    pub fn name(self) -> String {
        match self {
            Self::OK => "ok".into(),
            Self::SKIPPED => "skipped".into(),
            Self::PENDING => "pending".into(),
            Self::TIMEOUT => "timeout".into(),
            Self::SHORT => "short".into(),
            Self::SHED => "shed".into(),
            Self::CORRUPT => "corrupt".into(),
            Self(code) => {
                let number = i32::from(code) - i32::from(FIRST_ERRNO);
                errno_name(number).map_or_else(|| format!("errno {number}"), str::to_owned)
            }
        }
    }
    /// The kind used as a metric label: `ok`, `skipped`, `shed`, `timeout` or `error`.
    pub fn kind(self) -> &'static str {
        match self {
            Self::OK => "ok",
            Self::SKIPPED | Self::PENDING => "skipped",
            Self::SHED => "shed",
            Self::TIMEOUT => "timeout",
            _ => "error",
        }
    }
}

macro_rules! errnos {
    ($($name:ident)*) => {
        /// The symbolic name of an error number that storage returns.
        fn errno_name(number: i32) -> Option<&'static str> {
            match number {
                $(libc::$name => Some(stringify!($name)),)*
                _ => None,
            }
        }
        /// Error number by its symbolic name.
        pub fn errno_from_name(name: &str) -> Option<Errno> {
            match name {
                $(stringify!($name) => Some(Errno::from_raw_os_error(libc::$name)),)*
                _ => None,
            }
        }
    };
}

errnos! {
    EPERM ENOENT EINTR EIO ENXIO EBADF EAGAIN ENOMEM EACCES EFAULT EBUSY EEXIST EXDEV ENODEV ENOTDIR EISDIR
    EINVAL ENFILE EMFILE ETXTBSY EFBIG ENOSPC ESPIPE EROFS EMLINK ENAMETOOLONG ENOSYS ENOTEMPTY ELOOP ENODATA
    ETIME EREMOTE ECOMM EPROTO EOVERFLOW ENOTCONN ETIMEDOUT ECONNREFUSED ECONNRESET EHOSTDOWN EHOSTUNREACH
    EALREADY EINPROGRESS ESTALE EDQUOT ECANCELED EREMOTEIO ESHUTDOWN EOPNOTSUPP
}

/// Possible effect of the client's cache on a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Cache {
    /// O_DIRECT on a file system that honours it.
    Direct,
    /// Left to the cache: it may have answered in part, or will write later.
    Buffered,
    /// Absent from the cache just before.
    Evicted,
    /// In the cache just before, or the file system is memory.
    Cached,
    /// Unknown state.
    Unknown,
}

impl Cache {
    /// Names in the order of the numbers in a row.
    pub const NAMES: [&str; 5] = ["direct", "buffered", "evicted", "cached", "unknown"];
    /// The name used in tables.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
    /// State by the number in a row.
    pub fn from_code(code: u8) -> Cache {
        [Cache::Direct, Cache::Buffered, Cache::Evicted, Cache::Cached]
            .get(usize::from(code))
            .copied()
            .unwrap_or(Cache::Unknown)
    }
}

/// Row of the `samples` table, without columns that its segment stores once.
///
/// Instants are UTC nanoseconds. `response = ended - due` is what a user would have waited, `service = ended - began`
/// what the storage took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// Due time by the schedule.
    pub due_ns: i64,
    /// Time just before the call; none if it never started.
    pub began_ns: Option<i64>,
    /// Time just after the call; for a skipped tick the end of the blocking one; none while pending.
    pub ended_ns: Option<i64>,
    /// Offset in the big file; none for metadata.
    pub offset_bytes: Option<i64>,
    /// Time that the thread waited for a CPU during the call.
    pub control_runq_ns: Option<i64>,
    /// Index into the segment's targets.
    pub target: u16,
    /// Operation.
    pub op: Op,
    /// Outcome of the operation.
    pub outcome: Outcome,
    /// Possible effect of the cache.
    pub cache: Cache,
}

impl Sample {
    /// Response time: from the due time on, as a user waits.
    pub fn response_ns(&self) -> Option<i64> {
        self.ended_ns.map(|ended| ended - self.due_ns)
    }
    /// Service time: from the start on, as the storage takes.
    pub fn service_ns(&self) -> Option<i64> {
        Some(self.ended_ns? - self.began_ns?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_agree() {
        for op in Op::ALL {
            assert_eq!(Op::from_name(op.name()), Some(op));
        }
        assert_eq!(Outcome::error(Errno::NOSPC).name(), "ENOSPC");
        assert_eq!(Outcome::from_code(Outcome::error(Errno::IO).code()).name(), "EIO");
        assert_eq!(errno_from_name("EDQUOT"), Some(Errno::DQUOT));
        for (code, name) in Cache::NAMES.iter().enumerate() {
            assert_eq!(Cache::from_code(code as u8).name(), *name);
        }
    }
}
