//! The ranks of one process, and the orders they take.

use std::sync::{Arc, Barrier, Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;

use super::account::{Account, NAMES, op_laps};
use super::parameters::Parameters;
use super::phase::Work;
use super::rank::{Common, Rank};
use super::rows::{Row, Rows};
use crate::backend::error::ConnectError;
use crate::ranks::gauge::{Gauge, Reading};
use crate::ranks::lap::{Limit, OpLap};
use crate::ranks::threads::{self, Answer, Obey, RankThreads, value};
use iosonde_core::backend::faulty::Fault;
use iosonde_core::backend::store::ObjectStore;
use iosonde_core::clock::{Clock, Stop};

/// Gives a rank its way to the storage; called on the rank's own thread.
pub type Connector = Arc<dyn Fn(u32) -> Result<Box<dyn ObjectStore>, ConnectError> + Send + Sync>;

/// What ranks can be told to do; each answers with a value or an error.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Order {
    /// Reach the storage. Every team begins with it by itself; later it says that it has.
    Connect,
    /// Say what cannot work.
    Check,
    /// Make or accept the root; the first of a run holds it.
    Begin {
        /// Whether this process has the run's first rank.
        hold: bool,
    },
    /// Read the note at the root. The first rank of the process only.
    Note,
    /// Write it. The first rank of the process only.
    SetNote {
        /// The text.
        text: String,
    },
    /// Make the own data sets.
    MakeSets,
    /// Look at the own data sets and make them whole.
    Survey {
        /// All of P objects, or only without holes.
        full: bool,
    },
    /// Make ready for a phase.
    Load {
        /// Which.
        work: Work,
        /// Of which iteration.
        iteration: u32,
    },
    /// Go on with what was loaded.
    Go {
        /// Until when.
        limit: Limit,
        /// T.
        waiting_factor: f64,
    },
    /// Remove the data sets.
    RemoveSets,
    /// Remove the root. The first rank of the process only.
    End,
}

impl threads::Order for Order {
    fn first_only(&self) -> bool {
        matches!(self, Self::Note | Self::SetNote { .. } | Self::End)
    }
}

struct Member {
    gauge: Arc<Gauge<Account>>,
    rows: Arc<Mutex<Rows>>,
}

/// The ranks of one process.
pub struct Team {
    common: Common,
    members: Vec<Member>,
    ranks: RankThreads<Order>,
}

impl Team {
    /// Ranks `first..first + count` of the run. They connect at once; that is the first answer to wait for.
    pub fn new(
        parameters: Parameters,
        first: u32,
        count: u32,
        faults: Vec<Fault>,
        connector: &Connector,
        clock: Arc<dyn Clock>,
    ) -> std::io::Result<Self> {
        let origin_ns = clock.monotonic_ns();
        let parameters = Arc::new(parameters);
        let common = Common { parameters, clock, stop: Stop::new(), faults, here: count, origin_ns };
        let member =
            |_| Member { gauge: Arc::new(Gauge::new(&NAMES)), rows: Arc::new(Mutex::new(Rows::default())) };
        let members: Vec<Member> = (0..count).map(member).collect();
        let makers = members.iter().zip(first..).map(|(member, number)| {
            let (gauge, rows) = (Arc::clone(&member.gauge), Arc::clone(&member.rows));
            let (common, connector) = (common.clone(), Arc::clone(connector));
            move || {
                let store = connector(number)?;
                *rows.lock().unwrap_or_else(PoisonError::into_inner) = Rows::new(common.parameters.rows);
                Ok(Rank::new(number, common, store, gauge, rows))
            }
        });
        let ranks = RankThreads::start(first, makers.collect(), &Order::Connect)?;
        Ok(Self { common, members, ranks })
    }

    /// Give an order to all ranks, or to the first where that is enough. Wait for the answers before the next.
    pub fn order(&mut self, order: &Order) {
        self.ranks.order(order);
    }

    /// Whether all have answered; waits at most `timeout` for the next answer.
    pub fn wait(&mut self, timeout: Duration) -> bool {
        self.ranks.wait(timeout)
    }

    /// The answers so far, by rank; none from one that has not answered.
    pub fn answers(&mut self) -> Vec<Option<Answer>> {
        self.ranks.answers()
    }

    /// How far each rank is.
    pub fn read(&self) -> Vec<Reading> {
        let now_ns = self.common.clock.monotonic_ns();
        self.members.iter().map(|member| member.gauge.read(now_ns)).collect()
    }

    /// What each rank's operations amount to so far, from the copies that were asked for last time.
    pub fn so_far(&self) -> Vec<Option<Vec<OpLap>>> {
        self.members.iter().map(|member| member.gauge.copy().map(|account| op_laps(&account))).collect()
    }

    /// Ask for an end: every rank stops after its step. One that hangs in an operation does not answer.
    pub fn stop(&self) {
        self.common.stop.raise(self.ranks.threads());
    }

    /// Take the wish for an end back, so that what was made can be removed.
    pub fn resume(&self) {
        self.common.stop.withdraw();
    }

    /// Let the ranks go, and with them their ways to the storage and what they hold there. Waits at most `timeout` for
    /// each to end; one that hangs is left behind.
    pub fn close(&mut self, timeout: Duration) {
        self.ranks.close(timeout);
    }

    /// The rows of the last phase of the `at`-th rank; none while it is at work.
    pub fn rows(&self, at: usize) -> Option<Vec<Row>> {
        let rows = match self.members.get(at)?.rows.try_lock() {
            Err(std::sync::TryLockError::WouldBlock) => return None,
            rows => {
                rows.unwrap_or_else(|_| self.members[at].rows.lock().unwrap_or_else(PoisonError::into_inner))
            }
        };
        Some(rows.iter().collect())
    }
}

impl Obey<Order> for Rank {
    fn obey(&mut self, order: Order, together: &Barrier) -> Answer {
        match order {
            Order::Connect => value(()),
            Order::Check => value(self.check()?),
            Order::Begin { hold } => value(self.begin(hold && self.number == 0)?),
            Order::Note => value(self.note()?),
            Order::SetNote { text } => value(self.set_note(&text)?),
            Order::MakeSets => value(self.make_sets()?),
            Order::Survey { full } => value(self.survey(full)?),
            Order::Load { work, iteration } => value(self.load(&work, iteration)?),
            Order::Go { limit, waiting_factor } => {
                together.wait();
                value(self.go(&limit, waiting_factor))
            }
            Order::RemoveSets => value(self.remove_sets()?),
            Order::End => value(self.end()?),
        }
    }
}
