//! Our own directories on other people's storage: marked, never left by a symbolic link, nothing else touched.
//!
//! Every step opens relative to the one before.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fstat, mkdirat, openat, renameat, statat, unlinkat};
use rustix::io::{Errno, pread, write};

use crate::text::without_codes;

/// Open the named file itself, not the target of a link.
pub const FOLLOW_NOTHING: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC);
/// Mode of our files: for this user only.
pub const OWN_FILE: Mode = Mode::RUSR.union(Mode::WUSR);
const OWN_DIRECTORY: Mode = Mode::RWXU;

/// Reason why a directory of ours is unusable: what happened, what was expected, what to try.
#[derive(Debug, thiserror::Error)]
pub enum MarkedError {
    /// The directory cannot be created or entered.
    #[error(
        "{path}: cannot write ({errno}); expected a directory this user may write: choose another below it"
    )]
    NotWritable {
        /// Its path.
        path: PathBuf,
        /// Cause.
        errno: Errno,
    },
    /// A foreign file or directory is in its place.
    #[error("{path}: {what}; expected a directory made by iosonde: move it away, nothing of it was touched")]
    InTheWay {
        /// Its path.
        path: PathBuf,
        /// Difference from ours.
        what: String,
    },
    /// The directory is of another version's layout.
    #[error(
        "{path}: made by another version ({found}, this is {expected}); remove the directory to start afresh"
    )]
    OtherVersion {
        /// Path of the marker.
        path: PathBuf,
        /// Text of the marker.
        found: String,
        /// Our text.
        expected: &'static str,
    },
    /// Any other error.
    #[error("{path}: {what}: {}", without_codes(errno))]
    Failed {
        /// Path of the directory.
        path: PathBuf,
        /// Attempted call.
        what: &'static str,
        /// Cause.
        errno: Errno,
    },
}

impl MarkedError {
    /// Error number of the system, or an equivalent one.
    pub fn errno(&self) -> Errno {
        match self {
            Self::NotWritable { errno, .. } | Self::Failed { errno, .. } => *errno,
            Self::InTheWay { .. } | Self::OtherVersion { .. } => Errno::EXIST,
        }
    }
}

/// Name of the directory for all files of this user on a target.
pub fn own_name() -> String {
    format!(".iosonde-{}", rustix::process::geteuid().as_raw())
}

/// Open a directory of ours below `parent`, creating it if missing.
pub fn enter(parent: &OwnedFd, parent_path: &Path, name: &str) -> Result<(OwnedFd, PathBuf), MarkedError> {
    match mkdirat(parent, name, OWN_DIRECTORY) {
        Ok(()) | Err(Errno::EXIST) => walk(parent, parent_path, name),
        Err(errno) => Err(MarkedError::NotWritable { path: parent_path.to_owned(), errno }),
    }
}

/// Open a directory of ours below `parent`.
pub fn walk(parent: &OwnedFd, parent_path: &Path, name: &str) -> Result<(OwnedFd, PathBuf), MarkedError> {
    let path = parent_path.join(name);
    let in_the_way = |what: &str| MarkedError::InTheWay { path: path.clone(), what: what.into() };
    let directory = openat(parent, name, OFlags::DIRECTORY | FOLLOW_NOTHING, Mode::empty()).map_err(
        |errno| match errno {
            Errno::LOOP | Errno::NOTDIR => in_the_way("a symbolic link or a file stands here"),
            errno => MarkedError::NotWritable { path: path.clone(), errno },
        },
    )?;
    let owner = fstat(&directory)
        .map_err(|errno| MarkedError::Failed { path: path.clone(), what: "cannot stat", errno })?
        .st_uid;
    if owner != rustix::process::geteuid().as_raw() {
        return Err(in_the_way(&format!("it belongs to user {owner}")));
    }
    Ok((directory, path))
}

/// Accept a directory with our mark, mark an empty one, refuse any other.
pub fn mark(directory: &OwnedFd, path: &Path, text: &'static str) -> Result<(), MarkedError> {
    let failed = |what| move |errno| MarkedError::Failed { path: path.to_owned(), what, errno };
    match check(directory, path, text) {
        Err(MarkedError::Failed { errno: Errno::NOENT, .. }) => {
            let strangers: Vec<String> = names(directory)
                .map_err(failed("cannot list"))?
                .into_iter()
                .filter(|name| !is_draft(name))
                .collect();
            if let Some(name) = strangers.first() {
                let what = format!("it holds `{name}` and no mark of iosonde");
                // Another of ours may have marked it meanwhile.
                return check(directory, path, text)
                    .map_err(|_| MarkedError::InTheWay { path: path.to_owned(), what });
            }
            match write_mark(directory, text) {
                // Somebody else's was faster.
                Err(Errno::NOENT) => check(directory, path, text),
                marked => marked.map_err(|errno| MarkedError::NotWritable { path: path.to_owned(), errno }),
            }
        }
        checked => checked,
    }
}

/// Check that a directory has our mark.
pub fn check(directory: &OwnedFd, path: &Path, text: &'static str) -> Result<(), MarkedError> {
    let failed = |what| move |errno| MarkedError::Failed { path: path.to_owned(), what, errno };
    let file =
        openat(directory, "MARK", FOLLOW_NOTHING, Mode::empty()).map_err(failed("cannot open MARK"))?;
    let mut bytes = [0_u8; 256];
    let n = pread(&file, &mut bytes, 0).map_err(failed("cannot read MARK"))?;
    let found = String::from_utf8_lossy(&bytes[..n]).lines().next().unwrap_or("").to_owned();
    if found == text {
        return Ok(());
    }
    Err(MarkedError::OtherVersion { path: path.join("MARK"), found, expected: text })
}

/// Rewrite a missing mark in a directory that had it.
pub fn restore(directory: &OwnedFd, text: &str) -> Result<(), Errno> {
    match statat(directory, "MARK", AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => write_mark(directory, text),
        found => found.map(|_| ()),
    }
}

/// True for the name of an unfinished mark.
pub fn is_draft(name: &str) -> bool {
    name.starts_with("MARK.")
}

fn write_mark(directory: &OwnedFd, text: &str) -> Result<(), Errno> {
    // Several may mark it at once: each writes its own, the last rename stays.
    let draft = format!("MARK.{:x}", crate::seed::fresh());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | FOLLOW_NOTHING;
    let file = openat(directory, &draft, flags, OWN_FILE)?;
    let text = format!("{text}\nEverything beside this file is made, changed and deleted by iosonde.\n");
    if write(&file, text.as_bytes())? != text.len() {
        let _ = unlinkat(directory, &draft, AtFlags::empty());
        return Err(Errno::NOSPC);
    }
    renameat(directory, &draft, directory, "MARK")
}

/// Names in a directory, without `.` and `..`.
pub fn names(directory: &OwnedFd) -> Result<Vec<String>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name != "." && name != ".." {
            names.push(name);
        }
    }
    Ok(names)
}

/// Remove a regular file of ours; leave anything else alone.
pub fn remove_file(directory: &OwnedFd, name: &str) -> Result<(), Errno> {
    let status = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if FileType::from_raw_mode(status.st_mode) != FileType::RegularFile {
        return Err(Errno::PERM);
    }
    unlinkat(directory, name, AtFlags::empty())
}
