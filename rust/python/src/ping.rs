//! A short look at a directory as a Python object, and the removal of what iosonde left in one.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use iosonde_bench::clean::State;
use iosonde_bench::ping::{Op, Ping as CorePing};
use iosonde_core::backend::posix::Access;
use iosonde_core::clock::RealClock;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::errors::BenchError;

/// Files of its own in a directory, and operations on them.
#[pyclass(frozen)]
pub struct Ping(Mutex<Option<CorePing>>);

#[pymethods]
impl Ping {
    #[new]
    fn new(directory: PathBuf, block_bytes: usize, object_bytes: usize, seed: u64) -> PyResult<Self> {
        CorePing::new(&directory, block_bytes, object_bytes, seed, Arc::new(RealClock))
            .map(|ping| Self(Mutex::new(Some(ping))))
            .map_err(|error| BenchError::new_err(error.to_string()))
    }

    fn access(&self) -> PyResult<&'static str> {
        Ok(match self.held().as_ref().ok_or_else(removed)?.access() {
            Access::Direct => "direct",
            Access::Buffered => "buffered",
            Access::Memory => "memory",
        })
    }

    /// Nanoseconds, bytes or names, error number (0: it ended well).
    fn run(&self, python: Python<'_>, op: &str) -> PyResult<(u64, u64, i32)> {
        let op = Op::from_name(op).ok_or_else(|| PyValueError::new_err(format!("`{op}` is no operation")))?;
        let (took_ns, answer) =
            python.detach(|| self.held().as_mut().map(|ping| ping.run(op))).ok_or_else(removed)?;
        Ok(match answer {
            Ok(count) => (took_ns, count, 0),
            Err(errno) => (took_ns, 0, errno.raw_os_error()),
        })
    }

    fn remove(&self, python: Python<'_>) -> PyResult<()> {
        let ping = self.held().take().ok_or_else(removed)?;
        python.detach(|| ping.remove()).map_err(|errno| std::io::Error::from(errno).into())
    }
}

impl Ping {
    fn held(&self) -> MutexGuard<'_, Option<CorePing>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn removed() -> PyErr {
    PyRuntimeError::new_err("its files were removed")
}

/// Path, maker, files, bytes; held, removed; error number of what could not be removed.
type Found = (PathBuf, String, u64, u64, bool, bool, i32);

/// Marked directories of this user below one; with `remove` those that nobody holds go.
#[pyfunction]
pub fn clean(python: Python<'_>, directory: PathBuf, remove: bool) -> PyResult<Vec<Found>> {
    let found = python
        .detach(|| iosonde_bench::clean::clean(&directory, remove))
        .map_err(|error| BenchError::new_err(error.to_string()))?;
    Ok(found
        .into_iter()
        .map(|one| {
            let errno = if let State::Failed(errno) = one.state { errno.raw_os_error() } else { 0 };
            let (held, removed) = (one.state == State::Held, one.state == State::Removed);
            (one.path, one.made_by, one.files, one.bytes, held, removed, errno)
        })
        .collect())
}
