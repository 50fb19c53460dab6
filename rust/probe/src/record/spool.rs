//! Spool segments: the samples of one run and one hour, appended as they come.
//!
//! ```text
//! "IOSPOOL1" | frame: header as JSON | frame: rows | frame: rows | ...       row = 48 bytes, little endian
//! ```

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::disk::Disk;
use super::frames::{self, Frames};
use super::tail::Tail;
use iosonde_core::sample::{Cache, Op, Outcome, Sample};
use iosonde_core::stored;
use iosonde_core::text::without_codes;

/// First bytes of every segment.
pub const MAGIC: &[u8; 8] = b"IOSPOOL1";
/// Layout of the `samples` table that this code writes.
pub const SCHEMA_VERSION: u32 = 1;
/// Bytes of one row.
pub const ROW: usize = 48;
/// Stored value of a null int64.
pub const NULL: i64 = i64::MIN;

/// Header shared by the rows of a segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Layout of the rows.
    pub schema_version: u32,
    /// Identifier of one start of one probe.
    pub run_id: String,
    /// The probing host.
    pub host: String,
    /// Seed of the run.
    pub seed: u64,
    /// Number of the segment within the run.
    pub segment: u32,
    /// When the segment was opened, UTC.
    pub opened_ns: i64,
    /// Targets by the rows' target numbers.
    pub targets: Vec<Target>,
}

/// A watched target of a segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// Its period.
    pub period_ns: u64,
    /// Bytes per operation, in the order of [`Op::ALL`].
    pub size_bytes: Vec<u64>,
}

