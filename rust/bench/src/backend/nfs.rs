//! Objects as files of an NFSv3 export, without the kernel's client.
//!
//! ```text
//! EXPORT/.iosonde-<uid>-bench-metadata/MARK          what made it
//!                                      note          the parameters that made it
//!                                      r00000.d00000/<object number, 16 hexadecimal digits>
//! ```
//! Between two clock readings lie the calls that NFSv3 needs: [`iosonde_nfs::objects`].

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use iosonde_core::backend::store::{Capabilities, Manner, ObjectStore, SetId};
use iosonde_core::backend::{Backend, ObjectName};
use iosonde_core::clock::Clock;
use iosonde_core::seed::Random;
use iosonde_nfs::connection::{Connection, Connector};
use iosonde_nfs::error::NfsError;
use iosonde_nfs::files::Handle;
use iosonde_nfs::link::{Calls, Link};
use iosonde_nfs::message::Caller;
use iosonde_nfs::mount::{Place, mount};
use iosonde_nfs::objects::{CHUNK, Objects, write_whole};
use iosonde_nfs::socket::SourcePort;
use nfs3_types::nfs3::stable_how;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::error::ConnectError;
use super::words::Problem;

/// Text of the mark.
pub const MARK: &str = "iosonde metadata benchmark, format 1\n";
const NOTE_BYTES: u32 = 1 << 20;

/// A directory that a server exports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NfsPlace {
    /// Name or address.
    pub host: String,
    /// The directory, as the server exports it.
    pub path: String,
    /// Port of NFS; none asks the port mapper.
    pub nfs_port: Option<u16>,
    /// Port of MOUNT; none asks the port mapper.
    pub mount_port: Option<u16>,
    /// Port of the port mapper.
    pub portmap_port: u16,
    /// Who calls.
    pub uid: u32,
    /// The caller's group.
    pub gid: u32,
    /// Whether from a source port below 1024; none: where this user may.
    #[serde(default)]
    pub reserved: Option<bool>,
    /// When an answer is given up, in milliseconds.
    #[serde(default = "a_minute")]
    pub timeout_ms: u64,
}

fn a_minute() -> u64 {
    60_000
}

/// A rank's connection and what its server said last.
#[derive(Clone)]
struct Wire {
    link: Arc<Mutex<Link>>,
    problem: Problem,
}

impl Wire {
    fn call<T>(&self, act: impl FnOnce(&mut Connection) -> Result<T, NfsError>) -> Result<T, Errno> {
        // A rank makes one call at a time: nobody else holds the lock.
        let mut link: MutexGuard<'_, Link> = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        link.call(act).map_err(|error| self.problem.keep(&error.to_string(), error.errno()))
    }
}

impl Calls for Wire {
    fn attempt<T>(&mut self, act: impl FnOnce(&mut Connection) -> Result<T, NfsError>) -> Result<T, Errno> {
        self.call(act)
    }
}

/// A rank's way to an export.
pub struct NfsStore {
    wire: Wire,
    root: Handle,
    name: String,
    directory: Option<Handle>,
}

impl NfsStore {
    /// Mount it.
    pub fn connect(place: &NfsPlace, clock: &Arc<dyn Clock>, random: Random) -> Result<Self, ConnectError> {
        let connector = Connector {
            clock: Arc::clone(clock),
            caller: Caller { uid: place.uid, gid: place.gid },
            source: match place.reserved {
                None => SourcePort::ReservedIfAllowed,
                Some(true) => SourcePort::Reserved,
                Some(false) => SourcePort::Any,
            },
            limit: Duration::from_millis(place.timeout_ms.max(1)),
        };
        let export = Place {
            host: place.host.clone(),
            path: place.path.clone(),
            nfs_port: place.nfs_port,
            mount_port: place.mount_port,
            portmap_port: place.portmap_port,
        };
        let opened = mount(&connector, &export).and_then(|mounted| {
            let mut link = Link::new(connector.clone(), mounted.nfs, random);
            link.open()?;
            Ok((mounted.root, link))
        });
        let (root, link) = opened.map_err(|error| ConnectError::Refused {
            place: format!("nfs://{}{}", place.host, place.path),
            errno: error.errno(),
            problem: with_remedy(&error),
            expected: "an NFSv3 export that this host may mount and write: check ports, path and user",
        })?;
        let wire = Wire { link: Arc::new(Mutex::new(link)), problem: Problem::default() };
        let name = format!(".iosonde-{}-bench-metadata", place.uid);
        Ok(Self { wire, root, name, directory: None })
    }

