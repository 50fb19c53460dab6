//! Latencies of a window at the nineteen levels of the typical slowdown.

use super::buckets::{Cumulative, Packed};
use super::quantile::{Bounds, bounds};
use super::seen::Seen;

/// Number of levels.
pub const N: usize = 19;
/// The levels: .05, .10, ... .95.
pub const LEVELS: [f64; N] = {
    let mut levels = [0.0; N];
    let mut i = 0;
    while i < N {
        levels[i] = (i + 1) as f64 / 20.0;
        i += 1;
    }
    levels
};
const Q90: f64 = 0.90;
const Q95: f64 = 0.95;

/// A quantile with the ends of its 95 % interval in ns; an end is none if n is too small for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// Lower end.
    pub lower: Option<f64>,
    /// The quantile.
    pub point: f64,
    /// Upper end.
    pub upper: Option<f64>,
}

/// Levels of a window, for comparison with the expectation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Levels {
    /// Service time at [`LEVELS`]; none without a row that ended ok.
    pub service: Option<[Level; N]>,
    /// 0.90 quantile of the response time.
    pub response_q90: Option<Level>,
    /// 0.95 quantile of the response time.
    pub response_q95: Option<Level>,
    /// Rows that ended ok.
    pub n: u64,
    /// Rows with a response time.
    pub n_response: u64,
    /// Service time at [`LEVELS`]; none without a successful row.
    pub n_due: u64,
    /// Those that came late or not at all.
    pub n_lost: u64,
}

/// Number of n values with cached ranks: half a kilobyte each, for every op of every target ...
const RANKS_KEPT: usize = 8;
/// ... and while a whole history is judged.
const RANKS_OF_HISTORY: usize = 512;

/// Cached ranks by n: most windows of a series have the same n.
#[derive(Debug)]
pub struct RankTable {
    rows: Vec<(u64, [Bounds; N + 2])>,
    most: usize,
}

impl Default for RankTable {
    fn default() -> Self {
        Self { rows: Vec::new(), most: RANKS_KEPT }
    }
}

impl RankTable {
    /// A larger cache, for many windows at once.
    pub fn of_history() -> Self {
        Self { rows: Vec::new(), most: RANKS_OF_HISTORY }
    }
    fn of(&mut self, n: u64) -> &[Bounds; N + 2] {
        let place = self.rows.iter().position(|row| row.0 == n).unwrap_or_else(|| {
            if self.rows.len() >= self.most {
                self.rows.clear();
            }
            let all = |i: usize| LEVELS.get(i).copied().unwrap_or(if i == N { Q90 } else { Q95 });
            self.rows.push((n, std::array::from_fn(|i| bounds(n as usize, all(i)))));
            self.rows.len() - 1
        });
        &self.rows[place].1
    }
}

impl Levels {
    /// Levels of latencies in ascending order.
    pub fn of_sorted(
        service: &[i64],
        response: &[i64],
        n_due: u64,
        n_lost: u64,
        ranks: &mut RankTable,
    ) -> Self {
        let at = |values: &[i64], rank: u64| values.get(rank as usize - 1).map(|&ns| ns as f64);
        Self::read(
            (service.len() as u64, &|rank| at(service, rank)),
            (response.len() as u64, &|rank| at(response, rank)),
            (n_due, n_lost),
            ranks,
        )
    }
    /// Levels of rows in any order.
    pub fn of_rows(rows: &[Seen], ranks: &mut RankTable) -> Self {
        let mut service: Vec<i64> = rows.iter().filter_map(|row| row.service_ns).collect();
        let mut response: Vec<i64> = rows.iter().filter_map(|row| row.response_ns).collect();
        service.sort_unstable();
        response.sort_unstable();
        let lost = rows.iter().filter(|row| row.lost).count() as u64;
        Self::of_sorted(&service, &response, rows.len() as u64, lost, ranks)
    }
    /// Levels of histograms; without one of responses they equal the service times.
    pub fn of_packed(
        service: &Packed,
        response: Option<&Packed>,
        n_due: u64,
        n_lost: u64,
        ranks: &mut RankTable,
    ) -> Self {
        let service = Cumulative::of(service.iter());
        let other = response.map(|response| Cumulative::of(response.iter()));
        let response = other.as_ref().unwrap_or(&service);
        Self::read(
            (service.total(), &|rank| service.at_rank(rank)),
            (response.total(), &|rank| response.at_rank(rank)),
            (n_due, n_lost),
            ranks,
        )
    }

    fn read(
        (n, service): (u64, &dyn Fn(u64) -> Option<f64>),
        (n_response, response): (u64, &dyn Fn(u64) -> Option<f64>),
        (n_due, n_lost): (u64, u64),
        ranks: &mut RankTable,
    ) -> Self {
        let pick = |bounds: Bounds, at: &dyn Fn(u64) -> Option<f64>| {
            let end = |rank: usize| (rank > 0).then(|| at(rank as u64)).flatten();
            Some(Level {
                lower: end(bounds.lower),
                point: at(bounds.point as u64)?,
                upper: end(bounds.upper),
            })
        };
        let none = Level { lower: None, point: f64::NAN, upper: None };
        let rows = ranks.of(n);
        let service = (n > 0).then(|| std::array::from_fn(|i| pick(rows[i], service).unwrap_or(none)));
        let rows = ranks.of(n_response);
        let tail = |i: usize| (n_response > 0).then(|| pick(rows[i], response)).flatten();
        Self { service, response_q90: tail(N), response_q95: tail(N + 1), n, n_response, n_due, n_lost }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorted_values_and_their_histogram_agree_within_a_bucket() {
        let values: Vec<i64> = (1..=600).map(|i| 1_000_000 + i * i * 40).collect();
        let mut ranks = RankTable::default();
        let exact = Levels::of_sorted(&values, &values, 600, 0, &mut ranks);
        let packed = Packed::of_sorted(&values);
        let near = Levels::of_packed(&packed, None, 600, 0, &mut ranks);
        let pairs = exact.service.unwrap().into_iter().zip(near.service.unwrap());
        for (one, other) in pairs {
            assert!((one.point / other.point - 1.0).abs() < 0.0101);
            assert!((one.lower.unwrap() / other.lower.unwrap() - 1.0).abs() < 0.0101);
            assert!((one.upper.unwrap() / other.upper.unwrap() - 1.0).abs() < 0.0101);
        }
        assert_eq!((near.n, near.n_response, near.n_due, near.n_lost), (600, 600, 600, 0));
    }

    #[test]
    fn ends_are_missing_where_n_is_too_small() {
        let values: Vec<i64> = (1..=10).collect();
        let levels = Levels::of_sorted(&values, &[], 12, 2, &mut RankTable::default());
        let service = levels.service.unwrap();
        assert_eq!((service[0].lower, service[9].point), (None, 5.0));
        assert!(service[0].upper.is_some() && service[18].upper.is_none() && service[18].lower.is_some());
        assert_eq!(levels.response_q95, None);
    }
}
