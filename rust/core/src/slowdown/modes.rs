//! Cached and uncached reads: detection of two modes of latency, and the share of the fast one.
//!
//! A mixture of two normal distributions of `ln t` is fitted by expectation and maximisation to the histogram between its
//! quantiles .001 and .995. There are two modes if the Bayesian information criterion gains more than `10 ln n`,
//! `mu_2 - mu_1 > 2 (sigma_1 + sigma_2)`, and either holds at least 5 %.

use serde::{Deserialize, Serialize};

use super::buckets::value_ns;

/// Most latencies that count, so that a long history does not turn every wrinkle into a mode.
const MOST: f64 = 20_000.0;
/// Least number of latencies.
const LEAST: f64 = 200.0;
const ROUNDS: usize = 60;
/// Least share of either mode.
const LEAST_SHARE: f64 = 0.05;
/// Least gain of the criterion, in multiples of `ln n`.
const GAIN: f64 = 10.0;
/// Least distance of the means in sums of the deviations.
const APART: f64 = 2.0;
const NARROWEST: f64 = 0.02;
/// Share of outliers outside of the modes, spread evenly over 14 nats (shift fit).
const OUTLIERS: f64 = 0.001;
const NATS: f64 = 14.0;
const SHIFT_ROUNDS: usize = 15;
/// Least number of rows for a shift.
const SHIFT_LEAST: f64 = 60.0;

/// Two modes of latency.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Modes {
    /// Share of the fast mode.
    pub hit_share: f64,
    /// Mean of `ln ns` of the fast and the slow mode.
    pub mu: [f64; 2],
    /// Standard deviations.
    pub sigma: [f64; 2],
}

impl Modes {
    /// Latency between the modes, as many standard deviations from either mean: a hit is quicker, ns.
    pub fn between_ns(&self) -> f64 {
        let ([hit, miss], [narrow, wide]) = (self.mu, self.sigma);
        ((hit * wide + miss * narrow) / (narrow + wide)).exp()
    }
}

/// Shift of a window's modes relative to the usual ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// Share of the fast mode.
    pub hit_share: f64,
    /// Slowdown of the fast mode.
    pub hit: f64,
    /// Slowdown of the slow mode.
    pub miss: f64,
}

/// The two modes of a histogram; none if a single one fits as well.
pub fn modes(counts: impl Iterator<Item = (u16, u32)>) -> Option<Modes> {
    let points =
        trimmed(&counts.map(|(bucket, n)| (value_ns(bucket).ln(), f64::from(n))).collect::<Vec<_>>());
    let n: f64 = points.iter().map(|point| point.1).sum();
    if n < LEAST {
        return None;
    }
    let scale = (MOST / n).min(1.0);
    let (mean, deviation) = moments(&points, |_| 1.0);
    let one: f64 = points.iter().map(|&(x, w)| w * normal(x, mean, deviation).ln()).sum();
    let (found, two) = fit(&points, n);
    let n = n * scale;
    let gain = 2.0 * (two - one) * scale - 3.0 * n.ln();
    let apart = found.mu[1] - found.mu[0] > APART * (found.sigma[0] + found.sigma[1]);
    let share = found.hit_share.min(1.0 - found.hit_share) >= LEAST_SHARE;
    (gain > GAIN * n.ln() && apart && share).then_some(found)
}

/// Points between the quantiles .001 and .995, neighbours merged: their width is far below any mode's.
fn trimmed(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let n: f64 = points.iter().map(|point| point.1).sum();
    let (low, high) = (0.001 * n, 0.995 * n);
    let mut seen = 0.0;
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for &(x, w) in points {
        let inside = (seen + w).min(high) - f64::max(seen, low);
        seen += w;
        if inside <= 0.0 {
            continue;
        }
        match kept.last_mut() {
            Some(last) if x - last.0 < 0.06 => {
                let sum = last.1 + inside;
                *last = ((last.0 * last.1 + x * inside) / sum, sum);
            }
            _ => kept.push((x, inside)),
        }
    }
    kept
}

fn moments(points: &[(f64, f64)], weight: impl Fn(usize) -> f64) -> (f64, f64) {
    let (mut n, mut sum, mut squares) = (1e-12, 0.0, 0.0);
    for (i, &(x, w)) in points.iter().enumerate() {
        let w = w * weight(i);
        n += w;
        sum += w * x;
        squares += w * x * x;
    }
    let mean = sum / n;
    (mean, (squares / n - mean * mean).max(NARROWEST * NARROWEST).sqrt())
}