    fn directory(&mut self) -> Result<Handle, Errno> {
        if let Some(directory) = &self.directory {
            return Ok(directory.clone());
        }
        let found = self.wire.call(|wire| wire.lookup(&self.root, &self.name))?;
        self.directory = Some(found.clone());
        Ok(found)
    }

    fn text(&mut self, directory: &[u8], name: &str) -> Result<Option<String>, Errno> {
        let (file, size) = match self.wire.call(|wire| wire.look(directory, name)) {
            Err(Errno::NOENT) => return Ok(None),
            found => found.map(|(file, found)| (file, found.size))?,
        };
        let mut bytes = Vec::new();
        while (bytes.len() as u64) < size.min(u64::from(NOTE_BYTES)) {
            let part = self.wire.call(|wire| wire.read(&file, bytes.len() as u64, CHUNK as u32))?;
            if part.is_empty() {
                break;
            }
            bytes.extend(part);
        }
        String::from_utf8(bytes).map(Some).map_err(|_| Errno::BADMSG)
    }

    /// A file with this text, in place of one that is there.
    fn put(&mut self, directory: &[u8], name: &str, text: &str) -> Result<(), Errno> {
        let draft = format!("{name}.new");
        gone(self.wire.call(|wire| wire.remove(directory, &draft)))?;
        let file = self.wire.call(|wire| wire.create(directory, &draft))?;
        write(&self.wire, &file, text.as_bytes(), stable_how::FILE_SYNC)?;
        self.wire.call(|wire| wire.rename(directory, &draft, name))
    }

    fn in_the_way(&self, what: &str) -> Errno {
        let message = format!(
            "{}: {what}; expected a directory made by this version of iosonde: choose another one, nothing was touched",
            self.name
        );
        self.wire.problem.keep(&message, Errno::EXIST)
    }
}

fn write(wire: &Wire, file: &[u8], content: &[u8], stable: stable_how) -> Result<(), Errno> {
    wire.call(|wire| write_whole(wire, file, content, stable))
}

fn with_remedy(error: &NfsError) -> String {
    match error.remedy() {
        "" => error.to_string(),
        remedy => format!("{error} ({remedy})"),
    }
}

fn gone(result: Result<(), Errno>) -> Result<(), Errno> {
    if result == Err(Errno::NOENT) { Ok(()) } else { result }
}

fn set_name(set: SetId) -> String {
    format!("r{:05}.d{:05}", set.rank, set.set)
}

fn parse_set(name: &str) -> Option<SetId> {
    let (rank, set) = name.strip_prefix('r')?.split_once(".d")?;
    SetId::from_digits(rank, set)
}

