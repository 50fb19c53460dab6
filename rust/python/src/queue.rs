//! The queue simulator: a scenario as plain values in, buffers out.

use iosonde_queue::{
    Account, ArrivalTimes, Arrivals, Cache, Client, Discipline, Duration, Kind, Order, PhaseKind, Process,
    Scenario, Service, Storage, WhenFull,
};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::columns::{integers, vector};

/// A scenario that is being simulated.
#[pyclass]
pub struct QueueSimulation {
    simulation: iosonde_queue::Simulation,
    scenario: Scenario,
}

#[pymethods]
impl QueueSimulation {
    #[new]
    fn new(
        run: &Bound<'_, PyDict>,
        storage: &Bound<'_, PyDict>,
        clients: Vec<Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let random: bool = item(run, "random")?;
        let scenario = Scenario {
            ticks: item(run, "ticks")?,
            bin_ticks: item(run, "bin_ticks")?,
            order: if random { Order::Random } else { Order::Fixed },
            seed: item(run, "seed")?,
            most_records: item(run, "most_records")?,
            storage: storage_of(storage)?,
            clients: clients.iter().map(client_of).collect::<PyResult<_>>()?,
        };
        let simulation = iosonde_queue::Simulation::new(&scenario)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self { simulation, scenario })
    }
    /// Simulate at most so many ticks in which something changes; whether time is up.
    fn advance(&mut self, python: Python<'_>, steps: u64) -> bool {
        python.detach(|| self.simulation.advance(steps));
        self.simulation.done()
    }
    /// Ticks that are done.
    fn now(&self) -> u64 {
        self.simulation.now()
    }
    /// What happened until now.
    fn account<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let account = python.detach(|| self.simulation.account());
        let found = PyDict::new(python);
        found.set_item("bins", account.traces.bins)?;
        found.set_item("unrecorded", account.unrecorded)?;
        found.set_item("busy_ticks", account.busy_ticks)?;
        found.set_item("inside_ticks", account.inside_ticks as f64)?;
        found.set_item("clients", self.scenario.clients.len())?;
        tallies(&found, &account)?;
        traces(&found, &account)?;
        records(&found, &account)?;
        Ok(found)
    }
}

fn tallies(found: &Bound<'_, PyDict>, account: &Account) -> PyResult<()> {
    let each = |name: &str, value: &dyn Fn(&iosonde_queue::Tally) -> u64| {
        integers(found, name, account.tallies.iter().map(|tally| value(tally) as i64))
    };
    each("reads", &|tally| tally.reads)?;
    each("writes_stored", &|tally| tally.writes_stored)?;
    each("writes_executed", &|tally| tally.writes_executed)?;
    each("blocked_read_ticks", &|tally| tally.blocked_read_ticks)?;
    each("blocked_write_ticks", &|tally| tally.blocked_write_ticks)?;
    each("cycles", &|tally| tally.cycles)?;
    each("lost", &|tally| tally.lost)?;
    each("read_ticks", &|tally| tally.read_ticks)?;
    each("longest_read_ticks", &|tally| tally.longest_read_ticks)?;
    each("median_read_ticks", &|tally| tally.read_waits.value_at_quantile(0.5))?;
    each("q99_read_ticks", &|tally| tally.read_waits.value_at_quantile(0.99))
}

fn traces(found: &Bound<'_, PyDict>, account: &Account) -> PyResult<()> {
    let traces = &account.traces;
    integers(found, "trace_reads", traces.reads.iter().map(|count| i64::from(*count)))?;
    integers(found, "trace_writes", traces.writes.iter().map(|count| i64::from(*count)))?;
    integers(found, "trace_stored", traces.stored.iter().map(|count| i64::from(*count)))?;
    integers(found, "trace_longest", traces.longest.iter().map(|ticks| *ticks as i64))?;
    integers(found, "trace_length", traces.length.iter().map(|count| *count as i64))
}

