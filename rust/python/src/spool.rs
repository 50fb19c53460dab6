//! Spool segments and kept windows as columns.

use std::io::Read;
use std::path::{Path, PathBuf};

use iosonde_core::sample::{Outcome, Sample};
use iosonde_core::slowdown::window::STATISTICS;
use iosonde_core::stored;
use iosonde_probe::record::spool::{self, NULL, SpoolError as CoreError};
use iosonde_probe::record::{frames, windows};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::SpoolError;

/// Enough of a file to hold its header.
const HEAD_BYTES: u64 = 64 << 10;
/// What every window has; its statistics follow.
const WINDOW_COLUMNS: [&str; 5] = ["op", "start_ns", "n_due", "n_seen", "mean_ns"];

/// Every whole frame of a segment from byte `offset` on.
#[pyfunction]
#[pyo3(signature = (path, offset = 0))]
pub fn read_spool<'py>(python: Python<'py>, path: PathBuf, offset: u64) -> PyResult<Bound<'py, PyDict>> {
    let chunk = python.detach(|| spool::read(&path, offset)).map_err(|error| match error {
        CoreError::Io { source, .. } => PyErr::from(source),
        other => SpoolError::new_err(other.to_string()),
    })?;
    let samples = &chunk.samples;
    let mut names: Vec<Outcome> = Vec::new();
    let outcomes: Vec<u16> = samples
        .iter()
        .map(|sample| {
            let known = names.iter().position(|&name| name == sample.outcome);
            known.unwrap_or_else(|| {
                names.push(sample.outcome);
                names.len() - 1
            }) as u16
        })
        .collect();
    let words = |of: fn(&Sample) -> i64| bytes(python, samples.iter().flat_map(|s| of(s).to_ne_bytes()));
    let columns = PyDict::new(python);
    columns.set_item("due_ns", words(|s| s.due_ns))?;
    columns.set_item("began_ns", words(|s| s.began_ns.unwrap_or(NULL)))?;
    columns.set_item("ended_ns", words(|s| s.ended_ns.unwrap_or(NULL)))?;
    columns.set_item("offset_bytes", words(|s| s.offset_bytes.unwrap_or(NULL)))?;
    columns.set_item("control_runq_ns", words(|s| s.control_runq_ns.unwrap_or(NULL)))?;
    columns.set_item("target", bytes(python, samples.iter().flat_map(|s| s.target.to_ne_bytes())))?;
    columns.set_item("outcome", bytes(python, outcomes.iter().flat_map(|code| code.to_ne_bytes())))?;
    columns.set_item("op", bytes(python, samples.iter().map(|s| s.op as u8)))?;
    columns.set_item("cache", bytes(python, samples.iter().map(|s| s.cache as u8)))?;
    let result = PyDict::new(python);
    result.set_item("header", header(python, &chunk.header)?)?;
    result.set_item("rows", samples.len())?;
    result.set_item("columns", columns)?;
    result.set_item("outcome_names", names.iter().map(|name| name.name()).collect::<Vec<_>>())?;
    result.set_item("next_offset", chunk.next_offset)?;
    result.set_item("torn", chunk.torn)?;
    Ok(result)
}

/// Windows of one file that start in [since_ns, until_ns); none if the file is not `target`'s.
#[pyfunction]
#[pyo3(signature = (path, since_ns = None, until_ns = None, target = None))]
pub fn read_windows<'py>(
    python: Python<'py>,
    path: PathBuf,
    since_ns: Option<i64>,
    until_ns: Option<i64>,
    target: Option<String>,
) -> PyResult<Bound<'py, PyDict>> {
    let (since_ns, until_ns) = (since_ns.unwrap_or(i64::MIN), until_ns.unwrap_or(i64::MAX));
    let (read, columns) = python.detach(|| windows_of(&path, since_ns, until_ns, target.as_deref()))?;
    let found = PyDict::new(python);
    for (name, bytes) in WINDOW_COLUMNS.into_iter().chain(STATISTICS).zip(&columns) {
        found.set_item(name, PyBytes::new(python, bytes))?;
    }
    let header = &read.header;
    let result = PyDict::new(python);
    result.set_item("host", &header.host)?;
    result.set_item("target", &header.target)?;
    result.set_item("period_ns", header.period_ns)?;
    result.set_item("window_ns", header.window_ns)?;
    result.set_item("rows", columns[0].len())?;
    result.set_item("columns", found)?;
    result.set_item("torn", read.torn)?;
    Ok(result)
}

/// The header of a file, and its windows as columns: op, counts, mean, statistics.
fn windows_of(
    path: &Path,
    since_ns: i64,
    until_ns: i64,
    target: Option<&str>,
) -> PyResult<(windows::Read, Vec<Vec<u8>>)> {
    let not_ours = |what: String| {
        let version = windows::SCHEMA_VERSION;
        let expected = format!("expected an iosonde file of windows of version {version}");
        SpoolError::new_err(format!("{}: {what}; {expected}", path.display()))
    };
    let mut columns = vec![Vec::new(); WINDOW_COLUMNS.len() + STATISTICS.len()];
    let open = || stored::open(path, frames::MAX_FILE);
    if let Some(target) = target {
        let mut bytes = Vec::new();
        open()?.take(HEAD_BYTES).read_to_end(&mut bytes)?;
        let header = windows::header_of(&bytes).map_err(not_ours)?;
        if header.target != target {
            return Ok((windows::Read { header, good: 0, torn: None }, columns));
        }
    }
    let bytes = frames::readable(open()?, windows::MAGIC)?;
    let read = windows::each(&bytes, since_ns, until_ns, &mut |window| {
        let (first, statistics) = columns.split_at_mut(WINDOW_COLUMNS.len());
        first[0].push(window.op as u8);
        first[1].extend(window.start_ns.to_ne_bytes());
        first[2].extend((window.n_due as i64).to_ne_bytes());
        first[3].extend((window.n_seen as i64).to_ne_bytes());
        first[4].extend(window.mean_ns.unwrap_or(f64::NAN).to_ne_bytes());
        for (column, value) in statistics.iter_mut().zip(window.values_ns) {
            column.extend(value.map_or(f64::NAN, |ns| ns as f64).to_ne_bytes());
        }
    });
    Ok((read.map_err(not_ours)?, columns))
}

fn bytes<'py>(python: Python<'py>, items: impl Iterator<Item = u8>) -> Bound<'py, PyBytes> {
    PyBytes::new(python, &items.collect::<Vec<u8>>())
}

fn header<'py>(python: Python<'py>, header: &spool::Header) -> PyResult<Bound<'py, PyDict>> {
    let targets: PyResult<Vec<_>> = header
        .targets
        .iter()
        .map(|target| {
            let dict = PyDict::new(python);
            dict.set_item("name", &target.name)?;
            dict.set_item("period_ns", target.period_ns)?;
            dict.set_item("size_bytes", &target.size_bytes)?;
            Ok(dict)
        })
        .collect();
    let dict = PyDict::new(python);
    dict.set_item("schema_version", header.schema_version)?;
    dict.set_item("run_id", &header.run_id)?;
    dict.set_item("host", &header.host)?;
    dict.set_item("seed", header.seed)?;
    dict.set_item("segment", header.segment)?;
    dict.set_item("opened_ns", header.opened_ns)?;
    dict.set_item("targets", targets?)?;
    Ok(dict)
}
