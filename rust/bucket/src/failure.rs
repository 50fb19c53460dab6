//! Why a bucket gives no object.

use std::io;

/// Why there is no object.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The server says no; a redirect is a no.
    #[error("{words}")]
    Refused {
        /// HTTP status.
        status: u16,
        /// Its words.
        words: String,
    },
    /// No answer in time.
    #[error("no answer within {0} s")]
    Late(u64),
    /// No answer, or one that ends early.
    #[error("{0}")]
    Broken(String),
    /// More bytes than are taken, or others than were listed.
    #[error("{0}")]
    Size(String),
    /// The file on this side.
    #[error("{0}")]
    File(#[from] io::Error),
    /// What was asked makes no sense.
    #[error("{0}")]
    Wrong(String),
}
