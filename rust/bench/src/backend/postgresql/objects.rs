//! The four timed operations as prepared statements.

use std::sync::{Arc, Mutex, PoisonError};

use rustix::io::Errno;
use tokio_postgres::Statement;

use super::session::Session;
use iosonde_core::backend::{Backend, ObjectName};

/// The rows of one table. The session is shared with the other tables of the rank and never waited for: they take
/// turns in one thread.
pub(super) struct Rows {
    session: Arc<Mutex<Session>>,
    table: String,
    prepared: Option<Prepared>,
}

struct Prepared {
    /// On which connection.
    generation: u64,
    create: Statement,
    stat: Statement,
    read: Statement,
    delete: Statement,
}

fn number(name: &ObjectName) -> i64 {
    ObjectName::parse(name.as_c_str().to_bytes()).unwrap_or_default() as i64
}

impl Rows {
    /// `table` is quoted. ENOENT if there is no such table.
    pub(super) fn open(session: Arc<Mutex<Session>>, table: String) -> Result<Self, Errno> {
        let mut rows = Self { session, table, prepared: None };
        rows.with(|_, _| Ok(()))?;
        Ok(rows)
    }

    /// Do something with the session and the statements prepared on its present connection.
    fn with<T>(
        &mut self,
        work: impl FnOnce(&mut Session, &Prepared) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let Self { session, table, prepared } = self;
        let mut session = session.lock().unwrap_or_else(PoisonError::into_inner);
        let generation = session.connected()?;
        if prepared.as_ref().is_none_or(|prepared| prepared.generation != generation) {
            *prepared = Some(prepare(&mut session, table, generation)?);
        }
        match prepared {
            Some(prepared) => work(&mut session, prepared),
            None => Err(Errno::NOTCONN),
        }
    }
}

fn prepare(session: &mut Session, table: &str, generation: u64) -> Result<Prepared, Errno> {
    session.ask(async |client| {
        Ok(Prepared {
            generation,
            create: client.prepare(&format!("INSERT INTO {table} (id, content) VALUES ($1, $2)")).await?,
            stat: client.prepare(&format!("SELECT length(content) FROM {table} WHERE id = $1")).await?,
            read: client.prepare(&format!("SELECT content FROM {table} WHERE id = $1")).await?,
            delete: client.prepare(&format!("DELETE FROM {table} WHERE id = $1")).await?,
        })
    })
}

impl Backend for Rows {
    fn create(&mut self, name: &ObjectName, content: &[u8]) -> Result<(), Errno> {
        self.with(|session, prepared| {
            session.ask(async |client| client.execute(&prepared.create, &[&number(name), &content]).await)
        })?;
        Ok(())
    }

    fn stat(&mut self, name: &ObjectName) -> Result<u64, Errno> {
        let row = self.with(|session, prepared| {
            session.ask(async |client| client.query_opt(&prepared.stat, &[&number(name)]).await)
        })?;
        let bytes: i32 = row.ok_or(Errno::NOENT)?.try_get(0).map_err(|_| Errno::BADMSG)?;
        Ok(bytes as u64)
    }

    fn read(&mut self, name: &ObjectName, buffer: &mut [u8]) -> Result<usize, Errno> {
        let row = self.with(|session, prepared| {
            session.ask(async |client| client.query_opt(&prepared.read, &[&number(name)]).await)
        })?;
        let row = row.ok_or(Errno::NOENT)?;
        let content: &[u8] = row.try_get(0).map_err(|_| Errno::BADMSG)?;
        let n = content.len().min(buffer.len());
        buffer[..n].copy_from_slice(&content[..n]);
        Ok(n)
    }

    fn delete(&mut self, name: &ObjectName) -> Result<(), Errno> {
        let rows = self.with(|session, prepared| {
            session.ask(async |client| client.execute(&prepared.delete, &[&number(name)]).await)
        })?;
        if rows == 0 { Err(Errno::NOENT) } else { Ok(()) }
    }
}
