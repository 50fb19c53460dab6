//! A backend that misbehaves on a schedule: the ground truth of the tests and of fire drills.

use std::sync::Arc;

use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::{Backend, BlockFile, ObjectName};
use crate::clock::{Clock, Stop};
use crate::sample::{Cache, Op};

/// A fault of one op.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// Faulty op; none means all.
    pub op: Option<Op>,
    /// Start, nanoseconds after the schedule's start.
    pub after_ns: u64,
    /// Duration; none means forever.
    pub for_ns: Option<u64>,
    /// Kind of the fault.
    pub kind: FaultKind,
}

/// Effects of a fault on an operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FaultKind {
    /// Adds nanoseconds.
    Delay(u64),
    /// Multiplies the duration.
    Multiply(f64),
    /// Fails without any effect.
    Error(#[serde(with = "errno")] Errno),
    /// Does not return before the fault ends.
    Hang,
}

mod errno {
    use rustix::io::Errno;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(errno: &Errno, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_i32(errno.raw_os_error())
    }
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Errno, D::Error> {
        i32::deserialize(from).map(Errno::from_raw_os_error)
    }
}

/// Wraps a backend and applies faults.
pub struct Faulty<T> {
    inner: T,
    clock: Arc<dyn Clock>,
    never: Arc<Stop>,
    origin_ns: u64,
    faults: Vec<Fault>,
}

impl<T> Faulty<T> {
    /// Wraps `inner`; `origin_ns` (monotonic) is the origin of the faults' times.
    pub fn new(inner: T, clock: Arc<dyn Clock>, origin_ns: u64, faults: Vec<Fault>) -> Self {
        Self { inner, clock, never: Stop::new(), origin_ns, faults }
    }

    /// The wrapped backend.
    pub fn inner(&self) -> &T {
        &self.inner
    }

    /// The wrapped backend, without faults.
    pub fn into_inner(self) -> T {
        self.inner
    }

    fn call<R>(&mut self, op: Op, call: impl FnOnce(&mut T) -> Result<R, Errno>) -> Result<R, Errno> {
        let began = self.clock.monotonic_ns();
        let Some((kind, ends)) = self.active(op, began) else { return call(&mut self.inner) };
        if let FaultKind::Error(errno) = kind {
            return Err(errno);
        }
        if kind == FaultKind::Hang {
            self.clock.sleep_until(ends, &self.never);
        }
        let result = call(&mut self.inner);
        let ended = self.clock.monotonic_ns();
        let until = match kind {
            FaultKind::Delay(ns) => ended + ns,
            FaultKind::Multiply(factor) => began + ((ended - began) as f64 * factor) as u64,
            _ => ended,
        };
        self.clock.sleep_until(until, &self.never);
        result
    }

    fn active(&self, op: Op, now_ns: u64) -> Option<(FaultKind, u64)> {
        self.faults.iter().find_map(|fault| {
            let begins = self.origin_ns.saturating_add(fault.after_ns);
            let ends = fault.for_ns.map_or(u64::MAX, |length| begins.saturating_add(length));
            let hit = fault.op.is_none_or(|of| of == op) && (begins..ends).contains(&now_ns);
            hit.then(|| (fault.kind.clone(), ends))
        })
    }
}

impl<T: Backend> Backend for Faulty<T> {
    fn create(&mut self, name: &ObjectName, content: &[u8]) -> Result<(), Errno> {
        self.call(Op::MdCreate, |inner| inner.create(name, content))
    }
    fn stat(&mut self, name: &ObjectName) -> Result<u64, Errno> {
        self.call(Op::MdStat, |inner| inner.stat(name))
    }
    fn read(&mut self, name: &ObjectName, buffer: &mut [u8]) -> Result<usize, Errno> {
        self.call(Op::MdRead, |inner| inner.read(name, buffer))
    }
    fn delete(&mut self, name: &ObjectName) -> Result<(), Errno> {
        self.call(Op::MdDelete, |inner| inner.delete(name))
    }
}

impl<T: BlockFile> BlockFile for Faulty<T> {
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, Errno> {
        self.call(Op::DataRead, |inner| inner.read_at(offset, buffer))
    }
    fn write_at(&mut self, offset: u64, content: &[u8]) -> Result<usize, Errno> {
        self.call(Op::DataWrite, |inner| inner.write_at(offset, content))
    }
    fn cache(&self, offset: u64, length: usize) -> Cache {
        self.inner.cache(offset, length)
    }
    fn forget(&self, offset: u64, length: usize) {
        self.inner.forget(offset, length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::null::{Latency, Null};
    use crate::clock::SimClock;
    use crate::seed::Random;

    fn timed(kind: FaultKind, at_ns: u64) -> (Result<u64, Errno>, u64) {
        let clock = SimClock::new(0);
        let shared: Arc<dyn Clock> = Arc::new(clock.clone());
        let latency = Latency { median_ns: [100; 6], sigma: 0.0 };
        let null = Null::new(Arc::clone(&shared), latency, 7, Random::stream(0, "null"));
        let fault = Fault { op: Some(Op::MdStat), after_ns: 1_000, for_ns: Some(1_000), kind };
        let mut faulty = Faulty::new(null, shared, clock.monotonic_ns(), vec![fault]);
        clock.advance(at_ns);
        let began = clock.monotonic_ns();
        let result = faulty.stat(&ObjectName::new(1));
        (result, clock.monotonic_ns() - began)
    }

    #[test]
    fn each_fault_does_what_it_says_and_only_in_its_time() {
        assert_eq!(timed(FaultKind::Delay(50), 1_500), (Ok(7), 150));
        assert_eq!(timed(FaultKind::Multiply(3.0), 1_500), (Ok(7), 300));
        assert_eq!(timed(FaultKind::Error(Errno::IO), 1_500), (Err(Errno::IO), 0));
        assert_eq!(timed(FaultKind::Hang, 1_500), (Ok(7), 600));
        assert_eq!(timed(FaultKind::Hang, 999), (Ok(7), 100));
        assert_eq!(timed(FaultKind::Hang, 2_000), (Ok(7), 100));
    }
}
