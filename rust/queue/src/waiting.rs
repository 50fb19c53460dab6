//! Operations that wait, and which of them comes next.

use std::collections::VecDeque;

use crate::scenario::{Discipline, Kind};

/// One operation. `due`: the tick in which its client first tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Operation {
    pub due: u64,
    pub client: u32,
    pub kind: Kind,
}

/// Waiting operations under a discipline.
#[derive(Debug)]
pub enum Waiting {
    Fifo(VecDeque<Operation>),
    ReadsFirst(VecDeque<Operation>, VecDeque<Operation>),
    Fair(Turns),
}

impl Waiting {
    pub fn new(discipline: Discipline, weights: &[u32]) -> Self {
        match discipline {
            Discipline::Fifo => Self::Fifo(VecDeque::new()),
            Discipline::ReadsFirst => Self::ReadsFirst(VecDeque::new(), VecDeque::new()),
            Discipline::Fair => Self::Fair(Turns::new(weights)),
        }
    }
    #[inline]
    pub fn push(&mut self, operation: Operation) {
        match self {
            Self::Fifo(queue) => queue.push_back(operation),
            Self::ReadsFirst(reads, writes) => match operation.kind {
                Kind::Read => reads.push_back(operation),
                Kind::Write => writes.push_back(operation),
            },
            Self::Fair(turns) => turns.queues[operation.client as usize].push_back(operation),
        }
    }
    #[inline]
    pub fn pop(&mut self) -> Option<Operation> {
        match self {
            Self::Fifo(queue) => queue.pop_front(),
            Self::ReadsFirst(reads, writes) => reads.pop_front().or_else(|| writes.pop_front()),
            Self::Fair(turns) => turns.pop(),
        }
    }
}

/// A queue for each client, served in turn.
#[derive(Debug)]
pub struct Turns {
    queues: Vec<VecDeque<Operation>>,
    weights: Vec<u32>,
    /// Whose turn it is, and how many operations are left of it.
    turn: usize,
    left: u32,
}

impl Turns {
    fn new(weights: &[u32]) -> Self {
        let queues = weights.iter().map(|_| VecDeque::new()).collect();
        // The turn before the first client's.
        Self { queues, weights: weights.to_vec(), turn: weights.len() - 1, left: 0 }
    }
    fn pop(&mut self) -> Option<Operation> {
        if self.left > 0
            && let Some(operation) = self.queues[self.turn].pop_front()
        {
            self.left -= 1;
            return Some(operation);
        }
        let n = self.queues.len();
        let next = (1..=n).map(|step| (self.turn + step) % n).find(|c| !self.queues[*c].is_empty())?;
        self.turn = next;
        self.left = self.weights[next] - 1;
        self.queues[next].pop_front()
    }
}
