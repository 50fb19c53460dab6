//! An export as users write it: `nfs://HOST[:PORT]/EXPORT[?mountport=PORT&portmapport=PORT&uid=N&gid=N&resvport=0|1]`.

use iosonde_core::clock::Clock;
use std::sync::Arc;
use std::time::Duration;

use crate::connection::Connector;
use crate::message::Caller;
use crate::mount::Place;
use crate::socket::SourcePort;

/// How it is written.
pub const FORM: &str = "nfs://HOST[:PORT]/EXPORT[?mountport=PORT&portmapport=PORT&uid=N&gid=N&resvport=0|1]";
/// What it begins with.
pub const SCHEME: &str = "nfs://";
const PORTMAP: u16 = 111;
const MOST_PATH: usize = 1024;

/// A directory that a server exports, and who asks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportUrl {
    /// Where it is.
    pub place: Place,
    /// Who calls; none: this process's user.
    pub uid: Option<u32>,
    /// The caller's group; none: this process's.
    pub gid: Option<u32>,
    /// From which source port.
    pub source: SourcePort,
}

impl ExportUrl {
    /// Read it. The error says what was wrong and what was expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = |what: &str| format!("{what}; expected {FORM}");
        let rest = text.strip_prefix(SCHEME).ok_or_else(|| wrong("no address of an NFS server"))?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (host, port) = authority_parts(authority).ok_or_else(|| wrong("no address of an NFS server"))?;
        let path = decoded(if path.is_empty() { "/" } else { path })
            .filter(|path| path.len() <= MOST_PATH && !path.contains('\0'))
            .ok_or_else(|| wrong("no path of an export of at most 1024 bytes"))?;
        let place = Place { host, path, nfs_port: port, mount_port: None, portmap_port: PORTMAP };
        let mut url = Self { place, uid: None, gid: None, source: SourcePort::default() };
        for option in query.split('&').filter(|option| !option.is_empty()) {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            url.set(name, value)?;
        }
        Ok(url)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let number = |least: u32, most: u32| {
            let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
            let read = digits.then(|| value.parse().ok()).flatten();
            read.filter(|number| (least..=most).contains(number))
                .ok_or_else(|| format!("{name} is `{value}`; expected a number from {least} to {most}"))
        };
        let port = || number(1, u32::from(u16::MAX)).map(|port| port as u16);
        match name {
            "nfsport" => self.place.nfs_port = Some(port()?),
            "mountport" => self.place.mount_port = Some(port()?),
            "portmapport" => self.place.portmap_port = port()?,
            "uid" => self.uid = Some(number(0, u32::MAX)?),
            "gid" => self.gid = Some(number(0, u32::MAX)?),
            "resvport" => {
                self.source = if number(0, 1)? == 1 { SourcePort::Reserved } else { SourcePort::Any };
            }
            _ => {
                return Err(format!(
                    "no option `{name}`; expected one of nfsport, mountport, portmapport, uid, gid, resvport"
                ));
            }
        }
        Ok(())
    }

    /// Who calls.
    pub fn caller(&self) -> Caller {
        Caller {
            uid: self.uid.unwrap_or_else(|| rustix::process::geteuid().as_raw()),
            gid: self.gid.unwrap_or_else(|| rustix::process::getegid().as_raw()),
        }
    }

    /// How to connect; a call waits at most `limit` for its answer.
    pub fn connector(&self, clock: &Arc<dyn Clock>, limit: Duration) -> Connector {
        Connector { clock: Arc::clone(clock), caller: self.caller(), source: self.source, limit }
    }
}

/// Host and port; an address of version 6 stands in brackets.
fn authority_parts(text: &str) -> Option<(String, Option<u16>)> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']')?;
            let port = if after.is_empty() { None } else { Some(after.strip_prefix(':')?) };
            (host, port)
        }
        None => match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    if host.is_empty() || host.contains(['@', '[', ' ']) || host.chars().any(char::is_control) {
        return None;
    }
    let port = match port {
        None | Some("") => None,
        Some(port) => Some(port.parse().ok().filter(|&port: &u16| port > 0)?),
    };
    Some((host.to_ascii_lowercase(), port))
}

/// With `%41` as `A`; none if that is no text.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let digits = (byte == b'%').then(|| after.get(..2)).flatten();
        let code = digits
            .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(code.unwrap_or(byte));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_users_write() {
        let url = ExportUrl::parse("nfs://filer/export").unwrap();
        assert_eq!((url.place.host.as_str(), url.place.path.as_str()), ("filer", "/export"));
        assert_eq!((url.place.nfs_port, url.place.portmap_port), (None, 111));
        assert_eq!(url.source, SourcePort::ReservedIfAllowed);
        let url = ExportUrl::parse("nfs://[::1]:2049/a%20b?mountport=7&uid=5&gid=6&resvport=1").unwrap();
        assert_eq!((url.place.host.as_str(), url.place.path.as_str()), ("::1", "/a b"));
        assert_eq!((url.place.nfs_port, url.place.mount_port), (Some(2049), Some(7)));
        assert_eq!((url.uid, url.gid, url.source), (Some(5), Some(6), SourcePort::Reserved));
        assert_eq!(ExportUrl::parse("nfs://h").unwrap().place.path, "/");
        assert_eq!(ExportUrl::parse("nfs://h/100%").unwrap().place.path, "/100%");
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, said) in [
            ("nfs:///export", "no address"),
            ("nfs://u@h/export", "no address"),
            ("nfs://h:0/x", "no address"),
            ("nfs://h:99999/x", "no address"),
            ("nfs://[::1/x", "no address"),
            ("http://h/x", "no address"),
            ("nfs://h/%00", "no path"),
            ("nfs://h/%ff", "no path"),
            ("nfs://h/x?uid=-1", "uid is `-1`; expected a number from 0 to 4294967295"),
            ("nfs://h/x?mountport=0", "mountport is `0`"),
            ("nfs://h/x?vers=4", "no option `vers`"),
            ("nfs://h/x?resvport=2", "resvport is `2`"),
        ] {
            let error = ExportUrl::parse(text).unwrap_err();
            assert!(error.contains(said) && error.contains("expected"), "{text}: {error}");
        }
    }
}
