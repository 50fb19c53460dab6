//! Compact code of histograms, densest at typical counts: a baseline's record of an interval.
//!
//! Buckets that are not empty, the slowest first, each as the gap to the one before and its count less one, as exponential
//! Golomb codes (Teuhola 1978) whose order is the bit length of the number before. An interval of 600 lognormal latencies takes
//! 60 bytes, one of 6 000 takes 110; the end follows from how many latencies there are.

use crate::slowdown::buckets::BUCKETS;

/// Order of the first gap's code: latencies of milliseconds lie hundreds of buckets below the highest.
const FIRST_ORDER: u32 = 9;
/// Zeros that mark an invalid number.
const MOST_ZEROS: u32 = 33;

/// Code (bucket, count) pairs, descending in bucket, counts above 0.
pub(super) fn encode(descending: impl Iterator<Item = (u16, u32)>, bytes: &mut Vec<u8>) {
    let mut writer = Writer { bytes, held: 0, bits: 0 };
    let (mut next, mut gap_order, mut count_order) = (BUCKETS as u32, FIRST_ORDER, 0);
    for (bucket, count) in descending {
        let gap = next - 1 - u32::from(bucket);
        writer.number(u64::from(gap), gap_order);
        writer.number(u64::from(count - 1), count_order);
        (next, gap_order, count_order) = (u32::from(bucket), length(gap), length(count - 1));
    }
    writer.end();
}

/// (bucket, count) of a code, descending; ends early if it is damaged.
#[derive(Debug, Clone)]
pub(super) struct Counts<'a> {
    bytes: &'a [u8],
    at: usize,
    left: u64,
    next: u32,
    gap_order: u32,
    count_order: u32,
}

impl<'a> Counts<'a> {
    /// Decode a code of `total` latencies.
    pub(super) fn of(bytes: &'a [u8], total: u64) -> Self {
        Self { bytes, at: 0, left: total, next: BUCKETS as u32, gap_order: FIRST_ORDER, count_order: 0 }
    }

    /// At least the next 57 bits, zeros after the end.
    fn window(&self, at: usize) -> u64 {
        let from = at / 8;
        let eight = match self.bytes.get(from..from + 8) {
            Some(eight) => eight.try_into().unwrap_or([0; 8]),
            None => {
                let mut eight = [0; 8];
                let rest = self.bytes.get(from..).unwrap_or_default();
                eight[..rest.len()].copy_from_slice(rest);
                eight
            }
        };
        u64::from_be_bytes(eight) << (at % 8)
    }

    /// A gap and a count: both are nearly always in one window.
    #[inline]
    fn pair(&mut self) -> Option<(u64, u64)> {
        let window = self.window(self.at);
        let gap_zeros = window.leading_zeros();
        let gap_bits = 2 * gap_zeros + 1 + self.gap_order;
        if gap_bits <= 30 {
            let rest = window << gap_bits;
            let zeros = rest.leading_zeros();
            let bits = 2 * zeros + 1 + self.count_order;
            if gap_bits + bits <= 57 {
                self.at += (gap_bits + bits) as usize;
                let gap = (window << gap_zeros) >> (64 - (gap_bits - gap_zeros));
                let count = (rest << zeros) >> (64 - (bits - zeros));
                return Some((gap - (1 << self.gap_order), count - (1 << self.count_order)));
            }
        }
        Some((self.number(self.gap_order)?, self.number(self.count_order)?))
    }

    fn number(&mut self, order: u32) -> Option<u64> {
        let window = self.window(self.at);
        let zeros = window.leading_zeros();
        if zeros > MOST_ZEROS || order > MOST_ZEROS {
            return None;
        }
        let (high, low) = (zeros + 1, order);
        if zeros + high + low <= 56 {
            self.at += (zeros + high + low) as usize;
            let both = (window << zeros) >> (64 - high - low);
            return Some(both - (1 << low));
        }
        self.at += zeros as usize;
        let first = self.window(self.at) >> (64 - high);
        self.at += high as usize;
        let rest = if low == 0 { 0 } else { self.window(self.at) >> (64 - low) };
        self.at += low as usize;
        Some(((first - 1) << low) | rest)
    }
}

