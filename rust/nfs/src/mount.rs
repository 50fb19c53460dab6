//! Finding a server's export: port mapper (RFC 1833, version 2) and MOUNT version 3 (RFC 1813, appendix I).

use std::net::{IpAddr, SocketAddr};

use nfs3_types::{mount, nfs3, portmap};

use crate::connection::{Connection, Connector};
use crate::error::NfsError;
use crate::message::Procedure;
use crate::socket::resolve;
use crate::xdr::{Cursor, put_opaque, put_u32};

const MNT: u32 = 1;
const UMNT: u32 = 3;
const GETPORT: u32 = 3;

/// A server's export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Name or address.
    pub host: String,
    /// Path of the directory, as the server exports it.
    pub path: String,
    /// Port of NFS; none asks the port mapper.
    pub nfs_port: Option<u16>,
    /// Port of MOUNT; none asks the port mapper.
    pub mount_port: Option<u16>,
    /// Port of the port mapper.
    pub portmap_port: u16,
}

/// An export that was found.
#[derive(Debug, Clone)]
pub struct Mounted {
    /// Where NFS listens.
    pub nfs: SocketAddr,
    /// Handle of the directory.
    pub root: Vec<u8>,
    mount: SocketAddr,
    path: String,
}

/// Find an export. Errors: all.
pub fn mount(connector: &Connector, place: &Place) -> Result<Mounted, NfsError> {
    let address = resolve(&place.host)?;
    let port = |known: Option<u16>, program, service| match known {
        Some(port) => Ok(port),
        None => port_of(connector, place, address, program, service),
    };
    let nfs = SocketAddr::new(address, port(place.nfs_port, nfs3::PROGRAM, "NFS version 3")?);
    let mount = SocketAddr::new(address, port(place.mount_port, mount::PROGRAM, "MOUNT version 3")?);
    let results =
        Connection::open(connector, mount, 1)?.call("mounting the export", mount_call(MNT), |to| {
            put_opaque(to, place.path.as_bytes());
        })?;
    let mut cursor = Cursor::new(&results, "answer to MNT");
    match cursor.u32()? {
        0 => {
            let root = cursor.opaque(nfs3::NFS3_FHSIZE)?.to_vec();
            Ok(Mounted { nfs, root, mount, path: place.path.clone() })
        }
        status => Err(NfsError::Status { what: "mounting the export", status }),
    }
}

/// Say that it is not used any more. Errors: all; servers only keep a list.
pub fn unmount(connector: &Connector, mounted: &Mounted) -> Result<(), NfsError> {
    let mut connection = Connection::open(connector, mounted.mount, 1)?;
    let path = mounted.path.as_bytes();
    connection.call("unmounting the export", mount_call(UMNT), |to| put_opaque(to, path)).map(drop)
}

fn mount_call(procedure: u32) -> Procedure {
    Procedure { program: mount::PROGRAM, version: mount::VERSION, procedure }
}

fn port_of(
    connector: &Connector,
    place: &Place,
    address: IpAddr,
    program: u32,
    service: &'static str,
) -> Result<u16, NfsError> {
    let getport = Procedure { program: portmap::PROGRAM, version: portmap::VERSION, procedure: GETPORT };
    let at = SocketAddr::new(address, place.portmap_port);
    let results = Connection::open(connector, at, 1)?.call("asking the port mapper", getport, |to| {
        for value in [program, 3, portmap::IPPROTO_TCP, 0] {
            put_u32(to, value);
        }
    })?;
    match u16::try_from(Cursor::new(&results, "answer to GETPORT").u32()?) {
        Ok(port) if port > 0 => Ok(port),
        _ => Err(NfsError::Unregistered { host: place.host.clone(), service }),
    }
}
