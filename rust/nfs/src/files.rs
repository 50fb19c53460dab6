//! NFS procedures one at a time: what prepares and cleans up, and what a store of objects needs.

pub use nfs3_types::nfs3::stable_how;
use nfs3_types::nfs3::{self, NFS_PROGRAM, createmode3};

use crate::connection::Connection;
use crate::error::NfsError;
use crate::message::Procedure;
use crate::xdr::{Cursor, put_opaque, put_u32, put_u64};

/// A file's or directory's handle.
pub type Handle = Vec<u8>;

/// The call of an NFS procedure.
pub fn procedure(number: NFS_PROGRAM) -> Procedure {
    Procedure { program: nfs3::PROGRAM, version: nfs3::VERSION, procedure: number as u32 }
}

pub(crate) fn done<'a>(what: &'static str, results: &'a [u8]) -> Result<Cursor<'a>, NfsError> {
    let mut cursor = Cursor::new(results, what);
    match cursor.u32()? {
        0 => Ok(cursor),
        status => Err(NfsError::Status { what, status }),
    }
}

pub(crate) fn put_name(to: &mut Vec<u8>, directory: &[u8], name: &str) {
    put_opaque(to, directory);
    put_opaque(to, name.as_bytes());
}

/// sattr3: a mode, everything else as the server wills.
fn put_mode(to: &mut Vec<u8>, mode: u32) {
    for value in [1, mode, 0, 0, 0, 0, 0] {
        put_u32(to, value);
    }
}

fn handle(what: &'static str, results: &[u8]) -> Result<Option<Handle>, NfsError> {
    let mut cursor = done(what, results)?;
    match cursor.u32()? {
        0 => Ok(None),
        _ => Ok(Some(cursor.opaque(nfs3::NFS3_FHSIZE)?.to_vec())),
    }
}

/// Append the arguments of WRITE.
pub fn put_write(to: &mut Vec<u8>, file: &[u8], offset: u64, stable: stable_how, data: &[u8]) {
    put_opaque(to, file);
    put_u64(to, offset);
    put_u32(to, data.len() as u32);
    put_u32(to, stable as u32);
    put_opaque(to, data);
}

/// Append the arguments of READ.
pub fn put_read(to: &mut Vec<u8>, file: &[u8], offset: u64, count: u32) {
    put_opaque(to, file);
    put_u64(to, offset);
    put_u32(to, count);
}

/// Bytes that a WRITE took, and how safe the server says they are. Errors: Status, Malformed.
pub fn written(results: &[u8]) -> Result<(u32, u32), NfsError> {
    let mut cursor = done("writing", results)?;
    cursor.skip_wcc()?;
    Ok((cursor.u32()?, cursor.u32()?))
}

/// What a READ brought. Errors: Status, Malformed.
pub fn read_data(results: &[u8]) -> Result<&[u8], NfsError> {
    let mut cursor = done("reading", results)?;
    cursor.skip_attributes()?;
    let (count, _end) = (cursor.u32()?, cursor.u32()?);
    let data = cursor.opaque(results.len())?;
    if data.len() == count as usize { Ok(data) } else { Err(NfsError::Malformed { what: "answer to READ" }) }
}

impl Connection {
    /// Handle of a name in a directory. Errors: all.
    pub fn lookup(&mut self, directory: &[u8], name: &str) -> Result<Handle, NfsError> {
        const WHAT: &str = "looking up a name";
        let results =
            self.call(WHAT, procedure(NFS_PROGRAM::NFSPROC3_LOOKUP), |to| put_name(to, directory, name))?;
        Ok(done(WHAT, &results)?.opaque(nfs3::NFS3_FHSIZE)?.to_vec())
    }

    /// Make a file that does not exist. Errors: all; NFS3ERR_EXIST.
    pub fn create(&mut self, directory: &[u8], name: &str) -> Result<Handle, NfsError> {
        self.create_with(directory, name, 0o600)
    }

