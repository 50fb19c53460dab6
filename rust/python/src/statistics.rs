//! The live statistics, for arrays.

use iosonde_core::slowdown::triple::share_of;
use iosonde_core::slowdown::{baseline, onset as core_onset, quantile, verdict};
use iosonde_core::student;
use iosonde_probe::record::spool::NULL;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

fn values(python: Python<'_>, buffer: &PyBuffer<i64>) -> PyResult<Vec<i64>> {
    buffer.to_vec(python)
}

/// Ranks of a quantile and of its interval, or None when n is too small.
#[pyfunction]
pub fn quantile_ranks(n: usize, q: f64) -> Option<(usize, usize, usize)> {
    quantile::ranks(n, q).map(|ranks| (ranks.lower, ranks.point, ranks.upper))
}

/// Ranks of a quantile and of the ends of its interval; an end that n is too small for is 0.
#[pyfunction]
pub fn quantile_bounds(n: usize, q: f64) -> PyResult<(usize, usize, usize)> {
    if !(q > 0.0 && q < 1.0) {
        return Err(PyValueError::new_err(format!("q = {q}; expected 0 < q < 1")));
    }
    let bounds = quantile::bounds(n, q);
    Ok((bounds.lower, bounds.point, bounds.upper))
}

/// The 95 % interval of a share, or None without anything counted.
#[pyfunction]
pub fn share_interval(hits: u64, n: u64) -> Option<(f64, f64)> {
    quantile::share_interval(hits, n)
}

/// Whether the probing host was busy that alone began so many operations late, or never.
#[pyfunction]
pub fn host_held_up(late: u64, due: u64) -> bool {
    share_of(late, due).is_some_and(verdict::host_held_up)
}

/// Shares of Student's variable below each t (float64).
#[pyfunction]
pub fn student_shares<'py>(
    python: Python<'py>,
    t: PyBuffer<f64>,
    freedom: PyBuffer<f64>,
) -> PyResult<Bound<'py, PyBytes>> {
    let (t, freedom) = (t.to_vec(python)?, freedom.to_vec(python)?);
    if t.len() != freedom.len() {
        let (a, b) = (t.len(), freedom.len());
        return Err(PyValueError::new_err(format!("{a} t and {b} degrees; expected equal lengths")));
    }
    let shares = t.iter().zip(&freedom).map(|(&t, &freedom)| student::share(t, freedom));
    let bytes: Vec<u8> = shares.flat_map(f64::to_ne_bytes).collect();
    Ok(PyBytes::new(python, &bytes))
}

/// What Student's variable is below with a probability.
#[pyfunction]
pub fn student_quantile(probability: f64, freedom: f64) -> PyResult<f64> {
    if !(probability > 0.0 && probability < 1.0 && freedom > 0.0) {
        let given = format!("p = {probability}, {freedom} degrees of freedom");
        return Err(PyValueError::new_err(format!("{given}; expected 0 < p < 1 and degrees above 0")));
    }
    Ok(student::quantile(probability, freedom))
}

/// The smallest n with an interval.
#[pyfunction]
pub fn minimum_count(q: f64) -> PyResult<usize> {
    match quantile::minimum_count(q) {
        usize::MAX => Err(PyValueError::new_err(format!("q = {q}; expected 0 < q < 1"))),
        n => Ok(n),
    }
}

/// Statistics of one window.
#[pyfunction]
pub fn window_statistics(python: Python<'_>, service_ns: PyBuffer<i64>) -> PyResult<Bound<'_, PyDict>> {
    let statistics = quantile::WindowStatistics::of(&mut values(python, &service_ns)?);
    let dict = PyDict::new(python);
    dict.set_item("n_seen", statistics.n_seen)?;
    dict.set_item("mean_ns", statistics.mean_ns)?;
    dict.set_item("min_ns", statistics.min_ns)?;
    dict.set_item("max_ns", statistics.max_ns)?;
    for (q, estimate) in quantile::WINDOW_QUANTILES.iter().zip(statistics.quantiles) {
        let name = format!("q{:.0}", q * 100.0);
        dict.set_item(format!("{name}_ns"), estimate.map(|e| e.value))?;
        dict.set_item(format!("{name}_lower_ns"), estimate.map(|e| e.lower))?;
        dict.set_item(format!("{name}_upper_ns"), estimate.map(|e| e.upper))?;
    }
    Ok(dict)
}

/// The baseline of every window.
#[pyfunction]
pub fn trailing_median<'py>(
    python: Python<'py>,
    start_ns: PyBuffer<i64>,
    median_ns: PyBuffer<i64>,
    trailing_ns: u64,
) -> PyResult<Bound<'py, PyBytes>> {
    let (starts, medians) = (values(python, &start_ns)?, values(python, &median_ns)?);
    if starts.len() != medians.len() {
        let (a, b) = (starts.len(), medians.len());
        return Err(PyValueError::new_err(format!("{a} starts and {b} medians; expected equal lengths")));
    }
    let baselines = python.detach(|| {
        let windows = starts.iter().zip(&medians).map(|(&start, &m)| (start, (m != NULL).then_some(m)));
        baseline::trailing_median(windows, trailing_ns)
    });
    let bytes: Vec<u8> = baselines.iter().flat_map(|b| b.unwrap_or(f64::NAN).to_ne_bytes()).collect();
    Ok(PyBytes::new(python, &bytes))
}

