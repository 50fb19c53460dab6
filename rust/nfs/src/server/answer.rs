//! Calls to answers: port mapper, MOUNT and NFS.

use std::net::TcpStream;
use std::sync::{Arc, MutexGuard, PoisonError};

use nfs3_types::nfs3::{self, NFS_PROGRAM, fattr3, ftype3, nfsstat3, nfstime3};
use nfs3_types::rpc::accept_stat;
use nfs3_types::xdr_codec::Pack;
use nfs3_types::{mount, portmap};

use super::memory::{Memory, Node, ROOT, handle, id_of};
use super::queue::Operation;
use super::shared::{EXPORT, Shared};
use crate::error::NfsError;
use crate::message::{call, put_reply};
use crate::record;
use crate::xdr::{Cursor, put_opaque, put_u32, put_u64};

const MOST_NAME: usize = 255;
const MOST_TRANSFER: u32 = 1 << 20;
const VERIFIER: u64 = 0x696f_736f_6e64_6571;

/// What became of a call.
pub(super) enum Answer {
    /// Answered.
    Now,
    /// To be queued; the answer to a WRITE is sent when it is.
    Served(Operation, Option<Vec<u8>>),
    /// No call: the connection ends.
    Garbage,
}

enum Outcome {
    Done(nfsstat3),
    Executed,
    Rejected(accept_stat),
    Serve(Operation),
}

/// Answer a call, or say what to queue.
pub(super) fn answer(
    shared: &Shared,
    stream: &Arc<TcpStream>,
    message: &[u8],
    replies: &mut Vec<u8>,
) -> Answer {
    let Ok((xid, procedure, arguments)) = call(message) else { return Answer::Garbage };
    let begin = replies.len();
    let at = record::begin(replies);
    put_reply(replies, xid, accept_stat::SUCCESS);
    let results = replies.len();
    let mut cursor = Cursor::new(arguments, "arguments");
    let outcome = match (procedure.program, procedure.version) {
        (portmap::PROGRAM, portmap::VERSION) => getport(shared, procedure.procedure, cursor, replies),
        (mount::PROGRAM, mount::VERSION) => mounting(procedure.procedure, cursor, replies),
        (nfs3::PROGRAM, nfs3::VERSION) => {
            nfs(shared, (xid, stream), procedure.procedure, &mut cursor, replies)
        }
        (portmap::PROGRAM | mount::PROGRAM | nfs3::PROGRAM, _) => {
            Ok(Outcome::Rejected(accept_stat::PROG_MISMATCH))
        }
        _ => Ok(Outcome::Rejected(accept_stat::PROG_UNAVAIL)),
    };
    match outcome.unwrap_or(Outcome::Rejected(accept_stat::GARBAGE_ARGS)) {
        Outcome::Executed => {}
        Outcome::Done(status) => {
            replies.truncate(results);
            fail(replies, procedure.procedure, status);
        }
        Outcome::Rejected(status) => {
            replies.truncate(at + 4);
            put_reply(replies, xid, status);
            if status == accept_stat::PROG_MISMATCH {
                put_u32(replies, 3);
                put_u32(replies, 3);
            }
        }
        Outcome::Serve(operation) => {
            let reply = matches!(operation, Operation::Write { .. }).then(|| {
                record::end(&mut replies[begin..], at - begin);
                replies[begin..].to_vec()
            });
            replies.truncate(begin);
            return Answer::Served(operation, reply);
        }
    }
    record::end(replies, at);
    Answer::Now
}

type Called = Result<Outcome, NfsError>;

fn getport(shared: &Shared, procedure: u32, mut cursor: Cursor<'_>, to: &mut Vec<u8>) -> Called {
    match procedure {
        0 => {}
        3 => {
            let known = matches!(cursor.u32()?, mount::PROGRAM | nfs3::PROGRAM) && cursor.u32()? == 3;
            put_u32(to, if known { u32::from(shared.port) } else { 0 });
        }
        _ => return Ok(Outcome::Rejected(accept_stat::PROC_UNAVAIL)),
    }
    Ok(Outcome::Executed)
}

fn mounting(procedure: u32, mut cursor: Cursor<'_>, to: &mut Vec<u8>) -> Called {
    match procedure {
        0 | 3 | 4 => {}
        1 => match cursor.opaque(1024)? {
            b"/" | b"" => mounted(to),
            path if path == EXPORT.as_bytes() => mounted(to),
            _ => put_u32(to, mount::mountstat3::MNT3ERR_NOENT as u32),
        },
        // DUMP and EXPORT: empty lists.
        2 | 5 => put_u32(to, 0),
        _ => return Ok(Outcome::Rejected(accept_stat::PROC_UNAVAIL)),
    }
    Ok(Outcome::Executed)
}

