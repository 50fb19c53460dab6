//! The ranks of one process: a thread each, which takes orders and answers.
//!
//! Between orders whoever holds the team may talk to other processes; within one nobody waits for anybody, except that
//! the ranks of a process begin a lap together.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Barrier, Mutex, PoisonError};
use std::thread::Thread;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::BenchError;
use super::gauge::{Gauge, Reading};
use super::parameters::Parameters;
use super::phase::{Limit, OpLap, Work};
use super::rank::{Common, Rank};
use super::rows::{Row, Rows};
use crate::backend::error::ConnectError;
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

impl Order {
    fn first_only(&self) -> bool {
        matches!(self, Self::Note | Self::SetNote { .. } | Self::End)
    }
}

type Answer = Result<Value, BenchError>;

struct Member {
    gauge: Arc<Gauge>,
    rows: Arc<Mutex<Rows>>,
    orders: Sender<(Order, Arc<Barrier>)>,
    thread: Thread,
}

/// The ranks of one process.
pub struct Team {
    common: Common,
    members: Vec<Member>,
    answers: Receiver<(usize, Answer)>,
    given: Vec<Option<Answer>>,
    awaited: usize,
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
        raise_file_limit();
        let parameters = Arc::new(parameters);
        let common = Common { parameters, clock, stop: Stop::new(), faults, here: count, origin_ns };
        let (answer, answers) = channel();
        let mut members = Vec::new();
        for at in 0..count {
            let (orders, inbox) = channel();
            let gauge = Arc::new(Gauge::default());
            let rows = Arc::new(Mutex::new(Rows::default()));
            let worker = Worker {
                number: first + at,
                at: at as usize,
                common: common.clone(),
                gauge: Arc::clone(&gauge),
                rows: Arc::clone(&rows),
                answer: answer.clone(),
            };
            let connector = Arc::clone(connector);
            let name = format!("rank {}", first + at);
            let thread =
                std::thread::Builder::new().name(name).spawn(move || worker.run(&connector, &inbox))?;
            members.push(Member { gauge, rows, orders, thread: thread.thread().clone() });
        }
        // Only now may they take memory: where there is no room for all, none has begun.
        let begin = Arc::new(Barrier::new(1));
        for member in &members {
            let _ = member.orders.send((Order::Connect, Arc::clone(&begin)));
        }
        let given = members.iter().map(|_| None).collect();
        Ok(Self { common, awaited: members.len(), members, answers, given })
    }

    /// Give an order to all ranks, or to the first where that is enough. Wait for the answers before the next.
    pub fn order(&mut self, order: &Order) {
        let called = if order.first_only() { 1 } else { self.members.len() };
        self.given = (0..called).map(|_| None).collect();
        self.awaited = called;
        let barrier = Arc::new(Barrier::new(called));
        for at in 0..called {
            if self.members[at].orders.send((order.clone(), Arc::clone(&barrier))).is_err() {
                self.give(at, Err(BenchError::Ended));
            }
        }
    }

    /// Whether all have answered; waits at most `timeout` for the next answer.
    pub fn wait(&mut self, timeout: Duration) -> bool {
        while self.awaited > 0 {
            match self.answers.recv_timeout(timeout) {
                Ok((at, answer)) => self.give(at, answer),
                Err(RecvTimeoutError::Timeout) => return false,
                Err(RecvTimeoutError::Disconnected) => {
                    for at in 0..self.given.len() {
                        if self.given[at].is_none() {
                            self.give(at, Err(BenchError::Ended));
                        }
                    }
                }
            }
        }
        true
    }

    fn give(&mut self, at: usize, answer: Answer) {
        if let Some(slot) = self.given.get_mut(at) {
            self.awaited -= usize::from(slot.is_none());
            *slot = Some(answer);
        }
    }

    /// The answers so far, by rank; none from one that has not answered.
    pub fn answers(&mut self) -> Vec<Option<Answer>> {
        self.given.iter_mut().map(Option::take).collect()
    }

    /// How far each rank is.
    pub fn read(&self) -> Vec<Reading> {
        let now_ns = self.common.clock.monotonic_ns();
        self.members.iter().map(|member| member.gauge.read(now_ns)).collect()
    }

    /// What each rank's operations amount to so far, from the copies that were asked for last time.
    pub fn so_far(&self) -> Vec<Option<Vec<OpLap>>> {
        self.members.iter().map(|member| member.gauge.copy().map(|account| OpLap::of(&account))).collect()
    }

    /// Ask for an end: every rank stops after its step. One that hangs in an operation does not answer.
    pub fn stop(&self) {
        self.common.stop.raise(self.members.iter().map(|member| &member.thread));
    }

    /// Take the wish for an end back, so that what was made can be removed.
    pub fn resume(&self) {
        self.common.stop.withdraw();
    }

    /// Let the ranks go, and with them their ways to the storage and what they hold there. Waits at most `timeout` for
    /// each to end; one that hangs is left behind.
    pub fn close(&mut self, timeout: Duration) {
        self.members.clear();
        loop {
            match self.answers.recv_timeout(timeout) {
                Ok(_) => {}
                Err(_) => return,
            }
        }
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

/// Every rank keeps its data sets open: take as many descriptors as this process may have.
fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

/// What a rank's thread holds.
struct Worker {
    number: u32,
    at: usize,
    common: Common,
    gauge: Arc<Gauge>,
    rows: Arc<Mutex<Rows>>,
    answer: Sender<(usize, Answer)>,
}

impl Worker {
    fn run(self, connector: &Connector, inbox: &Receiver<(Order, Arc<Barrier>)>) {
        if inbox.recv().is_err() {
            return;
        }
        let answer = |given: Answer| self.answer.send((self.at, given)).is_ok();
        let store = match connector(self.number) {
            Ok(store) => store,
            Err(error) => {
                answer(Err(error.into()));
                return;
            }
        };
        let room = self.common.parameters.rows;
        *self.rows.lock().unwrap_or_else(PoisonError::into_inner) = Rows::new(room);
        let mut rank = Rank::new(self.number, self.common.clone(), store, self.gauge, self.rows);
        if !answer(Ok(Value::Null)) {
            return;
        }
        while let Ok((order, barrier)) = inbox.recv() {
            if !answer(obey(&mut rank, order, &barrier)) {
                return;
            }
        }
    }
}

fn obey(rank: &mut Rank, order: Order, together: &Barrier) -> Answer {
    fn value<T: serde::Serialize>(of: T) -> Answer {
        serde_json::to_value(of).map_err(|error| BenchError::Answer(error.to_string()))
    }
    match order {
        Order::Connect => value(()),
        Order::Check => value(rank.check()?),
        Order::Begin { hold } => value(rank.begin(hold && rank.number == 0)?),
        Order::Note => value(rank.note()?),
        Order::SetNote { text } => value(rank.set_note(&text)?),
        Order::MakeSets => value(rank.make_sets()?),
        Order::Survey { full } => value(rank.survey(full)?),
        Order::Load { work, iteration } => value(rank.load(&work, iteration)?),
        Order::Go { limit, waiting_factor } => {
            together.wait();
            value(rank.go(&limit, waiting_factor))
        }
        Order::RemoveSets => value(rank.remove_sets()?),
        Order::End => value(rank.end()?),
    }
}
