//! What is on record of one rank in one phase beside its tally: instants of its file, bytes per bin, wrong bytes.

use super::bins::Bins;
use iosonde_core::clock::Anchor;

/// Names of [`Records::instants`].
pub const INSTANTS: [&str; 6] = [
    "open_begin_ns",
    "open_end_ns",
    "transfer_begin_ns",
    "transfer_end_ns",
    "close_begin_ns",
    "close_end_ns",
];
/// A file that has no such instant.
pub const MISSING: i64 = i64::MIN;
/// Wrong transfers of which the place is kept.
const MISMATCHES: usize = 1000;

/// Which instant.
#[derive(Debug, Clone, Copy)]
pub enum Mark {
    /// Open begins.
    Open,
    /// Open ended.
    Opened,
    /// The first transfer begins.
    Begin,
    /// The last transfer, and fsync, ended.
    End,
    /// Close begins.
    Close,
    /// Close ended.
    Closed,
}

/// One rank in one phase; takes no memory after it was made.
#[derive(Debug)]
pub struct Records {
    anchor: Option<Anchor>,
    marks: [Option<u64>; 6],
    bytes: u64,
    pub(super) bins: Bins,
    mismatches: Vec<u64>,
}

impl Records {
    /// With bins of this width.
    pub fn new(bin_ns: u64) -> Self {
        let mismatches = Vec::with_capacity(MISMATCHES);
        Self { anchor: None, marks: [None; 6], bytes: 0, bins: Bins::new(bin_ns), mismatches }
    }

    /// A phase begins.
    pub fn begin(&mut self, anchor: Anchor, now_ns: u64) {
        self.anchor = Some(anchor);
        self.marks = [None; 6];
        self.bytes = 0;
        self.bins.begin(now_ns, anchor.utc_ns(now_ns));
        self.mismatches.clear();
    }

    /// Nothing was done yet.
    pub fn clear(&mut self) {
        self.anchor = None;
    }

    /// An instant of the file.
    #[inline]
    pub fn mark(&mut self, mark: Mark, now_ns: u64) {
        self.marks[mark as usize] = Some(now_ns);
    }

    /// A transfer ended.
    #[inline]
    pub fn credit(&mut self, now_ns: u64, bytes: u64) {
        self.bytes += bytes;
        self.bins.credit(now_ns, bytes);
    }

    /// A byte is not what was written there.
    pub fn mismatch(&mut self, offset: u64) {
        if self.mismatches.len() < MISMATCHES {
            self.mismatches.push(offset);
        }
    }

    /// UTC of each of [`INSTANTS`]; [`MISSING`] where there is none.
    pub fn instants(&self) -> [i64; 6] {
        let utc = |mark: Option<u64>| self.anchor.zip(mark).map(|(anchor, ns)| anchor.utc_ns(ns));
        self.marks.map(|mark| utc(mark).unwrap_or(MISSING))
    }

    /// Bytes moved.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Number of the first bin, bytes of each, bytes that found no bin.
    pub fn series(&self) -> (i64, &[u64], u64) {
        match self.anchor {
            Some(_) => (self.bins.first(), self.bins.values(), self.bins.left_out()),
            None => (0, &[], 0),
        }
    }

    /// Offsets of wrong bytes, one a transfer, of the first of them.
    pub fn mismatches(&self) -> &[u64] {
        &self.mismatches
    }
}
