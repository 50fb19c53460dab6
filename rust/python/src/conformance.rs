//! The suite of the backends, for stores that only Python can start or make.

use std::sync::Arc;

use iosonde_core::backend::conformance::{self as suite, Stranger};
use iosonde_core::clock::{Clock, RealClock};
use iosonde_core::seed::Random;
use pyo3::prelude::*;

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
        let mut connect = || {
            place.connect(&clock, SIZE, Random::stream(1, "conformance")).map_err(|error| error.to_string())
        };
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