fn mounted(to: &mut Vec<u8>) {
    put_u32(to, 0);
    put_opaque(to, &handle(ROOT));
    for value in [1, 1] {
        put_u32(to, value);
    }
}

fn nfs(
    shared: &Shared,
    (xid, stream): (u32, &Arc<TcpStream>),
    procedure: u32,
    cursor: &mut Cursor<'_>,
    to: &mut Vec<u8>,
) -> Called {
    if procedure == NFS_PROGRAM::NFSPROC3_NULL as u32 {
        return Ok(Outcome::Executed);
    }
    let given = cursor.opaque(nfs3::NFS3_FHSIZE)?;
    let id = match id_of(given) {
        Ok(id) => id,
        Err(status) => return Ok(Outcome::Done(status)),
    };
    let memory = shared.memory.lock().unwrap_or_else(PoisonError::into_inner);
    let queued = shared.queue.is_some();
    match procedure {
        6 => {
            let (offset, count) = (cursor.u64()?, cursor.u32()?.min(MOST_TRANSFER));
            if queued {
                let to = Arc::clone(stream);
                return Ok(Outcome::Serve(Operation::Read { xid, file: id, offset, count, to }));
            }
            let mut memory = memory;
            Ok(memory.read(id, offset, count).map_or_else(Outcome::Done, |(data, end)| {
                put_read(to, data, end);
                Outcome::Executed
            }))
        }
        7 => write(memory, queued, id, cursor, to),
        _ => Ok(other(memory, id, procedure, cursor, to)?.map_or_else(Outcome::Done, |()| Outcome::Executed)),
    }
}

fn write(
    mut memory: MutexGuard<'_, Memory>,
    queued: bool,
    file: u64,
    cursor: &mut Cursor<'_>,
    to: &mut Vec<u8>,
) -> Called {
    let (offset, _, stable) = (cursor.u64()?, cursor.u32()?, cursor.u32()?);
    let data = cursor.opaque(MOST_TRANSFER as usize)?;
    if let Err(status) = memory.check_write(file, offset, data.len()) {
        return Ok(Outcome::Done(status));
    }
    for value in [0, 0, 0, data.len() as u32, stable.min(2)] {
        put_u32(to, value);
    }
    put_u64(to, VERIFIER);
    if queued {
        return Ok(Outcome::Serve(Operation::Write { file, offset, data: data.to_vec() }));
    }
    memory.write(file, offset, data);
    Ok(Outcome::Executed)
}

/// Calls that are answered at once, whatever the queue.
fn other(
    mut memory: MutexGuard<'_, Memory>,
    id: u64,
    procedure: u32,
    cursor: &mut Cursor<'_>,
    to: &mut Vec<u8>,
) -> Result<Result<(), nfsstat3>, NfsError> {
    Ok(match procedure {
        // GETATTR, and SETATTR, which changes nothing but a size.
        1 => attributes(&memory, id).map(|found| {
            put_u32(to, 0);
            pack(to, &found);
        }),
        2 => set_size(&mut memory, id, cursor)?.map(|()| put_zeros(to, 3)),
        3 => memory.lookup(id, cursor.opaque(MOST_NAME)?).map(|found| {
            put_u32(to, 0);
            put_opaque(to, &handle(found));
            put_zeros(to, 2);
        }),
        4 => memory
            .node(id)
            .map(|_| put_zeros(to, 2))
            .and(cursor.u32().map_err(|_| nfsstat3::NFS3ERR_INVAL))
            .map(|asked| put_u32(to, asked & 0x3f)),
        8 => made(&mut memory, id, cursor.opaque(MOST_NAME)?, Node::File(Vec::new()), to),
        9 => made(&mut memory, id, cursor.opaque(MOST_NAME)?, Node::Directory(Default::default()), to),
        12 => memory.remove(id, cursor.opaque(MOST_NAME)?, false).map(|()| put_zeros(to, 3)),
        13 => memory.remove(id, cursor.opaque(MOST_NAME)?, true).map(|()| put_zeros(to, 3)),
        14 => {
            let name = cursor.opaque(MOST_NAME)?;
            let to_directory = cursor.opaque(nfs3::NFS3_FHSIZE)?;
            let to_name = cursor.opaque(MOST_NAME)?;
            id_of(to_directory)
                .and_then(|other| memory.rename((id, name), (other, to_name)))
                .map(|()| put_zeros(to, 5))
        }
        16 => {
            let (cookie, _, room) = (cursor.u64()?, cursor.u64()?, cursor.u32()?);
            memory.list(id, cookie).map(|names| put_names(to, cookie, &names, room as usize))
        }
        18 => memory.node(id).map(|_| fsstat(to)),
        19 => memory.node(id).map(|_| fsinfo(to)),
        20 => memory.node(id).map(|_| {
            for value in [0, 0, 1, MOST_NAME as u32, 1, 1, 0, 1] {
                put_u32(to, value);
            }
        }),
        // COMMIT: memory is as stable as it gets.
        21 => memory.node(id).map(|_| {
            put_zeros(to, 3);
            put_u64(to, VERIFIER);
        }),
        _ => Err(nfsstat3::NFS3ERR_NOTSUPP),
    })
}

