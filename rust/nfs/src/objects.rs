//! Objects as files of one directory. Create is CREATE and WRITE, read is LOOKUP and READ, stat is LOOKUP, delete is REMOVE.

use iosonde_core::backend::{Backend, ObjectName};
use nfs3_types::nfs3::stable_how;
use rustix::io::Errno;

use crate::connection::Connection;
use crate::error::NfsError;
use crate::files::Handle;
use crate::link::Calls;

/// Every server takes as much in one READ or WRITE.
pub const CHUNK: usize = 1 << 15;

/// The objects of a directory.
pub struct Objects<C> {
    calls: C,
    folder: Handle,
    stable: stable_how,
}

impl<C: Calls> Objects<C> {
    /// Of the directory behind a handle; `stable`: how safe contents are when create returns.
    pub fn new(calls: C, folder: Handle, stable: stable_how) -> Self {
        Self { calls, folder, stable }
    }
}

/// Write a whole content, part by part. Errors: all.
pub fn write_whole(
    connection: &mut Connection,
    file: &[u8],
    content: &[u8],
    stable: stable_how,
) -> Result<(), NfsError> {
    for (at, part) in (0..).step_by(CHUNK).zip(content.chunks(CHUNK)) {
        connection.write(file, at, part, stable)?;
    }
    Ok(())
}

/// Read from the beginning until the buffer is full or the file ends. Errors: all.
pub fn read_whole(connection: &mut Connection, file: &[u8], buffer: &mut [u8]) -> Result<usize, NfsError> {
    let mut there = 0;
    while there < buffer.len() {
        let count = (buffer.len() - there).min(CHUNK);
        let part = connection.read(file, there as u64, count as u32)?;
        let taken = part.len().min(count);
        if taken == 0 {
            break;
        }
        buffer[there..there + taken].copy_from_slice(&part[..taken]);
        there += taken;
    }
    Ok(there)
}

fn text(name: &ObjectName) -> &str {
    name.as_c_str().to_str().unwrap_or_default()
}

impl<C: Calls> Backend for Objects<C> {
    fn create(&mut self, name: &ObjectName, content: &[u8]) -> Result<(), Errno> {
        let (folder, stable) = (&self.folder, self.stable);
        self.calls.attempt(|connection| {
            let file = connection.create(folder, text(name))?;
            write_whole(connection, &file, content, stable)
        })
    }

    fn stat(&mut self, name: &ObjectName) -> Result<u64, Errno> {
        let folder = &self.folder;
        self.calls.attempt(|connection| connection.look(folder, text(name))).map(|(_, found)| found.size)
    }

    fn read(&mut self, name: &ObjectName, buffer: &mut [u8]) -> Result<usize, Errno> {
        let folder = &self.folder;
        self.calls.attempt(|connection| {
            let file = connection.lookup(folder, text(name))?;
            read_whole(connection, &file, buffer)
        })
    }

    fn delete(&mut self, name: &ObjectName) -> Result<(), Errno> {
        let folder = &self.folder;
        self.calls.attempt(|connection| connection.remove(folder, text(name)))
    }
}
