//! Verdicts and sentences of live states, for many at once.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use iosonde_ask::check;
use iosonde_ask::finding::{
    self, BASELINE_WINDOWS, CLIMATE_AT, Finding, KINDS, LOST_AT, OpVerdict, SEVERITIES,
};
use iosonde_ask::format::{Zone, ahead_of_utc, system_zone};
use iosonde_ask::live_state::{Fields, LiveState};
use iosonde_ask::ranges::AlertRange;
use iosonde_ask::state::Members;
use iosonde_ask::words;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::Value;

type States<'py> = Vec<Bound<'py, PyDict>>;

/// Add the functions and the constants that Python shares.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("SEVERITIES", PyTuple::new(module.py(), SEVERITIES)?)?;
    module.add("BASELINE_WINDOWS", BASELINE_WINDOWS)?;
    module.add("CLIMATE_AT", CLIMATE_AT)?;
    module.add("LOST_AT", LOST_AT)?;
    module.add_function(wrap_pyfunction!(live_findings, module)?)?;
    module.add_function(wrap_pyfunction!(current_states, module)?)?;
    module.add_function(wrap_pyfunction!(sentences, module)?)?;
    module.add_function(wrap_pyfunction!(summary, module)?)?;
    module.add_function(wrap_pyfunction!(namesakes, module)?)?;
    module.add_function(wrap_pyfunction!(say_namesake, module)?)?;
    module.add_function(wrap_pyfunction!(worst_first, module)?)?;
    module.add_function(wrap_pyfunction!(check_ranges, module)?)?;
    module.add_function(wrap_pyfunction!(check_states, module)?)
}

/// The verdict of each state; see the stub.
#[pyfunction]
fn live_findings<'py>(
    python: Python<'py>,
    states: States<'py>,
    now_ns: i64,
) -> PyResult<Vec<Bound<'py, PyTuple>>> {
    let states = read(python, states, |table| LiveState::of(table));
    let found = calmly(|| finding::findings(&states, now_ns))?;
    found.iter().map(|one| row(python, one)).collect()
}

/// Which states say something about now; see the stub.
#[pyfunction]
fn current_states<'py>(
    python: Python<'py>,
    states: States<'py>,
    now_ns: i64,
    kept: HashSet<(String, String)>,
) -> PyResult<Vec<bool>> {
    let states = read(python, states, |table| LiveState::head(table));
    let is_kept = |state: &LiveState| kept.contains(&(state.host.clone(), state.target.clone()));
    calmly(|| finding::are_current(&states, &is_kept, now_ns))
}

/// The sentence of each finding; see the stub.
#[pyfunction]
fn sentences(findings: Vec<Bound<'_, PyTuple>>, offset_s: Option<Bound<'_, PyAny>>) -> PyResult<Vec<String>> {
    let findings = findings.iter().map(of_row).collect::<PyResult<Vec<Finding>>>()?;
    let failed = RefCell::new(None);
    let known = RefCell::new(HashMap::new());
    let ask = |offset_of: &Bound<'_, PyAny>, second: i64| -> i64 {
        let found = offset_of.call1((second,)).and_then(|offset| offset.extract());
        found.unwrap_or_else(|error| {
            failed.replace(Some(error));
            0
        })
    };
    let zone = |ns: i64| match &offset_s {
        None => system_zone(ns),
        Some(offset_of) => {
            let second = ns.div_euclid(1_000_000_000);
            let offset = known.borrow().get(&second).copied();
            let offset = offset.unwrap_or_else(|| ask(offset_of, second));
            known.borrow_mut().insert(second, offset);
            ahead_of_utc(ns, offset)
        }
    };
    let said = calmly(|| findings.iter().map(|one| words::say(one, &zone as &Zone<'_>)).collect())?;
    failed.take().map_or(Ok(said), Err)
}

/// Hosts whose name two machines have; see the stub.
#[pyfunction]
fn namesakes<'py>(python: Python<'py>, states: States<'py>) -> PyResult<Vec<String>> {
    let states = read(python, states, |table| LiveState::head(table));
    calmly(|| iosonde_ask::namesakes::namesakes(states.iter()).into_iter().collect())
}

/// What is said of one; see the stub.
#[pyfunction]
fn say_namesake(host: &str) -> String {
    words::say_namesake(host)
}

/// How many are slow; see the stub.
#[pyfunction]
fn summary(seen: Vec<(String, String, String)>) -> String {
    let seen: Vec<_> =
        seen.iter().map(|(host, target, severity)| (&**host, &**target, &**severity)).collect();
    words::summary(&seen)
}

/// Places, the worst first; see the stub.
#[pyfunction]
fn worst_first(seen: Vec<(String, Option<f64>, String, String)>) -> Vec<usize> {
    let seen: Vec<_> = seen.iter().map(|(a, slowdown, b, c)| (&**a, *slowdown, &**b, &**c)).collect();
    finding::worst_first(&seen)
}

/// Both ranges of `check` as they are read; see the stub.
#[pyfunction]
#[pyo3(signature = (warning, critical))]
fn check_ranges(warning: Option<String>, critical: Option<String>) -> PyResult<(String, String)> {
    let [warning, critical] = ranges(warning, critical)?;
    Ok((warning.text, critical.text))
}

/// Code and text of the plugin; see the stub.
#[pyfunction]
#[pyo3(signature = (states, now_ns, warning, critical, verbose))]
fn check_states<'py>(
    python: Python<'py>,
    states: States<'py>,
    now_ns: i64,
    warning: Option<String>,
    critical: Option<String>,
    verbose: bool,
) -> PyResult<(u8, String)> {
    let limits = ranges(warning, critical)?;
    let states = read(python, states, |table| LiveState::of(table));
    calmly(|| check::judged(&states, &limits, verbose, now_ns))
}

