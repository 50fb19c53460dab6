//! What Python's standard library does not ask the kernel for.

use pyo3::prelude::*;
use rustix::process::{Signal, set_parent_process_death_signal};

/// Let the kernel kill this process when the thread that forked it ends.
#[pyfunction]
pub fn end_with_parent() -> PyResult<()> {
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|errno| std::io::Error::from(errno).into())
}