fn normal(x: f64, mean: f64, deviation: f64) -> f64 {
    let z = (x - mean) / deviation;
    ((-0.5 * z * z).exp() / (deviation * std::f64::consts::TAU.sqrt())).max(1e-300)
}

/// Expectation maximisation from several splits; the best fit and its log likelihood.
fn fit(points: &[(f64, f64)], n: f64) -> (Modes, f64) {
    let mut best = (Modes { hit_share: 1.0, mu: [0.0; 2], sigma: [1.0; 2] }, f64::NEG_INFINITY);
    for split in [0.1, 0.3, 0.5, 0.7, 0.9] {
        let found = climb(points, n, start(points, n * split));
        if found.1 > best.1 {
            best = found;
        }
    }
    let (mut modes, likelihood) = best;
    if modes.mu[0] > modes.mu[1] {
        modes.mu.swap(0, 1);
        modes.sigma.swap(0, 1);
        modes.hit_share = 1.0 - modes.hit_share;
    }
    (modes, likelihood)
}

fn start(points: &[(f64, f64)], below: f64) -> Modes {
    let mut seen = 0.0;
    let first = points.iter().take_while(|point| {
        seen += point.1;
        seen <= below
    });
    let at = first.count().clamp(1, points.len().saturating_sub(1).max(1));
    let (low, high) = points.split_at(at.min(points.len()));
    let n: f64 = points.iter().map(|point| point.1).sum();
    let (a, b) = (moments(low, |_| 1.0), moments(if high.is_empty() { low } else { high }, |_| 1.0));
    let share = low.iter().map(|point| point.1).sum::<f64>() / n;
    Modes { hit_share: share, mu: [a.0, b.0], sigma: [a.1, b.1] }
}

fn climb(points: &[(f64, f64)], n: f64, mut modes: Modes) -> (Modes, f64) {
    let mut first = vec![0.0; points.len()];
    let mut likelihood = f64::NEG_INFINITY;
    for _ in 0..ROUNDS {
        let before = likelihood;
        likelihood = 0.0;
        let mut hits = 0.0;
        for (place, &(x, w)) in first.iter_mut().zip(points) {
            let a = modes.hit_share * normal(x, modes.mu[0], modes.sigma[0]);
            let b = (1.0 - modes.hit_share) * normal(x, modes.mu[1], modes.sigma[1]);
            *place = a / (a + b);
            hits += w * *place;
            likelihood += w * (a + b).ln();
        }
        if (likelihood - before).abs() < 1e-7 * n {
            break;
        }
        let (a, b) = (moments(points, |i| first[i]), moments(points, |i| 1.0 - first[i]));
        modes = Modes { hit_share: (hits / n).clamp(1e-6, 1.0 - 1e-6), mu: [a.0, b.0], sigma: [a.1, b.1] };
    }
    (modes, likelihood)
}

/// Hit share and slowdown of either mode in one window's histogram (maximum a posteriori); none below 60 rows.
///
/// `ln t ~ h N(mu_1 + a, sigma_1) + (1 - h) N(mu_2 + b, sigma_2) + epsilon / 14 nats`, priors: two rows at the usual hit
/// share, `a ~ N(0, 2^2)`, `b ~ N(0, 3^2)`, and `-1 <= a <= mu_2 - mu_1 + b - 1` keeps the modes in order.
pub fn shift(counts: impl Iterator<Item = (u16, u32)>, usual: &Modes) -> Option<Shift> {
    let points: Vec<(f64, f64)> = counts.map(|(bucket, n)| (value_ns(bucket).ln(), f64::from(n))).collect();
    let n: f64 = points.iter().map(|point| point.1).sum();
    if n < SHIFT_LEAST {
        return None;
    }
    let starts = [(0.0, 0.0), (0.0, 1.1), (0.0, 2.3), (0.0, 4.6), (1.1, 1.1), (2.3, 2.3), (4.6, 4.6)];
    let found = starts.map(|start| shift_from(&points, n, usual, start));
    let best = found.into_iter().max_by(|one, other| one.1.total_cmp(&other.1))?;
    Some(best.0)
}

