//! What a run is asked to do.

use serde::{Deserialize, Serialize};

use crate::ranks::BenchError;
use iosonde_core::backend::faulty::Fault;

/// Whose bytes lie where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// Every rank has a file of its own.
    #[default]
    Own,
    /// One file: in each segment the block of rank 0, then that of rank 1 ...
    Segmented,
    /// One file: a transfer of rank 0, one of rank 1 ...
    Strided,
}

/// When written bytes are forced to stable storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fsync {
    /// Never.
    #[default]
    None,
    /// After the last transfer of a file, as a part of its transfers.
    End,
    /// After every transfer, as a part of it.
    Each,
}

/// A fault of one rank, or of all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RankFault {
    /// Which rank; none means all.
    pub rank: Option<u32>,
    /// What.
    pub fault: Fault,
}

/// Parameters of a run; names as in IOR.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Parameters {
    /// Ranks in all processes together.
    pub ranks: u32,
    /// Whose bytes lie where.
    pub layout: Layout,
    /// Bytes of one read or write.
    pub transfer_bytes: u64,
    /// Bytes of a rank in one segment; a multiple of the transfer.
    pub block_bytes: u64,
    /// Segments.
    pub segments: u64,
    /// Reading: how many ranks away the writer is.
    pub shift: u32,
    /// Transfers of a file in a random order.
    pub random_order: bool,
    /// When to force to stable storage.
    pub fsync: Fsync,
    /// O_DIRECT.
    pub direct: bool,
    /// Transfers under way at once; above 1 through io_uring.
    pub depth: u32,
    /// Compare what was read with what was written.
    pub verify: bool,
    /// Of contents and orders.
    pub seed: u64,
    /// Stop a rank after this many failures in a row.
    pub max_errors: u32,
    /// Width of a bin of the rate series.
    pub bin_ns: u64,
    /// Misbehaviour to put on.
    pub faults: Vec<RankFault>,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            ranks: 1,
            layout: Layout::Own,
            transfer_bytes: 1 << 20,
            block_bytes: 1 << 30,
            segments: 1,
            shift: 0,
            random_order: false,
            fsync: Fsync::None,
            direct: false,
            depth: 1,
            verify: false,
            seed: 0,
            max_errors: 1,
            bin_ns: 250_000_000,
            faults: Vec::new(),
        }
    }
}

impl Parameters {
    /// Transfers of a rank.
    pub fn transfers(&self) -> u64 {
        self.block_bytes / self.transfer_bytes * self.segments
    }

    /// The rank whose bytes `rank` reads.
    pub fn reads_of(&self, rank: u32) -> u32 {
        ((u64::from(rank) + u64::from(self.shift)) % u64::from(self.ranks)) as u32
    }

    /// The file of a rank's bytes.
    pub fn file_of(&self, rank: u32) -> String {
        match self.layout {
            Layout::Own => format!("data.{rank:06}"),
            _ => "data.shared".to_owned(),
        }
    }

    /// Faults of a rank.
    pub fn faults_of(&self, rank: u32) -> Vec<Fault> {
        let own = self.faults.iter().filter(|one| one.rank.is_none_or(|number| number == rank));
        own.map(|one| one.fault.clone()).collect()
    }

    /// Say what is out of all bounds or does not fit together, before memory is taken for it.
    pub fn check(&self) -> Result<(), BenchError> {
        const LARGEST: u64 = 1 << 30;
        const DEEPEST: u32 = 1024;
        let wrong = |what: String, expected: &str| Err(BenchError::wrong(what, expected));
        if self.ranks == 0 || self.segments == 0 || self.depth == 0 || self.bin_ns == 0 {
            return wrong("ranks, segments and depth are counts".into(), "each at least 1");
        }
        let transfer = self.transfer_bytes;
        if transfer == 0 || transfer > LARGEST {
            return wrong(format!("transfers of {transfer} bytes"), "1 byte to 1 GiB");
        }
        if self.block_bytes < transfer || !self.block_bytes.is_multiple_of(transfer) {
            let what = format!("blocks of {} bytes in transfers of {transfer} bytes", self.block_bytes);
            return wrong(what, "a block that is a multiple of the transfer");
        }
        let whole = self.block_bytes.checked_mul(self.segments);
        if whole.and_then(|rank| rank.checked_mul(u64::from(self.ranks))).is_none_or(|all| all > 1 << 62) {
            return wrong("more than 4 EiB in all".into(), "fewer ranks or segments, or smaller blocks");
        }
        if self.depth > DEEPEST || u64::from(self.depth) * transfer > 8 * LARGEST {
            return wrong(format!("a depth of {}", self.depth), "at most 1024, and 8 GiB of buffers a rank");
        }
        if self.depth > 1 && (self.fsync == Fsync::Each || !self.faults.is_empty()) {
            return wrong("fsync of each write, or faults, at a depth above 1".into(), "a depth of 1");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_said_before_the_start() {
        let good = Parameters::default();
        assert_eq!((good.check(), good.transfers()), (Ok(()), 1024));
        let cases = [
            (Parameters { ranks: 0, ..good.clone() }, "at least 1"),
            (Parameters { transfer_bytes: 0, ..good.clone() }, "1 GiB"),
            (Parameters { transfer_bytes: 3, ..good.clone() }, "multiple"),
            (Parameters { segments: u64::MAX, ..good.clone() }, "smaller"),
            (Parameters { depth: 1025, ..good.clone() }, "1024"),
            (Parameters { depth: 2, fsync: Fsync::Each, ..good.clone() }, "depth of 1"),
        ];
        for (parameters, words) in cases {
            let error = parameters.check().unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn every_ranks_bytes_have_one_reader() {
        for (ranks, shift) in [(1, 1), (4, 1), (5, 7), (6, 0)] {
            let parameters = Parameters { ranks, shift, ..Parameters::default() };
            let mut read: Vec<u32> = (0..ranks).map(|rank| parameters.reads_of(rank)).collect();
            read.sort_unstable();
            assert!(read.into_iter().eq(0..ranks));
        }
    }
}
