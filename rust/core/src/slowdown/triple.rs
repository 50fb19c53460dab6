//! The slowdown of a window, three numbers: the typical operation, the slow tail, the lost share.
//!
//! `typ` is the median over a band of levels u of `Q_obs(u) / Q_exp(u)`, `tail` is `Q_obs(.95) / Q_exp(.95)` of the response
//! latency, `lost` the share of due operations that came late or not at all. Where latencies have two modes (cached and
//! uncached reads) the band lies above the hit share, so that it compares uncached reads with uncached reads.

use serde::{Deserialize, Serialize};

use super::buckets::Cumulative;
use super::levels::{LEVELS, Level, Levels, N};
use super::modes::Modes;
use super::null_rates::{MissRates, NullRates};
use super::quantile::{minimum_count, share_interval};
use super::rules::RULES;

/// Distance of the band of a bimodal op above its hit share ...
const ABOVE_HITS: f64 = 0.25;
/// ... and its latest start.
const LATEST_BAND: f64 = 0.80;
/// Rows below which the tail is that of the 0.90 quantile.
pub const TAIL_COUNT: u64 = 60;
const MINUTE_NS: f64 = 60e9;
/// Places of two levels, .15 and .85 ...
const APART: (usize, usize) = (2, 16);
/// ... that a normal distribution has so many standard deviations apart.
const DEVIATIONS_APART: f64 = 2.07;

/// Expected latencies of one op.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Expected {
    /// Service time at [`LEVELS`], ns.
    pub at: [f64; N],
    /// Its 0.99 quantile, ns.
    pub q99: f64,
    /// Two modes, if present.
    pub modes: Option<Modes>,
    /// Number of latencies behind it.
    pub n: u64,
    /// Latencies above which the detectors count an operation, ns: see [`super::rules`].
    #[serde(default)]
    pub limits_ns: [f64; 3],
    /// Usual frequency of that; none until enough is known.
    #[serde(default)]
    pub null: Option<NullRates>,
    /// Usual share of misses where there are two modes; none until enough is known. Computed anew when read.
    #[serde(skip)]
    pub misses: Option<MissRates>,
}

impl Expected {
    /// From counts by bucket; none without any.
    pub fn of(counts: impl Iterator<Item = (u16, u32)>, modes: Option<Modes>) -> Option<Self> {
        let cumulative = Cumulative::of(counts);
        let q99 = cumulative.quantile(0.99)?;
        let at = LEVELS.map(|level| cumulative.quantile(level).unwrap_or(q99));
        let middle = modes.map_or(at[N / 2], |modes| modes.mu[1].exp());
        let limits_ns =
            RULES.map(|rule| cumulative.quantile(rule.level).unwrap_or(q99).max(rule.least_ns(middle)));
        Some(Self { at, q99, modes, n: cumulative.total(), limits_ns, null: None, misses: None })
    }
    /// First level of the band.
    pub fn band_from(&self) -> usize {
        self.modes.map_or(0, |modes| band_from(modes.hit_share))
    }
    /// Standard error of `ln typ` of a stretch as on ordinary days, `min(e / sqrt(minutes), s)`: e is that of a
    /// minute, memory included, s the standard deviation of one operation. None: not known yet.
    pub fn error_over(&self, length_ns: i64) -> Option<f64> {
        let minutes = length_ns.max(1) as f64 / MINUTE_NS;
        let apart = (self.at[APART.1] / self.at[APART.0].max(1.0)).ln() / DEVIATIONS_APART;
        Some((self.null?.typ_error / minutes.sqrt()).min(apart))
    }
    /// The 0.95 quantile, ns.
    pub fn q95(&self) -> f64 {
        self.at[N - 1]
    }
    /// The median, ns.
    pub fn q50(&self) -> f64 {
        self.at[N / 2]
    }
    /// The level in the middle of the band, ns: what `climate` compares.
    pub fn middle(&self) -> f64 {
        self.at[usize::midpoint(self.band_from(), N - 1)]
    }
}

/// First level of the band of an op with this hit share: `u_0 = min(.80, ceil(20 (h_0 + .25)) / 20)`.
pub fn band_from(hit_share: f64) -> usize {
    let level = (((hit_share + ABOVE_HITS) * 20.0 - 1e-9).ceil() / 20.0).min(LATEST_BAND);
    LEVELS.iter().position(|&u| u >= level - 1e-9).unwrap_or(0)
}

/// A ratio with the ends of its 95 % interval; an end is none if there are too few rows for it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Factor {
    /// The ratio.
    pub value: f64,
    /// Lower end.
    pub lower: Option<f64>,
    /// Upper end.
    pub upper: Option<f64>,
}

/// The slowdown of a window.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Triple {
    /// Slowdown of the typical op.
    pub typ: Option<Factor>,
    /// Slowdown of the slowest twentieth (of the slowest tenth below [`TAIL_COUNT`] rows).
    pub tail: Option<Factor>,
    /// Share of due ops that were late or missing, 0 to 1.
    pub lost: Option<Factor>,
}

impl Triple {
    /// Slowdown of `levels` relative to the expectation; `lost` needs no expectation.
    pub fn of(levels: &Levels, expected: Option<&Expected>) -> Self {
        let typ = expected.zip(levels.service).and_then(|(expected, service)| typical(&service, expected));
        let tail = expected.and_then(|expected| tail(levels, expected));
        Self { typ, tail, lost: share_of(levels.n_lost, levels.n_due) }
    }
    /// Value of the typical slowdown.
    pub fn typ_value(&self) -> Option<f64> {
        self.typ.map(|typ| typ.value)
    }
}

/// A share with its interval; none without rows.
pub fn share_of(hits: u64, n: u64) -> Option<Factor> {
    let (lower, upper) = share_interval(hits, n)?;
    Some(Factor { value: hits as f64 / n as f64, lower: Some(lower), upper: Some(upper) })
}

