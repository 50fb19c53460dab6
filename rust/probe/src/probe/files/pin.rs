//! Keeps the probe's files on one server of a parallel file system, and checks that they are there.
//!
//! On Lustre the layout of a directory is set while it is empty, and new files take theirs from it; a directory lies
//! on the metadata target that it was made on. Both are read back, of the directory and of files made in it: a server
//! that is down or full, or a policy of the file system, may have put them elsewhere, and a probe that names a server
//! must not measure another.
//!
//! ```text
//!          empty directory                    read back              of a file
//! ost = 3  mkdir, lfs setstripe -c 1 -i 3     lfs getstripe -d -i    lfs getstripe -i
//! mdt = 1  lfs mkdir -i 1                     lfs getdirstripe -i    lfs getstripe --mdt-index
//! ```
//! Elsewhere a component is a directory, and nothing is to be done.

use std::ffi::OsStr;
use std::fs::{DirBuilder, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::config::Pin;
use crate::probe::ProbeError;

/// As the probe makes its other directories.
const OWN_DIRECTORY: u32 = 0o700;

/// Make the directory `path` on a component unless it is there, and see that it lies there.
pub fn directory(path: &Path, pin: Pin) -> Result<(), ProbeError> {
    Lfs::default().directory(path, pin)
}

/// See that a file that was made in such a directory lies on the component.
pub fn file(path: &Path, pin: Pin) -> Result<(), ProbeError> {
    Lfs::default().file(path, pin)
}

/// The command that sets and tells layouts. It runs in the worker, which may hang like anything else on the target.
struct Lfs<'a>(&'a OsStr);

impl Default for Lfs<'_> {
    fn default() -> Self {
        Self(OsStr::new("lfs"))
    }
}

impl Lfs<'_> {
    fn directory(&self, path: &Path, pin: Pin) -> Result<(), ProbeError> {
        match pin {
            Pin::Directory => Ok(()),
            Pin::Ost(index) => {
                // One that is empty may have been left by a worker that died before it set the layout.
                if make(path)? || is_empty(path) {
                    self.run(&["setstripe", "-c", "1", "-i", &index.to_string()], path)?;
                }
                self.check(path, pin, &["getstripe", "-d", "-i"])
            }
            Pin::Mdt(index) => {
                if !is_there(path) {
                    self.run(&["mkdir", "-i", &index.to_string()], path)?;
                    std::fs::set_permissions(path, Permissions::from_mode(OWN_DIRECTORY))
                        .map_err(|error| failed(path, "cannot keep it from others", &error))?;
                }
                self.check(path, pin, &["getdirstripe", "-i"])
            }
        }
    }

    fn file(&self, path: &Path, pin: Pin) -> Result<(), ProbeError> {
        match pin {
            Pin::Directory => Ok(()),
            Pin::Ost(_) => self.check(path, pin, &["getstripe", "-i"]),
            Pin::Mdt(_) => self.check(path, pin, &["getstripe", "--mdt-index"]),
        }
    }

    fn run(&self, arguments: &[&str], path: &Path) -> Result<String, ProbeError> {
        let command = format!("lfs {}", arguments.join(" "));
        let run = Command::new(self.0).args(arguments).arg(path).stdin(Stdio::null()).output();
        let done = run.map_err(|error| {
            let remedy = "expected Lustre's command lfs in the PATH of the agent: install the Lustre client tools, \
                          or name the component by its path";
            refused(path, &format!("cannot run '{command}' ({error})"), remedy)
        })?;
        if !done.status.success() {
            let message = String::from_utf8_lossy(&done.stderr);
            let message = message.trim().lines().last().unwrap_or_default().to_owned();
            let remedy = "expected a directory of Lustre, an index that 'lfs df' lists, and the right to choose it: \
                          for an MDT users need mdt.*.enable_remote_dir_gid";
            return Err(refused(path, &format!("'{command}' was refused ({message})"), remedy));
        }
        Ok(String::from_utf8_lossy(&done.stdout).into_owned())
    }

    fn check(&self, path: &Path, pin: Pin, question: &[&str]) -> Result<(), ProbeError> {
        let (kind, wanted) = match pin {
            Pin::Ost(index) => ("OST", index),
            Pin::Mdt(index) => ("MDT", index),
            Pin::Directory => return Ok(()),
        };
        let answer = self.run(question, path)?;
        match index_in(&answer) {
            Some(found) if found == i64::from(wanted) => Ok(()),
            Some(found) => {
                let place = if found < 0 { format!("any {kind}") } else { format!("{kind} {found}") };
                let remedy = format!(
                    "expected {kind} {wanted}, which may be down, full or closed to new files (see 'lfs df'): \
                     remove the probe's directory there when it is back, or correct the component"
                );
                Err(refused(path, &format!("lies on {place}"), &remedy))
            }
            None => {
                let message = answer.trim().lines().last().unwrap_or_default();
                let question = question.join(" ");
                let remedy = "expected the index of a server: is it a directory of Lustre?";
                Err(refused(path, &format!("'lfs {question}' said {message:?}"), remedy))
            }
        }
    }
}

/// The index that `lfs` tells when asked for nothing else. Versions differ in what stands before it: a line with the
/// path, a name such as `lmm_stripe_offset:`, or nothing. -1 stands for any.
fn index_in(answer: &str) -> Option<i64> {
    answer.lines().rev().find(|line| !line.trim().is_empty())?.split_whitespace().last()?.parse().ok()
}

fn refused(path: &Path, what: &str, remedy: &str) -> ProbeError {
    ProbeError::Refused(format!("{}: {what}; {remedy}", path.display()))
}

fn failed(path: &Path, what: &'static str, error: &std::io::Error) -> ProbeError {
    let errno = rustix::io::Errno::from_io_error(error).unwrap_or(rustix::io::Errno::IO);
    ProbeError::Failed { path: path.to_owned(), what, errno }
}

/// Make a directory; whether it was missing.
fn make(path: &Path) -> Result<bool, ProbeError> {
    match DirBuilder::new().mode(OWN_DIRECTORY).create(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(failed(path, "cannot make a directory", &error)),
    }
}

fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

fn is_empty(path: &Path) -> bool {
    std::fs::read_dir(path).is_ok_and(|mut names| names.next().is_none())
}

#[cfg(test)]
mod tests;
