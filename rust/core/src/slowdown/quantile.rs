//! Quantiles by nearest rank and their order-statistic intervals.
//!
//! Of n values in ascending order the q quantile is `x[ceil(q n)]` (1-based). Its 95 % interval is
//! `x[l] .. x[u]` with `l = max{l : P(B <= l-1) <= 0.025}` and `u = min{u : P(B <= u-1) >= 0.975}`,
//! `B ~ Binomial(n, q)`. It holds for any distribution (Hoeffding 1956). Below the smallest n for which both
//! ends exist there is no number at all.

/// Probability left out at each end.
const TAIL: f64 = 0.025;
/// Standard deviations of a normal distribution beyond which so much lies on either side.
const NORMAL_95: f64 = 1.96;

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
    let Bounds { lower, point, upper } = bounds(n, q);
    (lower >= 1 && upper >= 1).then_some(Ranks { lower, point, upper })
}

/// 1-based ranks of a quantile and of the ends of its 95 % interval; an end is 0 if n is too small for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Lower end, or 0.
    pub lower: usize,
    /// The quantile itself.
    pub point: usize,
    /// Upper end, or 0.
    pub upper: usize,
}

/// Ranks of the q quantile of n values, 0 < q < 1; all 0 for no values.
pub fn bounds(n: usize, q: f64) -> Bounds {
    if n == 0 {
        return Bounds { lower: 0, point: 0, upper: 0 };
    }
    let mut cumulative = Binomial::new(n, q);
    let mut lower = cumulative.first();
    // P(B <= l-1) <= TAIL while the cumulative at l-1 stays below it.
    while cumulative.at(lower) <= TAIL {
        lower += 1;
    }
    let mut upper = lower + 1;
    while cumulative.at(upper - 1) < 1.0 - TAIL {
        upper += 1;
    }
    let point = ((q * n as f64).ceil() as usize).clamp(1, n);
    Bounds { lower, point, upper: if upper <= n { upper } else { 0 } }
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

/// Cumulative binomial probabilities, for ascending arguments.
struct Binomial {
    n: usize,
    odds: f64,
    term: f64,
    first: usize,
    k: usize,
    sum: f64,
}

impl Binomial {
    fn new(n: usize, q: f64) -> Self {
        // Nine standard deviations below the mean lies less than 1e-18.
        let mean = n as f64 * q;
        let first = (mean - 9.0 * (mean * (1.0 - q)).sqrt() - 1.0).max(0.0) as usize;
        if first == 0 {
            let term = (n as f64 * (1.0 - q).ln()).exp();
            return Self { n, odds: q / (1.0 - q), term, first, k: first, sum: term };
        }
        let ways = ln_factorial(n) - ln_factorial(first) - ln_factorial(n - first);
        let term = (ways + first as f64 * q.ln() + (n - first) as f64 * (1.0 - q).ln()).exp();
        Self { n, odds: q / (1.0 - q), term, first, k: first, sum: term }
    }
    /// Least k with a relevant probability.
    fn first(&self) -> usize {
        self.first
    }
    /// P(B <= k).
    fn at(&mut self, k: usize) -> f64 {
        while self.k < k && self.k < self.n {
            self.term *= (self.n - self.k) as f64 / (self.k + 1) as f64 * self.odds;
            self.k += 1;
            self.sum += self.term;
        }
        if k >= self.n { 1.0 } else { self.sum }
    }
}

/// ln n!, by Stirling's series from 10 on (error below 1e-9).
fn ln_factorial(n: usize) -> f64 {
    if n < 10 {
        return (2..=n).map(|k| k as f64).product::<f64>().ln();
    }
    let x = n as f64;
    let series = 1.0 / (12.0 * x) - 1.0 / (360.0 * x.powi(3)) + 1.0 / (1260.0 * x.powi(5));
    x * x.ln() - x + 0.5 * (std::f64::consts::TAU * x).ln() + series
}

/// The 95 % interval of a share of `hits` in `n` (Clopper and Pearson 1934); none for n = 0.
pub fn share_interval(hits: u64, n: u64) -> Option<(f64, f64)> {
    if n == 0 || hits > n {
        return None;
    }
    let (hits, n) = (hits as usize, n as usize);
    // Both ends are where a cumulative probability, falling in p, meets a limit.
    let meet = |k: usize, limit: f64| {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let p = (low + high) / 2.0;
            let mut binomial = Binomial::new(n, p);
            if k < binomial.first() || binomial.at(k) < limit { high = p } else { low = p }
        }
        (low + high) / 2.0
    };
    let lower = if hits == 0 { 0.0 } else { meet(hits - 1, 1.0 - TAIL) };
    let upper = if hits == n {
        1.0
    } else if hits == 0 {
        1.0 - TAIL.powf(1.0 / n as f64)
    } else {
        meet(hits, TAIL)
    };
    Some((lower, upper))
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
    /// Number of values behind it.
    pub n: usize,
}

