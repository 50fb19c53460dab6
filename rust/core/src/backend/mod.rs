//! Traits of measured storage: objects behind four methods, and one big file behind two.
//!
//! A backend is one file here. What goes between two clock readings is exactly one of these calls, so they do
//! not allocate, format, log or lock.

pub mod conformance;
pub mod faulty;
pub mod null;
pub mod posix;
pub mod root;
pub mod store;
pub mod tree;

use std::ffi::CStr;

use rustix::io::Errno;

use crate::sample::Cache;

/// Small objects in one flat place.
pub trait Backend: Send {
    /// Make a new object with this content. It is an error if it exists.
    fn create(&mut self, name: &ObjectName, content: &[u8]) -> Result<(), Errno>;
    /// The object's size in bytes, without opening it.
    fn stat(&mut self, name: &ObjectName) -> Result<u64, Errno>;
    /// Fill `buffer` from the object's beginning; returns the number of bytes.
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

/// A big file, read and written in blocks.
pub trait BlockFile: Send {
    /// Fill `buffer` from `offset`; returns the number of bytes.
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, Errno>;
    /// Write all of `content` at `offset`; returns the number of bytes written.
    fn write_at(&mut self, offset: u64, content: &[u8]) -> Result<usize, Errno>;
    /// Possible effect of the cache on the next operation at this place. Not timed.
    fn cache(&self, _offset: u64, _length: usize) -> Cache {
        Cache::Unknown
    }
    /// Ask the cache to drop a place just used. Not timed.
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
        bytes[..8].copy_from_slice(&hexadecimal((id >> 32) as u32));
        bytes[8..16].copy_from_slice(&hexadecimal(id as u32));
        Self(bytes)
    }
    /// Number of a name, if it is one of ours.
    pub fn parse(name: &[u8]) -> Option<u64> {
        let ours =
            name.len() == Self::LENGTH && name.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        ours.then(|| std::str::from_utf8(name).ok())
            .flatten()
            .and_then(|text| u64::from_str_radix(text, 16).ok())
    }
    /// For a system call.
    pub fn as_c_str(&self) -> &CStr {
        // SAFETY: sixteen digits, none of which is zero, and a zero behind them.
        unsafe { CStr::from_bytes_with_nul_unchecked(&self.0) }
    }
}

/// Eight digits at once: a name is built before every operation.
fn hexadecimal(number: u32) -> [u8; 8] {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let mut digits = u64::from(number);
    digits = (digits << 16 | digits) & 0x0000_ffff_0000_ffff;
    digits = (digits << 8 | digits) & 0x00ff_00ff_00ff_00ff;
    digits = (digits << 4 | digits) & 0x0f0f_0f0f_0f0f_0f0f;
    let letters = (digits + 6 * EACH) >> 4 & EACH;
    let after_nine = u64::from(b'a' - b'0' - 10);
    (digits + u64::from(b'0') * EACH + letters * after_nine).to_be_bytes()
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
        let mut random = crate::seed::Random::stream(5, "names");
        for id in std::iter::repeat_with(|| random.bits()).take(10_000) {
            assert_eq!(ObjectName::new(id).as_c_str().to_str(), Ok(format!("{id:016x}").as_str()));
        }
        for bad in ["", "1", "000000000000000G", "00000000000000000", "+00000000000000f"] {
            assert_eq!(ObjectName::parse(bad.as_bytes()), None, "{bad}");
        }
    }
}
