//! A way to a server that outlives its connections: it connects at the first call, and again after a loss.

use std::net::SocketAddr;

use iosonde_core::seed::Random;
use rustix::io::Errno;

use crate::connection::{Connection, Connector};
use crate::error::NfsError;

/// Makes calls, one after the other.
pub trait Calls: Send {
    /// Make the calls of one operation.
    fn attempt<T>(&mut self, act: impl FnOnce(&mut Connection) -> Result<T, NfsError>) -> Result<T, Errno>;
}

/// At most one connection at a time.
pub struct Link {
    connector: Connector,
    address: SocketAddr,
    random: Random,
    connection: Option<Connection>,
}

impl Link {
    /// To a server; nothing is sent yet.
    pub fn new(connector: Connector, address: SocketAddr, random: Random) -> Self {
        Self { connector, address, random, connection: None }
    }

    /// Make the calls of one operation. What the server closed meanwhile is opened anew; a call that was under way is not
    /// repeated, because the server may have executed it. Errors: all.
    pub fn call<T>(
        &mut self,
        act: impl FnOnce(&mut Connection) -> Result<T, NfsError>,
    ) -> Result<T, NfsError> {
        let result = act(self.open()?);
        if result.as_ref().is_err_and(|error| !error.is_an_answer()) {
            self.connection = None;
        }
        result
    }

    /// Connect unless that is done. Errors: System, TimedOut.
    pub fn open(&mut self) -> Result<&mut Connection, NfsError> {
        if self.connection.as_mut().is_some_and(|open| open.receive(|_, _| {}).is_err()) {
            self.connection = None;
        }
        match &mut self.connection {
            Some(open) => Ok(open),
            none => {
                let first_xid = self.random.bits() as u32;
                Ok(none.insert(Connection::open(&self.connector, self.address, first_xid)?))
            }
        }
    }
}

impl Calls for Link {
    fn attempt<T>(&mut self, act: impl FnOnce(&mut Connection) -> Result<T, NfsError>) -> Result<T, Errno> {
        self.call(act).map_err(|error| error.errno())
    }
}
