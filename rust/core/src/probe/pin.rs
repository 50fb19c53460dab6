//! Keeps the probe's files on one server of a parallel file system, and checks that they are there.
//!
//! On Lustre a directory's layout is set before anything is made in it (`lfs setstripe`, `lfs mkdir`) and read back
//! (`lfs getstripe`, `lfs getdirstripe`): a probe that names a server must not measure another. Elsewhere a component
//! is a directory, and nothing is to be done.

use std::path::Path;
use std::process::{Command, Stdio};

use super::ProbeError;
use crate::config::Pin;

/// Make the directory `path` for files of a component, unless it is there, and see that they will lie on it.
pub fn directory(path: &Path, pin: Pin) -> Result<(), ProbeError> {
    let there = path.is_dir();
    match pin {
        Pin::Directory => Ok(()),
        Pin::Ost(index) => {
            if !there {
                std::fs::create_dir(path).map_err(|error| refused(path, &error.to_string()))?;
                lfs(path, &["setstripe", "-c", "1", "-i", &index.to_string()])?;
            }
            check(path, index, &["getstripe", "-d", "-i"], "OST")
        }
        Pin::Mdt(index) => {
            if !there {
                lfs(path, &["mkdir", "-i", &index.to_string()])?;
            }
            check(path, index, &["getdirstripe", "-i"], "MDT")
        }
    }
}

fn refused(path: &Path, what: &str) -> ProbeError {
    ProbeError::Refused(format!(
        "{}: {what}; expected a Lustre directory whose layout this user may set: try 'lfs getstripe' there, or name \
         the component by its path",
        path.display()
    ))
}

/// Run `lfs` in the worker, which may hang like anything else on the target.
fn lfs(path: &Path, arguments: &[&str]) -> Result<String, ProbeError> {
    let command = format!("lfs {}", arguments.join(" "));
    let run = Command::new("lfs").args(arguments).arg(path).stdin(Stdio::null()).output();
    let done = run.map_err(|error| refused(path, &format!("cannot run '{command}': {error}")))?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        return Err(refused(path, &format!("'{command}' failed: {}", said.trim())));
    }
    Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned())
}

fn check(path: &Path, index: u32, arguments: &[&str], kind: &str) -> Result<(), ProbeError> {
    let found = lfs(path, arguments)?;
    if found.lines().last().and_then(|line| line.trim().parse().ok()) == Some(index) {
        return Ok(());
    }
    Err(refused(path, &format!("lies on {kind} {found:?}, not on {kind} {index}")))
}
