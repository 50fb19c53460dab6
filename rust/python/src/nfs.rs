//! The NFS client's sweep and the server of known truth as Python objects: numbers and columns, no logic.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use iosonde_core::clock::{Clock, RealClock};
use iosonde_nfs::connection::{Connection, Connector};
use iosonde_nfs::error::NfsError as CoreError;
use iosonde_nfs::message::Caller;
use iosonde_nfs::mount::{Place, mount};
use iosonde_nfs::point::{Measured, Progress, Request};
use iosonde_nfs::server::{Model, Server};
use iosonde_nfs::session::Session;
use iosonde_nfs::socket::SourcePort;
use iosonde_nfs::url::ExportUrl;
use nfs3_types::nfs3::stable_how;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::columns::integers;
use crate::errors::NfsError;

fn raised(error: &CoreError) -> PyErr {
    NfsError::new_err((error.to_string(), error.errno().raw_os_error(), error.remedy()))
}

/// Room of an export, `nfs://HOST/EXPORT?...`: bytes in all and free, files in all and free. Nothing is made there.
#[pyfunction]
pub fn export_space(python: Python<'_>, address: &str, limit_ms: u64) -> PyResult<(u64, u64, u64, u64)> {
    let url = ExportUrl::parse(address).map_err(|what| NfsError::new_err((what, 0, "")))?;
    let clock: Arc<dyn Clock> = Arc::new(RealClock);
    let connector = url.connector(&clock, Duration::from_millis(limit_ms));
    let asked = python.detach(|| {
        let mounted = mount(&connector, &url.place)?;
        Connection::open(&connector, mounted.nfs, 1)?.space(&mounted.root)
    });
    let space = asked.map_err(|error| raised(&error))?;
    Ok((space.total_bytes, space.free_bytes, space.files, space.free_files))
}

/// What can be seen and said while a point goes on.
#[pyclass(frozen)]
pub struct NfsProgress(Arc<Progress>);

#[pymethods]
impl NfsProgress {
    #[new]
    fn new() -> Self {
        Self(Arc::default())
    }

    fn stop(&self) {
        self.0.stop.store(true, Ordering::Relaxed);
    }

    /// Writes and reads that were answered, longest read in nanoseconds.
    fn so_far(&self) -> (u64, u64, u64) {
        let seen = |number: &std::sync::atomic::AtomicU64| number.load(Ordering::Relaxed);
        (seen(&self.0.written), seen(&self.0.read), seen(&self.0.longest_ns))
    }
}

/// A mounted export with a directory of ours.
#[pyclass(frozen)]
pub struct NfsSession {
    session: Mutex<Session>,
    directory: String,
}

#[pymethods]
impl NfsSession {
    /// `ports`: of NFS, of MOUNT (None: asked), of the port mapper. `caller`: uid, gid, whether from a
    /// source port below 1024 (None: where this user may). `run`: a seed, and who measures, for the lock.
    #[new]
    fn new(
        python: Python<'_>,
        host: String,
        path: String,
        ports: (Option<u16>, Option<u16>, u16),
        caller: (u32, u32, Option<bool>),
        limit_ms: u64,
        run: (u64, String),
    ) -> PyResult<Self> {
        let (seed, words) = run;
        let (nfs_port, mount_port, portmap_port) = ports;
        let place = Place { host, path, nfs_port, mount_port, portmap_port };
        let connector = Connector {
            clock: Arc::new(RealClock),
            caller: Caller { uid: caller.0, gid: caller.1 },
            source: match caller.2 {
                None => SourcePort::ReservedIfAllowed,
                Some(true) => SourcePort::Reserved,
                Some(false) => SourcePort::Any,
            },
            limit: Duration::from_millis(limit_ms),
        };
        let session = python
            .detach(|| Session::open(connector, &place, seed, &words))
            .map_err(|error| raised(&error))?;
        Ok(Self { directory: session.directory().to_owned(), session: Mutex::new(session) })
    }

    #[getter]
    fn directory(&self) -> &str {
        &self.directory
    }

