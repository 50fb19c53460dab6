//! Objects as rows: a data set is a table, as in md-workbench.
//!
//! One table a data set, not one table for all with a composite key: making and removing a data set is then an
//! operation of the database's catalogue, the counterpart of mkdir and rmdir, and ranks meet in one index no more
//! than they meet in one directory.
//!
//! ```text
//! SCHEMA.mark            what made it, the parameters that made it, whether the schema was there before
//! SCHEMA.r00000_d00000   id bigint primary key, content bytea not null
//! ```
//!
//! Every operation commits by itself. Content is stored as any table would store it: above 2 KiB the server tries to
//! compress it and puts it beside the row.

mod objects;
mod session;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use tokio_postgres::Config;

use self::objects::Rows;
use self::session::Session;
use super::error::ConnectError;
use super::words::{Secret, errno_of};
use iosonde_core::backend::Backend;
use iosonde_core::backend::store::{Capabilities, Manner, ObjectStore, SetId};

/// Text of the mark.
pub const MARK: &str = "iosonde metadata benchmark, format 1";
/// Held by one run at a time, and while a schema is marked: an arbitrary number of ours.
const LOCK: i32 = 0x10_50_4e_de;

/// A schema of a database.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PostgresqlPlace {
    /// A name or address, or the directory of a local socket.
    pub host: String,
    /// Where it listens.
    #[serde(default = "usual_port")]
    pub port: u16,
    /// Who asks.
    pub user: String,
    /// If one is needed.
    #[serde(default)]
    pub password: Option<Secret>,
    /// It must exist.
    pub database: String,
    /// It is made if it is missing.
    #[serde(default = "usual_schema")]
    pub schema: String,
    /// When an answer is given up, in milliseconds.
    #[serde(default = "a_minute")]
    pub timeout_ms: u64,
}

fn usual_port() -> u16 {
    5432
}
fn usual_schema() -> String {
    "iosonde_bench".into()
}
fn a_minute() -> u64 {
    60_000
}

impl PostgresqlPlace {
    fn shown(&self) -> String {
        format!("postgresql://{}@{}:{}/{}", self.user, self.host, self.port, self.database)
    }

    fn config(&self) -> Config {
        let mut config = Config::new();
        config.host(&self.host).port(self.port).user(&self.user).dbname(&self.database);
        config.application_name("iosonde");
        if let Some(password) = &self.password {
            config.password(password.reveal());
        }
        config
    }
}

/// A rank's connection to a database.
#[derive(Debug)]
pub struct PostgresqlStore {
    session: Arc<Mutex<Session>>,
    schema: String,
    /// The server can keep its promises over a loss of power.
    fsync: bool,
}

impl PostgresqlStore {
    /// Reach the server and log in.
    pub fn connect(place: &PostgresqlPlace) -> Result<Self, ConnectError> {
        let refused = |problem: String, errno, expected| {
            let place = place.shown();
            ConnectError::Refused { place, errno, problem, expected }
        };
        if !plain_name(&place.schema) {
            let what = format!("`{}` cannot be a schema", place.schema);
            let expected = "a name of a-z, 0-9 and _ that begins with a letter";
            return Err(ConnectError::Wrong { place: place.shown(), what, expected });
        }
        let timeout = Duration::from_millis(place.timeout_ms.max(1));
        let mut session = Session::new(place.config(), timeout)
            .map_err(|error| refused(error.to_string(), errno_of(&error), "room for one more connection"))?;
        let setting = session.ask(async |client| {
            client
                .query_one("SELECT current_setting('fsync'), current_setting('synchronous_commit')", &[])
                .await
        });
        match setting {
            Ok(row) => Ok(Self {
                fsync: row.get::<_, &str>(0) == "on" && row.get::<_, &str>(1) != "off",
                session: Arc::new(Mutex::new(session)),
                schema: place.schema.clone(),
            }),
            Err(errno) => {
                let problem = session.problem.last().unwrap_or_else(|| errno.to_string());
                let expected = match errno {
                    Errno::ACCESS => "a user and password (PGPASSWORD) that this server lets in",
                    Errno::NOENT => "a database that exists: make it first",
                    _ => "a PostgreSQL server that answers there without TLS: check host, port and network",
                };
                Err(refused(problem, errno, expected))
            }
        }
    }

    fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn table(&self, set: SetId) -> String {
        format!("{}.{}", self.schema, table_name(set))
    }

