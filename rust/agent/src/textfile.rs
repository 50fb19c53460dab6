//! The page of metrics as a file, for collectors that read text files where no port may be open.
//!
//! A thread of its own writes it: should the file lie on a file system that hangs, nothing else waits.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread::Thread;
use std::time::Duration;

use iosonde_core::clock::{Clock, Stop};

use crate::log::Log;
use crate::shown::Shown;

const EVERY_NS: u64 = 15_000_000_000;
/// The end waits so long for the file to go.
const PATIENCE: Duration = Duration::from_millis(500);

/// A file that is written until the end.
pub struct Textfile {
    stop: Arc<Stop>,
    thread: Thread,
    gone: Receiver<()>,
}

impl Textfile {
    /// Write `path` now and every 15 s.
    pub fn start(path: PathBuf, shown: Shown, clock: Arc<dyn Clock>, log: Arc<Log>) -> std::io::Result<Self> {
        let (stop, (sender, gone)) = (Stop::new(), channel());
        let raised = Arc::clone(&stop);
        let thread = std::thread::Builder::new().name("textfile".into()).stack_size(256 << 10);
        let running = thread.spawn(move || {
            while !raised.raised() {
                if let Err(error) = replace(&path, &shown.page()) {
                    let what = format!("cannot write {}: {error}; metrics there are old", path.display());
                    log.warn("textfile", &what);
                }
                clock.sleep_until(clock.monotonic_ns() + EVERY_NS, &raised);
            }
            // What nobody updates any more must not look like news.
            let _ = std::fs::remove_file(&path);
            let _ = sender.send(());
        })?;
        Ok(Self { stop, thread: running.thread().clone(), gone })
    }

    /// Take the file away; returns soon, even when that hangs.
    pub fn end(&self) {
        self.stop.raise([&self.thread]);
        let _ = self.gone.recv_timeout(PATIENCE);
    }
}

/// A reader sees the old page or the new one, never half of one.
fn replace(path: &Path, page: &str) -> std::io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".tmp");
    std::fs::write(&beside, page)?;
    std::fs::rename(&beside, path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_core::clock::RealClock;
    use iosonde_probe::config::LogFormat;

    fn start(path: &Path) -> Textfile {
        let log = Log::new(LogFormat::Logfmt, false, Arc::new(RealClock), Box::new(std::io::sink()));
        Textfile::start(path.to_owned(), Shown::new(), Arc::new(RealClock), log).unwrap()
    }

    #[test]
    fn the_file_comes_whole_and_goes_at_the_end() {
        let folder = std::env::temp_dir().join(format!("iosonde-textfile-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("iosonde.prom");
        let file = start(&path);
        while !path.exists() {
            std::thread::yield_now();
        }
        assert!(std::fs::read_to_string(&path).unwrap().contains("iosonde_build_info"));
        file.end();
        // Fails unless it is empty.
        std::fs::remove_dir(&folder).unwrap();
    }

    #[test]
    fn a_folder_that_is_not_there_stops_nothing() {
        start(Path::new("/nowhere/iosonde.prom")).end();
    }
}