impl Estimate {
    /// The interval at least as wide as that of a standard error of the logarithm.
    #[must_use]
    pub fn at_least(self, error: f64) -> Self {
        let by = (NORMAL_95 * error).exp();
        Self { lower: self.lower.min(self.value / by), upper: self.upper.max(self.value * by), ..self }
    }
}

/// The q quantile of ascending values.
pub fn of_sorted(sorted: &[i64], q: f64) -> Option<Estimate> {
    let ranks = ranks(sorted.len(), q)?;
    let at = |rank: usize| sorted[rank - 1] as f64;
    Some(Estimate { value: at(ranks.point), lower: at(ranks.lower), upper: at(ranks.upper), n: sorted.len() })
}

/// Quantiles stored for a window.
pub const WINDOW_QUANTILES: [f64; 6] = [0.25, 0.5, 0.75, 0.9, 0.95, 0.99];

/// Statistics of one window of service times.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowStatistics {
    /// Number of latencies.
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
    /// Statistics of latencies in any order; sorts them.
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

/// The q quantile by nearest rank of the finite values; 0 of nothing.
pub fn nearest_rank(mut values: Vec<f64>, q: f64) -> f64 {
    values.retain(|value| value.is_finite());
    let rank = ((q * values.len() as f64).ceil() as usize).max(1);
    if rank > values.len() { 0.0 } else { *values.select_nth_unstable_by(rank - 1, f64::total_cmp).1 }
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
    fn one_sided_ends_have_smaller_minimum_counts() {
        for (q, n) in [(0.95, 72), (0.9, 36), (0.99, 368)] {
            assert!(bounds(n, q).upper > 0 && bounds(n - 1, q).upper == 0, "q = {q}");
            assert!(bounds(2, q).lower >= 1, "q = {q}");
        }
    }

    #[test]
    fn shares_match_published_intervals() {
        // Clopper-Pearson, as in SciPy's binomtest(...).proportion_ci().
        let table = [
            (0, 10, 0.0, 0.308_497),
            (1, 10, 0.002_529, 0.445_016),
            (5, 10, 0.187_086, 0.812_914),
            (10, 10, 0.691_503, 1.0),
            (6, 600, 0.003_678_416, 0.021_637_956),
        ];
        for (hits, n, lower, upper) in table {
            let found = share_interval(hits, n).unwrap();
            assert!((found.0 - lower).abs() < 2e-6, "{hits} of {n}: {found:?}");
            assert!((found.1 - upper).abs() < 2e-6, "{hits} of {n}: {found:?}");
        }
        assert_eq!(share_interval(0, 0), None);
    }

    #[test]
    fn an_interval_is_widened_and_never_narrowed() {
        let found = Estimate { value: 4.0, lower: 3.9, upper: 9.0, n: 60 };
        let wide = found.at_least(0.1);
        assert!((wide.lower - 4.0 * (-0.196_f64).exp()).abs() < 1e-9, "{wide:?}");
        assert_eq!((wide.value, wide.upper, wide.n), (4.0, 9.0, 60));
        assert_eq!(found.at_least(0.0).lower, 3.9);
    }

    #[test]
    fn no_interval_no_number() {
        assert_eq!(of_sorted(&[1, 2, 3, 4, 5], 0.5), None);
        for q in [0.0, 1.0, -1.0, f64::NAN] {
            assert_eq!(ranks(1000, q), None);
        }
    }
}
