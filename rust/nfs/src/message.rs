//! RPC messages (RFC 5531): heads of calls and answers.

use nfs3_types::rpc::{accept_stat, auth_flavor, auth_stat, msg_type, reply_stat};

use crate::error::NfsError;
use crate::xdr::{Cursor, put_opaque, put_u32};

const RPC_VERSION: u32 = 2;
const MOST_AUTH: usize = 400;

/// Who calls (AUTH_SYS).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    /// User.
    pub uid: u32,
    /// Group.
    pub gid: u32,
}

/// What a call is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Procedure {
    /// RPC program.
    pub program: u32,
    /// Its version.
    pub version: u32,
    /// Number of the procedure.
    pub procedure: u32,
}

/// Append the head of a call.
pub fn put_call(to: &mut Vec<u8>, xid: u32, procedure: Procedure, caller: Caller) {
    for value in [xid, msg_type::CALL as u32, RPC_VERSION] {
        put_u32(to, value);
    }
    for value in [procedure.program, procedure.version, procedure.procedure] {
        put_u32(to, value);
    }
    put_u32(to, auth_flavor::AUTH_UNIX as u32);
    let mut body = Vec::with_capacity(32);
    put_u32(&mut body, 0);
    put_opaque(&mut body, b"iosonde");
    for value in [caller.uid, caller.gid, 0] {
        put_u32(&mut body, value);
    }
    put_opaque(to, &body);
    put_u32(to, auth_flavor::AUTH_NULL as u32);
    put_u32(to, 0);
}

/// The number of an answer, and its results where the call was executed.
///
/// Errors (outer): Malformed, the connection cannot be trusted any more. Inner: Rejected.
#[inline]
pub fn reply(record: &[u8]) -> Result<(u32, Result<&[u8], NfsError>), NfsError> {
    let mut cursor = Cursor::new(record, "RPC answer");
    let xid = cursor.u32()?;
    if cursor.u32()? != msg_type::REPLY as u32 {
        return Err(NfsError::Malformed { what: "RPC answer" });
    }
    let status = cursor.u32()?;
    if status == reply_stat::MSG_DENIED as u32 {
        let why = if cursor.u32()? == 0 { "RPC version" } else { auth_problem(cursor.u32()?) };
        return Ok((xid, Err(NfsError::Rejected { why })));
    }
    if status != reply_stat::MSG_ACCEPTED as u32 {
        return Err(NfsError::Malformed { what: "RPC answer" });
    }
    cursor.u32()?;
    cursor.opaque(MOST_AUTH)?;
    let accepted = cursor.u32()?;
    if accepted == accept_stat::SUCCESS as u32 {
        return Ok((xid, Ok(cursor.rest())));
    }
    let why = match accepted {
        1 => "PROG_UNAVAIL: no such program",
        2 => "PROG_MISMATCH: another version",
        3 => "PROC_UNAVAIL: no such procedure",
        4 => "GARBAGE_ARGS: arguments not understood",
        5 => "SYSTEM_ERR: the server's own trouble",
        _ => return Err(NfsError::Malformed { what: "RPC answer" }),
    };
    Ok((xid, Err(NfsError::Rejected { why })))
}

fn auth_problem(number: u32) -> &'static str {
    if number == auth_stat::AUTH_TOOWEAK as u32 {
        "AUTH_TOOWEAK: AUTH_SYS is not enough; the export may demand Kerberos or a source port below 1024"
    } else {
        "AUTH_ERROR: AUTH_SYS is not accepted"
    }
}

/// A call as a server sees it: number, what for, arguments. Errors: Malformed.
#[inline]
pub fn call(record: &[u8]) -> Result<(u32, Procedure, &[u8]), NfsError> {
    let mut cursor = Cursor::new(record, "RPC call");
    let xid = cursor.u32()?;
    if cursor.u32()? != msg_type::CALL as u32 || cursor.u32()? != RPC_VERSION {
        return Err(NfsError::Malformed { what: "RPC call" });
    }
    let (program, version, procedure) = (cursor.u32()?, cursor.u32()?, cursor.u32()?);
    for _ in 0..2 {
        cursor.u32()?;
        cursor.opaque(MOST_AUTH)?;
    }
    Ok((xid, Procedure { program, version, procedure }, cursor.rest()))
}

/// Append the head of an answer to an executed call, or of one with another status of acceptance.
#[inline]
pub fn put_reply(to: &mut Vec<u8>, xid: u32, status: accept_stat) {
    put_u32(to, xid);
    for value in [msg_type::REPLY as u32, reply_stat::MSG_ACCEPTED as u32, 0, 0, status as u32] {
        put_u32(to, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_core::seed::Random;

    const WRITE: Procedure = Procedure { program: 100_003, version: 3, procedure: 7 };

    #[test]
    fn heads_agree_with_the_crate_of_types() {
        use nfs3_types::rpc::{msg_body, rpc_msg};
        use nfs3_types::xdr_codec::Unpack;
        let mut bytes = Vec::new();
        put_call(&mut bytes, 77, WRITE, Caller { uid: 5, gid: 6 });
        let (message, n) = rpc_msg::unpack(&mut bytes.as_slice()).unwrap();
        let msg_body::CALL(body) = message.body else { panic!("a call") };
        assert_eq!((message.xid, body.prog, body.vers, body.proc, n), (77, 100_003, 3, 7, bytes.len()));
        assert_eq!(call(&bytes).unwrap(), (77, WRITE, &[][..]));
        let mut bytes = Vec::new();
        put_reply(&mut bytes, 9, accept_stat::SUCCESS);
        assert!(rpc_msg::unpack(&mut bytes.as_slice()).is_ok());
        assert_eq!(reply(&bytes).unwrap(), (9, Ok(&[][..])));
    }

    #[test]
    fn cut_and_random_messages_are_errors_and_never_panics() {
        let mut whole = Vec::new();
        put_reply(&mut whole, 9, accept_stat::SUCCESS);
        for length in 0..whole.len() {
            assert!(reply(&whole[..length]).is_err(), "{length}");
        }
        for seed in 0..20_000 {
            let mut random = Random::stream(seed, "messages");
            let mut bytes = whole.clone();
            for _ in 0..1 + random.below(4) {
                let at = random.below(bytes.len() as u64) as usize;
                bytes[at] = random.bits() as u8;
            }
            bytes.truncate(random.below(40) as usize);
            let _ = reply(&bytes);
            let _ = call(&bytes);
        }
    }
}