impl ObjectStore for NfsStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities { stores: true, exclusive: true, delete_tells: true, fsync: true, threads: true }
    }

    fn begin(&mut self) -> Result<(), Errno> {
        let made = match self.wire.call(|wire| wire.make_directory(&self.root, &self.name)) {
            Err(Errno::EXIST) => self.wire.call(|wire| wire.lookup(&self.root, &self.name))?,
            made => made?,
        };
        match self.text(&made, "MARK") {
            Ok(Some(text)) if text == MARK => {}
            Ok(Some(_)) => return Err(self.in_the_way("MARK is another one")),
            Ok(None) => {
                let names = self.wire.call(|wire| wire.list(&made))?;
                // Another rank may be about to mark it.
                if let Some(name) = names.iter().find(|name| !name.starts_with("MARK")) {
                    if self.text(&made, "MARK")?.as_deref() != Some(MARK) {
                        return Err(self.in_the_way(&format!("it holds `{name}` and no mark")));
                    }
                } else {
                    self.mark(&made)?;
                }
            }
            Err(Errno::NOTDIR) => return Err(self.in_the_way("it is no directory")),
            Err(errno) => return Err(errno),
        }
        self.directory = Some(made);
        Ok(())
    }

    fn note(&mut self) -> Result<Option<String>, Errno> {
        match self.directory() {
            Err(Errno::NOENT) => Ok(None),
            directory => self.text(&directory?, "note"),
        }
    }

    fn set_note(&mut self, text: &str) -> Result<(), Errno> {
        let directory = self.directory()?;
        self.put(&directory, "note", text)
    }

    fn sets(&mut self) -> Result<Vec<SetId>, Errno> {
        let directory = self.directory()?;
        let names = self.wire.call(|wire| wire.list(&directory))?;
        Ok(names.iter().filter_map(|name| parse_set(name)).collect())
    }

    fn make_set(&mut self, set: SetId) -> Result<(), Errno> {
        let directory = self.directory()?;
        match self.wire.call(|wire| wire.make_directory(&directory, &set_name(set))) {
            Err(Errno::EXIST) => Ok(()),
            made => made.map(drop),
        }
    }

    fn open_set(&mut self, set: SetId, manner: Manner) -> Result<Box<dyn Backend>, Errno> {
        if manner.direct {
            let message = "there is no cache of a kernel here; expected no O_DIRECT";
            return Err(self.wire.problem.keep(message, Errno::INVAL));
        }
        let directory = self.directory()?;
        let folder = self.wire.call(|wire| wire.lookup(&directory, &set_name(set)))?;
        let stable = if manner.fsync { stable_how::FILE_SYNC } else { stable_how::UNSTABLE };
        Ok(Box::new(Objects::new(self.wire.clone(), folder, stable)))
    }

    fn list_set(&mut self, set: SetId) -> Result<Vec<u64>, Errno> {
        let directory = self.directory()?;
        let folder = self.wire.call(|wire| wire.lookup(&directory, &set_name(set)))?;
        let names = self.wire.call(|wire| wire.list(&folder))?;
        Ok(names.iter().filter_map(|name| ObjectName::parse(name.as_bytes())).collect())
    }

    fn remove_set(&mut self, set: SetId) -> Result<(), Errno> {
        let directory = self.directory()?;
        gone(self.wire.call(|wire| wire.remove_directory(&directory, &set_name(set))))
    }

    fn end(&mut self) -> Result<(), Errno> {
        let directory = match self.directory() {
            Err(Errno::NOENT) => return Ok(()),
            directory => directory?,
        };
        let names = match self.wire.call(|wire| wire.list(&directory)) {
            Err(Errno::NOENT | Errno::STALE) => Vec::new(),
            names => names?,
        };
        let ours = |name: &str| ["MARK", "note", "note.new"].contains(&name) || name.starts_with("MARK.");
        if names.iter().any(|name| !ours(name)) {
            return Err(Errno::NOTEMPTY);
        }
        for name in &names {
            gone(self.wire.call(|wire| wire.remove(&directory, name)))?;
        }
        self.directory = None;
        gone(self.wire.call(|wire| wire.remove_directory(&self.root, &self.name)))
    }

    fn problem(&self) -> Option<String> {
        self.wire.problem.last()
    }
}

impl NfsStore {
    /// Several ranks may mark at the same time: each writes a draft of its own, and the last rename counts.
    fn mark(&mut self, directory: &[u8]) -> Result<(), Errno> {
        let draft = format!("MARK.{:016x}", iosonde_core::seed::fresh());
        let file = self.wire.call(|wire| wire.create(directory, &draft))?;
        write(&self.wire, &file, MARK.as_bytes(), stable_how::FILE_SYNC)?;
        self.wire.call(|wire| wire.rename(directory, &draft, "MARK"))
    }
}
