//! Baselines, slowdown and alarms of whole histories.

use iosonde_core::slowdown::buckets::Packed;
use iosonde_core::slowdown::guarded::{Interval, Stage};
use iosonde_core::slowdown::history::{self, History};
use iosonde_core::slowdown::levels::{Level, Levels, N, RankTable};
use iosonde_core::slowdown::limits::Limits;
use iosonde_core::slowdown::modes::{Modes, modes, shift};
use iosonde_core::slowdown::null_rates::{MissRates, NullRates};
use iosonde_core::slowdown::rules::Cause;
use iosonde_core::slowdown::seen::Seen;
use iosonde_core::slowdown::triple::{Expected, Factor, Triple};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::columns::{ensure, floats, integers, optional, vector};

/// Numbers that describe an expectation: the levels, q99, n, the modes (NaN when there is one only), the detectors' limits, and
/// their null rates (NaN while unknown): share and dispersion of each, typ, its error, lost; share and dispersion of misses.
const WIDTH: usize = MISSES + 2;
const LIMITS: usize = N + 7;
const NULL: usize = LIMITS + 3;
const MISSES: usize = NULL + 9;

fn flat(expected: &Expected) -> [f64; WIDTH] {
    let mut row = [f64::NAN; WIDTH];
    row[..N].copy_from_slice(&expected.at);
    row[N] = expected.q99;
    row[N + 1] = expected.n as f64;
    if let Some(modes) = expected.modes {
        let rest = [modes.hit_share, modes.mu[0], modes.mu[1], modes.sigma[0], modes.sigma[1]];
        row[N + 2..LIMITS].copy_from_slice(&rest);
    }
    row[LIMITS..NULL].copy_from_slice(&expected.limits_ns);
    if let Some(null) = expected.null {
        row[NULL..NULL + 3].copy_from_slice(&null.share);
        row[NULL + 3..NULL + 6].copy_from_slice(&null.dispersion);
        row[NULL + 6..MISSES].copy_from_slice(&[null.typ, null.typ_error, null.lost]);
    }
    if let Some(misses) = expected.misses {
        row[MISSES..].copy_from_slice(&[misses.share, misses.dispersion]);
    }
    row
}

fn expected_of(row: &[f64]) -> Expected {
    let mut at = [0.0; N];
    at.copy_from_slice(&row[..N]);
    let m = &row[N + 2..LIMITS];
    let modes = (!m[0].is_nan()).then(|| Modes { hit_share: m[0], mu: [m[1], m[2]], sigma: [m[3], m[4]] });
    let three = |from: usize| [row[from], row[from + 1], row[from + 2]];
    let null = (!row[NULL].is_nan()).then(|| NullRates {
        share: three(NULL),
        dispersion: three(NULL + 3),
        typ: row[NULL + 6],
        typ_error: row[NULL + 7],
        lost: row[NULL + 8],
    });
    let misses =
        (!row[MISSES].is_nan()).then(|| MissRates { share: row[MISSES], dispersion: row[MISSES + 1] });
    Expected { at, q99: row[N], modes, n: row[N + 1] as u64, limits_ns: three(LIMITS), null, misses }
}

/// Standard error of the logarithm of a stretch's typical slowdown; see the stub.
#[pyfunction]
pub fn error_over(python: Python<'_>, version: PyBuffer<f64>, length_ns: i64) -> PyResult<Option<f64>> {
    let row = vector(python, &version)?;
    ensure(row.len() == WIDTH, "a version has another number of columns")?;
    Ok(expected_of(&row).error_over(length_ns))
}

/// Histograms side by side: those of row i lie in `offsets[i]..offsets[i + 1]`.
struct Histograms {
    offsets: Vec<i64>,
    buckets: Vec<u16>,
    counts: Vec<u32>,
}

impl Histograms {
    fn of(
        python: Python<'_>,
        (offsets, buckets, counts): (PyBuffer<i64>, PyBuffer<u16>, PyBuffer<u32>),
    ) -> PyResult<Self> {
        let found = Self {
            offsets: vector(python, &offsets)?,
            buckets: vector(python, &buckets)?,
            counts: vector(python, &counts)?,
        };
        let n = found.buckets.len();
        ensure(n == found.counts.len(), "buckets and counts of different lengths")?;
        let rising = found.offsets.windows(2).all(|pair| pair[0] <= pair[1]);
        let inside = found.offsets.first() == Some(&0) && found.offsets.last() == Some(&(n as i64));
        ensure(rising && inside, "offsets must rise from 0 to the number of buckets")?;
        Ok(found)
    }
    fn len(&self) -> usize {
        self.offsets.len() - 1
    }
    fn row(&self, i: usize) -> impl Iterator<Item = (u16, u32)> + '_ {
        let range = self.offsets[i] as usize..self.offsets[i + 1] as usize;
        self.buckets[range.clone()].iter().copied().zip(self.counts[range].iter().copied())
    }
    fn packed(&self, i: usize) -> Packed {
        Packed::of(self.row(i))
    }
}

