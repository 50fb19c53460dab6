//! A store of objects that is a Python object (src/iosonde/bench/backends/protocol.py).
//!
//! Every call takes the interpreter's lock for itself. Content is copied once each way.

use std::cell::OnceCell;
use std::sync::Arc;

use iosonde_bench::backend::error::ConnectError;
use iosonde_bench::backend::location::Location;
use iosonde_bench::backend::words::Problem;
use iosonde_core::backend::store::{Capabilities, Manner, ObjectStore, SetId};
use iosonde_core::backend::{Backend, ObjectName};
use iosonde_core::clock::Clock;
use iosonde_core::seed::Random;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use rustix::io::Errno;

use crate::errors::ConfigError;

/// A place as Python names it: a description in JSON, or something to call that makes a store.
pub enum Place {
    /// A backend of the core.
    Native(Location),
    /// A Python object.
    Foreign(Py<PyAny>),
}

impl Place {
    /// Raises ConfigError for a description that cannot be read, TypeError for anything else.
    pub fn from_python(place: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(text) = place.extract::<String>() {
            return serde_json::from_str(&text)
                .map(Self::Native)
                .map_err(|error| ConfigError::new_err(format!("location: {error}")));
        }
        if place.is_callable() {
            return Ok(Self::Foreign(place.clone().unbind()));
        }
        Err(PyTypeError::new_err("a place is a description in JSON or something to call that makes a store"))
    }

    /// A rank's way to it, for the thread that calls. It must not hold the interpreter's lock.
    pub fn connect(
        &self,
        clock: &Arc<dyn Clock>,
        size_bytes: u64,
        random: Random,
    ) -> Result<Box<dyn ObjectStore>, ConnectError> {
        match self {
            Self::Native(location) => location.connect(clock, size_bytes, random),
            Self::Foreign(factory) => {
                introduce_this_thread();
                let store = Python::attach(|python| {
                    ForeignStore::new(factory.call0(python)?.bind(python), size_bytes)
                })
                .map_err(|error| ConnectError::Foreign { problem: message_of(&error) })?;
                Ok(Box::new(store))
            }
        }
    }
}

/// Let the interpreter know this thread for good: otherwise every call would make and destroy what it remembers of a
/// thread, which takes longer (6 us) than the call.
fn introduce_this_thread() {
    thread_local! { static KNOWN: OnceCell<()> = const { OnceCell::new() } }
    KNOWN.with(|known| {
        known.get_or_init(|| {
            // SAFETY: the thread does not hold the lock, so the first call takes it and the second gives it back. That
            // they are not paired with a release is the point: the thread's state stays until the interpreter ends.
            unsafe {
                ffi::PyGILState_Ensure();
                ffi::PyEval_SaveThread();
            }
        });
    });
}

/// What an exception says, without its traceback.
fn message_of(error: &PyErr) -> String {
    Python::attach(|python| {
        let value = error.value(python).to_string();
        match error.get_type(python).name() {
            Ok(name) if value.is_empty() => name.to_string(),
            _ => value,
        }
    })
}

/// The errno of an exception: an OSError's own, EINTR for an interrupt, else EIO.
fn errno_of(python: Python<'_>, error: &PyErr) -> Errno {
    if error.is_instance_of::<PyKeyboardInterrupt>(python) {
        return Errno::INTR;
    }
    let raw = error
        .is_instance_of::<PyOSError>(python)
        .then(|| error.value(python).getattr("errno").ok()?.extract::<i32>().ok())
        .flatten();
    raw.filter(|raw| *raw > 0).map_or(Errno::IO, Errno::from_raw_os_error)
}

