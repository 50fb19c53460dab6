//! One timed operation, and the words for what was done, how it ended and what the cache could do.

use rustix::io::Errno;
use serde::{Deserialize, Serialize};

/// The six operations of a probe round, in the order in which they are due.
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
    /// All of them, in order.
    pub const ALL: [Op; 6] =
        [Op::DataRead, Op::DataWrite, Op::MdCreate, Op::MdStat, Op::MdRead, Op::MdDelete];
    /// Their names, in the same order.
    pub const NAMES: [&str; 6] = ["data_read", "data_write", "md_create", "md_stat", "md_read", "md_delete"];

    /// The name used in tables, labels and configuration.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
    /// The op of a name, if there is one.
    pub fn from_name(name: &str) -> Option<Op> {
        Self::ALL.into_iter().find(|op| op.name() == name)
    }
    /// Whether it moves a block of the big file.
    pub fn is_data(self) -> bool {
        matches!(self, Op::DataRead | Op::DataWrite)
    }
}

/// How an operation ended: a small number that fits a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Outcome(u16);

const FIRST_ERRNO: u16 = 16;

impl Outcome {
    /// It did what was asked.
    pub const OK: Outcome = Outcome(0);
    /// It never began: an earlier one of its lane was still open, or its pool could not serve it.
    pub const SKIPPED: Outcome = Outcome(1);
    /// It had not ended when recording stopped.
    pub const PENDING: Outcome = Outcome(2);
    /// It was given up.
    pub const TIMEOUT: Outcome = Outcome(3);
    /// Fewer bytes moved than asked, without an error.
    pub const SHORT: Outcome = Outcome(4);
    /// It was left out on purpose, because the probe had lowered its rate: neither seen nor lost.
    pub const SHED: Outcome = Outcome(5);
    /// What was read is not what was written.
    pub const CORRUPT: Outcome = Outcome(6);

    /// It failed with an error number.
    pub fn error(errno: Errno) -> Self {
        Self(FIRST_ERRNO.saturating_add(errno.raw_os_error() as u16))
    }
    /// The number kept in a row.
    pub fn code(self) -> u16 {
        self.0
    }
    /// The outcome of a row's number.
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
        /// The error number of a symbolic name.
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

/// What the client's cache could do to a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Cache {
    /// O_DIRECT on a file system that honours it.
    Direct,
    /// Left to the cache: it may have answered in part, or will write later.
    Buffered,
    /// Seen absent from the cache just before.
    Evicted,
    /// Seen present just before, or the file system is memory.
    Cached,
    /// Nobody can tell.
    Unknown,
}

impl Cache {
    /// Names in the order of the numbers in a row.
    pub const NAMES: [&str; 5] = ["direct", "buffered", "evicted", "cached", "unknown"];
    /// The name used in tables.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
    /// The state of a row's number.
    pub fn from_code(code: u8) -> Cache {
        [Cache::Direct, Cache::Buffered, Cache::Evicted, Cache::Cached]
            .get(usize::from(code))
            .copied()
            .unwrap_or(Cache::Unknown)
    }
}

/// One row of the `samples` table, without the columns its segment holds once.
///
/// Instants are UTC nanoseconds. `response = ended - due` is what a user would have waited, `service = ended - began`
/// what the storage took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// When the schedule wanted it to begin.
    pub due_ns: i64,
    /// Just before the call; none when it never began.
    pub began_ns: Option<i64>,
    /// Just after the call; for a skipped tick the end of what blocked it; none while pending.
    pub ended_ns: Option<i64>,
    /// Place in the big file; none for metadata.
    pub offset_bytes: Option<i64>,
    /// How long the thread waited for a CPU during the call.
    pub control_runq_ns: Option<i64>,
    /// Index into the segment's targets.
    pub target: u16,
    /// What was done.
    pub op: Op,
    /// How it ended.
    pub outcome: Outcome,
    /// What the cache could do.
    pub cache: Cache,
}

impl Sample {
    /// What a user would have waited.
    pub fn response_ns(&self) -> Option<i64> {
        self.ended_ns.map(|ended| ended - self.due_ns)
    }
    /// What the storage took.
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