fn ranges(warning: Option<String>, critical: Option<String>) -> PyResult<[AlertRange; 2]> {
    let range = |text: Option<String>| text.map(|text| text.parse::<AlertRange>()).transpose();
    let (warning, critical) =
        (range(warning).map_err(PyValueError::new_err)?, range(critical).map_err(PyValueError::new_err)?);
    check::limits(warning, critical).map_err(|refusal| PyValueError::new_err(refusal.text))
}

/// A panic is a mistake of ours; as an exception that is not an `Exception` it would end the server's thread.
fn calmly<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| {
        PyValueError::new_err("the verdict of these states failed; expected states of iosonde-agent")
    })
}

/// Names of members as Python's text, made once: there are a hundred a state.
struct Names<'py>(Python<'py>, RefCell<HashMap<&'static str, Bound<'py, PyString>>>);

impl<'py> Names<'py> {
    fn of(&self, name: &'static str) -> Bound<'py, PyString> {
        self.1.borrow_mut().entry(name).or_insert_with(|| PyString::intern(self.0, name)).clone()
    }
}

/// A dictionary of Python whose members may be of any type.
struct Table<'py, 'names> {
    dict: Bound<'py, PyDict>,
    names: &'names Names<'py>,
}

impl<'py> Table<'py, '_> {
    fn found(&self, name: &'static str) -> Option<Bound<'py, PyAny>> {
        self.dict.get_item(self.names.of(name)).ok().flatten()
    }
}

impl Fields for Table<'_, '_> {
    fn get(&self, name: &'static str) -> Value {
        self.found(name).map_or(Value::Null, |value| plain(&value))
    }

    fn tables(&self, name: &'static str) -> Vec<Self> {
        let Some(Ok(list)) = self.found(name).map(|found| found.cast_into::<PyList>()) else {
            return Vec::new();
        };
        let dicts = list.iter().filter_map(|one| one.cast_into::<PyDict>().ok());
        dicts.map(|dict| Table { dict, names: self.names }).collect()
    }
}

fn read<'py>(
    python: Python<'py>,
    states: States<'py>,
    of: impl Fn(&Table<'py, '_>) -> LiveState,
) -> Vec<LiveState> {
    let names = Names(python, RefCell::default());
    states.into_iter().map(|dict| of(&Table { dict, names: &names })).collect()
}

/// As JSON; what JSON does not know is null.
fn plain(value: &Bound<'_, PyAny>) -> Value {
    if value.is_none() {
        Value::Null
    } else if let Ok(text) = value.cast::<PyString>() {
        text.extract::<String>().map_or(Value::Null, Value::from)
    } else if let Ok(number) = value.cast::<PyFloat>() {
        number.extract::<f64>().map_or(Value::Null, Value::from)
    } else if let Ok(flag) = value.cast::<PyBool>() {
        flag.is_true().into()
    } else if value.is_instance_of::<PyInt>() {
        value.extract::<i64>().map_or(Value::Null, Value::from)
    } else if let Ok(list) = value.cast::<PyList>() {
        list.iter().map(|one| plain(&one)).collect()
    } else if let Ok(table) = value.cast::<PyDict>() {
        members(table).into()
    } else {
        Value::Null
    }
}

fn members(table: &Bound<'_, PyDict>) -> Members {
    table.iter().filter_map(|(name, value)| Some((name.extract().ok()?, plain(&value)))).collect()
}

/// As Python's own objects.
fn object<'py>(python: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => python.None().into_bound(python),
        Value::Bool(flag) => PyBool::new(python, *flag).to_owned().into_any(),
        Value::Number(number) => match number.as_i64() {
            Some(number) => number.into_pyobject(python)?.into_any(),
            None => PyFloat::new(python, number.as_f64().unwrap_or(f64::NAN)).into_any(),
        },
        Value::String(text) => PyString::new(python, text).into_any(),
        Value::Array(list) => {
            let list = list.iter().map(|one| object(python, one)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(python, list)?.into_any()
        }
        Value::Object(table) => dictionary(python, table)?.into_any(),
    })
}

