//! NFS procedures on names and attributes, for a store of objects.

use nfs3_types::nfs3::{self, NFS_PROGRAM};

use crate::connection::Connection;
use crate::error::NfsError;
use crate::files::{Handle, done, procedure, put_name};
use crate::xdr::{Cursor, put_opaque, put_u32, put_u64};

/// Bytes of names in one answer.
const PAGE: u32 = 1 << 15;

/// Size out of attributes (fattr3).
fn size(cursor: &mut Cursor<'_>) -> Result<u64, NfsError> {
    cursor.take(20)?;
    let size = cursor.u64()?;
    cursor.take(56)?;
    Ok(size)
}

impl Connection {
    /// Handle and size of a name in a directory. Errors: all.
    pub fn look(&mut self, directory: &[u8], name: &str) -> Result<(Handle, u64), NfsError> {
        const WHAT: &str = "looking up a name";
        let results =
            self.call(WHAT, procedure(NFS_PROGRAM::NFSPROC3_LOOKUP), |to| put_name(to, directory, name))?;
        let mut cursor = done(WHAT, &results)?;
        let handle = cursor.opaque(nfs3::NFS3_FHSIZE)?.to_vec();
        if cursor.u32()? != 0 {
            return Ok((handle, size(&mut cursor)?));
        }
        let results = self.call("asking for attributes", procedure(NFS_PROGRAM::NFSPROC3_GETATTR), |to| {
            put_opaque(to, &handle);
        })?;
        let bytes = size(&mut done("asking for attributes", &results)?)?;
        Ok((handle, bytes))
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