/// What was usual of every window in the first hour: baseline and error of each, NaN where nothing was.
#[pyfunction]
pub fn young_baselines<'py>(
    python: Python<'py>,
    start_ns: PyBuffer<i64>,
    medians: [PyBuffer<i64>; 3],
    trailing_ns: u64,
) -> PyResult<Bound<'py, PyBytes>> {
    let starts = values(python, &start_ns)?;
    let [lower, median, upper] = [0, 1, 2].map(|place: usize| values(python, &medians[place]));
    let (lower, median, upper) = (lower?, median?, upper?);
    if [lower.len(), median.len(), upper.len()].iter().any(|&n| n != starts.len()) {
        return Err(PyValueError::new_err("starts and medians of different lengths; expected equal lengths"));
    }
    let found = python.detach(|| {
        let windows = (0..starts.len()).map(|i| {
            let known = [lower[i], median[i], upper[i]].iter().all(|&ns| ns != NULL);
            (starts[i], known.then_some((median[i], (lower[i], upper[i]))))
        });
        baseline::young_baselines(windows, trailing_ns)
    });
    let pair = |young: &Option<baseline::Young>| {
        young.map_or([f64::NAN; 2], |young| [young.baseline_ns, young.error])
    };
    let bytes: Vec<u8> = found.iter().flat_map(pair).flat_map(f64::to_ne_bytes).collect();
    Ok(PyBytes::new(python, &bytes))
}

/// One byte a window: 1 where it is slow against a young baseline. Ratios, and the error of the baseline.
#[pyfunction]
pub fn young_slow_windows<'py>(
    python: Python<'py>,
    slowdown: PyBuffer<f64>,
    lower: PyBuffer<f64>,
    upper: PyBuffer<f64>,
    error: PyBuffer<f64>,
) -> PyResult<Bound<'py, PyBytes>> {
    let columns = columns(python, [slowdown, lower, upper, error])?;
    Ok(flags(python, columns[0].len(), |i| {
        let [value, lower, upper, error] = [0, 1, 2, 3].map(|column: usize| columns[column][i]);
        verdict::is_young_slow(&quantile::Estimate { value, lower, upper, n: 0 }, error)
    }))
}

/// One byte a window: 1 where its slowdown is slow.
#[pyfunction]
pub fn slow_windows<'py>(
    python: Python<'py>,
    median_ns: PyBuffer<f64>,
    lower_ns: PyBuffer<f64>,
    baseline_ns: PyBuffer<f64>,
) -> PyResult<Bound<'py, PyBytes>> {
    let columns = columns(python, [median_ns, lower_ns, baseline_ns])?;
    Ok(flags(python, columns[0].len(), |i| {
        let [median, lower, baseline] = [&columns[0], &columns[1], &columns[2]].map(|column| column[i]);
        verdict::is_slow(median / baseline, lower / baseline)
    }))
}

/// The level at which service times with and without the wait for a CPU are compared.
#[pyfunction]
pub fn control_level(bimodal: bool) -> f64 {
    verdict::control_level(bimodal)
}

/// One byte a window: 1 where the probing host explains that it is slow.
#[pyfunction]
pub fn host_busy_windows<'py>(
    python: Python<'py>,
    slowdown: PyBuffer<f64>,
    unqueued: PyBuffer<f64>,
    late_ns: PyBuffer<f64>,
    middle_ns: PyBuffer<f64>,
    host_ns: (PyBuffer<f64>, PyBuffer<f64>),
) -> PyResult<Bound<'py, PyBytes>> {
    let columns = columns(python, [slowdown, unqueued, late_ns, middle_ns, host_ns.0, host_ns.1])?;
    Ok(flags(python, columns[0].len(), |i| {
        let [slowdown, unqueued, late_ns, middle_ns, median_ns, q90_ns] =
            std::array::from_fn(|column| columns[column][i]);
        let host = verdict::Lateness { median_ns, q90_ns };
        verdict::host_was_busy(&verdict::Controls { slowdown, unqueued, late_ns, middle_ns, host })
    }))
}

/// Columns of equal length.
fn columns<const N: usize>(python: Python<'_>, buffers: [PyBuffer<f64>; N]) -> PyResult<Vec<Vec<f64>>> {
    let columns = buffers.iter().map(|buffer| buffer.to_vec(python)).collect::<PyResult<Vec<_>>>()?;
    match columns.iter().all(|column| column.len() == columns[0].len()) {
        true => Ok(columns),
        false => Err(PyValueError::new_err("columns of different lengths; expected equal lengths")),
    }
}

fn flags(python: Python<'_>, n: usize, of: impl Fn(usize) -> bool) -> Bound<'_, PyBytes> {
    PyBytes::new(python, &(0..n).map(|i| u8::from(of(i))).collect::<Vec<u8>>())
}

/// Where the slow stretch of the last sample began.
#[pyfunction]
pub fn onset(
    python: Python<'_>,
    due_ns: PyBuffer<i64>,
    service_ns: PyBuffer<i64>,
    baseline_ns: f64,
    slowdown: f64,
) -> PyResult<Option<usize>> {
    let (due, service) = (values(python, &due_ns)?, values(python, &service_ns)?);
    if due.len() != service.len() {
        let (a, b) = (due.len(), service.len());
        return Err(PyValueError::new_err(format!("{a} instants and {b} latencies; expected equal lengths")));
    }
    Ok(core_onset::onset(&service, baseline_ns, slowdown))
}