type Csr = (PyBuffer<i64>, PyBuffer<u16>, PyBuffer<u32>);

/// Judge intervals of one or more series, each ascending in start; see the stub.
#[pyfunction]
#[pyo3(signature = (series, columns, service, response, reference=None))]
pub fn guard<'py>(
    python: Python<'py>,
    series: PyBuffer<i64>,
    columns: (PyBuffer<i64>, PyBuffer<i64>, PyBuffer<i64>),
    service: Csr,
    response: Csr,
    reference: Option<PyBuffer<f64>>,
) -> PyResult<Bound<'py, PyDict>> {
    let series = vector(python, &series)?;
    let columns = [&columns.0, &columns.1, &columns.2].map(|column| vector(python, column));
    let [start_ns, n_due, n_lost] = columns;
    let (start_ns, n_due, n_lost) = (start_ns?, n_due?, n_lost?);
    let (service, response) = (Histograms::of(python, service)?, Histograms::of(python, response)?);
    let reference = reference.map(|rows| vector(python, &rows)).transpose()?;
    let n = service.len();
    let lengths = [start_ns.len(), n_due.len(), n_lost.len(), response.len()];
    ensure(lengths.iter().all(|&len| len == n), "columns of different lengths")?;
    let rising = series.windows(2).all(|pair| pair[0] <= pair[1]);
    ensure(rising && series.first().is_none_or(|&first| first >= 0), "series must rise from 0 on")?;
    ensure(series.last().is_none_or(|&last| last == n as i64), "the last offset is the number of rows")?;
    let whole = series.len().saturating_sub(1);
    ensure(reference.as_ref().is_none_or(|rows| rows.len() == whole * WIDTH), "a reference for each series")?;
    let histories = python.detach(|| {
        let one = |k: usize| {
            let rows = series[k] as usize..series[k + 1] as usize;
            let intervals = rows.map(|i| {
                let other = response.packed(i);
                Interval {
                    start_ns: start_ns[i],
                    n_due: n_due[i].max(0) as u64,
                    n_lost: n_lost[i].clamp(0, n_due[i].max(0)) as u64,
                    service: service.packed(i),
                    response: (!other.is_empty()).then_some(other),
                }
            });
            let given = reference.as_ref().map(|rows| &rows[k * WIDTH..(k + 1) * WIDTH]);
            History::of(intervals, given.filter(|row| !row[0].is_nan()).map(expected_of))
        };
        in_parallel(whole, one)
    });
    as_columns(python, &histories)
}

/// `work(0..n)` on all cores, results in order.
fn in_parallel<T: Send>(n: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(n.max(1));
    let mut found: Vec<(usize, T)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores)
            .map(|_| {
                scope.spawn(|| {
                    let take = || next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    std::iter::repeat_with(take)
                        .take_while(|&i| i < n)
                        .map(|i| (i, work(i)))
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
    });
    found.sort_by_key(|&(i, _)| i);
    found.into_iter().map(|(_, result)| result).collect()
}

fn as_columns<'py>(python: Python<'py>, histories: &[History]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(python);
    let rows = || histories.iter().flat_map(|history| &history.rows);
    put_triples(&dict, rows().map(|row| row.judged.triple))?;
    integers(&dict, "flagged", rows().map(|row| i64::from(row.judged.flagged)))?;
    integers(&dict, "stage", rows().map(|row| row.stage as i64))?;
    integers(&dict, "epoch", rows().map(|row| i64::from(row.epoch)))?;
    let versions = || {
        let all = histories.iter().enumerate();
        all.flat_map(|(k, history)| history.versions.iter().map(move |version| (k as i64, version)))
    };
    integers(&dict, "version_series", versions().map(|(k, _)| k))?;
    integers(&dict, "version_from_ns", versions().map(|(_, version)| version.from_ns))?;
    integers(&dict, "version_stage", versions().map(|(_, version)| version.stage as i64))?;
    integers(&dict, "version_epoch", versions().map(|(_, version)| i64::from(version.epoch)))?;
    floats(&dict, "version_climate", versions().map(|(_, version)| version.climate))?;
    floats(&dict, "versions", versions().flat_map(|(_, version)| flat(&version.expected)).map(Some))?;
    let changes = || {
        let all = histories.iter().enumerate();
        all.flat_map(|(k, history)| history.changes.iter().map(move |change| (k as i64, change)))
    };
    integers(&dict, "change_series", changes().map(|(k, _)| k))?;
    integers(&dict, "change_epoch", changes().map(|(_, change)| i64::from(change.epoch)))?;
    integers(&dict, "change_began_ns", changes().map(|(_, change)| change.began_ns))?;
    floats(&dict, "change_factor", changes().map(|(_, change)| Some(change.factor)))?;
    Ok(dict)
}