fn shift_from(points: &[(f64, f64)], n: f64, usual: &Modes, (mut a, mut b): (f64, f64)) -> (Shift, f64) {
    let mut h = usual.hit_share;
    let gap = usual.mu[1] - usual.mu[0];
    let precise = usual.sigma.map(|sigma| 1.0 / (sigma * sigma));
    let mut posterior = f64::NEG_INFINITY;
    for _ in 0..SHIFT_ROUNDS {
        let (mut hits, mut misses, mut up_a, mut up_b) = (0.0, 0.0, 0.0, 0.0);
        posterior = 2.0 * (usual.hit_share * h.ln() + (1.0 - usual.hit_share) * (1.0 - h).ln());
        posterior -= 0.5 * (a / 2.0).powi(2) + 0.5 * (b / 3.0).powi(2);
        for &(x, w) in points {
            let one = h * normal(x, usual.mu[0] + a, usual.sigma[0]);
            let other = (1.0 - h) * normal(x, usual.mu[1] + b, usual.sigma[1]);
            let sum = one + other + OUTLIERS / NATS;
            hits += w * one / sum;
            misses += w * other / sum;
            up_a += w * one / sum * (x - usual.mu[0]);
            up_b += w * other / sum * (x - usual.mu[1]);
            posterior += w * sum.ln();
        }
        h = ((hits + 2.0 * usual.hit_share) / (hits + misses + 2.0)).clamp(1e-6, 1.0 - 1e-6);
        b = up_b * precise[1] / (misses * precise[1] + 1.0 / 9.0);
        a = (up_a * precise[0] / (hits * precise[0] + 0.25)).min(gap + b - 1.0).max(-1.0);
    }
    debug_assert!(n > 0.0);
    (Shift { hit_share: h, hit: a.exp(), miss: b.exp() }, posterior)
}

#[cfg(test)]
mod tests {
    use super::super::buckets::Packed;
    use super::*;
    use crate::seed::Random;

    /// Reads: hits 0.1 ms (sigma .25) with probability h, misses 10 ms (sigma .5), times `factor`.
    fn reads(random: &mut Random, n: usize, h: f64, factor: (f64, f64)) -> Packed {
        let mut values: Vec<i64> = (0..n)
            .map(|_| {
                let hit = random.unit() < h;
                let (median, sigma, by) = if hit { (1e5, 0.25, factor.0) } else { (1e7, 0.5, factor.1) };
                (median * by * (sigma * random.normal()).exp()) as i64
            })
            .collect();
        values.sort_unstable();
        Packed::of_sorted(&values)
    }

    #[test]
    fn two_modes_are_found_and_one_is_not_split() {
        let mut random = Random::stream(11, "modes");
        for h in [0.06, 0.2, 0.45, 0.7, 0.9] {
            let found = modes(reads(&mut random, 20_000, h, (1.0, 1.0)).iter()).expect("two modes");
            assert!((found.hit_share - h).abs() < 0.01, "{found:?}");
            let off = [found.mu[0] - 1e5_f64.ln(), found.mu[1] - 1e7_f64.ln()];
            assert!(off.iter().all(|off| off.abs() < 0.07), "{h}: {off:?}");
        }
        for _ in 0..20 {
            assert_eq!(modes(reads(&mut random, 20_000, 0.0, (1.0, 1.0)).iter()), None);
        }
        assert_eq!(modes(reads(&mut random, 50, 0.5, (1.0, 1.0)).iter()), None);
    }

    #[test]
    fn a_shift_of_the_misses_is_told_from_fewer_hits() {
        let mut random = Random::stream(12, "modes");
        let usual = modes(reads(&mut random, 20_000, 0.45, (1.0, 1.0)).iter()).expect("two modes");
        for (h, factor) in [(0.45, (1.0, 10.0)), (0.45, (10.0, 10.0)), (0.15, (1.0, 1.0)), (0.7, (1.0, 3.0))]
        {
            let found = shift(reads(&mut random, 600, h, factor).iter(), &usual).expect("enough rows");
            assert!((found.hit_share - h).abs() < 0.06, "{h} {factor:?}: {found:?}");
            assert!((found.miss / factor.1).ln().abs() < 0.12, "{h} {factor:?}: {found:?}");
            assert!((found.hit / factor.0).ln().abs() < 0.12, "{h} {factor:?}: {found:?}");
        }
        assert_eq!(shift(reads(&mut random, 59, 0.5, (1.0, 1.0)).iter(), &usual), None);
    }
}
