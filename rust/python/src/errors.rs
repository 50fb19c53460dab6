//! The exceptions that bindings raise.

use pyo3::create_exception;
use pyo3::exceptions::PyException;

create_exception!(_core, SpoolError, PyException, "A file is not a readable spool segment.");
create_exception!(_core, ProbeError, PyException, "A target cannot be probed.");
create_exception!(_core, BenchError, PyException, "A benchmark cannot go on.");
create_exception!(_core, ConfigError, PyException, "A configuration is wrong.");
create_exception!(_core, NfsError, PyException, "An NFS server cannot be used.");
create_exception!(_core, BucketError, PyException, "A server of buckets says no, or nothing.");