impl Iterator for Counts<'_> {
    type Item = (u16, u32);

    fn next(&mut self) -> Option<(u16, u32)> {
        if self.left == 0 {
            return None;
        }
        let (gap, less) = self.pair()?;
        let (gap, less) = (u32::try_from(gap).ok()?, u32::try_from(less).ok()?);
        let (bucket, count) = (self.next.checked_sub(1)?.checked_sub(gap)?, less.checked_add(1)?);
        self.left = self.left.checked_sub(u64::from(count))?;
        (self.next, self.gap_order, self.count_order) = (bucket, length(gap), length(less));
        Some((bucket as u16, count))
    }
}

/// Number of bits of a number.
fn length(number: u32) -> u32 {
    u32::BITS - number.leading_zeros()
}

struct Writer<'a> {
    bytes: &'a mut Vec<u8>,
    held: u64,
    bits: u32,
}

impl Writer<'_> {
    #[inline]
    fn number(&mut self, number: u64, order: u32) {
        // Without its zeros a code is the number and a one before its lowest `order` bits' place.
        let value = number + (1 << order);
        let digits = u64::BITS - value.leading_zeros();
        self.put(0, digits - 1 - order);
        if digits > 32 {
            self.put(value >> 32, digits - 32);
            self.put(value & 0xffff_ffff, 32);
        } else {
            self.put(value, digits);
        }
    }
    /// Append the lowest `bits` bits of a value without others, at most 32 and 32 zeros.
    fn put(&mut self, value: u64, bits: u32) {
        if bits > 32 {
            self.put(0, bits - 32);
            return self.put(value, 32);
        }
        self.held = (self.held << bits) | value;
        self.bits += bits;
        if self.bits >= 32 {
            self.bits -= 32;
            self.bytes.extend_from_slice(&((self.held >> self.bits) as u32).to_be_bytes());
            self.held &= (1 << self.bits) - 1;
        }
    }
    fn end(&mut self) {
        let left = (self.held << (32 - self.bits)) as u32;
        self.bytes.extend_from_slice(&left.to_be_bytes()[..self.bits.div_ceil(8) as usize]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Random;

    fn round_trip(descending: &[(u16, u32)]) -> usize {
        let mut bytes = Vec::new();
        encode(descending.iter().copied(), &mut bytes);
        let total = descending.iter().map(|&(_, count)| u64::from(count)).sum();
        assert!(Counts::of(&bytes, total).eq(descending.iter().copied()), "{descending:?}");
        bytes.len()
    }

    #[test]
    fn every_histogram_comes_back() {
        let mut random = Random::stream(1, "code");
        round_trip(&[]);
        round_trip(&[(BUCKETS as u16 - 1, u32::MAX), (1, 1), (0, u32::MAX)]);
        let alternating: Vec<(u16, u32)> =
            (0..BUCKETS as u16).rev().map(|b| (b, if b % 2 == 0 { 1 } else { u32::MAX })).collect();
        round_trip(&alternating);
        for _ in 0..500 {
            let share = random.unit();
            let scale = (random.unit() * 20.0).exp();
            let all: Vec<(u16, u32)> = (0..BUCKETS as u16)
                .rev()
                .filter(|_| random.unit() < share)
                .collect::<Vec<u16>>()
                .into_iter()
                .map(|bucket| (bucket, 1 + (scale * random.unit()) as u32))
                .collect();
            round_trip(&all);
        }
    }

    #[test]
    fn damage_ends_early_and_never_panics() {
        let mut random = Random::stream(2, "code");
        for _ in 0..20_000 {
            let mut bytes = vec![0; random.below(40) as usize];
            random.fill(&mut bytes);
            let total = u64::from(random.below(5_000) as u32);
            let found: Vec<(u16, u32)> = Counts::of(&bytes, total).collect();
            assert!(found.windows(2).all(|pair| pair[0].0 > pair[1].0));
            assert!(found.iter().map(|&(_, n)| u64::from(n)).sum::<u64>() <= total);
        }
    }
}
