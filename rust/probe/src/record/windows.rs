//! Kept windows: what each closed window of a target amounted to, a file a month, for ever.
//!
//! ```text
//! "IOSWIND1" | frame: header as JSON | frame: windows | frame: windows | ...
//! payload = base start i64, span varint, then per window:
//!           op u8 | start - base, n_due, n_seen varint | which values u32 | mean f64 if any | values
//! ```
//! Little endian. A value is a zigzag varint of its difference from the one before it: they ascend, so it is short.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::dates::month_of;
use super::frames::{self, Frames};
use iosonde_core::sample::Op;
use iosonde_core::slowdown::window::{ClosedWindow, STATISTICS};

/// First bytes of every file.
pub const MAGIC: &[u8; 8] = b"IOSWIND1";
/// Layout of the windows that this code writes.
pub const SCHEMA_VERSION: u32 = 1;
/// The bit that says that a window has a mean.
const MEAN: u32 = 1 << 31;

/// Header shared by the windows of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Layout of the windows.
    pub schema_version: u32,
    /// The probing host.
    pub host: String,
    /// The watched target.
    pub target: String,
    /// Its period.
    pub period_ns: u64,
    /// Length of a window.
    pub window_ns: u64,
}

impl Header {
    /// Bytes that a file begins with.
    pub fn head(&self) -> Vec<u8> {
        let json = serde_json::to_vec(self).unwrap_or_default();
        [MAGIC.as_slice(), &frames::encode(&json)].concat()
    }
    /// Prefix of the names of its files.
    pub fn prefix(&self, slug: &str) -> String {
        let (period_ms, window_s) = (self.period_ns as f64 / 1e6, self.window_ns as f64 / 1e9);
        format!("{slug}.{period_ms}ms-{window_s}s.")
    }
    /// The file that holds a window that starts at `start_ns`.
    pub fn file(&self, folder: &Path, slug: &str, start_ns: i64) -> PathBuf {
        folder.join(format!("{}{}.windows", self.prefix(slug), month_of(start_ns)))
    }
}

/// Windows as the payload of one frame. Not empty.
pub fn encode(windows: &[ClosedWindow]) -> Vec<u8> {
    let starts = || windows.iter().map(|window| window.start_ns);
    let base = starts().min().unwrap_or(0);
    let last = starts().max().unwrap_or(0);
    let mut bytes = base.to_le_bytes().to_vec();
    put(&mut bytes, last.wrapping_sub(base) as u64);
    for window in windows {
        bytes.push(window.op as u8);
        put(&mut bytes, window.start_ns.wrapping_sub(base) as u64);
        put(&mut bytes, window.n_due);
        put(&mut bytes, window.n_seen);
        let known = window.values_ns.iter().enumerate().filter(|(_, value)| value.is_some());
        let mean = if window.mean_ns.is_some() { MEAN } else { 0 };
        let mask = known.fold(mean, |mask, (i, _)| mask | 1 << i);
        bytes.extend(mask.to_le_bytes());
        bytes.extend(window.mean_ns.into_iter().flat_map(f64::to_le_bytes));
        let mut before = 0_i64;
        for value in window.values_ns.iter().flatten() {
            let step = value.wrapping_sub(before);
            put(&mut bytes, ((step << 1) ^ (step >> 63)) as u64);
            before = *value;
        }
    }
    bytes
}

fn put(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// The header of a file, of which `bytes` is the beginning.
pub fn header_of(bytes: &[u8]) -> Result<Header, String> {
    begin(bytes).map(|(header, _)| header)
}

/// The readable part of a file.
#[derive(Debug, PartialEq, Eq)]
pub struct Read {
    /// Header shared by its windows.
    pub header: Header,
    /// Bytes up to the end of the last whole frame.
    pub good: usize,
    /// Why reading stopped before the end of the file, or a frame could not be understood.
    pub torn: Option<&'static str>,
}

/// Hand every window of whole frames that starts in [since, until) to `take`, in the order in which they were
/// closed. Of frames that lie outside nothing is unpacked.
pub fn each(
    bytes: &[u8],
    since_ns: i64,
    until_ns: i64,
    take: &mut dyn FnMut(ClosedWindow),
) -> Result<Read, String> {
    let (header, mut all) = begin(bytes)?;
    let mut malformed = None;
    for payload in all.by_ref() {
        if Cursor(payload).windows(since_ns, until_ns, take).is_none() {
            malformed = Some("a frame's windows are malformed");
        }
    }
    Ok(Read { header, good: MAGIC.len() + all.offset(), torn: all.torn().or(malformed) })
}

fn begin(bytes: &[u8]) -> Result<(Header, Frames<'_>), String> {
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        return Err("the first 8 bytes are not IOSWIND1".into());
    };
    let mut all = Frames::new(rest, 0);
    let header: Header = frames::header(&mut all, SCHEMA_VERSION)?;
    Ok((header, all))
}

struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }
    fn varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let [byte] = self.bytes()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }
    /// None when the payload is malformed: the windows before stay.
    fn windows(mut self, since_ns: i64, until_ns: i64, take: &mut dyn FnMut(ClosedWindow)) -> Option<()> {
        let base = i64::from_le_bytes(self.bytes()?);
        let last = base.checked_add_unsigned(self.varint()?)?;
        if last < since_ns || base >= until_ns {
            return Some(());
        }
        while !self.0.is_empty() {
            let window = self.window(base)?;
            if (since_ns..until_ns).contains(&window.start_ns) {
                take(window);
            }
        }
        Some(())
    }
    fn window(&mut self, base: i64) -> Option<ClosedWindow> {
        let [op] = self.bytes()?;
        let op = *Op::ALL.get(usize::from(op))?;
        let start_ns = base.checked_add_unsigned(self.varint()?)?;
        let (n_due, n_seen) = (self.varint()?, self.varint()?);
        let mask = u32::from_le_bytes(self.bytes()?);
        if mask & !MEAN >= 1 << STATISTICS.len() || n_seen > n_due || n_due > i64::MAX as u64 {
            return None;
        }
        let mean_ns = if mask & MEAN == 0 { None } else { Some(f64::from_le_bytes(self.bytes()?)) };
        let mut values_ns = [None; STATISTICS.len()];
        let mut before = 0_i64;
        for (i, value) in values_ns.iter_mut().enumerate() {
            if mask & 1 << i != 0 {
                let step = self.varint()?;
                before = before.wrapping_add((step >> 1) as i64 ^ -((step & 1) as i64));
                *value = Some(before);
            }
        }
        Some(ClosedWindow { op, start_ns, n_due, n_seen, mean_ns, values_ns })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        Header {
            schema_version: SCHEMA_VERSION,
            host: "h".into(),
            target: "/t".into(),
            period_ns: 1_000_000_000,
            window_ns: 60_000_000_000,
        }
    }

    #[test]
    fn windows_come_back_whatever_their_values() {
        let mut wild = [None; STATISTICS.len()];
        for (i, value) in [i64::MAX, i64::MIN, 0, -1].into_iter().enumerate() {
            wild[5 * i] = Some(value);
        }
        let plain = std::array::from_fn(|i| Some(1_000_000 + i as i64));
        let window = |start_ns, values_ns, mean_ns| ClosedWindow {
            op: Op::MdRead,
            start_ns,
            n_due: 60,
            n_seen: 59,
            mean_ns,
            values_ns,
        };
        let windows = [
            window(1_790_000_000_000_000_000, plain, Some(1.5)),
            window(1_790_000_060_000_000_000, wild, None),
            window(1_790_000_000_000_000_000, [None; STATISTICS.len()], None),
        ];
        let mut bytes = header().head();
        bytes.extend(frames::encode(&encode(&windows)));
        let read = |since_ns, until_ns| {
            let mut found = Vec::new();
            let read = each(&bytes, since_ns, until_ns, &mut |window| found.push(window)).unwrap();
            assert_eq!(read, Read { header: header(), good: bytes.len(), torn: None });
            found
        };
        assert_eq!(read(i64::MIN, i64::MAX), windows);
        assert_eq!(read(1_790_000_060_000_000_000, i64::MAX), windows[1..2]);
        assert!(read(0, 1_790_000_000_000_000_000).is_empty());
    }

    #[test]
    fn a_file_is_named_by_what_it_holds() {
        let file = header().file(Path::new("w"), "work", 1_790_000_000_000_000_000);
        assert_eq!(file, Path::new("w/work.1000ms-60s.2026-09.windows"));
    }
}
