//! The probe as a Python object.

use std::path::PathBuf;
use std::sync::Arc;

use iosonde_core::clock::RealClock;
use iosonde_core::sample::Op;
use iosonde_probe::config::{Config, ConfigError as CoreConfigError};
use iosonde_probe::probe::collector::Summary;
use iosonde_probe::probe::session::Session;
use iosonde_probe::probe::simulate::{self as core_simulate, SimulateError};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{ConfigError, ProbeError};

fn config_error(error: CoreConfigError) -> PyErr {
    ConfigError::new_err(error.to_string())
}

fn json<T: serde::Serialize>(value: &T) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// One running probe over several targets.
#[pyclass]
pub struct Probe {
    session: Session,
    last: Option<Summary>,
}

#[pymethods]
impl Probe {
    #[new]
    #[pyo3(signature = (config_json, worker=None))]
    fn new(config_json: &str, worker: Option<PathBuf>) -> PyResult<Self> {
        let config = Config::from_json(config_json).map_err(config_error)?;
        let mut session = Session::new(config, Arc::new(RealClock)).map_err(config_error)?;
        if let Some(worker) = worker {
            session.with_worker(worker);
        }
        Ok(Self { session, last: None })
    }

    fn prepare(&mut self, python: Python<'_>, progress: Py<PyAny>) -> PyResult<Vec<String>> {
        let mut failure = None;
        let mut report = |target: &str, what: &str, done: u64, all: u64| {
            let answer = progress
                .call1(python, (target, what, done, all))
                .and_then(|answer| answer.is_truthy(python))
                .and_then(|go_on| python.check_signals().map(|()| go_on));
            answer.unwrap_or_else(|error| {
                failure = Some(error);
                false
            })
        };
        let notes = self.session.prepare(&mut report);
        match failure {
            Some(error) => Err(error),
            None => notes.map_err(|error| ProbeError::new_err(error.to_string())),
        }
    }

    fn start(&mut self) -> PyResult<()> {
        self.session.start().map_err(|error| ProbeError::new_err(error.to_string()))
    }

    fn snapshot(&self) -> PyResult<String> {
        match self.session.view() {
            Some(view) => json(&view.states(true)),
            None => Ok("[]".into()),
        }
    }

    fn recent<'py>(
        &self,
        python: Python<'py>,
        target: &str,
        op: &str,
        n: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let wrong = |what: &str| PyValueError::new_err(format!("no {what} of that name is being probed"));
        let op = Op::from_name(op).ok_or_else(|| wrong("op"))?;
        let view = self.session.view().ok_or_else(|| wrong("target"))?;
        let targets = view.targets();
        let watched = targets.iter().find(|watched| watched.plan.name == target);
        let watched = watched.ok_or_else(|| wrong("target"))?;
        let bytes: Vec<u8> = watched.accounts()[op as usize]
            .recent_response(n)
            .flat_map(|response| response.map_or(f64::NAN, |ns| ns as f64).to_ne_bytes())
            .collect();
        Ok(PyBytes::new(python, &bytes))
    }

    fn stop(&mut self, python: Python<'_>) -> PyResult<String> {
        if let Some(summary) = python.detach(|| self.session.stop()) {
            self.last = Some(summary);
        }
        json(&self.last)
    }
}

/// Run a probe on simulated clocks.
#[pyfunction]
pub fn simulate(python: Python<'_>, config_json: &str, start_ns: i64, duration_ns: u64) -> PyResult<String> {
    let config = Config::from_json(config_json).map_err(config_error)?;
    let summary = python.detach(|| core_simulate::simulate(config, start_ns, duration_ns)).map_err(
        |error| match error {
            SimulateError::Config(error) => config_error(error),
            SimulateError::Probe(error) => ProbeError::new_err(error.to_string()),
        },
    )?;
    json(&summary)
}
