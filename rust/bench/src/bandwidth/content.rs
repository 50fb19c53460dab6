//! What transfers hold: bytes that neither compress nor repeat, and on every page whose they are and where they lie.

use iosonde_core::aligned::AlignedBuffer;
use iosonde_core::seed::Random;

const PAGE: usize = 4096;
const STAMP: usize = 16;

/// Whose bytes: a rank in one repetition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Writer {
    /// The rank that writes them.
    pub rank: u32,
    /// Of the phase.
    pub repetition: u32,
}

/// Contents of one rank's transfers, and a buffer for each that can be under way.
#[derive(Debug)]
pub struct Content {
    template: AlignedBuffer,
    buffers: Vec<AlignedBuffer>,
}

impl Content {
    /// The same bytes for the same seed, on every rank.
    pub fn new(seed: u64, transfer_bytes: u64, depth: u32) -> Self {
        let length = transfer_bytes as usize;
        let mut template = AlignedBuffer::new(length);
        Random::stream(seed, "content").fill(template.slice_mut());
        let buffers = (0..depth).map(|_| AlignedBuffer::new(length)).collect();
        let mut content = Self { template, buffers };
        content.prepare();
        content
    }

    /// Fill every buffer, so that only stamps are left to write. Also touches the memory, outside any timed section.
    pub fn prepare(&mut self) {
        for buffer in &mut self.buffers {
            buffer.slice_mut().copy_from_slice(self.template.slice());
        }
    }

    /// What the transfer at `offset` holds, in the `at`-th buffer.
    #[inline]
    pub fn written(&mut self, at: usize, writer: Writer, offset: u64) -> &[u8] {
        let bytes = self.buffers[at].slice_mut();
        for (page, bytes) in bytes.chunks_mut(PAGE).enumerate() {
            let n = bytes.len().min(STAMP);
            bytes[..n].copy_from_slice(&stamp(writer, offset + (page * PAGE) as u64)[..n]);
        }
        self.buffers[at].slice()
    }

    /// The `at`-th buffer, to read into.
    #[inline]
    pub fn room(&mut self, at: usize) -> &mut [u8] {
        self.buffers[at].slice_mut()
    }

    /// Where the bytes in the `at`-th buffer differ first from what was written at `offset`.
    pub fn mismatch(&self, at: usize, writer: Writer, offset: u64) -> Option<u64> {
        let pages = self.buffers[at].slice().chunks(PAGE).zip(self.template.slice().chunks(PAGE));
        for (page, (read, template)) in pages.enumerate() {
            let begin = offset + (page * PAGE) as u64;
            let n = read.len().min(STAMP);
            let stamp = stamp(writer, begin);
            if read[..n] != stamp[..n] || read[n..] != template[n..] {
                let expected = stamp[..n].iter().chain(&template[n..]);
                let within = read.iter().zip(expected).position(|(a, b)| a != b).unwrap_or(0);
                return Some(begin + within as u64);
            }
        }
        None
    }
}

#[inline]
fn stamp(writer: Writer, offset: u64) -> [u8; STAMP] {
    let mut bytes = [0; STAMP];
    bytes[..4].copy_from_slice(&writer.rank.to_le_bytes());
    bytes[4..8].copy_from_slice(&writer.repetition.to_le_bytes());
    bytes[8..].copy_from_slice(&offset.to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_changed_byte_is_found_where_it_lies() {
        let writer = Writer { rank: 3, repetition: 1 };
        for length in [1_u64, 16, 47_008, 8192] {
            let mut content = Content::new(7, length, 2);
            let bytes = content.written(0, writer, 1 << 40).to_vec();
            content.room(1).copy_from_slice(&bytes);
            assert_eq!(content.mismatch(1, writer, 1 << 40), None, "{length}");
            for at in [0, length / 2, length - 1] {
                content.room(1)[at as usize] ^= 4;
                assert_eq!(content.mismatch(1, writer, 1 << 40), Some((1 << 40) + at), "{length}");
                content.room(1)[at as usize] ^= 4;
            }
            if length >= 16 {
                assert!(content.mismatch(1, Writer { rank: 4, ..writer }, 1 << 40).is_some());
                assert!(content.mismatch(1, Writer { repetition: 0, ..writer }, 1 << 40).is_some());
                assert!(content.mismatch(1, writer, 0).is_some());
            }
        }
    }
}
