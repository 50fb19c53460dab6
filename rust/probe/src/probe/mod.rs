//! The always-on probe: six operations per target on an open-loop schedule.
//!
//! A [`session`] prepares targets, runs one [`lane`] per op and target, and collects what they saw. Everything
//! on a target lies in one marked [`place`](files::place).

pub mod breaker;
pub mod collector;
pub mod control;
pub mod crew;
pub mod event_sink;
pub mod evidence;
pub mod export;
pub mod files;
pub mod governor;
pub mod lane;
pub mod ledger;
pub mod memory;
pub mod origin;
pub mod past;
pub mod reading;
pub mod region;
pub mod session;
pub mod simulate;
pub mod slot;
pub mod state;
pub mod state_writer;
pub mod store_watch;
pub mod supervisor;
pub mod view;
pub mod watch;
pub mod worker;

use std::path::PathBuf;

use rustix::io::Errno;

use iosonde_core::marked::MarkedError;
use iosonde_core::text::without_codes;

/// Why a target cannot be probed: what happened, what was expected, what to try.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The directory is not there.
    #[error(
        "{path}: {}; expected an existing directory: create it, or check that it is mounted",
        without_codes(errno)
    )]
    NoTarget {
        /// Path of the target.
        path: PathBuf,
        /// Why.
        errno: Errno,
    },
    /// It was on a file system of its own that is mounted no more.
    #[error(
        "{path}: {mount} is no longer mounted; expected what was probed there: mount it, or restart the agent"
    )]
    Unmounted {
        /// Path of the target.
        path: PathBuf,
        /// Mount point of that file system.
        mount: PathBuf,
    },
    /// The directory of ours on it cannot be had.
    #[error(transparent)]
    Marked(#[from] MarkedError),
    /// Another probe of this host uses it.
    #[error("{path}: held by another probe ({holder}); stop that one, or probe another directory")]
    Held {
        /// Path of the target.
        path: PathBuf,
        /// Who.
        holder: String,
    },
    /// The file system is too small or too full.
    #[error("{path}: needs {needed} bytes and {free} are free; make room, or try --file-size {suggestion}")]
    NoSpace {
        /// Path of the target.
        path: PathBuf,
        /// Bytes needed.
        needed: u64,
        /// Bytes free.
        free: u64,
        /// A size that would fit.
        suggestion: String,
    },
    /// An NFS server does not let us, or is not there.
    #[error("{path}: {problem}; expected an NFSv3 export that this host may mount and write{remedy}")]
    Server {
        /// Path of the target.
        path: PathBuf,
        /// The trouble found.
        problem: String,
        /// Remedy to try; empty, or begins with a separator.
        remedy: String,
        /// Why.
        errno: Errno,
    },
    /// O_DIRECT was asked for and is not granted.
    #[error(
        "{path}: the file system does not grant O_DIRECT ({errno}); expected it because direct = \"always\""
    )]
    NoDirect {
        /// Path of the target.
        path: PathBuf,
        /// Why.
        errno: Errno,
    },
    /// A worker, or the machine, said why.
    #[error("{0}")]
    Refused(String),
    /// Somebody asked to stop during the preparation.
    #[error("{path}: stopped while preparing; the next start goes on from there")]
    Stopped {
        /// Path of the target.
        path: PathBuf,
    },
    /// Anything else.
    #[error("{path}: {what}: {}", without_codes(errno))]
    Failed {
        /// Path of the target or file.
        path: PathBuf,
        /// The action attempted.
        what: &'static str,
        /// Why it failed.
        errno: Errno,
    },
}

impl ProbeError {
    /// The system's error number behind it, where there is one.
    pub fn errno(&self) -> Option<Errno> {
        match self {
            Self::NoTarget { errno, .. }
            | Self::NoDirect { errno, .. }
            | Self::Server { errno, .. }
            | Self::Failed { errno, .. } => Some(*errno),
            Self::NoSpace { .. } => Some(Errno::NOSPC),
            Self::Held { .. } => Some(Errno::BUSY),
            Self::Unmounted { .. } => Some(Errno::NODEV),
            Self::Marked(error) => Some(error.errno()),
            _ => None,
        }
    }
}

/// Callback for the progress of a preparation: target, part, bytes done, bytes in all. It returns true to go on, and is
/// asked that with an empty part too.
pub type Progress<'a> = dyn FnMut(&str, &str, u64, u64) -> bool + 'a;
