//! What objects hold: bytes that neither compress nor repeat, and at their beginning whose they are.

use iosonde_core::aligned::AlignedBuffer;
use iosonde_core::backend::store::SetId;
use iosonde_core::seed::Random;

const STAMP: usize = 16;

/// Contents of one rank's objects, and room to read into.
#[derive(Debug)]
pub struct Content {
    written: AlignedBuffer,
    read: AlignedBuffer,
}

impl Content {
    /// The same bytes for the same seed, on every rank.
    pub fn new(seed: u64, size_bytes: u64) -> Self {
        let [mut written, mut read] = AlignedBuffer::several(size_bytes as usize);
        Random::stream(seed, "content").fill(written.slice_mut());
        // Touched now, not in a timed section.
        read.slice_mut().fill(1);
        Self { written, read }
    }
    /// What object `object` of `set` holds.
    #[inline]
    pub fn of(&mut self, set: SetId, object: u64) -> &[u8] {
        let stamp = stamp(set, object);
        let bytes = self.written.slice_mut();
        let n = bytes.len().min(STAMP);
        bytes[..n].copy_from_slice(&stamp[..n]);
        self.written.slice()
    }
    /// Room for one object.
    #[inline]
    pub fn room(&mut self) -> &mut [u8] {
        self.read.slice_mut()
    }
    /// Whether what was read last is that object.
    pub fn matches(&self, set: SetId, object: u64) -> bool {
        let (written, read) = (self.written.slice(), self.read.slice());
        let n = read.len().min(STAMP);
        read[..n] == stamp(set, object)[..n] && read[n..] == written[n..]
    }
}

fn stamp(set: SetId, object: u64) -> [u8; STAMP] {
    let mut bytes = [0; STAMP];
    bytes[..4].copy_from_slice(&set.rank.to_le_bytes());
    bytes[4..8].copy_from_slice(&set.set.to_le_bytes());
    bytes[8..].copy_from_slice(&object.to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_told_from_every_other() {
        let set = SetId { rank: 3, set: 1 };
        for size in [0, 5, 16, 3901] {
            let (mut writer, mut reader) = (Content::new(7, size), Content::new(7, size));
            reader.room().copy_from_slice(writer.of(set, 12));
            assert!(reader.matches(set, 12), "{size}");
            if size >= 16 {
                assert!(!reader.matches(set, 13));
                assert!(!reader.matches(SetId { rank: 4, set: 1 }, 12));
                let last = size as usize - 1;
                reader.room()[last] ^= 1;
                assert!(!reader.matches(set, 12));
            }
        }
    }
}
