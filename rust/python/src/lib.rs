//! Thin PyO3 bindings of the crates that measure: one file an instrument, no logic.

mod ask;
mod bandwidth;
mod bench;
mod bucket;
mod columns;
mod conformance;
mod errors;
mod foreign;
mod load;
mod metadata;
mod nfs;
mod ping;
mod probe;
mod process;
mod queue;
mod slowdown;
mod spool;
mod states;
mod statistics;

use iosonde_core::sample::{Cache, Op};
use pyo3::prelude::*;

use crate::errors::{BenchError, BucketError, ConfigError, NfsError, ProbeError, SpoolError};

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let python = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("OPS", Op::NAMES.to_vec())?;
    module.add("CACHES", Cache::NAMES.to_vec())?;
    module.add("SpoolError", python.get_type::<SpoolError>())?;
    module.add("ProbeError", python.get_type::<ProbeError>())?;
    module.add("BenchError", python.get_type::<BenchError>())?;
    module.add("BucketError", python.get_type::<BucketError>())?;
    module.add("ConfigError", python.get_type::<ConfigError>())?;
    module.add("NfsError", python.get_type::<NfsError>())?;
    ask::register(module)?;
    states::register(module)?;
    module.add_function(wrap_pyfunction!(spool::read_spool, module)?)?;
    module.add_function(wrap_pyfunction!(spool::read_windows, module)?)?;
    module.add_function(wrap_pyfunction!(statistics::quantile_ranks, module)?)?;
    module.add_function(wrap_pyfunction!(statistics::minimum_count, module)?)?;
    module.add_function(wrap_pyfunction!(statistics::window_statistics, module)?)?;
    module.add_function(wrap_pyfunction!(statistics::trailing_median, module)?)?;
    module.add_function(wrap_pyfunction!(statistics::onset, module)?)?;
    module.add_function(wrap_pyfunction!(statistics::young_baselines, module)?)?;
    module.add_function(wrap_pyfunction!(statistics::young_slow_windows, module)?)?;
    module.add_function(wrap_pyfunction!(statistics::slow_windows, module)?)?;
    module.add_function(wrap_pyfunction!(statistics::control_level, module)?)?;
    module.add_function(wrap_pyfunction!(statistics::host_busy_windows, module)?)?;
    module.add_function(wrap_pyfunction!(statistics::quantile_bounds, module)?)?;
    module.add_function(wrap_pyfunction!(statistics::share_interval, module)?)?;
    module.add_function(wrap_pyfunction!(statistics::host_held_up, module)?)?;
    module.add_function(wrap_pyfunction!(statistics::student_shares, module)?)?;
    module.add_function(wrap_pyfunction!(statistics::student_quantile, module)?)?;
    module.add_function(wrap_pyfunction!(slowdown::guard, module)?)?;
    module.add_function(wrap_pyfunction!(slowdown::error_over, module)?)?;
    module.add_function(wrap_pyfunction!(slowdown::triples, module)?)?;
    module.add_function(wrap_pyfunction!(slowdown::histogram_levels, module)?)?;
    module.add_function(wrap_pyfunction!(slowdown::expectations, module)?)?;
    module.add_function(wrap_pyfunction!(slowdown::mode_shifts, module)?)?;
    module.add_function(wrap_pyfunction!(slowdown::alarms, module)?)?;
    module.add("STAGES", slowdown::STAGES.to_vec())?;
    module.add("FEWER_HITS", iosonde_ask::finding::FEWER_HITS)?;
    module.add("FLOOR_NS", iosonde_core::slowdown::rules::FLOOR_NS)?;
    module.add("ALARM_CAUSES", slowdown::CAUSES.to_vec())?;
    module.add_function(wrap_pyfunction!(conformance::conformance, module)?)?;
    module.add_function(wrap_pyfunction!(probe::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(metadata::outcome_name, module)?)?;
    module.add_class::<bandwidth::Bandwidth>()?;
    module.add_class::<bucket::Bucket>()?;
    module.add_class::<metadata::Metadata>()?;
    module.add_class::<nfs::NfsProgress>()?;
    module.add_class::<nfs::NfsServer>()?;
    module.add_class::<ping::Ping>()?;
    module.add_function(wrap_pyfunction!(process::end_with_parent, module)?)?;
    module.add_function(wrap_pyfunction!(ping::clean, module)?)?;
    module.add_class::<nfs::NfsSession>()?;
    module.add_function(wrap_pyfunction!(nfs::export_space, module)?)?;
    module.add_class::<probe::Probe>()?;
    module.add_class::<queue::QueueSimulation>()?;
    module.add_class::<load::Load>()
}