fn records(found: &Bound<'_, PyDict>, account: &Account) -> PyResult<()> {
    integers(found, "read_client", account.reads.iter().map(|read| i64::from(read.client)))?;
    integers(found, "read_due", account.reads.iter().map(|read| read.due as i64))?;
    integers(found, "read_ended", account.reads.iter().map(|read| read.ended as i64))?;
    integers(found, "phase_client", account.phases.iter().map(|phase| i64::from(phase.client)))?;
    integers(found, "phase_began", account.phases.iter().map(|phase| phase.began as i64))?;
    integers(found, "phase_ended", account.phases.iter().map(|phase| phase.ended as i64))?;
    let writes: Vec<u8> =
        account.phases.iter().map(|phase| u8::from(phase.kind == PhaseKind::Write)).collect();
    found.set_item("phase_writes", PyBytes::new(found.py(), &writes))
}

fn storage_of(storage: &Bound<'_, PyDict>) -> PyResult<Storage> {
    let cache: Option<(u64, u64, u64)> = item(storage, "cache")?;
    let queue: Option<u64> = item(storage, "queue")?;
    let ticks: f64 = item(storage, "service_ticks")?;
    let name: String = item(storage, "service")?;
    let discipline: String = item(storage, "discipline")?;
    Ok(Storage {
        service: match name.as_str() {
            "slots" => Service::Slots(ticks as u64),
            "constant" => Service::Timed(Duration::Constant(ticks)),
            "exponential" => Service::Timed(Duration::Exponential(ticks)),
            "lognormal" => Service::Timed(Duration::Lognormal(ticks, item(storage, "variation")?)),
            "values" => {
                let values: PyBuffer<f64> = item(storage, "values")?;
                Service::Timed(Duration::Values(vector(storage.py(), &values)?))
            }
            other => return Err(unknown("service", other)),
        },
        servers: item(storage, "servers")?,
        queue: queue.unwrap_or(u64::MAX),
        discipline: match discipline.as_str() {
            "fifo" => Discipline::Fifo,
            "fair" => Discipline::Fair,
            "reads-first" => Discipline::ReadsFirst,
            other => return Err(unknown("discipline", other)),
        },
        cache: cache.map(|(writes, high, low)| Cache { writes, high, low }),
    })
}

fn client_of(client: &Bound<'_, PyDict>) -> PyResult<Client> {
    let weight = item(client, "weight")?;
    let pattern: Option<(u64, u64, u64, u64)> = item(client, "pattern")?;
    if let Some((initial, reads, compute, writes)) = pattern {
        return Ok(Client::Process(Process { initial, reads, compute, writes, weight }));
    }
    let every: f64 = item(client, "every_ticks")?;
    let times: String = item(client, "times")?;
    Ok(Client::Arrivals(Arrivals {
        kind: if item::<String>(client, "op")? == "read" { Kind::Read } else { Kind::Write },
        times: match times.as_str() {
            "regular" => ArrivalTimes::Regular(every),
            "poisson" => ArrivalTimes::Poisson(every),
            "at" => {
                let at: PyBuffer<i64> = item(client, "at")?;
                let at = vector(client.py(), &at)?;
                ArrivalTimes::At(at.into_iter().map(|tick| tick.max(0) as u64).collect())
            }
            other => return Err(unknown("times", other)),
        },
        batch: item(client, "batch")?,
        when_full: if item(client, "lose")? { WhenFull::Lose } else { WhenFull::Wait },
        weight,
    }))
}

fn item<'py, T: FromPyObjectOwned<'py>>(dict: &Bound<'py, PyDict>, name: &str) -> PyResult<T> {
    let value = dict.get_item(name)?.ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
    value.extract::<T>().map_err(Into::into)
}

fn unknown(field: &str, value: &str) -> PyErr {
    PyValueError::new_err(format!("{field} = {value:?} is unknown"))
}
