//! The bandwidth benchmark as a Python object: orders in and answers out as JSON, records as bytes.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use iosonde_bench::bandwidth::parameters::Parameters;
use iosonde_bench::bandwidth::records::INSTANTS;
use iosonde_bench::bandwidth::team::Team;
use iosonde_core::clock::RealClock;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bench::{json, parsed, raised, texts};
use crate::columns::integers;

/// The ranks of this process.
#[pyclass]
pub struct Bandwidth(Mutex<Team>);

impl Bandwidth {
    fn team(&self) -> MutexGuard<'_, Team> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Bandwidth {
    #[new]
    fn new(parameters: &str, place: Option<PathBuf>, first: u32, count: u32) -> PyResult<Self> {
        let parameters: Parameters = parsed(parameters)?;
        parameters.check().map_err(|error| raised(&error))?;
        Ok(Self(Mutex::new(Team::new(parameters, place, first, count, Arc::new(RealClock))?)))
    }

    fn order(&self, order: &str) -> PyResult<()> {
        self.team().order(&parsed(order)?);
        Ok(())
    }

    fn wait(&self, python: Python<'_>, milliseconds: u64) -> PyResult<bool> {
        let answered = python.detach(|| self.team().wait(Duration::from_millis(milliseconds)));
        python.check_signals()?;
        Ok(answered)
    }

    fn answers(&self) -> PyResult<Vec<Option<String>>> {
        texts(self.team().answers())
    }

    fn read(&self) -> PyResult<String> {
        json(&self.team().read())
    }

    fn so_far(&self) -> PyResult<String> {
        json(&self.team().so_far())
    }

    fn close(&self, python: Python<'_>, milliseconds: u64) {
        python.detach(|| self.team().close(Duration::from_millis(milliseconds)));
    }

    fn stop(&self) {
        self.team().stop();
    }

    fn resume(&self) {
        self.team().resume();
    }

    fn records<'py>(&self, python: Python<'py>, at: usize) -> PyResult<Option<Bound<'py, PyDict>>> {
        let team = self.team();
        let Some(records) = team.records(at) else { return Ok(None) };
        let dict = PyDict::new(python);
        for (name, instant) in INSTANTS.into_iter().zip(records.instants()) {
            dict.set_item(name, instant)?;
        }
        let (first, values, left_out) = records.series();
        dict.set_item("bytes", records.bytes())?;
        dict.set_item("first_bin", first)?;
        dict.set_item("left_out_bytes", left_out)?;
        integers(&dict, "bins", values.iter().map(|bytes| *bytes as i64))?;
        integers(&dict, "mismatches", records.mismatches().iter().map(|offset| *offset as i64))?;
        Ok(Some(dict))
    }
}