    /// Make both files of so many bytes; `filled` gets how many are there and says whether to go on.
    fn prepare(&self, python: Python<'_>, bytes: u64, filled: Py<PyAny>) -> PyResult<bool> {
        let mut failed = None;
        let done = python.detach(|| {
            let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
            session.prepare(bytes, |there| {
                Python::attach(|python| match filled.call1(python, (there,)) {
                    Ok(more) => more.is_truthy(python).unwrap_or(false),
                    Err(error) => {
                        failed = Some(error);
                        false
                    }
                })
            })
        });
        match failed {
            Some(error) => Err(error),
            None => done.map_err(|error| raised(&error)),
        }
    }

    /// `load`: connections, writes a second, most under way at once, stable. `times_ns`: duration, probe period, ceiling,
    /// patience. Gives numbers and columns of one point.
    fn point<'py>(
        &self,
        python: Python<'py>,
        progress: &NfsProgress,
        load: (usize, f64, usize, bool),
        times_ns: (u64, u64, u64, u64),
    ) -> PyResult<Bound<'py, PyDict>> {
        let (connections, write_rate, window, stable) = load;
        let request = Request {
            write_rate,
            duration_ns: times_ns.0,
            probe_period_ns: times_ns.1,
            window,
            stable: if stable { stable_how::FILE_SYNC } else { stable_how::UNSTABLE },
            ceiling_ns: times_ns.2,
            patience_ns: times_ns.3,
        };
        let measured = python
            .detach(|| {
                let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
                session.point(connections, &request, &progress.0)
            })
            .map_err(|error| raised(&error))?;
        columns(python, &measured)
    }

    fn clean(&self, python: Python<'_>) -> PyResult<()> {
        python
            .detach(|| self.session.lock().unwrap_or_else(PoisonError::into_inner).clean())
            .map_err(|error| raised(&error))
    }
}

fn columns<'py>(python: Python<'py>, measured: &Measured) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(python);
    let writes = &measured.writes;
    dict.set_item("began_ns", measured.began_ns)?;
    dict.set_item("lasted_ns", measured.lasted_ns)?;
    dict.set_item("ceiling", measured.ceiling)?;
    dict.set_item("stopped", measured.stopped)?;
    dict.set_item("problems", &measured.problems)?;
    for (name, value) in [
        ("due", writes.due),
        ("sent", writes.sent),
        ("done", writes.done),
        ("done_in_time", writes.done_in_time),
        ("failed", writes.failed),
        ("unanswered", writes.unanswered),
        ("strays", writes.strays),
        ("left_out", writes.left_out),
        ("outstanding", writes.outstanding),
    ] {
        dict.set_item(name, value)?;
    }
    dict.set_item("committed", writes.committed)?;
    integers(&dict, "latency_ns", writes.latency_ns.iter().copied())?;
    let probes = &measured.probes;
    integers(&dict, "probe_due_ns", probes.iter().map(|probe| probe.due_ns as i64))?;
    integers(&dict, "probe_sent_ns", probes.iter().map(|probe| probe.sent_ns as i64))?;
    integers(&dict, "probe_ended_ns", probes.iter().map(|probe| probe.ended_ns as i64))?;
    integers(&dict, "probe_errno", probes.iter().map(|probe| i64::from(probe.errno)))?;
    Ok(dict)
}

/// A server on loopback whose truth is known.
#[pyclass(frozen)]
pub struct NfsServer {
    server: Mutex<Option<Server>>,
    #[pyo3(get)]
    port: u16,
}

#[pymethods]
impl NfsServer {
    /// A service time of zero: no queue, every call is answered at once. Port 0 takes a free one.
    #[new]
    #[pyo3(signature = (service_ns, queue, port = 0, most_bytes = 1 << 30))]
    fn new(service_ns: u64, queue: usize, port: u16, most_bytes: u64) -> PyResult<Self> {
        let model = Model { service_ns, queue, most_bytes };
        let server = Server::start(model, port, Arc::new(RealClock))?;
        Ok(Self { port: server.port(), server: Mutex::new(Some(server)) })
    }

    /// WRITEs and READs that were executed, operations in the queue, names below the export.
    fn executed(&self) -> PyResult<(u64, u64, u64, u64)> {
        let server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        let server = server.as_ref().ok_or_else(|| PyRuntimeError::new_err("the server is closed"))?;
        let done = server.executed();
        Ok((done.writes, done.reads, done.queued, done.names))
    }

    fn close(&self, python: Python<'_>) {
        let server = self.server.lock().unwrap_or_else(PoisonError::into_inner).take();
        python.detach(|| drop(server));
    }
}
