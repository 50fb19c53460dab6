//! Live states of a store.

use std::path::{Path, PathBuf};

use iosonde_ask::state;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::ask::dictionary;

/// Add the functions and the constant that Python shares.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("STATE_BYTES", state::MAX_BYTES)?;
    module.add_function(wrap_pyfunction!(read_states, module)?)?;
    module.add_function(wrap_pyfunction!(read_state, module)?)
}

/// Every state of a store; see the stub. Files are read without the interpreter's lock, because a store may hang.
#[pyfunction]
fn read_states<'py>(
    python: Python<'py>,
    root: PathBuf,
    reading: Option<Py<PyAny>>,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let mut failed = None;
    let mut note = |path: &Path| {
        if let Some(reading) = &reading {
            let noted = Python::attach(|python| reading.call1(python, (path,)).map(drop));
            failed = failed.take().or(noted.err());
        }
    };
    let found = python.detach(|| state::read_states(&root, &mut note));
    if let Some(error) = failed {
        return Err(error);
    }
    found.map_err(PyOSError::new_err)?.iter().map(|one| dictionary(python, one)).collect()
}

/// One state; see the stub.
#[pyfunction]
fn read_state(python: Python<'_>, path: PathBuf) -> PyResult<Option<Bound<'_, PyDict>>> {
    let found = python.detach(|| state::read_state(&path));
    found.map(|one| dictionary(python, &one)).transpose()
}
