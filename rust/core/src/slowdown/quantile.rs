//! Quantiles by nearest rank and their order-statistic intervals.
//!
//! Of n values in ascending order the q quantile is `x[ceil(q n)]` (1-based). Its 95 % interval is
//! `x[l] .. x[u]` with `l = max{l : P(B <= l-1) <= 0.025}` and `u = min{u : P(B <= u-1) >= 0.975}`,
//! `B ~ Binomial(n, q)`. It holds for any distribution (Hoeffding 1956). Below the smallest n for which both
//! ends exist there is no number at all.

/// Chance left out at each end.
const TAIL: f64 = 0.025;

/// 1-based ranks of a quantile and of its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ranks {
    /// Lower end.
    pub lower: usize,
    /// The quantile itself.
    pub point: usize,
    /// Upper end.
    pub upper: usize,
}

/// Ranks of the q quantile of n values, or none when n is too small for an interval.
pub fn ranks(n: usize, q: f64) -> Option<Ranks> {
    if !(q > 0.0 && q < 1.0) || n < minimum_count(q) {
        return None;
    }
    let mut cumulative = Binomial::new(n, q);
    let mut lower = 0;
    // P(B <= l-1) <= TAIL while the cumulative at l-1 stays below it.
    while cumulative.at(lower) <= TAIL {
        lower += 1;
    }
    let mut upper = lower + 1;
    while cumulative.at(upper - 1) < 1.0 - TAIL {
        upper += 1;
    }
    let point = ((q * n as f64).ceil() as usize).clamp(1, n);
    (lower >= 1 && upper <= n).then_some(Ranks { lower, point, upper })
}

/// The smallest n with a two-sided 95 % interval for the q quantile: 6 for the median, 72 for q = 0.95.
/// For a q outside (0, 1) there is none: `usize::MAX`.
pub fn minimum_count(q: f64) -> usize {
    if !(q > 0.0 && q < 1.0) {
        return usize::MAX;
    }
    // Both ends exist when the smallest and the largest value may each be one: (1-q)^n and q^n below the tail.
    let needed = |p: f64| (TAIL.ln() / p.ln()).ceil() as usize;
    needed(q).max(needed(1.0 - q))
}

/// Cumulative binomial probabilities, asked for in ascending order.
struct Binomial {
    n: usize,
    q: f64,
    ln_term: f64,
    k: usize,
    sum: f64,
}

impl Binomial {
    fn new(n: usize, q: f64) -> Self {
        let ln_term = n as f64 * (1.0 - q).ln();
        Self { n, q, ln_term, k: 0, sum: ln_term.exp() }
    }
    /// P(B <= k).
    fn at(&mut self, k: usize) -> f64 {
        while self.k < k && self.k < self.n {
            let odds = (self.n - self.k) as f64 / (self.k + 1) as f64 * self.q / (1.0 - self.q);
            self.ln_term += odds.ln();
            self.k += 1;
            self.sum += self.ln_term.exp();
        }
        if k >= self.n { 1.0 } else { self.sum }
    }
}

/// A value with the ends of its interval and the number of values behind it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// Lower end of the 95 % interval.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
    /// How many values it rests on.
    pub n: usize,
}

/// The q quantile of ascending values.
pub fn of_sorted(sorted: &[i64], q: f64) -> Option<Estimate> {
    let ranks = ranks(sorted.len(), q)?;
    let at = |rank: usize| sorted[rank - 1] as f64;
    Some(Estimate { value: at(ranks.point), lower: at(ranks.lower), upper: at(ranks.upper), n: sorted.len() })
}

/// The quantiles that a window keeps.
pub const WINDOW_QUANTILES: [f64; 6] = [0.25, 0.5, 0.75, 0.9, 0.95, 0.99];

/// Statistics of one window of service latencies.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowStatistics {
    /// How many latencies.
    pub n_seen: usize,
    /// Arithmetic mean; none when empty.
    pub mean_ns: Option<f64>,
    /// Smallest; none when empty.
    pub min_ns: Option<i64>,
    /// In the order of [`WINDOW_QUANTILES`]; none below the quantile's minimum count.
    pub quantiles: [Option<Estimate>; 6],
    /// Largest; none when empty.
    pub max_ns: Option<i64>,
}

impl WindowStatistics {
    /// Of latencies in any order; sorts them.
    pub fn of(service_ns: &mut [i64]) -> Self {
        service_ns.sort_unstable();
        let n_seen = service_ns.len();
        let sum: f64 = service_ns.iter().map(|&ns| ns as f64).sum();
        Self {
            n_seen,
            mean_ns: (n_seen > 0).then(|| sum / n_seen as f64),
            min_ns: service_ns.first().copied(),
            quantiles: WINDOW_QUANTILES.map(|q| of_sorted(service_ns, q)),
            max_ns: service_ns.last().copied(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minimum_counts_are_the_published_ones() {
        let table = [(0.5, 6), (0.75, 13), (0.9, 36), (0.95, 72), (0.99, 368), (0.999, 3_688)];
        for (q, n) in table {
            assert_eq!(minimum_count(q), n, "q = {q}");
            assert!(ranks(n, q).is_some() && ranks(n - 1, q).is_none(), "q = {q}");
        }
    }

    #[test]
    fn median_ranks_match_published_tables() {
        // Conover, Practical Nonparametric Statistics, table of 95 % intervals for the median.
        for (n, lower, upper) in [(6, 1, 6), (8, 1, 8), (10, 2, 9), (20, 6, 15), (50, 18, 33), (100, 40, 61)]
        {
            let ranks = ranks(n, 0.5).unwrap();
            assert_eq!((ranks.lower, ranks.upper), (lower, upper), "n = {n}");
            assert_eq!(ranks.point, n.div_ceil(2));
        }
    }

    #[test]
    fn large_counts_neither_overflow_nor_stall() {
        let ranks = ranks(1_000_000, 0.5).unwrap();
        assert!(ranks.lower < 500_000 && ranks.upper > 500_000);
        assert!((500_000 - ranks.lower) as f64 - 980.0 < 2.0);
    }

    #[test]
    fn no_interval_no_number() {
        assert_eq!(of_sorted(&[1, 2, 3, 4, 5], 0.5), None);
        for q in [0.0, 1.0, -1.0, f64::NAN] {
            assert_eq!(ranks(1000, q), None);
        }
    }
}