/// sattr3: mode, user and group are passed over.
fn set_size(memory: &mut Memory, id: u64, cursor: &mut Cursor<'_>) -> Result<Result<(), nfsstat3>, NfsError> {
    for _ in 0..3 {
        if cursor.u32()? != 0 {
            cursor.u32()?;
        }
    }
    if cursor.u32()? == 0 {
        return Ok(memory.node(id).map(drop));
    }
    Ok(memory.resize(id, cursor.u64()?))
}

/// READDIR: as many names as there is room for.
fn put_names(to: &mut Vec<u8>, cookie: u64, names: &[(Vec<u8>, u64)], room: usize) {
    const ENTRY: usize = 32;
    put_zeros(to, 2);
    put_u64(to, VERIFIER);
    let (mut used, mut whole) = (64, true);
    for (at, (name, id)) in (cookie.saturating_add(1)..).zip(names) {
        used += ENTRY + name.len();
        if used > room.min(MOST_TRANSFER as usize) {
            whole = false;
            break;
        }
        put_u32(to, 1);
        put_u64(to, *id);
        put_opaque(to, name);
        put_u64(to, at);
    }
    put_u32(to, 0);
    put_u32(to, u32::from(whole));
}

fn made(
    memory: &mut Memory,
    directory: u64,
    name: &[u8],
    node: Node,
    to: &mut Vec<u8>,
) -> Result<(), nfsstat3> {
    let id = memory.make(directory, name, node)?;
    put_u32(to, 0);
    put_u32(to, 1);
    put_opaque(to, &handle(id));
    put_u32(to, 1);
    pack(to, &attributes(memory, id)?);
    put_zeros(to, 2);
    Ok(())
}

fn attributes(memory: &Memory, id: u64) -> Result<fattr3, nfsstat3> {
    let (type_, mode, size) = match memory.node(id)? {
        Node::Directory(_) => (ftype3::NF3DIR, 0o777, 4096),
        Node::File(content) => (ftype3::NF3REG, 0o666, content.len() as u64),
    };
    let time = nfstime3 { seconds: 1, nseconds: 0 };
    Ok(fattr3 {
        type_,
        mode,
        nlink: 1,
        uid: 0,
        gid: 0,
        size,
        used: size,
        rdev: nfs3::specdata3::default(),
        fsid: 1,
        fileid: id,
        atime: time,
        mtime: time,
        ctime: time,
    })
}

fn pack(to: &mut Vec<u8>, value: &impl Pack) {
    // Writing into memory cannot fail.
    let _ = value.pack(to);
}

fn put_zeros(to: &mut Vec<u8>, words: usize) {
    to.extend(std::iter::repeat_n(0, 4 * words));
}

fn fsstat(to: &mut Vec<u8>) {
    put_zeros(to, 2);
    for value in [1_u64 << 40; 6] {
        put_u64(to, value);
    }
    put_u32(to, 0);
}

fn fsinfo(to: &mut Vec<u8>) {
    put_zeros(to, 2);
    for value in [MOST_TRANSFER, MOST_TRANSFER, 1, MOST_TRANSFER, MOST_TRANSFER, 1, 1 << 16] {
        put_u32(to, value);
    }
    put_u64(to, 1 << 40);
    for value in [0, 1, nfs3::FSF3_HOMOGENEOUS] {
        put_u32(to, value);
    }
}

/// Results of a READ that was executed.
fn put_read(to: &mut Vec<u8>, data: &[u8], end: bool) {
    for value in [0, 0, data.len() as u32, u32::from(end)] {
        put_u32(to, value);
    }
    put_opaque(to, data);
}

/// The whole answer to a READ of the queue.
pub(super) fn put_read_reply(to: &mut Vec<u8>, xid: u32, result: Result<(&[u8], bool), nfsstat3>) {
    put_reply(to, xid, accept_stat::SUCCESS);
    match result {
        Ok((data, end)) => put_read(to, data, end),
        Err(status) => fail(to, NFS_PROGRAM::NFSPROC3_READ as u32, status),
    }
}

/// Results of a procedure that failed: the status, and no attributes before or after.
fn fail(to: &mut Vec<u8>, procedure: u32, status: nfsstat3) {
    put_u32(to, status as u32);
    put_zeros(
        to,
        match procedure {
            1 => 0,
            3 | 4 | 5 | 6 | 16..=20 => 1,
            14 => 4,
            15 => 3,
            _ => 2,
        },
    );
}
