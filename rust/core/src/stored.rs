//! The one way to open a file of a store, in which any writer may have placed a hostile file.
//!
//! A pipe or a device under a file's name never makes a reader wait, and no file is read further than the size that it
//! had when it was opened. `src/iosonde/engine/opener.py` is the same for Python, in the same words.

use std::fs::{self, File};
use std::io::{self, Read, Take};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, openat};

/// A regular file, whose links were followed. Errors: nothing there (`NotFound`), a link to nothing, a folder, a pipe,
/// a socket or a device, more than `most` bytes, and what the system says.
pub fn open(path: &Path, most: u64) -> io::Result<Take<File>> {
    match fs::metadata(path) {
        Ok(about) => regular(&about)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(path).is_ok() => {
            return Err(io::Error::other("a link to nothing"));
        }
        Err(error) => return Err(error),
    }
    let flags = OFlags::RDONLY | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = match openat(CWD, path, flags | OFlags::NONBLOCK, Mode::empty()) {
        // A regular file that a client of this machine's file server holds: it gives it back.
        Err(rustix::io::Errno::WOULDBLOCK) => openat(CWD, path, flags, Mode::empty()),
        opened => opened,
    };
    let file = File::from(opened?);
    // It may be another one by now.
    let about = file.metadata()?;
    regular(&about)?;
    if about.len() > most {
        return Err(io::Error::other(format!("larger than {most} bytes")));
    }
    Ok(file.take(about.len()))
}

/// All bytes of [`open`].
pub fn bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut found = Vec::new();
    open(path, most)?.read_to_end(&mut found)?;
    Ok(found)
}

/// True if [`open`] refused the file itself; false for errors of the system.
pub fn is_unfit(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::IsADirectory
        || (error.kind() == io::ErrorKind::Other && error.raw_os_error().is_none())
}

/// Message on a file whose `schema_version` is not `ours`.
pub fn other_version(found: i64, ours: i64) -> String {
    if found > ours {
        format!("written by a newer iosonde (schema {found}, this one reads {ours}): upgrade")
    } else {
        format!("schema_version is {found}, expected {ours}")
    }
}

fn regular(about: &fs::Metadata) -> io::Result<()> {
    if about.is_dir() {
        return Err(io::Error::from_raw_os_error(libc::EISDIR));
    }
    if about.is_file() { Ok(()) } else { Err(io::Error::other("not a regular file")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    #[test]
    fn only_regular_files_of_bounded_size_open() {
        let folder = std::env::temp_dir().join(format!("iosonde-stored-{}", crate::seed::fresh()));
        fs::create_dir(&folder).unwrap();
        let at = |name: &str| folder.join(name);
        fs::write(at("good"), "12345").unwrap();
        symlink("good", at("link")).unwrap();
        symlink("gone", at("dangling")).unwrap();
        rustix::fs::mknodat(CWD, at("pipe"), rustix::fs::FileType::Fifo, Mode::RUSR, 0).unwrap();
        let _socket = UnixListener::bind(at("socket")).unwrap();
        symlink("/dev/zero", at("endless")).unwrap();
        File::create(at("sparse")).unwrap().set_len(4 << 30).unwrap();
        assert_eq!(bytes(&at("good"), 5).unwrap(), b"12345");
        assert_eq!(bytes(&at("link"), 5).unwrap(), b"12345");
        for (name, said) in [
            ("dangling", "a link to nothing"),
            ("pipe", "not a regular file"),
            ("socket", "not a regular file"),
            ("endless", "not a regular file"),
            ("sparse", "larger than 5 bytes"),
            (".", "Is a directory"),
        ] {
            let error = bytes(&at(name), 5).unwrap_err().to_string();
            assert!(error.starts_with(said), "{name}: {error}");
        }
        assert_eq!(bytes(&at("missing"), 5).unwrap_err().kind(), io::ErrorKind::NotFound);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_file_that_grows_ends_where_it_ended() {
        let path = std::env::temp_dir().join(format!("iosonde-grows-{}", crate::seed::fresh()));
        fs::write(&path, "12345").unwrap();
        let mut file = open(&path, 100).unwrap();
        fs::write(&path, "1234567890").unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "12345");
        fs::remove_file(&path).unwrap();
    }
}
