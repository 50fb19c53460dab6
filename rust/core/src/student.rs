//! Student's distribution.
//!
//! ```text
//! P(T < t) = I_x(nu / 2, 1 / 2) / 2    for t < 0,  x = nu / (nu + t^2)
//! ```
//!
//! `I` is the incomplete beta function: its continued fraction where that converges fast, else that of its
//! complement. Source: Abramowitz and Stegun 26.5.8, 26.7.1, 6.1.47; Lentz 1976 (continued fractions).

use std::f64::consts::PI;

const MOST_STEPS: u32 = 400;
const EXACT: f64 = 1e-15;
const TINY: f64 = 1e-300;
/// Argument from which on four terms of the series of the gamma functions' ratio are exact.
const LARGE: f64 = 20.0;

/// Share below `t` at `freedom` > 0 degrees. NaN stays NaN.
pub fn share(t: f64, freedom: f64) -> f64 {
    if t.is_nan() || freedom.is_nan() || freedom <= 0.0 {
        return f64::NAN;
    }
    let tail = tail(t.abs(), freedom);
    if t > 0.0 { 1.0 - tail } else { tail }
}

/// Quantile at a probability, 0 < p < 1.
pub fn quantile(probability: f64, freedom: f64) -> f64 {
    let rest = probability.min(1.0 - probability);
    if probability == 0.5 {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    while tail(high, freedom) > rest && high < 1e150 {
        (low, high) = (high, 4.0 * high);
    }
    loop {
        let middle = (low + high) / 2.0;
        if middle == low || middle == high {
            return middle.copysign(probability - 0.5);
        }
        if tail(middle, freedom) > rest {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// Share below `-t` for t >= 0.
fn tail(t: f64, nu: f64) -> f64 {
    if t == 0.0 {
        return 0.5;
    }
    if t.is_infinite() {
        return 0.0;
    }
    let a = nu / 2.0;
    let (log_x, log_rest) = (-(t * t / nu).ln_1p(), -(nu / t / t).ln_1p());
    let front = (a * log_x + 0.5 * log_rest - log_beta(a)).exp();
    let (x, rest) = (log_x.exp(), log_rest.exp());
    if x < (a + 1.0) / (a + 2.5) {
        front * fraction(a, 0.5, x) / a / 2.0
    } else {
        (1.0 - front * fraction(0.5, a, rest) / 0.5) / 2.0
    }
}

/// The logarithm of B(a, 1/2), by B(a, 1/2) = B(a + 1, 1/2) (a + 1/2) / a below `LARGE`.
fn log_beta(a: f64) -> f64 {
    let (mut b, mut ratio) = (a, 1.0);
    while b < LARGE {
        ratio *= (b + 0.5) / b;
        b += 1.0;
    }
    let series = 1.0 / (8.0 * b) - 1.0 / (192.0 * b.powi(3)) + 1.0 / (640.0 * b.powi(5))
        - 17.0 / (14336.0 * b.powi(7));
    0.5 * (PI / b).ln() + series + ratio.ln()
}

/// The continued fraction of the incomplete beta function.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    let (mut c, mut d) = (1.0, 1.0 / not_zero(1.0 - (a + b) * x / (a + 1.0)));
    let mut found = d;
    for step in 1..MOST_STEPS {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        for term in [even, odd] {
            d = 1.0 / not_zero(1.0 + term * d);
            c = not_zero(1.0 + term / c);
            found *= c * d;
        }
        if (c * d - 1.0).abs() <= EXACT {
            break;
        }
    }
    found
}

fn not_zero(value: f64) -> f64 {
    if value.abs() < TINY { TINY } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_degree_is_cauchy_and_two_have_a_closed_form() {
        for t in [-1e6, -3.0, -0.1, 0.0, 0.7, 2.0, 40.0_f64] {
            assert!((share(t, 1.0) - (0.5 + t.atan() / PI)).abs() < 1e-14);
            assert!((share(t, 2.0) - (0.5 + t / (2.0 * (2.0 + t * t).sqrt()))).abs() < 1e-14);
        }
    }

    #[test]
    fn a_quantile_is_the_inverse_of_the_share() {
        for freedom in [0.5, 1.0, 7.0, 250.0] {
            for p in [0.001, 0.2, 0.5, 0.975] {
                assert!((share(quantile(p, freedom), freedom) - p).abs() < 1e-13);
            }
        }
    }

    #[test]
    fn what_is_missing_stays_missing() {
        assert!(share(f64::NAN, 3.0).is_nan() && share(1.0, 0.0).is_nan());
        assert_eq!((share(f64::NEG_INFINITY, 3.0), share(f64::INFINITY, 3.0)), (0.0, 1.0));
    }
}
