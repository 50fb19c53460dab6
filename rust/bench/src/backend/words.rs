//! What a server says and what nobody may read: the last problem in its words, and secrets that do not print.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::io::Errno;
use serde::{Deserialize, Serialize, Serializer};

/// A password or key. It is read from a description and given to the server; it is never shown or written.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Hide a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
    /// For the server's ears only.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("***")
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str("***")
    }
}

/// The last problem of one rank's way to a store, shared by the store and its data sets.
#[derive(Debug, Clone, Default)]
pub struct Problem(Arc<Mutex<Option<String>>>);

impl Problem {
    const LONGEST: usize = 300;

    /// Keep a message, made fit for one line; gives `errno` back.
    pub fn keep(&self, message: &str, errno: Errno) -> Errno {
        let line: String = message
            .split(|letter: char| letter.is_control() || letter.is_whitespace())
            .filter(|word| !word.is_empty())
            .flat_map(|word| [word, " "])
            .flat_map(str::chars)
            .take(Self::LONGEST)
            .collect();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(line.trim_end().to_owned());
        errno
    }
    /// The last message.
    pub fn last(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The errno of a failed socket or file; EIO where the system gave none.
pub fn errno_of(error: &std::io::Error) -> Errno {
    use std::io::ErrorKind as Kind;
    match (error.raw_os_error(), error.kind()) {
        (Some(raw), _) => Errno::from_raw_os_error(raw),
        (_, Kind::ConnectionRefused) => Errno::CONNREFUSED,
        (_, Kind::ConnectionReset | Kind::ConnectionAborted | Kind::UnexpectedEof | Kind::NotConnected) => {
            Errno::CONNRESET
        }
        (_, Kind::BrokenPipe) => Errno::PIPE,
        (_, Kind::TimedOut | Kind::WouldBlock) => Errno::TIMEDOUT,
        (_, Kind::HostUnreachable) => Errno::HOSTUNREACH,
        (_, Kind::NetworkUnreachable) => Errno::NETUNREACH,
        _ => Errno::IO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_neither_shown_nor_written() {
        let secret: Secret = serde_json::from_str("\"hunter2\"").unwrap();
        assert_eq!(secret.reveal(), "hunter2");
        assert!(!format!("{secret:?}{}", serde_json::to_string(&secret).unwrap()).contains("hunter2"));
    }

    #[test]
    fn a_problem_is_one_line_of_bounded_length() {
        let problem = Problem::default();
        assert_eq!(problem.last(), None);
        assert_eq!(problem.keep("no\n\x1b[31m such  \t key ", Errno::NOENT), Errno::NOENT);
        assert_eq!(problem.last().as_deref(), Some("no [31m such key"));
        problem.keep(&"long ".repeat(1000), Errno::IO);
        assert!(problem.last().unwrap().len() <= Problem::LONGEST);
    }
}