    /// The names of all that lies in the schema; none if there is no schema.
    fn relations(&self) -> Result<Vec<String>, Errno> {
        let rows = self.session().ask(async |client| {
            let text = "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                        WHERE n.nspname = $1 AND c.relkind IN ('r', 'v', 'm', 'f', 'p', 'S')";
            client.query(text, &[&self.schema]).await
        })?;
        rows.iter().map(|row| row.try_get(0).map_err(|_| Errno::BADMSG)).collect()
    }

    fn in_the_way(&self, what: &str) -> Errno {
        let message = format!(
            "schema {}: {what}; expected one made by this version of iosonde: choose another, nothing was touched",
            self.schema
        );
        self.session().problem.keep(&message, Errno::EXIST)
    }
}

fn plain_name(name: &str) -> bool {
    let letters = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    letters && name.len() < 64 && name.starts_with(|first: char| first.is_ascii_lowercase())
}

fn table_name(set: SetId) -> String {
    format!("r{:05}_d{:05}", set.rank, set.set)
}

fn parse_table(name: &str) -> Option<SetId> {
    let (rank, set) = name.strip_prefix('r')?.split_once("_d")?;
    SetId::from_digits(rank, set)
}

/// What was found where the root shall be.
enum Found {
    Ours,
    Stranger(String),
}

impl ObjectStore for PostgresqlStore {
    /// `fsync`: a commit is on stable storage, unless the server is configured to say so too early.
    fn capabilities(&self) -> Capabilities {
        Capabilities { stores: true, exclusive: true, delete_tells: true, fsync: self.fsync, threads: true }
    }

    fn begin(&mut self) -> Result<(), Errno> {
        let schema = self.schema.clone();
        let found = self.session().ask_together(async |all| {
            // Ranks mark one after the other.
            all.execute("SELECT pg_advisory_xact_lock($1, 1)", &[&LOCK]).await?;
            let text = "SELECT c.relname FROM pg_namespace n LEFT JOIN pg_class c ON n.oid = c.relnamespace
                        AND c.relkind IN ('r', 'v', 'm', 'f', 'p', 'S') WHERE n.nspname = $1";
            let rows = all.query(text, &[&schema]).await?;
            let names: Vec<&str> = rows.iter().filter_map(|row| row.get(0)).collect();
            if names.contains(&"mark") {
                let row = all.query_opt(&format!("SELECT text FROM {schema}.mark"), &[]).await?;
                let text: Option<String> = row.map(|row| row.get(0));
                return Ok(match text.as_deref() {
                    Some(MARK) => Found::Ours,
                    other => Found::Stranger(format!("its mark says `{}`", other.unwrap_or(""))),
                });
            }
            if let Some(name) = names.first() {
                return Ok(Found::Stranger(format!("it holds `{name}` and no mark")));
            }
            let made = rows.is_empty();
            if made {
                all.batch_execute(&format!("CREATE SCHEMA {schema}")).await?;
            }
            let text = format!("CREATE TABLE {schema}.mark (text text, note text, made_schema boolean)");
            all.batch_execute(&text).await?;
            all.execute(&format!("INSERT INTO {schema}.mark VALUES ($1, NULL, $2)"), &[&MARK, &made]).await?;
            Ok(Found::Ours)
        })?;
        match found {
            Found::Ours => Ok(()),
            Found::Stranger(what) => Err(self.in_the_way(&what)),
        }
    }

    fn lock(&mut self) -> Result<(), Errno> {
        // By the schema's name: runs in two schemas do not disturb each other more than runs in two directories.
        let row = self.session().ask(async |client| {
            let text = "SELECT pg_try_advisory_lock($1, hashtext($2))";
            client.query_one(text, &[&(LOCK + 1), &self.schema]).await
        })?;
        if row.try_get(0).unwrap_or(false) {
            return Ok(());
        }
        let message = format!(
            "schema {}: another run uses it; expected one at a time: wait for it, or choose another schema",
            self.schema
        );
        Err(self.session().problem.keep(&message, Errno::BUSY))
    }

    fn note(&mut self) -> Result<Option<String>, Errno> {
        let text = format!("SELECT note FROM {}.mark", self.schema);
        match self.session().ask(async |client| client.query_opt(&text, &[]).await) {
            Err(Errno::NOENT) => Ok(None),
            row => Ok(row?.and_then(|row| row.get(0))),
        }
    }

    fn set_note(&mut self, note: &str) -> Result<(), Errno> {
        let text = format!("UPDATE {}.mark SET note = $1", self.schema);
        match self.session().ask(async |client| client.execute(&text, &[&note]).await)? {
            1 => Ok(()),
            _ => Err(Errno::NOENT),
        }
    }

