//! A file of length-prefixed, checksummed frames that a crash can only shorten.
//!
//! ```text
//! magic (8 bytes) | frame | frame | ...        frame = length u32 | crc32 u32 | payload
//! ```
//! Little endian. A reader stops at the first frame that is incomplete or whose checksum is wrong and says so:
//! everything before it is good.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use super::tail::Tail;

/// Longest payload a reader believes; a torn length field must not make it allocate gigabytes.
pub const MAX_PAYLOAD: usize = 64 << 20;
const HEADER: usize = 8;

/// One frame as bytes. The payload holds at least one byte and at most [`MAX_PAYLOAD`].
pub fn encode(payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER + payload.len());
    bytes.extend_from_slice(&(payload.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&crc32fast::hash(payload).to_le_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

/// Append one frame, all of it or nothing.
pub fn append(tail: &mut Tail, payload: &[u8]) -> io::Result<()> {
    if payload.is_empty() || payload.len() > MAX_PAYLOAD {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a frame holds 1 byte to 64 MiB"));
    }
    tail.append(&encode(payload))
}

/// Frames of a byte slice from `offset` on.
#[derive(Debug)]
pub struct Frames<'a> {
    bytes: &'a [u8],
    offset: usize,
    torn: Option<&'static str>,
}

impl<'a> Frames<'a> {
    /// Read `bytes` from `offset`, which must be where a frame begins.
    pub fn new(bytes: &'a [u8], offset: usize) -> Self {
        Self { bytes, offset, torn: None }
    }
    /// Where the next frame begins, or would.
    pub fn offset(&self) -> usize {
        self.offset
    }
    /// Why reading stopped before the end, if it did.
    pub fn torn(&self) -> Option<&'static str> {
        self.torn
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.bytes.get(self.offset..)?;
        if rest.is_empty() || self.torn.is_some() {
            return None;
        }
        let word = |at: usize| Some(u32::from_le_bytes(rest.get(at..at + 4)?.try_into().ok()?) as usize);
        let (Some(length), Some(checksum)) = (word(0), word(4)) else {
            self.torn = Some("a frame's header is incomplete");
            return None;
        };
        if length == 0 || length > MAX_PAYLOAD {
            self.torn = Some("a frame's length is impossible");
            return None;
        }
        let Some(payload) = rest.get(HEADER..HEADER + length) else {
            self.torn = Some("a frame is incomplete");
            return None;
        };
        if crc32fast::hash(payload) as usize != checksum {
            self.torn = Some("a frame's checksum is wrong");
            return None;
        }
        self.offset += HEADER + length;
        Some(payload)
    }
}

/// A whole file as bytes, from `offset` on.
pub fn read_from(file: &mut File, offset: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(offset))?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_core::seed::Random;

    fn framed(payloads: &[&[u8]]) -> Vec<u8> {
        payloads.iter().flat_map(|payload| encode(payload)).collect()
    }

    #[test]
    fn cut_anywhere_only_whole_frames_come_back() {
        let bytes = framed(&[b"one", b"two two", b"three three three"]);
        for cut in 0..=bytes.len() {
            let mut frames = Frames::new(&bytes[..cut], 0);
            let whole = frames.by_ref().count();
            let expected = [11, 26, 51].iter().filter(|&&end| end <= cut).count();
            assert_eq!(whole, expected, "cut at {cut}");
            assert_eq!(frames.torn().is_some(), ![0, 11, 26, 51].contains(&cut), "cut at {cut}");
        }
    }

    #[test]
    fn any_flipped_bit_is_noticed() {
        let bytes = framed(&[b"some payload"]);
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Frames::new(&damaged, 0).count(), 0, "bit {bit}");
        }
    }

    #[test]
    fn noise_never_panics() {
        let mut random = Random::stream(11, "noise");
        for _ in 0..20_000 {
            let mut noise = vec![0_u8; random.below(64) as usize];
            random.fill(&mut noise);
            let offset = random.below(70) as usize;
            let mut frames = Frames::new(&noise, offset);
            while frames.next().is_some() {}
        }
    }
}
