//! Objects of a bucket, over HTTP.
//!
//! ```text
//! [PREFIX/]iosonde-bench-metadata/MARK                 what made it
//!                                 note                 the parameters that made it
//!                                 sets/r00000.d00000   there is such a data set, even if it is empty
//!                                 r00000/d00000/<object number, 16 hexadecimal digits>
//! ```

mod objects;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;
use rusty_s3::{Bucket, Credentials, UrlStyle};
use serde::{Deserialize, Serialize};

use self::objects::Objects;
use self::wire::Wire;
use super::error::ConnectError;
use super::words::Secret;
use iosonde_core::backend::store::{Capabilities, Manner, ObjectStore, SetId};
use iosonde_core::backend::{Backend, ObjectName};

/// Text of the mark.
pub const MARK: &str = "iosonde metadata benchmark, format 1\n";
const NAME: &str = "iosonde-bench-metadata/";

/// Who asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct S3Keys {
    /// The name of the key.
    pub access_key: String,
    /// The key.
    pub secret_key: Secret,
    /// With keys that are good for a while only.
    #[serde(default)]
    pub session_token: Option<Secret>,
}

/// A place in a bucket.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct S3Place {
    /// Where the server listens: `http://host:port` or `https://host`.
    pub endpoint: String,
    /// What the server calls its region.
    pub region: String,
    /// It must exist.
    pub bucket: String,
    /// What all keys begin with.
    #[serde(default)]
    pub prefix: String,
    /// Without them requests are not signed.
    #[serde(default)]
    pub keys: Option<S3Keys>,
    /// The bucket is part of the host's name instead of the path.
    #[serde(default)]
    pub virtual_host: bool,
    /// When an answer is given up, in milliseconds.
    #[serde(default = "a_minute")]
    pub timeout_ms: u64,
}

fn a_minute() -> u64 {
    60_000
}

impl S3Place {
    fn shown(&self) -> String {
        let slash = if self.prefix.is_empty() { "" } else { "/" };
        let host = self.endpoint.split_once("://").map_or(self.endpoint.as_str(), |(_, host)| host);
        format!("s3://{}{slash}{} at {host}", self.bucket, self.prefix)
    }
}

/// A rank's connection to a bucket.
#[derive(Debug)]
pub struct S3Store {
    wire: Arc<Wire>,
    root: String,
    exclusive: bool,
}

impl S3Store {
    /// Reach the server and see that it lets us list the place.
    pub fn connect(place: &S3Place) -> Result<Self, ConnectError> {
        let wrong = |what: String, expected| {
            let place = place.shown();
            ConnectError::Wrong { place, what, expected }
        };
        let style = if place.virtual_host { UrlStyle::VirtualHost } else { UrlStyle::Path };
        let endpoint = place.endpoint.parse().map_err(|error| {
            wrong(format!("the endpoint is no address ({error})"), "http://host:port or https://host")
        })?;
        let bucket =
            Bucket::new(endpoint, style, place.bucket.clone(), place.region.clone()).map_err(|error| {
                wrong(error.to_string(), "an endpoint like http://host:port and a bucket's name")
            })?;
        let credentials = place.keys.as_ref().map(|keys| match &keys.session_token {
            Some(token) => {
                Credentials::new_with_token(&keys.access_key, keys.secret_key.reveal(), token.reveal())
            }
            None => Credentials::new(&keys.access_key, keys.secret_key.reveal()),
        });
        let prefix = place.prefix.trim_matches('/');
        let slash = if prefix.is_empty() { "" } else { "/" };
        let timeout = Duration::from_millis(place.timeout_ms.max(1));
        let store = Self {
            wire: Arc::new(Wire::new(bucket, credentials, timeout)),
            root: format!("{prefix}{slash}{NAME}"),
            exclusive: false,
        };
        match store.list("", 1) {
            Ok(_) => Ok(store),
            Err(errno) => {
                let problem = store.problem().unwrap_or_else(|| errno.to_string());
                let expected = match errno {
                    Errno::ACCESS => "keys that may list, read, write and delete there",
                    Errno::NOENT if problem.starts_with("NoSuchBucket") => {
                        "a bucket that exists: make it first"
                    }
                    Errno::NOENT => "keys and a bucket that this server knows",
                    _ => "an S3 server that answers there: check endpoint, region and network",
                };
                Err(ConnectError::Refused { place: place.shown(), errno, problem, expected })
            }
        }
    }

    /// Names below `below` the root; at most `most` of them.
    fn list(&self, below: &str, most: usize) -> Result<Vec<String>, Errno> {
        const PAGE: usize = 1000;
        let prefix = format!("{}{below}", self.root);
        let (mut names, mut token) = (Vec::new(), None);
        loop {
            let (keys, next) = self.wire.page(&prefix, PAGE.min(most - names.len()), token)?;
            names.extend(keys.iter().filter_map(|key| key.strip_prefix(&prefix)).map(str::to_owned));
            token = next;
            if token.is_none() || names.len() >= most {
                return Ok(names);
            }
        }
    }

    fn key(&self, name: &str) -> String {
        format!("{}{name}", self.root)
    }

    fn text(&self, name: &str) -> Result<Option<String>, Errno> {
        match self.wire.get(&self.key(name)) {
            // So it is if the bucket is gone: listing says that.
            Err(Errno::NOENT) => Ok(None),
            answer => self.wire.text(answer?).map(Some),
        }
    }

    fn delete(&self, name: &str) -> Result<(), Errno> {
        match self.wire.delete(&self.key(name)) {
            Err(Errno::NOENT) => Ok(()),
            result => result,
        }
    }