    /// The same with other permissions. Errors: all; NFS3ERR_EXIST.
    pub fn create_with(&mut self, directory: &[u8], name: &str, mode: u32) -> Result<Handle, NfsError> {
        const WHAT: &str = "creating a file";
        let results = self.call(WHAT, procedure(NFS_PROGRAM::NFSPROC3_CREATE), |to| {
            put_name(to, directory, name);
            put_u32(to, createmode3::GUARDED as u32);
            put_mode(to, mode);
        })?;
        match handle(WHAT, &results)? {
            Some(made) => Ok(made),
            None => self.lookup(directory, name),
        }
    }

    /// Make a directory that does not exist. Errors: all; NFS3ERR_EXIST.
    pub fn make_directory(&mut self, directory: &[u8], name: &str) -> Result<Handle, NfsError> {
        const WHAT: &str = "making a directory";
        let results = self.call(WHAT, procedure(NFS_PROGRAM::NFSPROC3_MKDIR), |to| {
            put_name(to, directory, name);
            put_mode(to, 0o700);
        })?;
        match handle(WHAT, &results)? {
            Some(made) => Ok(made),
            None => self.lookup(directory, name),
        }
    }

    /// Remove a file. Errors: all.
    pub fn remove(&mut self, directory: &[u8], name: &str) -> Result<(), NfsError> {
        self.take_away("removing a file", NFS_PROGRAM::NFSPROC3_REMOVE, directory, name)
    }

    /// Remove an empty directory. Errors: all.
    pub fn remove_directory(&mut self, directory: &[u8], name: &str) -> Result<(), NfsError> {
        self.take_away("removing a directory", NFS_PROGRAM::NFSPROC3_RMDIR, directory, name)
    }

    fn take_away(
        &mut self,
        what: &'static str,
        number: NFS_PROGRAM,
        directory: &[u8],
        name: &str,
    ) -> Result<(), NfsError> {
        let results = self.call(what, procedure(number), |to| put_name(to, directory, name))?;
        done(what, &results).map(drop)
    }

    /// Write all of `data`; gives how safe the server says it is. Errors: all.
    pub fn write(
        &mut self,
        file: &[u8],
        mut offset: u64,
        mut data: &[u8],
        stable: stable_how,
    ) -> Result<u32, NfsError> {
        loop {
            let results = self.call("writing", procedure(NFS_PROGRAM::NFSPROC3_WRITE), |to| {
                put_write(to, file, offset, stable, data);
            })?;
            let (count, committed) = written(&results)?;
            if count as usize >= data.len() {
                return Ok(committed);
            }
            if count == 0 {
                return Err(NfsError::Malformed { what: "answer to WRITE" });
            }
            offset += u64::from(count);
            data = &data[count as usize..];
        }
    }

    /// Read up to `count` bytes. Errors: all.
    pub fn read(&mut self, file: &[u8], offset: u64, count: u32) -> Result<Vec<u8>, NfsError> {
        let results = self.call("reading", procedure(NFS_PROGRAM::NFSPROC3_READ), |to| {
            put_read(to, file, offset, count);
        })?;
        read_data(&results).map(<[u8]>::to_vec)
    }

    /// Force what was written to stable storage. Errors: all.
    pub fn commit(&mut self, file: &[u8]) -> Result<(), NfsError> {
        let results = self.call("committing", procedure(NFS_PROGRAM::NFSPROC3_COMMIT), |to| {
            put_read(to, file, 0, 0);
        })?;
        done("committing", &results).map(drop)
    }

    /// Largest WRITE and READ that the server takes. Errors: all.
    pub fn limits(&mut self, root: &[u8]) -> Result<(u32, u32), NfsError> {
        const WHAT: &str = "asking for the limits of the export";
        let results = self.call(WHAT, procedure(NFS_PROGRAM::NFSPROC3_FSINFO), |to| put_opaque(to, root))?;
        let mut cursor = done(WHAT, &results)?;
        cursor.skip_attributes()?;
        let read = cursor.u32()?;
        cursor.take(8)?;
        Ok((cursor.u32()?, read))
    }
}
