//! The marked directory of a probe on an export.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use iosonde_core::clock::Clock;
use iosonde_core::marked::MarkedError;
use iosonde_core::seed::Random;
use iosonde_nfs::connection::{Connection, Connector};
use iosonde_nfs::error::NfsError;
use iosonde_nfs::files::{Handle, stable_how};
use iosonde_nfs::hold::{Claim, Hold};
use iosonde_nfs::link::Link;
use iosonde_nfs::mount::mount;
use iosonde_nfs::names::Attributes;
use iosonde_nfs::objects::{read_whole, write_whole};
use iosonde_nfs::url::ExportUrl;
use rustix::io::Errno;

use crate::config::TargetPlan;
use crate::probe::ProbeError;
use crate::probe::files::place::MARK;
use crate::probe::files::pool::Repair;
use crate::probe::origin::Origin;
use crate::probe::state::slug;
use crate::record::dates::second_of;

/// An operation that has no answer by then ends with an error; its breaker has long been open.
const GIVE_UP: Duration = Duration::from_secs(600);
const LOCK: &str = "lock";

/// An opened, marked and held directory on an export.
pub struct ExportPlace {
    /// The address as written in the configuration, for messages.
    pub path: PathBuf,
    connector: Connector,
    nfs: std::net::SocketAddr,
    way: Link,
    /// Handles from the export down to our directory, with the names that lead on.
    pub(super) steps: Vec<(Handle, String)>,
    directory: Handle,
    hold: Option<Hold>,
    seed: u64,
}

impl ExportPlace {
    /// Mount the export, find or make the directory, and hold it.
    pub fn open(plan: &TargetPlan, origin: &Origin, clock: &Arc<dyn Clock>) -> Result<Self, ProbeError> {
        let mut place = Self::mounted(plan, origin, clock)?;
        for name in [place.own_name(), place_name(origin)] {
            place.step(name, |place, name| place.enter_directory(name))?;
        }
        place.mark()?;
        let words = format!("since {}Z, run {}", second_of(origin.now_ns), origin.run_id);
        let claim = Claim { directory: &place.directory, name: LOCK, words: &words };
        let beats = place.link();
        let taken = place.way.call(|connection| Hold::take(connection, beats, &claim, clock));
        place.hold = taken.map_err(|error| match error {
            NfsError::Held { holder } => ProbeError::Held { path: place.path.clone(), holder },
            error => place.error(&error),
        })?;
        Ok(place)
    }

    /// Go to the directory as an earlier worker left it.
    pub fn attach(plan: &TargetPlan, origin: &Origin, clock: &Arc<dyn Clock>) -> Result<Self, ProbeError> {
        let mut place = Self::mounted(plan, origin, clock)?;
        for name in [place.own_name(), place_name(origin)] {
            place.step(name, |place, name| place.existing(name).map(|(found, _)| found))?;
        }
        match place.mark_text()? {
            Some(text) if text.lines().next() == Some(MARK) => Ok(place),
            text => Err(place.other_mark(text)),
        }
    }

    fn mounted(plan: &TargetPlan, origin: &Origin, clock: &Arc<dyn Clock>) -> Result<Self, ProbeError> {
        let text = plan.path.to_string_lossy();
        let url = ExportUrl::parse(&text).map_err(|what| ProbeError::Refused(format!("{text}: {what}")))?;
        let connector = url.connector(clock, GIVE_UP);
        let mounted =
            mount(&connector, &url.place).map_err(|error| server_error(plan.path.clone(), &error))?;
        let way = Link::new(connector.clone(), mounted.nfs, Random::stream(origin.seed, "export"));
        Ok(Self {
            path: text.split('?').next().unwrap_or_default().into(),
            connector,
            nfs: mounted.nfs,
            way,
            steps: Vec::new(),
            directory: mounted.root,
            hold: None,
            seed: origin.seed,
        })
    }

    fn own_name(&self) -> String {
        format!(".iosonde-{}", self.connector.caller.uid)
    }

    fn step(
        &mut self,
        name: String,
        go: impl FnOnce(&mut Self, &str) -> Result<Handle, ProbeError>,
    ) -> Result<(), ProbeError> {
        let next = go(self, &name)?;
        self.path.push(&name);
        self.steps.push((std::mem::replace(&mut self.directory, next), name));
        Ok(())
    }

    /// A way to the server of its own.
    pub fn link(&self) -> Link {
        let random = Random::stream(self.seed ^ iosonde_core::seed::fresh(), "calls");
        Link::new(self.connector.clone(), self.nfs, random)
    }

    /// Handle of the directory.
    pub fn directory(&self) -> Handle {
        self.directory.clone()
    }

    /// Calls of the preparation.
    pub fn call<T>(
        &mut self,
        act: impl FnOnce(&mut Connection, &[u8]) -> Result<T, NfsError>,
    ) -> Result<T, ProbeError> {
        self.try_call(act).map_err(|error| self.error(&error))
    }