/// Why a segment could not be read at all.
#[derive(Debug, thiserror::Error)]
pub enum SpoolError {
    /// The operating system refused.
    #[error("{path}: {}", without_codes(source))]
    Io {
        /// The segment.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file is not a segment.
    #[error("{path}: {what}; expected an iosonde spool segment of version {SCHEMA_VERSION}")]
    NotASegment {
        /// The file.
        path: PathBuf,
        /// Description of what was found instead.
        what: String,
    },
}

/// Rows read from a segment.
#[derive(Debug)]
pub struct Chunk {
    /// Header shared by the rows.
    pub header: Header,
    /// The rows.
    pub samples: Vec<Sample>,
    /// Offset at which the next read may begin.
    pub next_offset: u64,
    /// Why reading stopped before the end of the file, if it did.
    pub torn: Option<&'static str>,
}

/// Name of a segment's file, and stem of the Parquet file it becomes.
pub fn stem(run_id: &str, segment: u32) -> String {
    format!("{run_id}-{segment:06}")
}

/// Begin a segment in `folder` and take its lock: whoever holds no lock on it may seal it.
pub fn create(disk: &dyn Disk, folder: &Path, header: &Header) -> io::Result<(Tail, PathBuf)> {
    let path = folder.join(stem(&header.run_id, header.segment)).with_extension("spool");
    let mut begin = MAGIC.to_vec();
    begin.extend(frames::encode(&serde_json::to_vec(header).map_err(io::Error::other)?));
    let mut tail = Tail::new(disk.create(&path)?)?;
    match tail.append(&begin) {
        Ok(()) => Ok((tail, path)),
        Err(error) => {
            drop(tail);
            let _ = disk.discard(&path);
            Err(error)
        }
    }
}

/// Append rows as one frame.
pub fn append(tail: &mut Tail, samples: &[Sample]) -> io::Result<()> {
    let mut payload = Vec::with_capacity(samples.len() * ROW);
    for sample in samples {
        encode(sample, &mut payload);
    }
    frames::append(tail, &payload)
}

/// When the segment that begins with `bytes` was opened, UTC; none if it is not one of ours.
pub fn opened_ns(bytes: &[u8]) -> Option<i64> {
    let header = Frames::new(bytes.strip_prefix(MAGIC)?, 0).next()?;
    serde_json::from_slice::<Header>(header).ok().map(|header| header.opened_ns)
}

/// Read every whole frame from `offset` on; 0 means the beginning.
pub fn read(path: &Path, offset: u64) -> Result<Chunk, SpoolError> {
    let io_error = |source| SpoolError::Io { path: path.to_owned(), source };
    let file = stored::open(path, frames::MAX_FILE).map_err(io_error)?;
    let bytes = frames::readable(file, MAGIC).map_err(io_error)?;
    parse(&bytes, offset).map_err(|what| SpoolError::NotASegment { path: path.to_owned(), what })
}

/// The same for bytes in memory.
pub fn parse(bytes: &[u8], offset: u64) -> Result<Chunk, String> {
    if !bytes.starts_with(MAGIC) {
        return Err("the first 8 bytes are not IOSPOOL1".into());
    }
    let mut all = Frames::new(bytes, MAGIC.len());
    let header: Header = frames::header(&mut all, SCHEMA_VERSION)?;
    let start = if offset == 0 { all.offset() } else { usize::try_from(offset).unwrap_or(usize::MAX) };
    let mut rows = Frames::new(bytes, start.min(bytes.len()));
    let mut samples = Vec::new();
    for payload in rows.by_ref() {
        samples.extend(payload.chunks_exact(ROW).filter_map(|row| decode(row, header.targets.len())));
    }
    Ok(Chunk { header, samples, next_offset: rows.offset() as u64, torn: rows.torn() })
}

fn encode(sample: &Sample, into: &mut Vec<u8>) {
    let words = [
        sample.due_ns,
        sample.began_ns.unwrap_or(NULL),
        sample.ended_ns.unwrap_or(NULL),
        sample.offset_bytes.unwrap_or(NULL),
        sample.control_runq_ns.unwrap_or(NULL),
    ];
    for word in words {
        into.extend_from_slice(&word.to_le_bytes());
    }
    into.extend_from_slice(&sample.target.to_le_bytes());
    into.extend_from_slice(&sample.outcome.code().to_le_bytes());
    into.extend_from_slice(&[sample.op as u8, sample.cache as u8, 0, 0]);
}

fn decode(row: &[u8], targets: usize) -> Option<Sample> {
    let word = |i: usize| Some(i64::from_le_bytes(row.get(i * 8..i * 8 + 8)?.try_into().ok()?));
    let some = |i: usize| Some(word(i)?).map(|value| (value != NULL).then_some(value));
    let half = |at: usize| Some(u16::from_le_bytes(row.get(at..at + 2)?.try_into().ok()?));
    let target = half(40)?;
    Some(Sample {
        due_ns: word(0)?,
        began_ns: some(1)?,
        ended_ns: some(2)?,
        offset_bytes: some(3)?,
        control_runq_ns: some(4)?,
        target: (usize::from(target) < targets).then_some(target)?,
        outcome: Outcome::from_code(half(42)?),
        op: *Op::ALL.get(usize::from(*row.get(44)?))?,
        cache: Cache::from_code(*row.get(45)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::disk::RealDisk;
    use iosonde_core::seed::Random;

    fn header() -> Header {
        Header {
            schema_version: SCHEMA_VERSION,
            run_id: "r".into(),
            host: "h".into(),
            seed: 1,
            segment: 0,
            opened_ns: 0,
            targets: vec![Target { name: "/t".into(), period_ns: 1, size_bytes: vec![1; 6] }],
        }
    }

    fn sample(due_ns: i64) -> Sample {
        Sample {
            due_ns,
            began_ns: Some(due_ns + 1),
            ended_ns: None,
            offset_bytes: Some(1 << 40),
            control_runq_ns: Some(0),
            target: 0,
            op: Op::MdRead,
            outcome: Outcome::error(rustix::io::Errno::STALE),
            cache: Cache::Evicted,
        }
    }

    #[test]
    fn rows_come_back_and_tailing_reads_only_the_new_ones() {
        let folder = std::env::temp_dir().join(format!("iosonde-spool-{}", iosonde_core::seed::fresh()));
        let (mut file, path) = create(&RealDisk, &folder, &header()).unwrap();
        append(&mut file, &[sample(5), sample(6)]).unwrap();
        let first = read(&path, 0).unwrap();
        assert_eq!(first.samples, vec![sample(5), sample(6)]);
        append(&mut file, &[sample(7)]).unwrap();
        let second = read(&path, first.next_offset).unwrap();
        assert_eq!((second.samples, second.torn), (vec![sample(7)], None));
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn damaged_segments_are_errors_and_never_panics() {
        let mut good = MAGIC.to_vec();
        good.extend([3, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3]);
        assert!(parse(&good, 0).is_err());
        assert!(parse(b"", 0).is_err());
        let mut random = Random::stream(5, "spool");
        for _ in 0..5_000 {
            let mut noise = MAGIC.to_vec();
            noise.resize(8 + random.below(80) as usize, 0);
            random.fill(&mut noise[8..]);
            let _ = parse(&noise, random.below(100));
        }
    }
}