/// Ask Python, and keep what it says when it fails.
fn ask<T>(problem: &Problem, question: impl FnOnce(Python<'_>) -> PyResult<T>) -> Result<T, Errno> {
    Python::attach(|python| {
        question(python).map_err(|error| problem.keep(&message_of(&error), errno_of(python, &error)))
    })
}

/// A rank's way to a store that Python made.
struct ForeignStore {
    store: Py<PyAny>,
    can: Capabilities,
    problem: Problem,
}

impl ForeignStore {
    /// A store that keeps nothing is told what size its objects pretend to have.
    fn new(store: &Bound<'_, PyAny>, size_bytes: u64) -> PyResult<Self> {
        let can = store.call_method0("capabilities")?;
        let flag = |name: &str| can.getattr(name)?.extract::<bool>();
        let can = Capabilities {
            stores: flag("stores")?,
            exclusive: flag("exclusive")?,
            delete_tells: flag("delete_tells")?,
            fsync: flag("fsync")?,
            threads: flag("threads")?,
        };
        if !can.stores {
            store.call_method1("pretend", (size_bytes,))?;
        }
        Ok(Self { store: store.clone().unbind(), can, problem: Problem::default() })
    }
}

impl Drop for ForeignStore {
    /// Let go of it now, not when Python is next asked something: its connection ends with it.
    fn drop(&mut self) {
        Python::try_attach(|python| drop(std::mem::replace(&mut self.store, python.None())));
    }
}

impl ObjectStore for ForeignStore {
    fn capabilities(&self) -> Capabilities {
        self.can
    }
    fn begin(&mut self) -> Result<(), Errno> {
        ask(&self.problem, |python| self.store.call_method0(python, "begin").map(drop))
    }
    fn lock(&mut self) -> Result<(), Errno> {
        ask(&self.problem, |python| self.store.call_method0(python, "lock").map(drop))
    }
    fn note(&mut self) -> Result<Option<String>, Errno> {
        ask(&self.problem, |python| self.store.call_method0(python, "note")?.extract(python))
    }
    fn set_note(&mut self, text: &str) -> Result<(), Errno> {
        ask(&self.problem, |python| self.store.call_method1(python, "set_note", (text,)).map(drop))
    }
    fn sets(&mut self) -> Result<Vec<SetId>, Errno> {
        let found: Vec<(u32, u32)> =
            ask(&self.problem, |python| self.store.call_method0(python, "sets")?.extract(python))?;
        Ok(found.into_iter().map(|(rank, set)| SetId { rank, set }).collect())
    }
    fn make_set(&mut self, set: SetId) -> Result<(), Errno> {
        let id = (set.rank, set.set);
        ask(&self.problem, |python| self.store.call_method1(python, "make_set", id).map(drop))
    }
    fn open_set(&mut self, set: SetId, manner: Manner) -> Result<Box<dyn Backend>, Errno> {
        if manner.direct || (manner.fsync && !self.can.fsync) {
            let message =
                "this store knows no direct access and does not force objects to stable storage on demand";
            return Err(self.problem.keep(message, Errno::INVAL));
        }
        let objects = ask(&self.problem, |python| {
            let objects = self.store.call_method1(python, "open_set", (set.rank, set.set, manner.fsync))?;
            ForeignSet::new(objects.bind(python), self.problem.clone())
        })?;
        Ok(Box::new(objects))
    }
    fn list_set(&mut self, set: SetId) -> Result<Vec<u64>, Errno> {
        let id = (set.rank, set.set);
        ask(&self.problem, |python| self.store.call_method1(python, "list_set", id)?.extract(python))
    }
    fn remove_set(&mut self, set: SetId) -> Result<(), Errno> {
        let id = (set.rank, set.set);
        ask(&self.problem, |python| self.store.call_method1(python, "remove_set", id).map(drop))
    }
    fn end(&mut self) -> Result<(), Errno> {
        ask(&self.problem, |python| self.store.call_method0(python, "end").map(drop))
    }
    fn problem(&self) -> Option<String> {
        self.problem.last()
    }
}

/// The objects of one data set; its methods are looked up once.
struct ForeignSet {
    create: Py<PyAny>,
    stat: Py<PyAny>,
    read: Py<PyAny>,
    delete: Py<PyAny>,
    problem: Problem,
}

impl ForeignSet {
    fn new(objects: &Bound<'_, PyAny>, problem: Problem) -> PyResult<Self> {
        let method = |name: &str| objects.getattr(name).map(Bound::unbind);
        Ok(Self {
            create: method("create")?,
            stat: method("stat")?,
            read: method("read")?,
            delete: method("delete")?,
            problem,
        })
    }
}

fn text<'py>(python: Python<'py>, name: &ObjectName) -> Bound<'py, PyString> {
    PyString::new(python, name.as_c_str().to_str().unwrap_or_default())
}

/// Copy what Python read; returns how many bytes there were.
fn copy(python: Python<'_>, content: &Bound<'_, PyAny>, buffer: &mut [u8]) -> PyResult<usize> {
    if let Ok(bytes) = content.cast::<PyBytes>() {
        let bytes = bytes.as_bytes();
        let n = bytes.len().min(buffer.len());
        buffer[..n].copy_from_slice(&bytes[..n]);
        return Ok(n);
    }
    let view = PyBuffer::<u8>::get(content)?;
    let n = view.item_count();
    if n > buffer.len() {
        return Err(PyTypeError::new_err(format!(
            "{n} bytes were read where {} were asked for",
            buffer.len()
        )));
    }
    view.copy_to_slice(python, &mut buffer[..n])?;
    Ok(n)
}

impl Backend for ForeignSet {
    fn create(&mut self, name: &ObjectName, content: &[u8]) -> Result<(), Errno> {
        ask(&self.problem, |python| {
            self.create.call1(python, (text(python, name), PyBytes::new(python, content))).map(drop)
        })
    }
    fn stat(&mut self, name: &ObjectName) -> Result<u64, Errno> {
        ask(&self.problem, |python| self.stat.call1(python, (text(python, name),))?.extract(python))
    }
    fn read(&mut self, name: &ObjectName, buffer: &mut [u8]) -> Result<usize, Errno> {
        ask(&self.problem, |python| {
            let content = self.read.call1(python, (text(python, name), buffer.len()))?;
            copy(python, content.bind(python), buffer)
        })
    }
    fn delete(&mut self, name: &ObjectName) -> Result<(), Errno> {
        ask(&self.problem, |python| self.delete.call1(python, (text(python, name),)).map(drop))
    }
}