/// Typical slowdown; none if either end of the interval is missing: too few rows.
fn typical(service: &[Level; N], expected: &Expected) -> Option<Factor> {
    let band = expected.band_from()..N;
    let ratios = |of: &dyn Fn(&Level) -> f64| -> f64 {
        let mut ratios = [0.0; N];
        let ratios = &mut ratios[..band.len()];
        for (ratio, i) in ratios.iter_mut().zip(band.clone()) {
            *ratio = of(&service[i]) / expected.at[i].max(1.0);
        }
        ratios.sort_unstable_by(f64::total_cmp);
        let (low, high) = (ratios[(ratios.len() - 1) / 2], ratios[ratios.len() / 2]);
        f64::midpoint(low, high)
    };
    let value = ratios(&|level| level.point);
    // A lower end that is missing could be anything down to nothing, an upper one anything.
    let lower = ratios(&|level| level.lower.unwrap_or(f64::NEG_INFINITY));
    let upper = ratios(&|level| level.upper.unwrap_or(f64::INFINITY));
    let known = value.is_finite() && lower.is_finite() && upper.is_finite();
    known.then_some(Factor { value, lower: Some(lower), upper: Some(upper) })
}

fn tail(levels: &Levels, expected: &Expected) -> Option<Factor> {
    if levels.n_response < minimum_count(0.90) as u64 {
        return None;
    }
    let (level, usual) = if levels.n_response < TAIL_COUNT {
        (levels.response_q90?, expected.at[N - 2])
    } else {
        (levels.response_q95?, expected.q95())
    };
    let by = |ns: f64| ns / usual.max(1.0);
    Some(Factor { value: by(level.point), lower: level.lower.map(by), upper: level.upper.map(by) })
}

#[cfg(test)]
mod tests {
    use super::super::buckets::Packed;
    use super::super::levels::RankTable;
    use super::*;
    use crate::seed::Random;

    fn creates(random: &mut Random, n: usize, factor: f64) -> Vec<i64> {
        let mut values: Vec<i64> =
            (0..n).map(|_| (1.5e6 * factor * (0.4 * random.normal()).exp()) as i64).collect();
        values.sort_unstable();
        values
    }

    #[test]
    fn the_band_lies_above_the_hits() {
        for (hit_share, first) in [(0.45, 0.70), (0.06, 0.35), (0.40, 0.65), (0.70, 0.80), (0.95, 0.80)] {
            assert!((LEVELS[band_from(hit_share)] - first).abs() < 1e-9, "{hit_share}");
        }
    }

    #[test]
    fn a_stretch_errs_less_the_longer_it_is_and_never_more_than_one_operation() {
        let counts = |spread: u16| (0..=2 * spread).map(move |step| (700 - spread + step, 1));
        let mut expected = Expected::of(counts(20), None).unwrap();
        assert_eq!(expected.error_over(60_000_000_000), None, "nothing is known of ordinary days");
        let (share, dispersion) = ([0.01; 3], [1.0; 3]);
        expected.null = Some(NullRates { share, dispersion, typ: 1.0, typ_error: 0.1, lost: 0.0 });
        assert_eq!(expected.error_over(60_000_000_000), Some(0.1));
        assert_eq!(expected.error_over(4 * 60_000_000_000), Some(0.05));
        let one = expected.error_over(1).unwrap();
        assert!((one - 28.0 * 1.02_f64.ln() / DEVIATIONS_APART).abs() < 0.02, "{one}");
    }

    #[test]
    fn a_tenfold_slowdown_reads_ten_with_an_honest_interval() {
        let mut random = Random::stream(21, "triple");
        let usual = Packed::of_sorted(&creates(&mut random, 100_000, 1.0));
        let expected = Expected::of(usual.iter(), None).unwrap();
        let mut ranks = RankTable::default();
        for (n, near) in [(10, 0.5), (60, 0.25), (600, 0.08)] {
            let mut covered = 0;
            for _ in 0..200 {
                let rows = creates(&mut random, n, 10.0);
                let levels = Levels::of_sorted(&rows, &rows, n as u64, 0, &mut ranks);
                let typ = Triple::of(&levels, Some(&expected)).typ.unwrap();
                assert!((typ.value / 10.0).ln().abs() < near, "n {n}: {typ:?}");
                covered += u32::from(typ.lower.unwrap() <= 10.0 && typ.upper.unwrap() >= 10.0);
            }
            assert!(covered >= 186, "n {n}: {covered} of 200");
        }
    }

    #[test]
    fn too_few_rows_give_no_number() {
        let mut random = Random::stream(22, "triple");
        let expected = Expected::of(Packed::of_sorted(&creates(&mut random, 9_999, 1.0)).iter(), None);
        let mut of = |n: usize| {
            let rows = creates(&mut random, n, 1.0);
            let levels = Levels::of_sorted(&rows, &rows, n as u64 + 2, 2, &mut RankTable::default());
            Triple::of(&levels, expected.as_ref())
        };
        assert!(of(5).typ.is_none() && of(6).typ.is_some());
        assert!(of(35).tail.is_none() && of(36).tail.is_some());
        assert!(of(59).tail.unwrap().upper.is_some(), "the 0.90 quantile has both ends from 36 on");
        assert!(of(60).tail.unwrap().upper.is_none() && of(72).tail.unwrap().upper.is_some());
        let lost = of(8).lost.unwrap();
        assert!((lost.value - 0.2).abs() < 1e-9 && lost.lower.unwrap() < 0.2 && lost.upper.unwrap() > 0.2);
        assert_eq!(Triple::of(&Levels::default(), None), Triple::default());
    }
}
