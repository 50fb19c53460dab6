//! Bytes per bin of time. Bins begin at multiples of their width since the Unix epoch, so those of all ranks add up.

const DAY_NS: u64 = 86_400_000_000_000;

/// The series of one rank in one phase; takes no memory after it was made.
#[derive(Debug, Default)]
pub struct Bins {
    width_ns: u64,
    first: i64,
    at: usize,
    /// Monotonic end of the bin `at`.
    end_ns: u64,
    values: Vec<u64>,
    left_out: u64,
}

impl Bins {
    /// Room for a day.
    pub fn new(width_ns: u64) -> Self {
        // Zeroed pages come from the kernel when they are touched first: one of them every 512 bins.
        Self { width_ns, values: vec![0; (DAY_NS / width_ns).max(1) as usize], ..Self::default() }
    }

    /// Begin at an instant, of which both clocks are known.
    pub fn begin(&mut self, monotonic_ns: u64, utc_ns: i64) {
        let used = self.used();
        self.values[..used].fill(0);
        let width = self.width_ns as i64;
        self.first = utc_ns.div_euclid(width);
        self.end_ns = monotonic_ns + (width - utc_ns.rem_euclid(width)) as u64;
        (self.at, self.left_out) = (0, 0);
    }

    /// Bytes of a transfer that ended now.
    #[inline]
    pub fn credit(&mut self, now_ns: u64, bytes: u64) {
        while now_ns >= self.end_ns {
            self.end_ns += self.width_ns;
            self.at += 1;
        }
        match self.values.get_mut(self.at) {
            Some(value) => *value += bytes,
            None => self.left_out += bytes,
        }
    }

    /// Number of the first bin since the Unix epoch.
    pub fn first(&self) -> i64 {
        self.first
    }

    /// Bytes after the last bin there is room for.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    fn used(&self) -> usize {
        (self.at + 1).min(self.values.len())
    }

    /// Bytes of every bin from the first on.
    pub fn values(&self) -> &[u64] {
        &self.values[..self.used()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_lie_in_the_bin_of_their_instant() {
        let mut bins = Bins::new(100);
        bins.begin(1_000, 5_070);
        for (now, bytes) in [(1_000, 1), (1_029, 2), (1_030, 4), (1_129, 8), (1_530, 16)] {
            bins.credit(now, bytes);
        }
        assert_eq!((bins.first(), bins.values()), (50, &[3, 12, 0, 0, 0, 0, 16][..]));
        bins.begin(2_000, -30);
        bins.credit(2_029, 1);
        bins.credit(2_030, 2);
        assert_eq!((bins.first(), bins.values(), bins.left_out()), (-1, &[1, 2][..], 0));
        bins.credit(2_000 + 2 * DAY_NS, 5);
        assert_eq!(bins.left_out(), 5);
    }
}
