//! Why a call, or a connection, came to nothing.

use iosonde_core::text::without_codes;
use rustix::io::Errno;

/// What went wrong between a client and a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NfsError {
    /// The system refused: no such host, nobody listens, no route.
    #[error("{what}: {problem}")]
    System {
        /// What was tried.
        what: String,
        /// The system's number.
        errno: Errno,
        /// The system's words.
        problem: String,
    },
    /// Nothing came back in time.
    #[error("{what}: no answer within {seconds} s")]
    TimedOut {
        /// What was tried.
        what: String,
        /// How long was waited, in seconds.
        seconds: u64,
    },
    /// The server closed the connection.
    #[error("the server closed the connection{}", if *in_record { " in the middle of a record" } else { "" })]
    Closed {
        /// A record had begun and was not whole.
        in_record: bool,
    },
    /// A record, or a fragment of one, is longer than any answer could be.
    #[error("the server sent a record of {bytes} bytes or more; expected at most {most}")]
    Oversized {
        /// Bytes that were announced.
        bytes: u64,
        /// Bytes that are accepted.
        most: u64,
    },
    /// What came back is no answer.
    #[error("the server sent what is no {what}")]
    Malformed {
        /// What was expected.
        what: &'static str,
    },
    /// The server did not execute the call.
    #[error("the server refused the call: {why}")]
    Rejected {
        /// RPC's own name of the reason.
        why: &'static str,
    },
    /// The port mapper knows of no such service.
    #[error("the port mapper of {host} knows no {service}; expected it over TCP: name its port")]
    Unregistered {
        /// Where it was asked.
        host: String,
        /// `NFS version 3` or `MOUNT version 3`.
        service: &'static str,
    },
    /// Another run uses the place.
    #[error("in use by another run ({holder}); wait until it ends")]
    Held {
        /// Who, as it wrote into the lock.
        holder: String,
    },
    /// The server executed the call, which failed.
    #[error("{what}: {}", status_name(*status))]
    Status {
        /// What was tried.
        what: &'static str,
        /// NFS's number.
        status: u32,
    },
}

impl NfsError {
    /// From a failed system call.
    pub fn system(what: &str, errno: Errno) -> Self {
        let problem = without_codes(&std::io::Error::from(errno));
        Self::System { what: what.to_owned(), errno, problem }
    }

    /// Whether the server answered as it should: the connection is of further use.
    pub fn is_an_answer(&self) -> bool {
        matches!(self, Self::Status { .. } | Self::Rejected { .. } | Self::Held { .. })
    }

    /// What may help, besides what the message says; empty when nothing is known.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Status { status: 13, .. } | Self::Rejected { .. } => {
                "a server may demand a source port below 1024: run as root, or export with `insecure`; \
                 or this host or user is not allowed"
            }
            Self::Status { status: 1 | 30, .. } => {
                "the user needs the right to write: ?uid=N&gid=N names one"
            }
            Self::System { errno: Errno::ACCESS, .. } => {
                "only root may bind a port below 1024: run as root, or leave out the demand for it"
            }
            _ => "",
        }
    }

    /// The errno that says the same.
    pub fn errno(&self) -> Errno {
        match self {
            Self::System { errno, .. } => *errno,
            Self::TimedOut { .. } => Errno::TIMEDOUT,
            Self::Closed { .. } => Errno::CONNRESET,
            Self::Oversized { .. } | Self::Malformed { .. } => Errno::BADMSG,
            Self::Rejected { .. } => Errno::PROTO,
            Self::Unregistered { .. } => Errno::CONNREFUSED,
            Self::Held { .. } => Errno::BUSY,
            Self::Status { status, .. } => status_errno(*status),
        }
    }
}

/// NFS3ERR_DQUOT has its own number in each system.
const DQUOT: u32 = 69;
const NOTEMPTY: u32 = 66;
const NAMETOOLONG: u32 = 63;
const STALE: u32 = 70;

/// The errno of an NFS status.
pub fn status_errno(status: u32) -> Errno {
    match status {
        DQUOT => Errno::DQUOT,
        NOTEMPTY => Errno::NOTEMPTY,
        NAMETOOLONG => Errno::NAMETOOLONG,
        STALE | 10_001 => Errno::STALE,
        10_004 => Errno::OPNOTSUPP,
        10_008 => Errno::AGAIN,
        1..=31 => Errno::from_raw_os_error(status as i32),
        _ => Errno::IO,
    }
}

/// Its name.
pub fn status_name(status: u32) -> String {
    use nfs3_types::nfs3::nfsstat3;
    use nfs3_types::xdr_codec::Unpack;
    match nfsstat3::unpack(&mut status.to_be_bytes().as_slice()) {
        Ok((known, _)) => known.to_string(),
        Err(_) => format!("NFS status {status}"),
    }
}
