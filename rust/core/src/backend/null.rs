//! A backend that stores nothing and answers after a set time: to test the tool and measure its overhead.

use std::sync::Arc;

use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::store::{Capabilities, Manner, ObjectStore, SetId};
use super::{Backend, BlockFile, ObjectName};
use crate::clock::{Clock, Stop};
use crate::sample::Op;
use crate::seed::Random;

/// Latency of each op.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Median in nanoseconds, in the order of [`Op::ALL`]; 0 answers at once.
    pub median_ns: [u64; 6],
    /// Spread of the logarithm (0 = always the median).
    pub sigma: f64,
}

/// Answers after its latency, successfully.
pub struct Null {
    clock: Arc<dyn Clock>,
    never: Arc<Stop>,
    latency: Latency,
    size_bytes: u64,
    random: Random,
}

impl Null {
    /// New backend; `size_bytes` is the size that stat and read report.
    pub fn new(clock: Arc<dyn Clock>, latency: Latency, size_bytes: u64, random: Random) -> Self {
        Self { clock, never: Stop::new(), latency, size_bytes, random }
    }

    fn wait(&mut self, op: Op) {
        let median = self.latency.median_ns[op as usize];
        if median > 0 {
            let factor = (self.latency.sigma * self.random.normal()).exp();
            let until = self.clock.monotonic_ns() + (median as f64 * factor) as u64;
            self.clock.sleep_until(until, &self.never);
        }
    }
}

impl Backend for Null {
    fn create(&mut self, _: &ObjectName, _: &[u8]) -> Result<(), Errno> {
        self.wait(Op::MdCreate);
        Ok(())
    }
    fn stat(&mut self, _: &ObjectName) -> Result<u64, Errno> {
        self.wait(Op::MdStat);
        Ok(self.size_bytes)
    }
    fn read(&mut self, _: &ObjectName, buffer: &mut [u8]) -> Result<usize, Errno> {
        self.wait(Op::MdRead);
        Ok(buffer.len())
    }
    fn delete(&mut self, _: &ObjectName) -> Result<(), Errno> {
        self.wait(Op::MdDelete);
        Ok(())
    }
}

impl BlockFile for Null {
    fn read_at(&mut self, _: u64, buffer: &mut [u8]) -> Result<usize, Errno> {
        self.wait(Op::DataRead);
        Ok(buffer.len())
    }
    fn write_at(&mut self, _: u64, content: &[u8]) -> Result<usize, Errno> {
        self.wait(Op::DataWrite);
        Ok(content.len())
    }
}

/// Data sets of [`Null`] objects: nothing is kept, and every set is as full as the caller assumes.
pub struct NullStore {
    clock: Arc<dyn Clock>,
    latency: Latency,
    size_bytes: u64,
    random: Random,
}

impl NullStore {
    /// New store; `size_bytes` is the size that stat and read of its objects report.
    pub fn new(clock: Arc<dyn Clock>, latency: Latency, size_bytes: u64, random: Random) -> Self {
        Self { clock, latency, size_bytes, random }
    }
}

impl ObjectStore for NullStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities { stores: false, exclusive: false, delete_tells: false, fsync: false, threads: true }
    }
    fn begin(&mut self) -> Result<(), Errno> {
        Ok(())
    }
    fn note(&mut self) -> Result<Option<String>, Errno> {
        Ok(None)
    }
    fn set_note(&mut self, _: &str) -> Result<(), Errno> {
        Ok(())
    }
    fn sets(&mut self) -> Result<Vec<SetId>, Errno> {
        Ok(Vec::new())
    }
    fn make_set(&mut self, _: SetId) -> Result<(), Errno> {
        Ok(())
    }
    fn open_set(&mut self, _: SetId, _: Manner) -> Result<Box<dyn Backend>, Errno> {
        let random = Random::stream(self.random.bits(), "null set");
        Ok(Box::new(Null::new(Arc::clone(&self.clock), self.latency.clone(), self.size_bytes, random)))
    }
    fn list_set(&mut self, _: SetId) -> Result<Vec<u64>, Errno> {
        Ok(Vec::new())
    }
    fn remove_set(&mut self, _: SetId) -> Result<(), Errno> {
        Ok(())
    }
    fn end(&mut self) -> Result<(), Errno> {
        Ok(())
    }
}
