//! Seeded randomness: every random choice of a run derives from one number that is stored with its samples.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A reproducible stream of random numbers.
#[derive(Debug, Clone)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// The stream `name` of a run's seed; different names give unrelated streams.
    pub fn stream(seed: u64, name: &str) -> Self {
        let salt = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self(Xoshiro256PlusPlus::seed_from_u64(seed ^ salt))
    }
    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }
    /// Uniform in `0..bound`; zero when `bound` is zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }
    /// Uniform in `(0, 1]`.
    pub fn unit(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }
    /// Standard normal (Box-Muller).
    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }
    /// Fill a buffer with bytes that neither compress nor repeat.
    pub fn fill(&mut self, buffer: &mut [u8]) {
        self.0.fill_bytes(buffer);
    }
}

/// A fresh random seed, for runs without a given one.
pub fn fresh() -> u64 {
    let mut bytes = [0_u8; 8];
    // A short or failed read leaves zeros, which is a valid seed.
    let _ = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty());
    // Kept below 2^53 so that the number survives JSON readers that use doubles.
    u64::from_le_bytes(bytes) >> 11
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_repeat_and_differ() {
        let take = |name: &str| (0..8).map(|_| Random::stream(7, name).bits()).collect::<Vec<_>>();
        assert_eq!(take("offsets"), take("offsets"));
        assert_ne!(take("offsets"), take("contents"));
    }

    #[test]
    fn below_covers_its_range_evenly() {
        let mut random = Random::stream(1, "below");
        let mut seen = [0_u32; 10];
        for _ in 0..10_000 {
            seen[random.below(10) as usize] += 1;
        }
        assert!(seen.iter().all(|&n| (850..1150).contains(&n)), "{seen:?}");
    }

    #[test]
    fn filled_buffers_do_not_compress() {
        let mut buffer = vec![0_u8; 1 << 16];
        Random::stream(3, "fill").fill(&mut buffer);
        let mut counts = [0_f64; 256];
        for &byte in &buffer {
            counts[usize::from(byte)] += 1.0;
        }
        let n = buffer.len() as f64;
        let entropy: f64 = counts.iter().filter(|&&c| c > 0.0).map(|c| -(c / n) * (c / n).log2()).sum();
        assert!(entropy > 7.98, "{entropy} bits per byte");
    }
}
