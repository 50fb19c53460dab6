//! The metadata benchmark as a Python object: orders in, answers out, both as JSON.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use iosonde_bench::metadata::parameters::Parameters;
use iosonde_bench::metadata::team::{Connector, Team};
use iosonde_core::backend::faulty::Fault;
use iosonde_core::clock::{Clock, RealClock};
use iosonde_core::seed::Random;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bench::{json, parsed, raised, texts};
use crate::columns::integers;
use crate::foreign::Place;

/// The ranks of this process.
#[pyclass]
pub struct Metadata {
    team: Mutex<Team>,
    count: usize,
}

impl Metadata {
    fn team(&self) -> MutexGuard<'_, Team> {
        self.team.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Metadata {
    #[new]
    fn new(
        parameters: &str,
        place: &Bound<'_, PyAny>,
        first: u32,
        count: u32,
        faults: &str,
    ) -> PyResult<Self> {
        let parameters: Parameters = parsed(parameters)?;
        parameters.check_sizes().map_err(|error| raised(&error))?;
        let place = Place::from_python(place)?;
        let faults: Vec<Fault> = parsed(faults)?;
        let clock: Arc<dyn Clock> = Arc::new(RealClock);
        let (clocks, size, seed) = (Arc::clone(&clock), parameters.size_bytes, parameters.seed);
        let connector: Connector = Arc::new(move |rank| {
            place.connect(&clocks, size, Random::stream(seed, &format!("connection of rank {rank}")))
        });
        let team = Team::new(parameters, first, count, faults, &connector, clock)?;
        Ok(Self { team: Mutex::new(team), count: count as usize })
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

    fn rows<'py>(&self, python: Python<'py>, at: usize) -> PyResult<Option<Bound<'py, PyDict>>> {
        if at >= self.count {
            return Ok(None);
        }
        let Some(rows) = self.team().rows(at) else { return Ok(None) };
        let dict = PyDict::new(python);
        integers(&dict, "began_ns", rows.iter().map(|row| row.began_ns as i64))?;
        integers(&dict, "latency_ns", rows.iter().map(|row| row.latency_ns as i64))?;
        integers(&dict, "op", rows.iter().map(|row| row.op as i64))?;
        integers(&dict, "outcome", rows.iter().map(|row| i64::from(row.outcome.code())))?;
        Ok(Some(dict))
    }
}

/// The name of an outcome's number.
#[pyfunction]
pub fn outcome_name(code: u16) -> String {
    iosonde_core::sample::Outcome::from_code(code).name()
}