    fn in_the_way(&self, what: &str) -> Errno {
        let message = format!(
            "{}: {what}; expected keys made by this version of iosonde: choose another prefix, nothing was touched",
            self.root
        );
        self.wire.problem.keep(&message, Errno::EXIST)
    }

    fn marked(&self) -> Result<bool, Errno> {
        match self.text("MARK")? {
            None => Ok(false),
            Some(text) if text == MARK => Ok(true),
            Some(text) => Err(self.in_the_way(&format!("MARK says `{}`", text.lines().next().unwrap_or("")))),
        }
    }
}

fn folder(set: SetId) -> String {
    format!("r{:05}/d{:05}/", set.rank, set.set)
}

fn entry(set: SetId) -> String {
    format!("sets/r{:05}.d{:05}", set.rank, set.set)
}

fn parse_entry(name: &str) -> Option<SetId> {
    let (rank, set) = name.strip_prefix('r')?.split_once(".d")?;
    SetId::from_digits(rank, set)
}

impl ObjectStore for S3Store {
    /// Whether create is exclusive is learnt by `begin`.
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            stores: true,
            exclusive: self.exclusive,
            delete_tells: false,
            fsync: false,
            threads: true,
        }
    }

    fn begin(&mut self) -> Result<(), Errno> {
        if !self.marked()? {
            let strangers = self.list("", 1)?;
            // Another rank may have marked it and begun since.
            if let Some(name) = strangers.first()
                && !self.marked()?
            {
                return Err(self.in_the_way(&format!("it holds `{name}` and no mark")));
            }
            match self.wire.put(&self.key("MARK"), MARK.as_bytes(), true) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(Errno::NOSYS) => self.wire.put(&self.key("MARK"), MARK.as_bytes(), false)?,
                Err(errno) => return Err(errno),
            }
        }
        // The mark exists: does the server refuse to overwrite it?
        self.exclusive = match self.wire.put(&self.key("MARK"), MARK.as_bytes(), true) {
            Err(Errno::EXIST) => true,
            Ok(()) | Err(Errno::NOSYS) => false,
            Err(errno) => return Err(errno),
        };
        Ok(())
    }

    fn note(&mut self) -> Result<Option<String>, Errno> {
        self.text("note")
    }

    fn set_note(&mut self, text: &str) -> Result<(), Errno> {
        self.wire.put(&self.key("note"), text.as_bytes(), false)
    }

    fn sets(&mut self) -> Result<Vec<SetId>, Errno> {
        let names = self.list("sets/", usize::MAX)?;
        Ok(names.iter().filter_map(|name| parse_entry(name)).collect())
    }

    fn make_set(&mut self, set: SetId) -> Result<(), Errno> {
        self.wire.put(&self.key(&entry(set)), b"", false)
    }

    fn open_set(&mut self, set: SetId, manner: Manner) -> Result<Box<dyn Backend>, Errno> {
        if manner.fsync || manner.direct {
            let message = "S3 decides itself when an object is safe, and has no cache here; expected neither fsync nor direct";
            return Err(self.wire.problem.keep(message, Errno::INVAL));
        }
        self.wire.head(&self.key(&entry(set)))?;
        Ok(Box::new(Objects::new(Arc::clone(&self.wire), self.key(&folder(set)), self.exclusive)))
    }

    fn list_set(&mut self, set: SetId) -> Result<Vec<u64>, Errno> {
        self.wire.head(&self.key(&entry(set)))?;
        let names = self.list(&folder(set), usize::MAX)?;
        Ok(names.iter().filter_map(|name| ObjectName::parse(name.as_bytes())).collect())
    }

    fn remove_set(&mut self, set: SetId) -> Result<(), Errno> {
        if self.list(&folder(set), 1)?.is_empty() {
            return self.delete(&entry(set));
        }
        Err(Errno::NOTEMPTY)
    }

    fn end(&mut self) -> Result<(), Errno> {
        if self.list("", 3)?.iter().any(|name| name != "MARK" && name != "note") {
            return Err(Errno::NOTEMPTY);
        }
        self.delete("note")?;
        self.delete("MARK")
    }

    fn problem(&self) -> Option<String> {
        self.wire.problem.last()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(endpoint: &str) -> S3Place {
        let text = format!(
            r#"{{"endpoint": "{endpoint}", "region": "here", "bucket": "bucket", "prefix": "a/b",
                 "keys": {{"access_key": "me", "secret_key": "hunter2"}}}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn names_of_sets_come_back() {
        for set in [SetId { rank: 0, set: 7 }, SetId { rank: 123_456, set: 99_999 }] {
            assert_eq!(parse_entry(entry(set).strip_prefix("sets/").unwrap()), Some(set));
        }
        for bad in ["", "r1.d1", "r00001", "r00001.d", "r00001.d+0001", "x00001.d00001"] {
            assert_eq!(parse_entry(bad), None, "{bad}");
        }
    }

    #[test]
    fn nobody_there_is_told_without_secrets() {
        // Port 1 of loopback: nobody listens there.
        let refused = S3Store::connect(&place("http://127.0.0.1:1")).unwrap_err().to_string();
        assert!(refused.starts_with("s3://bucket/a/b at 127.0.0.1:1: "), "{refused}");
        assert!(refused.to_lowercase().contains("refused"), "{refused}");
        for bad in ["nowhere", "ftp://host", "http://"] {
            let message = S3Store::connect(&place(bad)).unwrap_err().to_string();
            assert!(message.contains("expected") && !message.contains("hunter2"), "{message}");
        }
        assert!(!format!("{:?}", place("http://h")).contains("hunter2"));
    }
}
