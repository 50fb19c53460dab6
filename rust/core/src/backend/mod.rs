//! What can be measured: objects behind four methods, and one big file behind two.
//!
//! A backend is one file here. What goes between two clock readings is exactly one of these calls, so they do
//! not allocate, format, log or lock.

pub mod conformance;
pub mod faulty;
pub mod location;
pub mod null;
pub mod posix;
#[cfg(feature = "servers")]
pub mod postgresql;
#[cfg(feature = "servers")]
pub mod s3;
pub mod store;
pub mod tree;
#[cfg(feature = "servers")]
pub mod words;

use std::ffi::CStr;

use rustix::io::Errno;

use crate::sample::Cache;

/// Small objects in one flat place.
pub trait Backend: Send {
    /// Make a new object with this content. It is an error if it exists.
    fn create(&mut self, name: &ObjectName, content: &[u8]) -> Result<(), Errno>;
    /// The object's size in bytes, without opening it.
    fn stat(&mut self, name: &ObjectName) -> Result<u64, Errno>;
    /// Fill `buffer` from the object's beginning; returns how many bytes there were.
    fn read(&mut self, name: &ObjectName, buffer: &mut [u8]) -> Result<usize, Errno>;
    /// Remove the object.
    fn delete(&mut self, name: &ObjectName) -> Result<(), Errno>;
}

impl<T: Backend + ?Sized> Backend for Box<T> {
    fn create(&mut self, name: &ObjectName, content: &[u8]) -> Result<(), Errno> {
        (**self).create(name, content)
    }
    fn stat(&mut self, name: &ObjectName) -> Result<u64, Errno> {
        (**self).stat(name)
    }
    fn read(&mut self, name: &ObjectName, buffer: &mut [u8]) -> Result<usize, Errno> {
        (**self).read(name, buffer)
    }
    fn delete(&mut self, name: &ObjectName) -> Result<(), Errno> {
        (**self).delete(name)
    }
}

/// One big file, read and written in blocks.
pub trait BlockFile: Send {
    /// Fill `buffer` from `offset`; returns how many bytes there were.
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, Errno>;
    /// Write all of `content` at `offset`; returns how many bytes went.
    fn write_at(&mut self, offset: u64, content: &[u8]) -> Result<usize, Errno>;
    /// What the cache will be able to do to the next operation at this place. Not timed.
    fn cache(&self, _offset: u64, _length: usize) -> Cache {
        Cache::Unknown
    }
    /// Ask the cache to forget a place that was just used. Not timed.
    fn forget(&self, _offset: u64, _length: usize) {}
}

/// The name of an object: a number as 16 hexadecimal digits, ready for a system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObjectName([u8; ObjectName::LENGTH + 1]);

impl ObjectName {
    /// Digits in a name.
    pub const LENGTH: usize = 16;

    /// The name of object `id`.
    pub fn new(id: u64) -> Self {
        let mut bytes = [0; Self::LENGTH + 1];
        for (i, byte) in bytes[..Self::LENGTH].iter_mut().enumerate() {
            *byte = b"0123456789abcdef"[(id >> (60 - 4 * i) & 15) as usize];
        }
        Self(bytes)
    }
    /// The number of a name, if it is one of ours.
    pub fn parse(name: &[u8]) -> Option<u64> {
        let ours =
            name.len() == Self::LENGTH && name.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        ours.then(|| std::str::from_utf8(name).ok())
            .flatten()
            .and_then(|text| u64::from_str_radix(text, 16).ok())
    }
    /// For a system call.
    pub fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_with_nul(&self.0).unwrap_or(c"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_numbers_and_back() {
        for id in [0, 1, 0xdead_beef, u64::MAX] {
            let name = ObjectName::new(id);
            assert_eq!(ObjectName::parse(name.as_c_str().to_bytes()), Some(id));
        }
        for bad in ["", "1", "000000000000000G", "00000000000000000", "+00000000000000f"] {
            assert_eq!(ObjectName::parse(bad.as_bytes()), None, "{bad}");
        }
    }
}
