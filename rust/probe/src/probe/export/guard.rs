//! Checks that names on an export still lead to the files that lanes have handles of: after a purge, or a restore on
//! the server, lanes would go on with files that nobody else sees any more.

use iosonde_nfs::error::NfsError;
use iosonde_nfs::files::Handle;
use iosonde_nfs::link::Link;
use rustix::io::Errno;

use super::place::{ExportPlace, write_mark};
use crate::probe::files::guard::{Displaced, Look};

type Identity = (u64, u64);

/// Identities that the names of a place led to when it was made ready.
pub struct ExportGuard {
    link: Link,
    directory: Handle,
    /// Directory, name in it, what people call it, what it was.
    names: Vec<(Handle, String, &'static str, Identity)>,
}

impl ExportGuard {
    /// Takes the identities of a place and the files in it. None if the server does not report them.
    pub fn new(place: &ExportPlace, files: [(String, &'static str); 2]) -> Option<Self> {
        let directory = place.directory();
        let steps = place.steps.iter().map(|(at, name)| (at.clone(), name.clone(), "directory"));
        let files = files.into_iter().map(|(name, word)| (directory.clone(), name, word));
        let mut link = place.link();
        let known: Result<Vec<_>, NfsError> = steps
            .chain(files)
            .map(|(at, name, word)| {
                let identity = identity(&mut link, &at, &name)?;
                Ok((at, name, word, identity))
            })
            .collect();
        Some(Self { names: known.ok()?, link, directory })
    }
}

fn identity(link: &mut Link, directory: &[u8], name: &str) -> Result<Identity, NfsError> {
    link.call(|connection| connection.look(directory, name)).map(|(_, found)| found.identity)
}

fn is_gone(error: &NfsError) -> bool {
    matches!(error.errno(), Errno::NOENT | Errno::NOTDIR | Errno::STALE)
}

impl Look for ExportGuard {
    fn look(&mut self) -> Option<Displaced> {
        for (at, name, word, known) in &self.names {
            let lost = match identity(&mut self.link, at, name) {
                Ok(found) => found != *known,
                Err(error) => is_gone(&error),
            };
            if lost {
                return Some(Displaced::new(format!("the probe's {word} was removed"), "made anew"));
            }
        }
        // A purge by age takes first what is never written again.
        let directory = &self.directory;
        let _ = self.link.call(|connection| match connection.look(directory, "MARK") {
            Err(error) if error.errno() == Errno::NOENT => write_mark(connection, directory),
            _ => Ok(()),
        });
        None
    }
}