type Part = fn(Triple) -> Option<Factor>;

fn put_triples(dict: &Bound<'_, PyDict>, triples: impl Iterator<Item = Triple> + Clone) -> PyResult<()> {
    let all: [(&str, Part); 3] = [("typ", |t| t.typ), ("tail", |t| t.tail), ("lost", |t| t.lost)];
    for (name, of) in all {
        floats(dict, name, triples.clone().map(move |t| of(t).map(|f| f.value)))?;
        floats(dict, &format!("{name}_lower"), triples.clone().map(move |t| of(t).and_then(|f| f.lower)))?;
        floats(dict, &format!("{name}_upper"), triples.clone().map(move |t| of(t).and_then(|f| f.upper)))?;
    }
    Ok(())
}

/// The names of the stages, ascending.
pub const STAGES: [&str; 4] = Stage::NAMES;
/// The causes of alarms.
pub const CAUSES: [&str; 6] = Cause::NAMES;

/// Slowdown of windows given by their levels; see the stub.
#[pyfunction]
pub fn triples<'py>(
    python: Python<'py>,
    levels: PyBuffer<f64>,
    tails: PyBuffer<f64>,
    counts: PyBuffer<i64>,
    which: PyBuffer<i64>,
    versions: PyBuffer<f64>,
) -> PyResult<Bound<'py, PyDict>> {
    let (levels, tails) = (vector(python, &levels)?, vector(python, &tails)?);
    let (counts, which) = (vector(python, &counts)?, vector(python, &which)?);
    let versions = vector(python, &versions)?;
    let n = which.len();
    let fits = levels.len() == n * N * 3 && tails.len() == n * 6 && counts.len() == n * 4;
    ensure(fits && versions.len() % WIDTH == 0, "expected n x 19 x 3 levels, n x 2 x 3 tails, n x 4 counts")?;
    let known = (versions.len() / WIDTH) as i64;
    ensure(which.iter().all(|&v| v < known), "a version that is not there")?;
    let found: Vec<Triple> = python.detach(|| {
        let expected: Vec<Expected> = versions.chunks(WIDTH).map(expected_of).collect();
        let of = |i: usize| {
            let level = |row: &[f64]| {
                let end = |value: f64| (!value.is_nan()).then_some(value);
                Level { lower: end(row[0]), point: row[1], upper: end(row[2]) }
            };
            let rows = &levels[i * N * 3..(i + 1) * N * 3];
            let tail = |k: usize| {
                let row = &tails[i * 6 + 3 * k..i * 6 + 3 * k + 3];
                (!row[1].is_nan()).then(|| level(row))
            };
            let count = |k: usize| counts[i * 4 + k].max(0) as u64;
            let levels = Levels {
                service: (!rows[1].is_nan()).then(|| std::array::from_fn(|k| level(&rows[3 * k..3 * k + 3]))),
                response_q90: tail(0),
                response_q95: tail(1),
                n: count(0),
                n_response: count(1),
                n_due: count(2),
                n_lost: count(3),
            };
            Triple::of(&levels, usize::try_from(which[i]).ok().map(|v| &expected[v]))
        };
        (0..n).map(of).collect()
    });
    let dict = PyDict::new(python);
    put_triples(&dict, found.iter().copied())?;
    Ok(dict)
}

/// Levels of histograms: n x 21 x 3 floats (lower, point, upper), the last two rows the quantiles .90 and .95.
#[pyfunction]
pub fn histogram_levels<'py>(python: Python<'py>, histograms: Csr) -> PyResult<Bound<'py, PyDict>> {
    let histograms = Histograms::of(python, histograms)?;
    let mut ranks = RankTable::default();
    let dict = PyDict::new(python);
    let mut out = Vec::with_capacity(histograms.len() * (N + 2) * 3);
    for i in 0..histograms.len() {
        let levels = Levels::of_packed(&histograms.packed(i), None, 0, 0, &mut ranks);
        let none = Level { lower: None, point: f64::NAN, upper: None };
        let tails = [levels.response_q90.unwrap_or(none), levels.response_q95.unwrap_or(none)];
        let all = levels.service.unwrap_or([none; N]).into_iter().chain(tails);
        out.extend(all.flat_map(|level| [level.lower, Some(level.point), level.upper]));
    }
    floats(&dict, "levels", out.into_iter())?;
    Ok(dict)
}

