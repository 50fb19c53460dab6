//! What the rows say that are still at hand: quantiles, the onset, how late the timer was.

use crate::sample::{Outcome, Sample};
use crate::slowdown::onset::onset;
use crate::slowdown::quantile::{Estimate, minimum_count, of_sorted};
use crate::slowdown::recent::Recent;

/// Those that ended ok.
pub fn ok_rows<R: Iterator<Item = Sample> + Clone>(rows: R) -> impl Iterator<Item = Sample> + Clone {
    rows.filter(|sample| sample.outcome == Outcome::OK)
}

/// How late the timer woke the probe, the median of began - due in ns.
pub fn late_ns(window: impl Iterator<Item = Sample> + Clone) -> f64 {
    let late = ok_rows(window).filter_map(|sample| Some(sample.began_ns? - sample.due_ns));
    let mut late: Vec<i64> = late.collect();
    late.sort_unstable();
    of_sorted(&late, 0.5).map_or(0.0, |median| median.value)
}

/// When the first operation of the slow stretch that the last one belongs to was due.
pub fn onset_ns(recent: &Recent, usual_ns: f64, slowdown: f64) -> Option<i64> {
    let rows = ok_rows(recent.from(0));
    let service: Vec<i64> = rows.clone().filter_map(|sample| sample.service_ns()).collect();
    let first = onset(&service, usual_ns, slowdown)?;
    rows.clone().nth(first).map(|sample| sample.due_ns)
}

/// A quantile of the service times of the shortest stretch of two windows or more before `now_ns` that holds enough operations.
pub fn of_more_windows(recent: &Recent, level: f64, window_ns: i64, now_ns: i64) -> Option<Estimate> {
    let oldest_ns = recent.get(0)?.due_ns;
    for windows in 2.. {
        let since_ns = now_ns.saturating_sub(window_ns.saturating_mul(windows));
        let rows = ok_rows(recent.from(recent.before(since_ns.saturating_add(1))));
        let mut service: Vec<i64> = rows.filter_map(|sample| sample.service_ns()).collect();
        if service.len() >= minimum_count(level) {
            service.sort_unstable();
            return of_sorted(&service, level);
        }
        if since_ns < oldest_ns {
            break;
        }
    }
    None
}
