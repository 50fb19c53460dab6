//! What the benchmarks' objects have in common: JSON in and out, answers, errors.

use iosonde_bench::ranks::BenchError as CoreError;
use iosonde_bench::ranks::threads::Answer;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::errors::BenchError;

/// A value out of JSON.
pub fn parsed<'a, T: serde::Deserialize<'a>>(text: &'a str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| BenchError::new_err((error.to_string(), true)))
}

/// A value as JSON.
pub fn json<T: serde::Serialize>(value: &T) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// An error with whether the request was wrong.
pub fn raised(error: &CoreError) -> PyErr {
    BenchError::new_err((error.to_string(), error.is_wrong_request()))
}

/// Answers as JSON; the first error among them is raised.
pub fn texts(answers: Vec<Option<Answer>>) -> PyResult<Vec<Option<String>>> {
    let text = |answer: Option<Answer>| match answer {
        Some(Ok(value)) => json(&value).map(Some),
        Some(Err(error)) => Err(raised(&error)),
        None => Ok(None),
    };
    answers.into_iter().map(text).collect()
}
