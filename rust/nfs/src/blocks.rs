//! A big file in blocks: a block's READs or WRITEs are under way together, as a kernel's client sends them.

use iosonde_core::backend::BlockFile;
use iosonde_core::sample::Cache;
use nfs3_types::nfs3::{NFS_PROGRAM, stable_how};
use rustix::io::Errno;

use crate::connection::Connection;
use crate::error::NfsError;
use crate::files::{Handle, procedure, put_read, put_write, read_data, written};
use crate::link::{Calls, Link};

/// Bytes of one READ or WRITE, at most: longer answers are refused.
const MOST_PIECE: u32 = 1 << 20;

/// A big file.
pub struct Blocks {
    link: Link,
    file: Handle,
    piece: usize,
    /// Bytes that each piece brought or took.
    done: Vec<usize>,
}

impl Blocks {
    /// The file behind a handle, in pieces of what the server prefers.
    pub fn new(link: Link, file: Handle, preferred: u32) -> Self {
        Self { link, file, piece: preferred.clamp(4096, MOST_PIECE) as usize, done: Vec::new() }
    }
}

/// Read pieces together; `done` says how many bytes each brought. Errors: all.
fn read_pieces(
    connection: &mut Connection,
    (file, offset, piece): (&[u8], u64, usize),
    buffer: &mut [u8],
    done: &mut Vec<usize>,
) -> Result<(), NfsError> {
    done.clear();
    for (number, part) in (0..).zip(buffer.chunks(piece)) {
        done.push(0);
        connection.begin(procedure(NFS_PROGRAM::NFSPROC3_READ), number, |to| {
            put_read(to, file, offset + number * piece as u64, part.len() as u32);
        });
    }
    let mut first = Ok(());
    connection.settle("reading", |number, results| match results.and_then(read_data) {
        Ok(data) => {
            let part = buffer.chunks_mut(piece).nth(number as usize).unwrap_or_default();
            let taken = data.len().min(part.len());
            part[..taken].copy_from_slice(&data[..taken]);
            done[number as usize] = taken;
        }
        Err(error) => first = Err(error),
    })?;
    first
}

/// Write pieces together; `done` says how many bytes of each were taken. Errors: all.
fn write_pieces(
    connection: &mut Connection,
    (file, offset, piece): (&[u8], u64, usize),
    content: &[u8],
    done: &mut Vec<usize>,
) -> Result<(), NfsError> {
    done.clear();
    for (number, part) in (0..).zip(content.chunks(piece)) {
        done.push(0);
        connection.begin(procedure(NFS_PROGRAM::NFSPROC3_WRITE), number, |to| {
            put_write(to, file, offset + number * piece as u64, stable_how::FILE_SYNC, part);
        });
    }
    let mut first = Ok(());
    connection.settle("writing", |number, results| match results.and_then(written) {
        Ok((taken, _)) => done[number as usize] = taken as usize,
        Err(error) => first = Err(error),
    })?;
    first
}

impl BlockFile for Blocks {
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, Errno> {
        let Self { link, file, piece, done } = self;
        link.attempt(|connection| {
            read_pieces(connection, (file, offset, *piece), buffer, done)?;
            // A server may bring less than was asked for; nothing more is the end of the file.
            for (number, part) in buffer.chunks_mut(*piece).enumerate() {
                let begin = number * *piece;
                let mut there = done[number];
                while there < part.len() {
                    let rest = (part.len() - there) as u32;
                    let more = connection.read(file, offset + (begin + there) as u64, rest)?;
                    let taken = more.len().min(part.len() - there);
                    if taken == 0 {
                        return Ok(begin + there);
                    }
                    part[there..there + taken].copy_from_slice(&more[..taken]);
                    there += taken;
                }
            }
            Ok(buffer.len())
        })
    }

    fn write_at(&mut self, offset: u64, content: &[u8]) -> Result<usize, Errno> {
        let Self { link, file, piece, done } = self;
        link.attempt(|connection| {
            write_pieces(connection, (file, offset, *piece), content, done)?;
            for (number, part) in content.chunks(*piece).enumerate() {
                let taken = done[number].min(part.len());
                if taken < part.len() {
                    let at = offset + (number * *piece + taken) as u64;
                    connection.write(file, at, &part[taken..], stable_how::FILE_SYNC)?;
                }
            }
            Ok(content.len())
        })
    }

    /// There is no cache of a kernel in the way.
    fn cache(&self, _: u64, _: usize) -> Cache {
        Cache::Direct
    }
}
