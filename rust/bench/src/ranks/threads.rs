//! The ranks of one process: a thread each, which takes orders and answers.
//!
//! Between orders whoever holds the threads may talk to other processes; within one nobody waits for anybody, except that
//! the ranks of a process begin a lap together.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Barrier};
use std::thread::Thread;
use std::time::Duration;

use serde_json::Value;

use super::BenchError;

/// What a rank says to an order.
pub type Answer = Result<Value, BenchError>;

/// An order to ranks.
pub trait Order: Clone + Send + 'static {
    /// Whether the first rank of the process is enough.
    fn first_only(&self) -> bool;
}

/// What does what it is ordered to, on a thread of its own.
pub trait Obey<O> {
    /// `together`: where the ranks of the process wait for each other.
    fn obey(&mut self, order: O, together: &Barrier) -> Answer;
}

/// An answer's value as JSON.
pub fn value<T: serde::Serialize>(of: T) -> Answer {
    serde_json::to_value(of).map_err(|error| BenchError::Answer(error.to_string()))
}

struct Member<O> {
    orders: Sender<(O, Arc<Barrier>)>,
    thread: Thread,
}

/// The ranks of one process.
pub struct RankThreads<O> {
    members: Vec<Member<O>>,
    answers: Receiver<(usize, Answer)>,
    given: Vec<Option<Answer>>,
    awaited: usize,
}

impl<O: Order> RankThreads<O> {
    /// A thread for each of `makers`, which makes its rank on it: that is the first answer to wait for. `number`: of the
    /// first. `begin`: an order that only wakes them.
    pub fn start<R: Obey<O>>(
        number: u32,
        makers: Vec<impl FnOnce() -> Result<R, BenchError> + Send + 'static>,
        begin: &O,
    ) -> std::io::Result<Self> {
        raise_file_limit();
        let (answer, answers) = channel();
        let mut members = Vec::new();
        for (at, make) in makers.into_iter().enumerate() {
            let (orders, inbox) = channel();
            let answer = answer.clone();
            let name = format!("rank {}", number as usize + at);
            let thread =
                std::thread::Builder::new().name(name).spawn(move || run(make, &inbox, at, &answer))?;
            members.push(Member { orders, thread: thread.thread().clone() });
        }
        // Only now may they take memory: where there is no room for all, none has begun.
        let barrier = Arc::new(Barrier::new(1));
        for member in &members {
            let _ = member.orders.send((begin.clone(), Arc::clone(&barrier)));
        }
        let given = members.iter().map(|_| None).collect();
        Ok(Self { awaited: members.len(), members, answers, given })
    }

    /// Give an order to all ranks, or to the first where that is enough. Wait for the answers before the next.
    pub fn order(&mut self, order: &O) {
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

    /// The threads, to be woken.
    pub fn threads(&self) -> impl Iterator<Item = &Thread> {
        self.members.iter().map(|member| &member.thread)
    }

    /// Let the ranks go, and with them their ways to the storage and what they hold there. Waits at most `timeout` for
    /// each to end; one that hangs is left behind.
    pub fn close(&mut self, timeout: Duration) {
        self.members.clear();
        while self.answers.recv_timeout(timeout).is_ok() {}
    }
}

fn run<O, R: Obey<O>>(
    make: impl FnOnce() -> Result<R, BenchError>,
    inbox: &Receiver<(O, Arc<Barrier>)>,
    at: usize,
    answers: &Sender<(usize, Answer)>,
) {
    if inbox.recv().is_err() {
        return;
    }
    let answer = |given: Answer| answers.send((at, given)).is_ok();
    let mut rank = match make() {
        Ok(rank) => rank,
        Err(error) => {
            answer(Err(error));
            return;
        }
    };
    if !answer(Ok(Value::Null)) {
        return;
    }
    while let Ok((order, barrier)) = inbox.recv() {
        if !answer(rank.obey(order, &barrier)) {
            return;
        }
    }
}

/// Every rank keeps files open: take as many descriptors as this process may have.
fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}
