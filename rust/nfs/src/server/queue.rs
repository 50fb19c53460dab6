//! The bounded queue: whoever finds it full waits in line, first come, first served.

use std::collections::VecDeque;
use std::net::TcpStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use iosonde_core::clock::{Clock, Stop};

/// An operation that takes service.
pub(super) enum Operation {
    /// Answered already.
    Write { file: u64, offset: u64, data: Vec<u8> },
    /// Answered when executed.
    Read { xid: u32, file: u64, offset: u64, count: u32, to: Arc<TcpStream> },
}

struct State {
    queue: VecDeque<(u64, Operation)>,
    next_ticket: u64,
    serving: u64,
    closed: bool,
}

/// The queue and its service time.
pub(super) struct Queue {
    state: Mutex<State>,
    room: Condvar,
    work: Condvar,
    most: usize,
    service_ns: u64,
    stop: Arc<Stop>,
}

impl Queue {
    pub(super) fn new(most: usize, service_ns: u64) -> Self {
        let state = State { queue: VecDeque::new(), next_ticket: 0, serving: 0, closed: false };
        let (room, work) = (Condvar::new(), Condvar::new());
        Self { state: Mutex::new(state), room, work, most, service_ns, stop: Stop::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn length(&self) -> usize {
        self.state().queue.len()
    }

    /// Put an operation in if there is room and nobody waits; it comes back otherwise.
    pub(super) fn try_put(&self, operation: Operation, now_ns: u64) -> Option<Operation> {
        let mut state = self.state();
        if state.queue.len() >= self.most || state.serving != state.next_ticket {
            return Some(operation);
        }
        state.queue.push_back((now_ns, operation));
        self.work.notify_one();
        None
    }

    /// Put an operation in, waiting in line for room. False when the server ends.
    pub(super) fn put(&self, operation: Operation, clock: &dyn Clock) -> bool {
        let mut state = self.state();
        let ticket = state.next_ticket;
        state.next_ticket += 1;
        while !state.closed && (state.serving != ticket || state.queue.len() >= self.most) {
            state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.serving += 1;
        if state.closed {
            return false;
        }
        state.queue.push_back((clock.monotonic_ns(), operation));
        self.work.notify_one();
        self.room.notify_all();
        true
    }

    /// The next operation when it has been served; none when the server ends.
    ///
    /// `free_ns`: when the service became free. Service begins at arrival or then, whichever is later, so a thread
    /// that wakes late catches up and the rate is exact.
    pub(super) fn serve(&self, free_ns: &mut u64, clock: &dyn Clock) -> Option<Operation> {
        let mut state = self.state();
        let arrived_ns = loop {
            match (state.closed, state.queue.front()) {
                (true, _) => return None,
                (false, Some((arrived_ns, _))) => break *arrived_ns,
                (false, None) => state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        };
        drop(state);
        *free_ns = arrived_ns.max(*free_ns) + self.service_ns;
        clock.sleep_until(*free_ns, &self.stop);
        let served = self.state().queue.pop_front();
        self.room.notify_all();
        served.map(|(_, operation)| operation)
    }

    pub(super) fn close(&self) {
        self.state().closed = true;
        self.stop.raise([]);
        self.work.notify_all();
        self.room.notify_all();
    }
}
