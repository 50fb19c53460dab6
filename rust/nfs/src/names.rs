//! NFS procedures on names and attributes, for a store of objects.

use nfs3_types::nfs3::{self, NFS_PROGRAM, ftype3};

use crate::connection::Connection;
use crate::error::NfsError;
use crate::files::{Handle, done, procedure, put_name};
use crate::xdr::{Cursor, put_opaque, put_u32, put_u64};

/// Bytes of names in one answer.
const PAGE: u32 = 1 << 15;

/// What a server says of a file or directory, of fattr3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attributes {
    /// Whether it is a directory.
    pub directory: bool,
    /// Bytes in it.
    pub size: u64,
    /// Bytes that it takes up.
    pub used: u64,
    /// File system and number in it: the same for as long as it is the same file.
    pub identity: (u64, u64),
}

fn attributes(cursor: &mut Cursor<'_>) -> Result<Attributes, NfsError> {
    let directory = cursor.u32()? == ftype3::NF3DIR as u32;
    cursor.take(16)?;
    let (size, used) = (cursor.u64()?, cursor.u64()?);
    cursor.take(8)?;
    let identity = (cursor.u64()?, cursor.u64()?);
    cursor.take(24)?;
    Ok(Attributes { directory, size, used, identity })
}

/// Room of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// Bytes in all.
    pub total_bytes: u64,
    /// Bytes that the caller may still write.
    pub free_bytes: u64,
    /// Files in all; 0 where the server does not say.
    pub files: u64,
    /// Files that the caller may still make.
    pub free_files: u64,
}

impl Connection {
    /// Handle and attributes of a name in a directory; a symbolic link is not followed. Errors: all.
    pub fn look(&mut self, directory: &[u8], name: &str) -> Result<(Handle, Attributes), NfsError> {
        const WHAT: &str = "looking up a name";
        let results =
            self.call(WHAT, procedure(NFS_PROGRAM::NFSPROC3_LOOKUP), |to| put_name(to, directory, name))?;
        let mut cursor = done(WHAT, &results)?;
        let handle = cursor.opaque(nfs3::NFS3_FHSIZE)?.to_vec();
        if cursor.u32()? != 0 {
            return Ok((handle, attributes(&mut cursor)?));
        }
        let found = self.attributes(&handle)?;
        Ok((handle, found))
    }

    /// Attributes behind a handle. Errors: all.
    pub fn attributes(&mut self, handle: &[u8]) -> Result<Attributes, NfsError> {
        const WHAT: &str = "asking for attributes";
        let results =
            self.call(WHAT, procedure(NFS_PROGRAM::NFSPROC3_GETATTR), |to| put_opaque(to, handle))?;
        attributes(&mut done(WHAT, &results)?)
    }

    /// Room of the file system that a handle lies on. Errors: all.
    pub fn space(&mut self, handle: &[u8]) -> Result<Space, NfsError> {
        const WHAT: &str = "asking for free space";
        let results =
            self.call(WHAT, procedure(NFS_PROGRAM::NFSPROC3_FSSTAT), |to| put_opaque(to, handle))?;
        let mut cursor = done(WHAT, &results)?;
        cursor.skip_attributes()?;
        let (total_bytes, _, free_bytes) = (cursor.u64()?, cursor.u64()?, cursor.u64()?);
        let (files, _, free_files) = (cursor.u64()?, cursor.u64()?, cursor.u64()?);
        Ok(Space { total_bytes, free_bytes, files, free_files })
    }

    /// Cut a file to so many bytes. Errors: all.
    pub fn cut(&mut self, file: &[u8], bytes: u64) -> Result<(), NfsError> {
        const WHAT: &str = "cutting a file";
        let results = self.call(WHAT, procedure(NFS_PROGRAM::NFSPROC3_SETATTR), |to| {
            put_opaque(to, file);
            // sattr3: only the size; then no guard.
            for value in [0, 0, 0, 1] {
                put_u32(to, value);
            }
            put_u64(to, bytes);
            for value in [0, 0, 0] {
                put_u32(to, value);
            }
        })?;
        done(WHAT, &results).map(drop)
    }

    /// Names in a directory, without `.` and `..`. Errors: all.
    pub fn list(&mut self, directory: &[u8]) -> Result<Vec<String>, NfsError> {
        const WHAT: &str = "listing a directory";
        let (mut names, mut cookie, mut verifier) = (Vec::new(), 0, vec![0; 8]);
        loop {
            let results = self.call(WHAT, procedure(NFS_PROGRAM::NFSPROC3_READDIR), |to| {
                put_opaque(to, directory);
                put_u64(to, cookie);
                to.extend_from_slice(&verifier);
                put_u32(to, PAGE);
            })?;
            let mut cursor = done(WHAT, &results)?;
            cursor.skip_attributes()?;
            verifier = cursor.take(8)?.to_vec();
            let mut any = false;
            while cursor.u32()? != 0 {
                cursor.u64()?;
                let name = cursor.opaque(PAGE as usize)?;
                cookie = cursor.u64()?;
                any = true;
                if name != b"." && name != b".." {
                    names.push(String::from_utf8_lossy(name).into_owned());
                }
            }
            // A server that says neither an end nor a name would be asked for ever.
            if cursor.u32()? != 0 || !any {
                return Ok(names);
            }
        }
    }

    /// Give a name in a directory to what another name there stands for. Errors: all.
    pub fn rename(&mut self, directory: &[u8], from: &str, to_name: &str) -> Result<(), NfsError> {
        const WHAT: &str = "renaming a file";
        let results = self.call(WHAT, procedure(NFS_PROGRAM::NFSPROC3_RENAME), |to| {
            put_name(to, directory, from);
            put_name(to, directory, to_name);
        })?;
        done(WHAT, &results).map(drop)
    }
}
