//! Columns in and out: buffers of numbers, missing ones as NaN or as the null of the spool.

use iosonde_probe::record::spool::NULL;
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// The numbers of a buffer.
pub fn vector<T: Element + Copy>(python: Python<'_>, buffer: &PyBuffer<T>) -> PyResult<Vec<T>> {
    buffer.to_vec(python)
}

/// An integer that may be missing.
pub fn optional(value: i64) -> Option<i64> {
    (value != NULL).then_some(value)
}

/// Refuse what does not fit together.
pub fn ensure(fits: bool, what: &str) -> PyResult<()> {
    if fits { Ok(()) } else { Err(PyValueError::new_err(what.to_owned())) }
}

/// Put a column of floats, NaN = missing.
pub fn floats(
    dict: &Bound<'_, PyDict>,
    name: &str,
    values: impl Iterator<Item = Option<f64>>,
) -> PyResult<()> {
    let bytes: Vec<u8> = values.flat_map(|value| value.unwrap_or(f64::NAN).to_ne_bytes()).collect();
    dict.set_item(name, PyBytes::new(dict.py(), &bytes))
}

/// Put a column of integers.
pub fn integers(dict: &Bound<'_, PyDict>, name: &str, values: impl Iterator<Item = i64>) -> PyResult<()> {
    let bytes: Vec<u8> = values.flat_map(i64::to_ne_bytes).collect();
    dict.set_item(name, PyBytes::new(dict.py(), &bytes))
}
