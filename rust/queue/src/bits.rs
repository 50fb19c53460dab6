//! Sets of clients: a bit each, so that they come out in their order.

/// A set of small numbers.
#[derive(Debug, Clone)]
pub struct Bits(Vec<u64>);

impl Bits {
    /// The empty set of numbers below `n`.
    pub fn new(n: usize) -> Self {
        Self(vec![0; n.div_ceil(64).max(1)])
    }
    #[inline]
    pub fn set(&mut self, place: u32) {
        self.0[place as usize / 64] |= 1 << (place % 64);
    }
    #[inline]
    pub fn clear(&mut self, place: u32) {
        self.0[place as usize / 64] &= !(1 << (place % 64));
    }
    #[inline]
    pub fn has(&self, place: u32) -> bool {
        self.0[place as usize / 64] >> (place % 64) & 1 == 1
    }
    #[inline]
    pub fn any(&self) -> bool {
        self.0.iter().any(|word| *word != 0)
    }
    /// Words of 64 numbers each.
    pub fn words(&self) -> usize {
        self.0.len()
    }
    #[inline]
    pub fn word(&self, place: usize) -> u64 {
        self.0[place]
    }
    /// Take a word out.
    #[inline]
    pub fn take_word(&mut self, place: usize) -> u64 {
        std::mem::take(&mut self.0[place])
    }
}
