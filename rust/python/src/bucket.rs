//! Objects of a bucket as a Python object.

use std::path::PathBuf;

use iosonde_bucket::{Bucket as CoreBucket, Failure};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::BucketError;

/// A bucket of a server, and what requests are signed with.
#[pyclass(frozen)]
pub struct Bucket(CoreBucket);

/// Key, bytes, when it was modified.
type Listed = (String, u64, String);

#[pymethods]
impl Bucket {
    #[new]
    fn new(
        endpoint: &str,
        region: &str,
        name: &str,
        key_id: &str,
        secret: &str,
        token: Option<&str>,
    ) -> PyResult<Self> {
        CoreBucket::new(endpoint, region, name, (key_id, secret, token)).map(Self).map_err(failed)
    }

    #[pyo3(signature = (prefix, token, seconds))]
    fn page(
        &self,
        python: Python<'_>,
        prefix: &str,
        token: Option<&str>,
        seconds: u64,
    ) -> PyResult<(Vec<Listed>, Option<String>)> {
        let page = python.detach(|| self.0.page(prefix, token, seconds)).map_err(failed)?;
        Ok((page.objects.into_iter().map(|one| (one.key, one.bytes, one.modified)).collect(), page.next))
    }

    fn get<'py>(
        &self,
        python: Python<'py>,
        key: &str,
        most: u64,
        seconds: u64,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = python.detach(|| self.0.get(key, most, seconds)).map_err(failed)?;
        Ok(PyBytes::new(python, &bytes))
    }

    fn fetch(&self, python: Python<'_>, key: &str, path: PathBuf, size: u64, seconds: u64) -> PyResult<()> {
        python.detach(|| self.0.fetch(key, &path, size, seconds)).map_err(failed)
    }

    fn put(&self, python: Python<'_>, key: &str, content: &[u8], seconds: u64) -> PyResult<()> {
        python.detach(|| self.0.put(key, content, seconds)).map_err(failed)
    }

    fn send(&self, python: Python<'_>, key: &str, path: PathBuf, seconds: u64) -> PyResult<()> {
        python.detach(|| self.0.send(key, &path, seconds)).map_err(failed)
    }
}

/// The text and the HTTP status, 0 where there is none, and whether the same request may end otherwise.
fn failed(failure: Failure) -> PyErr {
    let text = failure.to_string();
    match failure {
        Failure::File(error) => error.into(),
        Failure::Wrong(text) => PyValueError::new_err(text),
        Failure::Refused { status, .. } => {
            BucketError::new_err((text, status, status == 429 || status == 408 || status >= 500))
        }
        Failure::Broken(_) => BucketError::new_err((text, 0, true)),
        Failure::Late(_) | Failure::Size(_) => BucketError::new_err((text, 0, false)),
    }
}
