//! At which offset the transfers of a rank lie, and in which order they come.

use super::parameters::{Layout, Parameters};
use super::permutation::Permutation;
use iosonde_core::seed::Random;

/// The transfers of one rank's bytes in one phase.
#[derive(Debug, Clone)]
pub struct Transfers {
    whose: u64,
    ranks: u64,
    layout: Layout,
    transfer: u64,
    per_block: u64,
    count: u64,
    written: Option<Permutation>,
    read: Option<Permutation>,
}

impl Transfers {
    /// What rank `whose` writes; in a random order where parameters ask for one.
    pub fn written(parameters: &Parameters, whose: u32, repetition: u32) -> Self {
        let count = parameters.transfers();
        let written = parameters.random_order.then(|| {
            let name = format!("order of rank {whose}, {repetition}");
            Permutation::new(count, &mut Random::stream(parameters.seed, &name))
        });
        Self {
            whose: u64::from(whose),
            ranks: u64::from(parameters.ranks),
            layout: parameters.layout,
            transfer: parameters.transfer_bytes,
            per_block: parameters.block_bytes / parameters.transfer_bytes,
            count,
            written,
            read: None,
        }
    }

    /// The first `count` of these, to be read back by `reader`.
    pub fn read_back(mut self, count: u64, parameters: &Parameters, reader: u32, repetition: u32) -> Self {
        self.count = count.min(self.count);
        self.read = (parameters.random_order && self.count > 0).then(|| {
            let name = format!("order of reader {reader}, {repetition}");
            Permutation::new(self.count, &mut Random::stream(parameters.seed, &name))
        });
        self
    }

    /// How many.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The offset of the `index`-th in its file; `index` below the count.
    #[inline]
    pub fn offset(&self, index: u64) -> u64 {
        let index = self.read.as_ref().map_or(index, |order| order.at(index));
        let index = self.written.as_ref().map_or(index, |order| order.at(index));
        match self.layout {
            Layout::Own => index * self.transfer,
            Layout::Segmented => {
                let (segment, within) = (index / self.per_block, index % self.per_block);
                ((segment * self.ranks + self.whose) * self.per_block + within) * self.transfer
            }
            Layout::Strided => (index * self.ranks + self.whose) * self.transfer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ranks_of_a_shared_file_cover_it_once() {
        for layout in [Layout::Segmented, Layout::Strided] {
            for random_order in [false, true] {
                let parameters = Parameters {
                    ranks: 3,
                    layout,
                    transfer_bytes: 10,
                    block_bytes: 40,
                    segments: 5,
                    random_order,
                    ..Parameters::default()
                };
                let mut every: Vec<u64> = Vec::new();
                for rank in 0..3 {
                    let own = Transfers::written(&parameters, rank, 0);
                    every.extend((0..own.count()).map(|index| own.offset(index)));
                }
                every.sort_unstable();
                assert!(every.into_iter().eq((0..60).map(|block| block * 10)), "{layout:?}");
            }
        }
    }

    #[test]
    fn what_was_written_until_a_stop_is_what_is_read() {
        let parameters =
            Parameters { transfer_bytes: 10, block_bytes: 1000, random_order: true, ..Parameters::default() };
        let own = Transfers::written(&parameters, 0, 0);
        let mut written: Vec<u64> = (0..37).map(|index| own.offset(index)).collect();
        let back = own.read_back(37, &parameters, 1, 0);
        let mut read: Vec<u64> = (0..back.count()).map(|index| back.offset(index)).collect();
        assert_ne!(written, read);
        written.sort_unstable();
        read.sort_unstable();
        assert_eq!(written, read);
    }
}
