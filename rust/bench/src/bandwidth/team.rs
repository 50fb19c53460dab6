//! The ranks of one process, and the orders they take.

use std::path::PathBuf;
use std::sync::{Arc, Barrier, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;

use super::parameters::Parameters;
use super::rank::{Account, Common, Rank, Wanted};
use super::records::Records;
use super::work::OPS;
use crate::ranks::gauge::{Gauge, Reading};
use crate::ranks::lap::{Limit, OpLap};
use crate::ranks::threads::{self, Answer, Obey, RankThreads, value};
use iosonde_core::clock::{Clock, Stop};

/// What ranks can be told to do; each answers with a value or an error.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Order {
    /// Say that it is there. Every team begins with it by itself.
    Connect,
    /// Make or accept the directory; the first of a run holds it.
    Begin {
        /// Whether this process has the run's first rank.
        hold: bool,
    },
    /// Read the note in the directory. The first rank of the process only.
    Note,
    /// Write it. The first rank of the process only.
    SetNote {
        /// The text.
        text: String,
    },
    /// Make ready for a phase.
    Load {
        /// Write, or read.
        write: bool,
        /// How many transfers each rank wrote; empty = all.
        counts: Vec<u64>,
        /// Which repetition's bytes.
        repetition: u32,
        /// Keep the file open at a limit of time.
        held: bool,
    },
    /// Go on with what was loaded.
    Go {
        /// Until when.
        limit: Limit,
    },
    /// The path of the loaded phase's file.
    Path,
    /// Remove the own file.
    Remove,
    /// Remove what is left of other runs. The first rank of the process only.
    Sweep,
    /// Remove the directory. The first rank of the process only.
    End,
}

impl threads::Order for Order {
    fn first_only(&self) -> bool {
        matches!(self, Self::Note | Self::SetNote { .. } | Self::Sweep | Self::End)
    }
}

impl Obey<Order> for Rank {
    fn obey(&mut self, order: Order, together: &Barrier) -> Answer {
        match order {
            Order::Connect => value(()),
            Order::Begin { hold } => value(self.begin(hold && self.number == 0)?),
            Order::Note => value(self.note()?),
            Order::SetNote { text } => value(self.set_note(&text)?),
            Order::Load { write, counts, repetition, held } => {
                value(self.load(&Wanted { write, counts, repetition, held })?)
            }
            Order::Go { limit } => {
                together.wait();
                value(self.go(&limit))
            }
            Order::Path => value(self.path()),
            Order::Remove => value(self.remove()?),
            Order::Sweep => value(self.sweep()?),
            Order::End => value(self.end()?),
        }
    }
}

struct Member {
    gauge: Arc<Gauge<Account>>,
    records: Arc<Mutex<Records>>,
}

/// The ranks of one process.
pub struct Team {
    clock: Arc<dyn Clock>,
    stop: Arc<Stop>,
    members: Vec<Member>,
    ranks: RankThreads<Order>,
}

impl Team {
    /// Ranks `first..first + count` of the run on a directory, or on nothing. That they are there is the first answer to
    /// wait for.
    pub fn new(
        parameters: Parameters,
        place: Option<PathBuf>,
        first: u32,
        count: u32,
        clock: Arc<dyn Clock>,
    ) -> std::io::Result<Self> {
        let (origin_ns, stop, bin_ns) = (clock.monotonic_ns(), Stop::new(), parameters.bin_ns);
        let parameters = Arc::new(parameters);
        let common =
            Common { parameters, place, clock: Arc::clone(&clock), stop: Arc::clone(&stop), origin_ns };
        let member = |_| Member {
            gauge: Arc::new(Gauge::new(&OPS)),
            records: Arc::new(Mutex::new(Records::new(bin_ns))),
        };
        let members: Vec<Member> = (0..count).map(member).collect();
        let makers = members.iter().zip(first..).map(|(member, number)| {
            let (gauge, records) = (Arc::clone(&member.gauge), Arc::clone(&member.records));
            let common = common.clone();
            move || Rank::new(number, common, gauge, records)
        });
        let ranks = RankThreads::start(first, makers.collect(), &Order::Connect)?;
        Ok(Self { clock, stop, members, ranks })
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
        let now_ns = self.clock.monotonic_ns();
        self.members.iter().map(|member| member.gauge.read(now_ns)).collect()
    }

    /// What each rank's transfers amount to so far, from the copies that were asked for last time.
    pub fn so_far(&self) -> Vec<Option<Vec<OpLap>>> {
        let lap = |account: Account| OpLap::of([(account.op, &account.transfers)]);
        self.members.iter().map(|member| member.gauge.copy().map(lap)).collect()
    }

    /// Ask for an end: every rank stops after its transfer. One that hangs does not answer.
    pub fn stop(&self) {
        self.stop.raise(self.ranks.threads());
    }

    /// Take the wish for an end back, so that what was made can be removed.
    pub fn resume(&self) {
        self.stop.withdraw();
    }

    /// Let the ranks go. Waits at most `timeout` for each to end; one that hangs is left behind.
    pub fn close(&mut self, timeout: Duration) {
        self.ranks.close(timeout);
    }

    /// The records of the last phase of the `at`-th rank; none while it is at work.
    pub fn records(&self, at: usize) -> Option<MutexGuard<'_, Records>> {
        let records = &self.members.get(at)?.records;
        match records.try_lock() {
            Err(std::sync::TryLockError::WouldBlock) => None,
            locked => Some(locked.unwrap_or_else(|_| records.lock().unwrap_or_else(PoisonError::into_inner))),
        }
    }
}
