//! A load of our own as a Python object.

use std::path::PathBuf;
use std::sync::Arc;

use iosonde_bench::load::{Kind, Load as CoreLoad};
use iosonde_core::clock::RealClock;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A load on a directory.
#[pyclass]
pub struct Load {
    directory: PathBuf,
    kind: Kind,
    threads: usize,
    running: Option<CoreLoad>,
}

#[pymethods]
impl Load {
    #[new]
    #[pyo3(signature = (directory, kind, threads = 1))]
    fn new(directory: PathBuf, kind: &str, threads: usize) -> PyResult<Self> {
        let kind = Kind::from_name(kind).ok_or_else(|| {
            PyValueError::new_err(format!("`{kind}` is no load; expected writer or create_delete"))
        })?;
        Ok(Self { directory, kind, threads, running: None })
    }

    fn start(&mut self) -> PyResult<()> {
        if self.running.is_none() {
            self.running =
                Some(CoreLoad::start(&self.directory, self.kind, self.threads, Arc::new(RealClock))?);
        }
        Ok(())
    }

    fn stop<'py>(&mut self, python: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let load = self.running.take().ok_or_else(|| PyRuntimeError::new_err("the load is not running"))?;
        let report = python.detach(|| load.stop());
        let dict = PyDict::new(python);
        dict.set_item("began_ns", report.began_ns)?;
        dict.set_item("ended_ns", report.ended_ns)?;
        dict.set_item("ops", report.ops)?;
        dict.set_item("bytes", report.bytes)?;
        dict.set_item("median_ns", report.median_ns)?;
        dict.set_item("error", report.error)?;
        Ok(dict)
    }
}
