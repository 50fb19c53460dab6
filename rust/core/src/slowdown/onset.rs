//! Onset of slowness, to the sample: the last zero of a cumulative sum.
//!
//! With `r_i = ln(service_i / baseline)` and `c = ln(slowdown) / 2`, half-way between usual and slow, the sum
//! `S_i = max(0, S_(i-1) + clip(r_i - c))` stays at zero while it is as usual and grows while it is slow. The
//! first sample after its last zero began the slow stretch that the last sample belongs to (Page 1954).
//! Each term is clipped to `[-c, c]`, so that one straggler of 100 s weighs no more than one slow sample.

/// Index of the first sample of the slow span to which the last sample belongs; none if it belongs to none.
///
/// `slowdown` is the factor found, above 1; `baseline_ns` what is usual, above 0.
pub fn onset(service_ns: &[i64], baseline_ns: f64, slowdown: f64) -> Option<usize> {
    let positive = baseline_ns > 0.0 && slowdown > 1.0;
    if !positive {
        return None;
    }
    let c = slowdown.ln() / 2.0;
    let mut sum = 0.0_f64;
    let mut began = None;
    for (i, &service) in service_ns.iter().enumerate() {
        let r = (service.max(1) as f64 / baseline_ns).ln();
        sum = (sum + (r - c).clamp(-c, c)).max(0.0);
        if sum == 0.0 {
            began = None;
        } else if began.is_none() {
            began = Some(i);
        }
    }
    began
}

/// The same for losses: index of the first operation of the lossy span to which the last one belongs.
///
/// Each adds the logarithm of how much likelier it is where half of the operations are lost than where one in a hundred is.
pub fn onset_of_losses(lost: impl Iterator<Item = bool>) -> Option<usize> {
    let (rise, fall) = ((0.5_f64 / 0.01).ln(), (0.5_f64 / 0.99).ln());
    let (mut sum, mut began) = (0.0_f64, None);
    for (i, lost) in lost.enumerate() {
        sum = (sum + if lost { rise } else { fall }).max(0.0);
        if sum == 0.0 {
            began = None;
        } else if began.is_none() {
            began = Some(i);
        }
    }
    began
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Random;

    fn lognormal(random: &mut Random, median: f64) -> i64 {
        (median * (0.4 * random.normal()).exp()) as i64
    }

    #[test]
    fn finds_a_tripling_within_a_few_samples() {
        let mut random = Random::stream(9, "onset");
        let mut errors = Vec::new();
        for _ in 0..200 {
            let series: Vec<i64> =
                (0..240).map(|i| lognormal(&mut random, if i < 150 { 1e6 } else { 3e6 })).collect();
            errors.push((onset(&series, 1e6, 3.0).unwrap() as i64 - 150).abs());
        }
        errors.sort_unstable();
        assert!(errors[100] <= 1 && errors[190] <= 5, "median {}, p95 {}", errors[100], errors[190]);
    }

    #[test]
    fn one_straggler_is_no_onset() {
        let mut series = vec![1_000_000_i64; 100];
        series[50] = 100_000_000_000;
        assert_eq!(onset(&series, 1e6, 3.0), None);
    }

    #[test]
    fn losses_begin_with_the_first_of_them_and_one_long_ago_is_not_it() {
        for (share, off) in [(1.0, 0), (0.4, 20)] {
            let mut random = Random::stream(10, "losses");
            for _ in 0..100 {
                let lost: Vec<bool> =
                    (0..300).map(|i| i == 200 || (i >= 240 && random.unit() < share)).collect();
                let found = onset_of_losses(lost.into_iter()).unwrap() as i64;
                assert!((found - 240).abs() <= off, "{share}: {found}");
            }
        }
        assert_eq!(onset_of_losses([true, false, false, false, false, false, false].into_iter()), None);
    }

    #[test]
    fn nonsense_is_none() {
        assert_eq!(onset(&[], 1.0, 2.0), None);
        assert_eq!(onset(&[5], 0.0, 2.0), None);
        assert_eq!(onset(&[5], 1.0, 1.0), None);
        assert_eq!(onset(&[5], f64::NAN, f64::NAN), None);
    }
}
