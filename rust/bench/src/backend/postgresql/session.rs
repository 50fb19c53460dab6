//! One connection, made again when it was lost, and what its errors mean.

use std::error::Error as _;
use std::time::Duration;

use rustix::io::Errno;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config, Error, NoTls};

use crate::backend::words::{Problem, errno_of};

/// A rank's connection. Its runtime is one thread: the one that asks.
#[derive(Debug)]
pub(super) struct Session {
    runtime: Runtime,
    config: Config,
    timeout: Duration,
    open: Option<Open>,
    /// How many connections there have been: what was prepared on an earlier one is gone.
    generation: u64,
    pub(super) problem: Problem,
}

#[derive(Debug)]
struct Open {
    client: Client,
    carrier: JoinHandle<()>,
}

impl Session {
    pub(super) fn new(config: Config, timeout: Duration) -> std::io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
        Ok(Self { runtime, config, timeout, open: None, generation: 0, problem: Problem::default() })
    }

    /// Connect if there is no connection; says which connection it is.
    pub(super) fn connected(&mut self) -> Result<u64, Errno> {
        if self.open.as_ref().is_none_or(|open| open.client.is_closed()) {
            self.hang_up();
            let Self { runtime, config, timeout, .. } = self;
            let made = runtime.block_on(async {
                let (client, connection) = tokio::time::timeout(*timeout, config.connect(NoTls)).await??;
                let carrier = tokio::spawn(async {
                    // How it ended reaches whoever waits for an answer.
                    let _ = connection.await;
                });
                Ok(Open { client, carrier })
            });
            self.open = Some(made.map_err(|why| self.failed(why))?);
            self.generation += 1;
        }
        Ok(self.generation)
    }

    /// Ask, and wait for the answer. A connection that did not answer in time is given up.
    pub(super) fn ask<T>(
        &mut self,
        question: impl AsyncFnOnce(&Client) -> Result<T, Error>,
    ) -> Result<T, Errno> {
        self.connected()?;
        let Self { runtime, timeout, open, .. } = self;
        let Some(open) = open else { return Err(Errno::NOTCONN) };
        let answer = runtime.block_on(async {
            match tokio::time::timeout(*timeout, question(&open.client)).await {
                Ok(answer) => answer.map_err(Failure::Server),
                Err(_) => Err(Failure::Late),
            }
        });
        answer.map_err(|failure| self.failed(failure))
    }

    /// Ask several things that happen together or not at all. Nothing is left open: a transaction that is dropped
    /// would be rolled back with the next question only, and hold its locks until then.
    pub(super) fn ask_together<T>(
        &mut self,
        questions: impl AsyncFnOnce(&Client) -> Result<T, Error>,
    ) -> Result<T, Errno> {
        self.ask(async |client| {
            client.batch_execute("BEGIN").await?;
            let answer = questions(client).await;
            client.batch_execute(if answer.is_ok() { "COMMIT" } else { "ROLLBACK" }).await?;
            answer
        })
    }

    fn failed(&mut self, failure: Failure) -> Errno {
        let (message, errno) = match &failure {
            Failure::Late => ("no answer in time".to_owned(), Errno::TIMEDOUT),
            Failure::Server(error) => (words(error), errno(error)),
        };
        if failure.ends_the_connection() {
            self.hang_up();
        }
        self.problem.keep(&message, errno)
    }

    fn hang_up(&mut self) {
        if let Some(open) = self.open.take() {
            open.carrier.abort();
        }
    }
}

/// Why there is no answer.
#[derive(Debug)]
enum Failure {
    Late,
    Server(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Server(error)
    }
}

impl From<tokio::time::error::Elapsed> for Failure {
    fn from(_: tokio::time::error::Elapsed) -> Self {
        Self::Late
    }
}

impl Failure {
    /// The server said no to one statement only if it gave a state that is not about the connection.
    fn ends_the_connection(&self) -> bool {
        match self {
            Self::Late => true,
            Self::Server(error) => match error.code() {
                Some(state) => lost(state.code()),
                None => true,
            },
        }
    }
}

/// States after which nothing more comes: connection exceptions, shutdowns.
fn lost(state: &str) -> bool {
    state.starts_with("08") || matches!(state, "57P01" | "57P02" | "57P03" | "57P05" | "25P03" | "26000")
}

fn errno(error: &Error) -> Errno {
    if let Some(state) = error.code() {
        return errno_of_state(state);
    }
    match error.source().and_then(|source| source.downcast_ref::<std::io::Error>()) {
        Some(error) => errno_of(error),
        None if error.is_closed() => Errno::CONNRESET,
        None => Errno::IO,
    }
}

/// Codes: PostgreSQL 15 manual, appendix A.
fn errno_of_state(state: &SqlState) -> Errno {
    match state.code() {
        "23505" | "42P07" | "42P06" => Errno::EXIST,
        "42P01" | "3D000" | "3F000" => Errno::NOENT,
        "42501" => Errno::ACCESS,
        "53100" => Errno::NOSPC,
        "53200" => Errno::NOMEM,
        "53300" | "40001" | "40P01" | "55P03" => Errno::AGAIN,
        "57014" | "57P05" => Errno::TIMEDOUT,
        "25006" => Errno::ROFS,
        "54000" => Errno::FBIG,
        code if code.starts_with("28") => Errno::ACCESS,
        code if lost(code) => Errno::CONNRESET,
        _ => Errno::IO,
    }
}

fn words(error: &Error) -> String {
    match (error.as_db_error(), error.source()) {
        (Some(answer), _) => format!("{} (SQLSTATE {})", answer.message(), answer.code().code()),
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_has_an_errno() {
        for (state, errno) in [
            ("53100", Errno::NOSPC),
            ("42501", Errno::ACCESS),
            ("28P01", Errno::ACCESS),
            ("28000", Errno::ACCESS),
            ("23505", Errno::EXIST),
            ("42P01", Errno::NOENT),
            ("57P01", Errno::CONNRESET),
            ("08006", Errno::CONNRESET),
            ("53300", Errno::AGAIN),
            ("57014", Errno::TIMEDOUT),
            ("XX000", Errno::IO),
        ] {
            assert_eq!(errno_of_state(&SqlState::from_code(state)), errno, "{state}");
        }
    }
}
