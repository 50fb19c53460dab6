//! The four timed operations as requests.

use std::sync::Arc;

use rustix::io::Errno;

use super::wire::Wire;
use iosonde_core::backend::{Backend, ObjectName};

/// The objects of one data set.
pub(super) struct Objects {
    wire: Arc<Wire>,
    /// The data set's prefix, and room for a name behind it.
    key: String,
    prefix_bytes: usize,
    exclusive: bool,
}

impl Objects {
    pub(super) fn new(wire: Arc<Wire>, prefix: String, exclusive: bool) -> Self {
        Self { wire, prefix_bytes: prefix.len(), key: prefix, exclusive }
    }

    fn aim(&mut self, name: &ObjectName) {
        self.key.truncate(self.prefix_bytes);
        self.key.push_str(name.as_c_str().to_str().unwrap_or_default());
    }
}

impl Backend for Objects {
    fn create(&mut self, name: &ObjectName, content: &[u8]) -> Result<(), Errno> {
        self.aim(name);
        self.wire.put(&self.key, content, self.exclusive)
    }

    fn stat(&mut self, name: &ObjectName) -> Result<u64, Errno> {
        self.aim(name);
        let answer = self.wire.head(&self.key)?;
        let length = answer.headers().get("content-length").and_then(|value| value.to_str().ok());
        length.and_then(|digits| digits.parse().ok()).ok_or(Errno::BADMSG)
    }

    fn read(&mut self, name: &ObjectName, buffer: &mut [u8]) -> Result<usize, Errno> {
        self.aim(name);
        let answer = self.wire.get(&self.key)?;
        self.wire.fill(answer, buffer)
    }

    fn delete(&mut self, name: &ObjectName) -> Result<(), Errno> {
        self.aim(name);
        self.wire.delete(&self.key)
    }
}