    fn sets(&mut self) -> Result<Vec<SetId>, Errno> {
        Ok(self.relations()?.iter().filter_map(|name| parse_table(name)).collect())
    }

    fn make_set(&mut self, set: SetId) -> Result<(), Errno> {
        let text = format!(
            "CREATE TABLE IF NOT EXISTS {} (id bigint PRIMARY KEY, content bytea NOT NULL)",
            self.table(set)
        );
        match self.session().ask(async |client| client.batch_execute(&text).await) {
            // Another was making it at the same moment.
            Err(Errno::EXIST) => Ok(()),
            result => result,
        }
    }

    fn open_set(&mut self, set: SetId, manner: Manner) -> Result<Box<dyn Backend>, Errno> {
        let message = match manner {
            Manner { direct: true, .. } => "there is no cache here to go past; expected no direct access",
            Manner { fsync: true, .. } if !self.fsync => {
                "the server is configured to commit before data are safe (fsync, synchronous_commit)"
            }
            _ => return Ok(Box::new(Rows::open(Arc::clone(&self.session), self.table(set))?)),
        };
        Err(self.session().problem.keep(message, Errno::INVAL))
    }

    fn list_set(&mut self, set: SetId) -> Result<Vec<u64>, Errno> {
        let text = format!("SELECT id FROM {}", self.table(set));
        let rows = self.session().ask(async |client| client.query(&text, &[]).await)?;
        rows.iter().map(|row| row.try_get(0).map(i64::cast_unsigned).map_err(|_| Errno::BADMSG)).collect()
    }

    fn remove_set(&mut self, set: SetId) -> Result<(), Errno> {
        let table = self.table(set);
        let removed = self.session().ask_together(async |all| {
            all.batch_execute(&format!("LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")).await?;
            if all.query_opt(&format!("SELECT 1 FROM {table} LIMIT 1"), &[]).await?.is_some() {
                return Ok(false);
            }
            all.batch_execute(&format!("DROP TABLE {table}")).await?;
            Ok(true)
        });
        match removed {
            Ok(true) | Err(Errno::NOENT) => Ok(()),
            Ok(false) => Err(Errno::NOTEMPTY),
            Err(errno) => Err(errno),
        }
    }

    fn end(&mut self) -> Result<(), Errno> {
        if self.relations()?.iter().any(|name| name != "mark") {
            return Err(Errno::NOTEMPTY);
        }
        let schema = &self.schema;
        let ended = self.session().ask_together(async |all| {
            all.batch_execute(&format!("LOCK TABLE {schema}.mark IN ACCESS EXCLUSIVE MODE")).await?;
            let row = all.query_opt(&format!("SELECT made_schema FROM {schema}.mark"), &[]).await?;
            all.batch_execute(&format!("DROP TABLE {schema}.mark")).await?;
            if row.is_some_and(|row| row.get(0)) {
                all.batch_execute(&format!("DROP SCHEMA {schema}")).await?;
            }
            Ok(())
        });
        match ended {
            Err(Errno::NOENT) => Ok(()),
            result => result,
        }
    }

    fn problem(&self) -> Option<String> {
        self.session().problem.last()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tables_come_back() {
        for set in [SetId { rank: 0, set: 7 }, SetId { rank: 123_456, set: 99_999 }] {
            assert_eq!(parse_table(&table_name(set)), Some(set));
        }
        for bad in ["mark", "r1_d1", "r00001", "r00001_d+0001"] {
            assert_eq!(parse_table(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_schema_is_a_plain_name() {
        assert!(plain_name("iosonde_bench"));
        for bad in ["", "1a", "a b", "a;drop", "A", "ä", "_a", &"a".repeat(64)] {
            assert!(!plain_name(bad), "{bad}");
        }
    }

    #[test]
    fn nobody_there_is_told_without_secrets() {
        // Port 1 of loopback: nobody listens there.
        let text =
            r#"{"host": "127.0.0.1", "port": 1, "user": "me", "password": "hunter2", "database": "d"}"#;
        let place: PostgresqlPlace = serde_json::from_str(text).unwrap();
        let message = PostgresqlStore::connect(&place).unwrap_err().to_string();
        assert!(message.starts_with("postgresql://me@127.0.0.1:1/d: "), "{message}");
        assert!(message.contains("refused") && message.contains("expected"), "{message}");
        assert!(!message.contains("hunter2") && !format!("{place:?}").contains("hunter2"), "{message}");
    }
}
