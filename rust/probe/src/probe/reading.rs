//! Reading a store that may refuse: what is not there is nothing, everything else is an error with its path.

use std::io::{self, ErrorKind};
use std::path::Path;

use iosonde_core::stored;

use crate::record::frames::MAX_FILE;

/// The bytes of a file; none when there is none, no bytes of what is no file of bounded size.
pub fn bytes_of(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match stored::bytes(path, MAX_FILE) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if stored::is_unfit(&error) => Ok(Some(Vec::new())),
        Err(error) if is_nothing(&error) => Ok(None),
        Err(error) => Err(of(path, &error)),
    }
}

/// Moves an unreadable file aside: it must neither be appended to nor be lost.
pub fn set_aside(path: &Path) {
    let _ = std::fs::rename(path, path.with_extension("unreadable"));
}

/// True if the error means there is no such file.
pub fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// An error with the path that it is of.
pub fn of(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