/// A table as a dictionary of Python.
pub fn dictionary<'py>(python: Python<'py>, table: &Members) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(python);
    for (name, value) in table {
        dict.set_item(name, object(python, value)?)?;
    }
    Ok(dict)
}

/// A finding as the fields of Python's `Finding`, in its order.
fn row<'py>(python: Python<'py>, one: &Finding) -> PyResult<Bound<'py, PyTuple>> {
    let ops = one.ops.iter().map(|op| {
        let OpVerdict {
            op,
            state,
            slowdown,
            lower,
            upper,
            n,
            since_ns,
            host_busy,
            outcome,
            tail,
            partly,
            lost,
            late,
            hits,
            hits_usual,
            usual_ns,
        } = op;
        // A tuple of Rust has at most twelve members that become Python's.
        let fields = [
            op.into_bound_py_any(python)?,
            state.into_bound_py_any(python)?,
            slowdown.into_bound_py_any(python)?,
            lower.into_bound_py_any(python)?,
            upper.into_bound_py_any(python)?,
            n.into_bound_py_any(python)?,
            since_ns.into_bound_py_any(python)?,
            host_busy.into_bound_py_any(python)?,
            outcome.into_bound_py_any(python)?,
            tail.into_bound_py_any(python)?,
            partly.into_bound_py_any(python)?,
            lost.into_bound_py_any(python)?,
            late.into_bound_py_any(python)?,
            hits.into_bound_py_any(python)?,
            hits_usual.into_bound_py_any(python)?,
            usual_ns.into_bound_py_any(python)?,
        ];
        PyTuple::new(python, fields)
    });
    let ops = PyTuple::new(python, ops.collect::<PyResult<Vec<_>>>()?)?;
    let text = |text: &str| PyString::new(python, text).into_any();
    let integer = |number: Option<i64>| number.into_pyobject(python);
    let number = |number: Option<f64>| number.into_pyobject(python);
    let fields = [
        text(one.kind),
        text(one.severity),
        text(&one.host),
        text(&one.target),
        integer(Some(one.at_ns))?,
        ops.into_any(),
        number(one.slowdown)?,
        number(one.lower)?,
        number(one.upper)?,
        integer(Some(one.n))?,
        integer(one.since_ns)?,
        integer(one.until_ns)?,
        dictionary(python, &one.evidence)?.into_any(),
    ];
    PyTuple::new(python, fields)
}

/// The same in the other direction.
fn of_row(row: &Bound<'_, PyTuple>) -> PyResult<Finding> {
    if row.len() != 13 {
        return Err(PyValueError::new_err("expected the 13 fields of a finding"));
    }
    let word = |place: usize, words: &[&'static str]| -> PyResult<&'static str> {
        let found: String = row.get_item(place)?.extract()?;
        let known = words.iter().find(|word| **word == found);
        known
            .copied()
            .ok_or_else(|| PyValueError::new_err(format!("{found}: expected one of {}", words.join(", "))))
    };
    let number = |place: usize| row.get_item(place)?.extract::<Option<f64>>();
    let integer = |place: usize| row.get_item(place)?.extract::<Option<i64>>();
    let ops = row.get_item(5)?.cast_into::<PyTuple>()?;
    Ok(Finding {
        kind: word(0, &KINDS)?,
        severity: word(1, &SEVERITIES)?,
        host: row.get_item(2)?.extract()?,
        target: row.get_item(3)?.extract()?,
        at_ns: row.get_item(4)?.extract()?,
        ops: ops.iter().map(|op| of_op(&op)).collect::<PyResult<_>>()?,
        slowdown: number(6)?,
        lower: number(7)?,
        upper: number(8)?,
        n: row.get_item(9)?.extract()?,
        since_ns: integer(10)?,
        until_ns: integer(11)?,
        evidence: members(row.get_item(12)?.cast::<PyDict>()?),
    })
}

fn of_op(row: &Bound<'_, PyAny>) -> PyResult<OpVerdict> {
    let row = row.cast::<PyTuple>()?;
    if row.len() != 16 {
        return Err(PyValueError::new_err("expected the 16 fields of an operation's verdict"));
    }
    let number = |place: usize| row.get_item(place)?.extract::<Option<f64>>();
    let flag = |place: usize| row.get_item(place)?.extract::<bool>();
    Ok(OpVerdict {
        op: row.get_item(0)?.extract()?,
        state: row.get_item(1)?.extract()?,
        slowdown: number(2)?,
        lower: number(3)?,
        upper: number(4)?,
        n: row.get_item(5)?.extract()?,
        since_ns: row.get_item(6)?.extract()?,
        host_busy: flag(7)?,
        outcome: row.get_item(8)?.extract()?,
        tail: number(9)?,
        partly: flag(10)?,
        lost: number(11)?,
        late: number(12)?,
        hits: number(13)?,
        hits_usual: number(14)?,
        usual_ns: number(15)?,
    })
}
