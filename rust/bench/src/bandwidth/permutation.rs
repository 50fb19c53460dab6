//! A seeded random order of many numbers that takes no memory: a Feistel network, walked until it hits the range.

use iosonde_core::seed::Random;

const ROUNDS: usize = 4;

/// A bijection of `0..count`.
#[derive(Debug, Clone)]
pub struct Permutation {
    count: u64,
    half_bits: u32,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// One of `0..count`, which the randomness chooses.
    pub fn new(count: u64, random: &mut Random) -> Self {
        let bits = 64 - count.saturating_sub(1).leading_zeros();
        let keys = std::array::from_fn(|_| random.bits());
        Self { count, half_bits: bits.div_ceil(2).max(1), keys }
    }

    /// Where `index` goes; `index` below the count.
    #[inline]
    pub fn at(&self, index: u64) -> u64 {
        debug_assert!(index < self.count);
        let mut value = self.network(index);
        while value >= self.count {
            value = self.network(value);
        }
        value
    }

    #[inline]
    fn network(&self, value: u64) -> u64 {
        let mask = (1_u64 << self.half_bits) - 1;
        let (mut left, mut right) = (value >> self.half_bits, value & mask);
        for key in self.keys {
            let mixed = (right ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (left, right) = (right, left ^ (mixed ^ mixed >> 29) >> 7 & mask);
        }
        left << self.half_bits | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_once_and_in_another_order() {
        for count in [1, 2, 3, 7, 64, 1000, 65_537] {
            let order = Permutation::new(count, &mut Random::stream(7, "order"));
            let found: Vec<u64> = (0..count).map(|index| order.at(index)).collect();
            let mut sorted = found.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..count), "{count}");
            if count >= 64 {
                let other = Permutation::new(count, &mut Random::stream(8, "order"));
                assert!((0..count).any(|index| other.at(index) != found[index as usize]));
                let steps = found.windows(2).filter(|pair| pair[1] == pair[0] + 1).count();
                assert!((steps as u64) < count / 16, "{steps} of {count} follow each other");
            }
        }
    }
}
