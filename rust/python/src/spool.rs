//! Spool segments as columns.

use std::path::PathBuf;

use iosonde_core::record::spool::{self, NULL, SpoolError as CoreError};
use iosonde_core::sample::{Outcome, Sample};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::SpoolError;

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