/// What histograms make one expect, as rows of versions; see the stub.
#[pyfunction]
pub fn expectations<'py>(python: Python<'py>, histograms: Csr) -> PyResult<Bound<'py, PyDict>> {
    let histograms = Histograms::of(python, histograms)?;
    let found = python.detach(|| {
        in_parallel(histograms.len(), |i| Expected::of(histograms.row(i), modes(histograms.row(i))))
    });
    let dict = PyDict::new(python);
    let rows = found.iter().map(|expected| expected.as_ref().map_or([f64::NAN; WIDTH], flat));
    floats(&dict, "versions", rows.flatten().map(Some))?;
    Ok(dict)
}

/// Hit share and slowdown of either mode; see the stub.
#[pyfunction]
pub fn mode_shifts<'py>(
    python: Python<'py>,
    histograms: Csr,
    which: PyBuffer<i64>,
    versions: PyBuffer<f64>,
) -> PyResult<Bound<'py, PyDict>> {
    let histograms = Histograms::of(python, histograms)?;
    let (which, versions) = (vector(python, &which)?, vector(python, &versions)?);
    let count = (versions.len() / WIDTH) as i64;
    let fits = which.len() == histograms.len() && versions.len() % WIDTH == 0;
    ensure(fits && which.iter().all(|&v| v < count), "a version for each histogram")?;
    let found = python.detach(|| {
        in_parallel(which.len(), |i| {
            let row = usize::try_from(which[i]).ok().map(|v| &versions[v * WIDTH..(v + 1) * WIDTH])?;
            shift(histograms.row(i), &expected_of(row).modes?)
        })
    });
    let dict = PyDict::new(python);
    floats(&dict, "hit_share", found.iter().map(|shift| shift.map(|s| s.hit_share)))?;
    floats(&dict, "hit", found.iter().map(|shift| shift.map(|s| s.hit)))?;
    floats(&dict, "miss", found.iter().map(|shift| shift.map(|s| s.miss)))?;
    Ok(dict)
}

/// Every alarm over the samples of one series; see the stub.
#[pyfunction]
pub fn alarms<'py>(
    python: Python<'py>,
    due_ns: PyBuffer<i64>,
    service_ns: PyBuffer<i64>,
    response_ns: PyBuffer<i64>,
    lost: PyBuffer<u8>,
    which: PyBuffer<i64>,
    versions: PyBuffer<f64>,
) -> PyResult<Bound<'py, PyDict>> {
    let due = vector(python, &due_ns)?;
    let (service, response) = (vector(python, &service_ns)?, vector(python, &response_ns)?);
    let (lost, which) = (vector(python, &lost)?, vector(python, &which)?);
    let versions = vector(python, &versions)?;
    let n = due.len();
    let lengths = [service.len(), response.len(), lost.len(), which.len()];
    let fits = lengths.iter().all(|&len| len == n);
    let count = (versions.len() / WIDTH) as i64;
    ensure(fits && which.iter().all(|&v| v < count), "columns of different lengths")?;
    ensure(due.windows(2).all(|pair| pair[0] <= pair[1]), "due_ns must rise")?;
    let found = python.detach(|| {
        let expected: Vec<Expected> = versions.chunks(WIDTH).map(expected_of).collect();
        let rows: Vec<Seen> = (0..n)
            .map(|i| {
                let (service_ns, response_ns) = (optional(service[i]), optional(response[i]));
                Seen { due_ns: due[i], service_ns, response_ns, lost: lost[i] != 0, queued_ns: 0 }
            })
            .collect();
        let limits: Vec<Option<Limits>> = expected.iter().map(Limits::of).collect();
        history::alarms(&rows, |i| usize::try_from(which[i]).ok().map(|v| (&expected[v], limits[v].as_ref())))
    });
    let dict = PyDict::new(python);
    integers(&dict, "raised_ns", found.iter().map(|alarm| alarm.raised_ns))?;
    integers(&dict, "cause", found.iter().map(|alarm| alarm.cause as i64))?;
    floats(&dict, "peak", found.iter().map(|alarm| Some(alarm.peak)))?;
    floats(&dict, "peak_tail", found.iter().map(|alarm| Some(alarm.peak_tail)))?;
    floats(&dict, "cleared_ns", found.iter().map(|alarm| alarm.cleared_ns.map(|ns| ns as f64)))?;
    Ok(dict)
}