    /// The same; the caller makes something of the error.
    pub fn try_call<T>(
        &mut self,
        act: impl FnOnce(&mut Connection, &[u8]) -> Result<T, NfsError>,
    ) -> Result<T, NfsError> {
        let directory = &self.directory;
        self.way.call(|connection| act(connection, directory))
    }

    /// Bytes of a WRITE and of a READ that the server takes.
    pub fn limits(&mut self) -> Result<(u32, u32), ProbeError> {
        self.call(Connection::limits)
    }

    /// Looks up one of our names: its handle and attributes.
    pub fn existing(&mut self, name: &str) -> Result<(Handle, Attributes), ProbeError> {
        self.call(|connection, directory| connection.look(directory, name))
    }

    /// Open or make a directory of ours. A link or a file that stands there is refused.
    pub fn enter_directory(&mut self, name: &str) -> Result<Handle, ProbeError> {
        let made = self.try_call(|connection, directory| connection.make_directory(directory, name));
        match made {
            Err(error) if error.errno() == Errno::EXIST => {
                let (handle, found) = self.existing(name)?;
                if found.directory { Ok(handle) } else { Err(self.in_the_way(name, "it is no directory")) }
            }
            Err(error) if matches!(error.errno(), Errno::ACCESS | Errno::PERM | Errno::ROFS) => {
                Err(self.error(&error))
            }
            made => made.map_err(|error| self.error(&error)),
        }
    }

    fn in_the_way(&self, name: &str, what: &str) -> ProbeError {
        MarkedError::InTheWay { path: self.path.join(name), what: what.into() }.into()
    }

    fn mark_text(&mut self) -> Result<Option<String>, ProbeError> {
        let text = self.try_call(|connection, directory| {
            let (file, _) = connection.look(directory, "MARK")?;
            let mut bytes = [0; 256];
            let n = read_whole(connection, &file, &mut bytes)?;
            Ok(String::from_utf8_lossy(&bytes[..n]).into_owned())
        });
        match text {
            Err(error) if error.errno() == Errno::NOENT => Ok(None),
            text => text.map(Some).map_err(|error| self.error(&error)),
        }
    }

    fn other_mark(&self, text: Option<String>) -> ProbeError {
        let found = text.unwrap_or_default().lines().next().unwrap_or_default().to_owned();
        MarkedError::OtherVersion { path: self.path.join("MARK"), found, expected: MARK }.into()
    }

    /// Accept a directory with our mark, mark an empty one, refuse any other.
    fn mark(&mut self) -> Result<(), ProbeError> {
        match self.mark_text()? {
            Some(text) if text.lines().next() == Some(MARK) => return Ok(()),
            Some(text) => return Err(self.other_mark(Some(text))),
            None => {}
        }
        let names = self.call(Connection::list)?;
        if let Some(name) = names.iter().find(|name| !name.starts_with("MARK.")) {
            let what = format!("it holds `{name}` and no mark of iosonde");
            return Err(MarkedError::InTheWay { path: self.path.clone(), what }.into());
        }
        self.call(write_mark)
    }

    /// An error of a call, with what to try.
    pub fn error(&self, error: &NfsError) -> ProbeError {
        server_error(self.path.clone(), error)
    }

    /// Why the pool could not be repaired.
    pub fn repair_error(&self, repair: Repair) -> ProbeError {
        let path = self.path.clone();
        match repair {
            Repair::Stopped => ProbeError::Stopped { path },
            Repair::Failed { what, errno } => ProbeError::Failed { path, what, errno },
        }
    }
}

impl Drop for ExportPlace {
    /// The next start finds no lock, or one of a process that is gone.
    fn drop(&mut self) {
        let Some(mut hold) = self.hold.take() else { return };
        let limit = Duration::from_millis(500);
        let connector = Connector { limit, ..self.connector.clone() };
        let mut way = Link::new(connector, self.nfs, Random::stream(self.seed, "end"));
        let _ = way.call(|connection| hold.release(connection));
    }
}

/// Name of this host's place; differs from its place on a mounted file system.
fn place_name(origin: &Origin) -> String {
    format!("nfs@{}", slug(&origin.host))
}

/// Several may mark at the same time: each writes a draft of its own, and the last rename counts.
pub(super) fn write_mark(connection: &mut Connection, directory: &[u8]) -> Result<(), NfsError> {
    let draft = format!("MARK.{:x}", iosonde_core::seed::fresh());
    let file = connection.create(directory, &draft)?;
    let text = format!("{MARK}\nEverything beside this file is made, changed and deleted by iosonde.\n");
    write_whole(connection, &file, text.as_bytes(), stable_how::FILE_SYNC)?;
    connection.rename(directory, &draft, "MARK")
}

fn server_error(path: PathBuf, error: &NfsError) -> ProbeError {
    let remedy = match error.remedy() {
        "" => String::new(),
        remedy => format!("; {remedy}"),
    };
    let path = path.to_string_lossy().split('?').next().unwrap_or_default().into();
    ProbeError::Server { path, problem: error.to_string(), remedy, errno: error.errno() }
}
