//! A file of length-prefixed, checksummed frames that a crash can only shorten.
//!
//! ```text
//! magic (8 bytes) | frame | frame | ...        frame = length u32 | crc32 u32 | payload
//! ```
//! Little endian. A reader stops at the first frame that is incomplete or whose checksum is wrong and says so:
//! everything before it is good.

use std::io::{self, BufReader, Read};

use iosonde_core::stored;
use serde::de::DeserializeOwned;

use super::tail::Tail;

/// Longest payload a reader believes; a torn length field must not make it allocate gigabytes.
pub const MAX_PAYLOAD: usize = 64 << 20;
/// A larger file is none of ours.
pub const MAX_FILE: u64 = 2 << 30;
const HEADER: usize = 8;

/// Encodes one frame. The payload holds at least one byte and at most [`MAX_PAYLOAD`].
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
    /// Offset of the next frame, or of the end of the last.
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

/// A file that begins with `magic`, as far as a reader of its frames looks: up to and with the first that is not whole.
pub fn readable(file: impl Read, magic: &[u8]) -> io::Result<Vec<u8>> {
    let mut file = BufReader::with_capacity(1 << 16, file);
    let mut bytes = Vec::new();
    let mut more = |count: usize, bytes: &mut Vec<u8>| (&mut file).take(count as u64).read_to_end(bytes);
    more(magic.len(), &mut bytes)?;
    while bytes.starts_with(magic) {
        let at = bytes.len();
        if more(HEADER, &mut bytes)? < HEADER {
            break;
        }
        let length = bytes[at..].iter().take(4).rev().fold(0, |word, &byte| word << 8 | usize::from(byte));
        if length == 0 || length > MAX_PAYLOAD || more(length, &mut bytes)? < length {
            break;
        }
        if Frames::new(&bytes, at).next().is_none() {
            break;
        }
    }
    Ok(bytes)
}

/// The header of a file: the JSON in its first frame, of the layout `ours`.
pub fn header<T: DeserializeOwned>(all: &mut Frames<'_>, ours: u32) -> Result<T, String> {
    let json = all.next().ok_or_else(|| all.torn().unwrap_or("it has no header").to_owned())?;
    let unreadable = |error| format!("its header is unreadable ({error})");
    let members: serde_json::Value = serde_json::from_slice(json).map_err(unreadable)?;
    match members["schema_version"].as_i64() {
        Some(found) if found != i64::from(ours) => Err(stored::other_version(found, ours.into())),
        _ => serde_json::from_value(members).map_err(unreadable),
    }
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
