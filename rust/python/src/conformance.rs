//! The suite of the backends, for stores that only Python can start or make.

use std::sync::Arc;

use iosonde_core::backend::conformance::{self as suite, Stranger};
use iosonde_core::backend::store::{Manner, SetId};
use iosonde_core::backend::{Backend, ObjectName};
use iosonde_core::clock::{Clock, RealClock};
use iosonde_core::seed::Random;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::foreign::Place;

const SIZE: u64 = 3901;

/// Every check's name and what was wrong, None if nothing was.
#[pyfunction]
#[pyo3(signature = (place, stranger=None))]
pub fn conformance(
    python: Python<'_>,
    place: &Bound<'_, PyAny>,
    stranger: Option<Py<PyAny>>,
) -> PyResult<Vec<(&'static str, Option<String>)>> {
    let place = Place::from_python(place)?;
    let verdicts = python.detach(|| {
        let clock: Arc<dyn Clock> = Arc::new(RealClock);
        let mut connect =
            || place.connect(&clock, SIZE, Random::stream(1, "conformance")).map_err(|error| error.0);
        let mut put = |there: bool| match &stranger {
            Some(stranger) => Python::attach(|python| {
                stranger.call1(python, (there,)).map(drop).map_err(|error| error.to_string())
            }),
            None => Ok(()),
        };
        let stranger: Option<&mut Stranger<'_>> = if stranger.is_some() { Some(&mut put) } else { None };
        suite::run(&mut connect, stranger)
    });
    Ok(verdicts.into_iter().map(|(name, verdict)| (name, verdict.err())).collect())
}

/// Create, stat, read and delete `count` objects, each op for all of them; medians in nanoseconds by op.
#[pyfunction]
pub fn time_backend<'py>(
    python: Python<'py>,
    place: &Bound<'py, PyAny>,
    count: u64,
    size_bytes: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let place = Place::from_python(place)?;
    let medians = python.detach(|| time(&place, count, size_bytes)).map_err(PyRuntimeError::new_err)?;
    let by_op = PyDict::new(python);
    for (op, median) in medians {
        by_op.set_item(op, median)?;
    }
    Ok(by_op)
}

fn time(place: &Place, count: u64, size_bytes: usize) -> Result<Vec<(&'static str, u64)>, String> {
    let clock: Arc<dyn Clock> = Arc::new(RealClock);
    let random = Random::stream(1, "time");
    let mut store = place.connect(&clock, size_bytes as u64, random).map_err(|error| error.0)?;
    let failed = |what: &str, errno: rustix::io::Errno| format!("{what}: {errno}");
    store.begin().map_err(|errno| failed("begin", errno))?;
    let set = SetId { rank: 0, set: 0 };
    store.make_set(set).map_err(|errno| failed("make_set", errno))?;
    let mut objects = store.open_set(set, Manner::default()).map_err(|errno| failed("open_set", errno))?;
    let mut content = vec![0; size_bytes];
    Random::stream(2, "time").fill(&mut content);
    let mut buffer = vec![0; size_bytes];
    let mut medians = Vec::new();
    type Work<'a> = &'a mut dyn FnMut(&mut dyn Backend, &ObjectName) -> Result<(), rustix::io::Errno>;
    let works: [(&'static str, Work<'_>); 4] = [
        ("create", &mut |objects, name| objects.create(name, &content)),
        ("stat", &mut |objects, name| objects.stat(name).map(drop)),
        ("read", &mut |objects, name| objects.read(name, &mut buffer).map(drop)),
        ("delete", &mut |objects, name| objects.delete(name)),
    ];
    for (op, work) in works {
        let mut took = Vec::with_capacity(count as usize);
        for id in 0..count {
            let name = ObjectName::new(id);
            let began = clock.monotonic_ns();
            work(objects.as_mut(), &name).map_err(|errno| failed(op, errno))?;
            took.push(clock.monotonic_ns() - began);
        }
        took.sort_unstable();
        medians.push((op, took.get(took.len() / 2).copied().unwrap_or_default()));
    }
    drop(objects);
    store.remove_set(set).map_err(|errno| failed("remove_set", errno))?;
    store.end().map_err(|errno| failed("end", errno))?;
    Ok(medians)
}
