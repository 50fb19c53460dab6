//! Record marking (RFC 5531, section 11): messages in a byte stream, each in one or more fragments.

use crate::error::NfsError;

const LAST: u32 = 1 << 31;
const HEADER: usize = 4;
/// Fragments of one record; a server that sends empty ones for ever is refused.
const MOST_FRAGMENTS: u32 = 4096;
const BUFFER: usize = 1 << 18;

/// Puts records together as bytes arrive.
#[derive(Debug)]
pub struct RecordReader {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Bytes that the fragment under way still lacks.
    left: Option<usize>,
    last: bool,
    partial: Vec<u8>,
    fragments: u32,
    handed_out: bool,
    most: usize,
}

impl RecordReader {
    /// A reader of records of at most `most` bytes.
    pub fn new(most: usize) -> Self {
        Self {
            buffer: vec![0; BUFFER],
            start: 0,
            end: 0,
            left: None,
            last: false,
            partial: Vec::new(),
            fragments: 0,
            handed_out: false,
            most,
        }
    }

    /// Where to put bytes that arrive. Never empty once `next` has given none.
    pub fn space(&mut self) -> &mut [u8] {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.end == self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        &mut self.buffer[self.end..]
    }

    /// So many bytes were put there.
    pub fn filled(&mut self, bytes: usize) {
        self.end = (self.end + bytes).min(self.buffer.len());
    }

    /// Whether a record has begun and is not whole.
    pub fn in_record(&self) -> bool {
        self.left.is_some() || self.start != self.end || (!self.partial.is_empty() && !self.handed_out)
    }

    /// The next whole record; none until more bytes arrive. Errors: Oversized, Malformed; the stream is lost then.
    pub fn next_record(&mut self) -> Result<Option<&[u8]>, NfsError> {
        if self.handed_out {
            self.partial.clear();
            (self.fragments, self.handed_out) = (0, false);
        }
        loop {
            let arrived = self.end - self.start;
            let left = match self.left {
                Some(left) => left,
                None if arrived < HEADER => return Ok(None),
                None => {
                    let length = self.begin_fragment()?;
                    if self.last && self.partial.is_empty() && self.end - self.start >= length {
                        self.fragments = 0;
                        let at = self.start..self.start + length;
                        self.start += length;
                        return Ok(Some(&self.buffer[at]));
                    }
                    self.left = Some(length);
                    length
                }
            };
            let taken = left.min(self.end - self.start);
            self.partial.extend_from_slice(&self.buffer[self.start..self.start + taken]);
            self.start += taken;
            if taken < left {
                self.left = Some(left - taken);
                return Ok(None);
            }
            self.left = None;
            if self.last {
                self.handed_out = true;
                return Ok(Some(&self.partial));
            }
        }
    }

    fn begin_fragment(&mut self) -> Result<usize, NfsError> {
        let mut header = [0; HEADER];
        header.copy_from_slice(&self.buffer[self.start..self.start + HEADER]);
        self.start += HEADER;
        let header = u32::from_be_bytes(header);
        self.last = header & LAST != 0;
        let length = (header & !LAST) as usize;
        self.fragments += 1;
        if self.partial.len() + length > self.most {
            let bytes = (self.partial.len() + length) as u64;
            return Err(NfsError::Oversized { bytes, most: self.most as u64 });
        }
        if self.fragments > MOST_FRAGMENTS {
            return Err(NfsError::Malformed { what: "record of a few fragments" });
        }
        Ok(length)
    }
}

/// Begin a record of one fragment; gives where its header is, for [`end`].
pub fn begin(to: &mut Vec<u8>) -> usize {
    let at = to.len();
    to.extend_from_slice(&[0; HEADER]);
    at
}

/// Write the header of the record that began at `at` and ends here.
pub fn end(to: &mut [u8], at: usize) {
    let length = (to.len() - at - HEADER) as u32;
    to[at..at + HEADER].copy_from_slice(&(length | LAST).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_core::seed::Random;

    fn feed(reader: &mut RecordReader, mut bytes: &[u8], step: impl Fn(usize) -> usize) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        while !bytes.is_empty() {
            let space = reader.space();
            let n = step(bytes.len()).clamp(1, space.len().min(bytes.len()));
            space[..n].copy_from_slice(&bytes[..n]);
            reader.filled(n);
            bytes = &bytes[n..];
            while let Some(record) = reader.next_record().unwrap() {
                found.push(record.to_vec());
            }
        }
        found
    }

    #[test]
    fn records_survive_any_cut_into_fragments_and_arrivals() {
        for seed in 0..300 {
            let random = std::cell::RefCell::new(Random::stream(seed, "records"));
            let below = |n: u64| random.borrow_mut().below(n) as usize;
            let records: Vec<Vec<u8>> = (0..1 + below(20))
                .map(|_| {
                    let mut record = vec![0; below(if seed % 7 == 0 { 700_000 } else { 400 })];
                    random.borrow_mut().fill(&mut record);
                    record
                })
                .collect();
            let mut stream = Vec::new();
            for record in &records {
                let mut rest = record.as_slice();
                loop {
                    let length = if below(2) == 0 { rest.len() } else { below(rest.len() as u64 + 1) };
                    let last = length == rest.len() && below(4) > 0;
                    stream.extend((length as u32 | if last { LAST } else { 0 }).to_be_bytes());
                    stream.extend(&rest[..length]);
                    rest = &rest[length..];
                    if last {
                        break;
                    }
                }
            }
            let mut reader = RecordReader::new(1 << 20);
            let most = 1 + below(100_000) as u64;
            let found = feed(&mut reader, &stream, |_| 1 + below(most));
            assert!(found == records && !reader.in_record(), "seed {seed}");
        }
    }

    #[test]
    fn garbage_ends_in_an_error_or_waits_and_never_grows() {
        for seed in 0..2000 {
            let mut random = Random::stream(seed, "garbage");
            let mut bytes = vec![0; 1 + random.below(5000) as usize];
            random.fill(&mut bytes);
            let mut reader = RecordReader::new(4096);
            let space = reader.space();
            space[..bytes.len()].copy_from_slice(&bytes);
            reader.filled(bytes.len());
            while let Ok(Some(record)) = reader.next_record() {
                assert!(record.len() <= 4096);
            }
            assert!(reader.partial.capacity() <= 16_384);
        }
    }

    #[test]
    fn oversized_and_endless_records_are_refused() {
        let mut reader = RecordReader::new(100);
        reader.space()[..4].copy_from_slice(&(LAST | 101).to_be_bytes());
        reader.filled(4);
        assert!(matches!(reader.next_record(), Err(NfsError::Oversized { bytes: 101, most: 100 })));
        let mut reader = RecordReader::new(100);
        let empty = vec![0; HEADER * (MOST_FRAGMENTS as usize + 1)];
        reader.space()[..empty.len()].copy_from_slice(&empty);
        reader.filled(empty.len());
        assert!(matches!(reader.next_record(), Err(NfsError::Malformed { .. })));
    }
}
