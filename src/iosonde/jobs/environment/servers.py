"""State of servers, components, network and other jobs during a job, from the store.

Each number says where it is from, how many samples it was made from, what share of them was missing, and how
old it is. What cannot be known is not there: a job has the numbers that the site's records give.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from iosonde.jobs.environment import during as job_window
from iosonde.jobs.environment.during import LAG_NS
from iosonde.jobs.environment.neighbours import company, placement
from iosonde.jobs.store.scan import Passing
from iosonde.jobs.store.series import SeriesName
from iosonde.model.jobs import Job, Scalar
from iosonde.model.metrics import MetricBlock
from iosonde.model.units import DAY_NS

LOOK_BACK_NS = DAY_NS
"""Largest age of states (fullness, server of each OST) in use for a job."""
STALE_NS = 3_600_000_000_000
"""Age from which on they are flagged as stale."""
_METADATA = (
    *("opens", "closes", "getattrs", "setattrs", "getxattrs", "mkdirs", "rmdirs", "mknods"),
    *("links", "unlinks", "renames", "statfss", "readdirs", "inode_updates"),
)
_AMOUNTS = {
    "read_bytes": "server_read_bytes",
    "written_bytes": "server_written_bytes",
    "read_ops": "server_read_ops",
    "write_ops": "server_write_ops",
    **{name: f"server_{name}" for name in _METADATA},
}
_BYTES = ("server_read_bytes", "server_written_bytes")
_MUCH = 0.01
"""Missing share of a total above which it is flagged: ratios to it are upper bounds."""
_OF_SAMPLES = {"negative-zero", "missing", "not-a-number", "counter-reset", "monitor-down"}
"""Flags of missing samples: irrelevant to a job that lacks none."""
_CPUS = {"oss": "oss_cpu", "nsd": "oss_cpu", "mds": "mds_cpu"}


@dataclass(frozen=True)
class JobSpan:
    """A job's time on a file system."""

    file_system: str
    start_ns: int
    end_ns: int


def environment_in(store: Passing, job: Job) -> dict[str, Scalar]:
    """All numbers from the store's records for the time and place of a job; empty without start or end.

    Raises StoreError.
    """
    if job.start_ns is None or job.end_ns is None or job.end_ns < job.start_ns:
        return {}
    span = JobSpan(job.file_system, job.start_ns, job.end_ns)
    systems = systems_of(store, span)
    found = {**_traffic(store, span, systems), **_room(store, span, systems)}
    found |= _failover(store, span, systems)
    found |= placement(store, job, span.start_ns)
    return found | company(store, job, span.start_ns, span.end_ns)


def systems_of(store: Passing, span: JobSpan) -> set[str]:
    """Names of a job's file system in server records: its own name, or the system mounted there."""
    mount = span.file_system.rstrip("/")
    names = {name for name in (mount, posixpath.basename(mount)) if name}
    seen = store.read_edges("filesystem", span.start_ns - LOOK_BACK_NS, span.end_ns)
    by_time = {edge.parent.rstrip("/"): edge.child for edge in seen}
    return names | ({by_time[mount]} if mount in by_time else set())


def _traffic(store: Passing, span: JobSpan, systems: set[str]) -> dict[str, Scalar]:
    """Amounts and CPU shares of the servers over the job's steps."""
    found: dict[str, Scalar] = {}
    until = span.end_ns + LAG_NS + 1
    for name in store.series_names(span.start_ns, until):
        if name.system not in systems:
            continue
        cpu = _CPUS.get(name.level) if name.metric == "cpu_percent" else None
        if name.metric not in _AMOUNTS and cpu is None:
            continue
        block = _steps(store, name, span)
        if block is None:
            continue
        for metric, scalar in (_cpu(block, cpu) if cpu else _amounts(block)).items():
            if metric not in found or _better(scalar, found[metric]):
                found[metric] = scalar
    return found | _missing([found[name] for name in _BYTES if name in found])


def _missing(totals: Sequence[Scalar]) -> dict[str, Scalar]:
    """Missing share of samples of bytes, of reads and writes together."""
    due = sum(one.n or 0 for one in totals)
    if not due:
        return {}
    gone = sum((one.missing or 0.0) * (one.n or 0) for one in totals) / due
    return {"server_missing_ratio": Scalar(gone, "ratio", totals[0].source, due, 0.0)}


def _steps(store: Passing, name: SeriesName, span: JobSpan) -> MetricBlock | None:
    """Steps of a job in a series."""
    block = store.read_block(name, span.start_ns, span.end_ns + LAG_NS + 1)
    if block is None:
        return None
    rows = job_window.rows_of(block.time_ns, span.start_ns, span.end_ns)
    if rows.start == rows.stop:
        return None
    return MetricBlock(
        *name,
        unit=block.unit,
        kind=block.kind,
        components=block.components,
        time_ns=block.time_ns[rows],
        step_ns=block.step_ns[rows],
        value=block.value[rows],
        notes=block.notes,
    )


def _better(one: Scalar, other: Scalar) -> bool:
    """True if the first of two records of one number has less missing."""
    return (one.missing or 0.0) < (other.missing or 0.0)


def _amounts(block: MetricBlock) -> dict[str, Scalar]:
    name = _AMOUNTS[block.metric]
    found = job_window.amount(block.value, block.step_ns)
    flags = _flags(block, 1.0 if found is None else found.missing)
    if found is None:
        return {name: Scalar(None, block.unit, block.source, block.value.size, 1.0, None, flags)}
    scalars = {
        name: Scalar(found.total, block.unit, block.source, found.n, found.missing, None, flags)
    }
    if block.metric in _METADATA and np.isfinite(found.mean_per_s):
        scalars[f"{name}_per_s"] = Scalar(
            found.mean_per_s, f"{block.unit}/s", block.source, found.n, found.missing, None, flags
        )
    return scalars


def _cpu(block: MetricBlock, name: str) -> dict[str, Scalar]:
    found = job_window.state(block.value)
    if found is None:
        return {}
    values = {f"{name}_mean_percent": found.mean, f"{name}_max_percent": found.max}
    flags = _flags(block, found.missing)
    return {
        metric: Scalar(value, "percent", block.source, found.n, found.missing, None, flags)
        for metric, value in values.items()
    }


def _flags(block: MetricBlock, missing: float) -> tuple[str, ...]:
    """Flags of the record, as far as they concern a job with this missing share."""
    flags = {note.flag for note in block.notes}
    flags -= set() if missing else _OF_SAMPLES
    return tuple(sorted(flags | ({"missing"} if missing > _MUCH else set())))


def _room(store: Passing, span: JobSpan, systems: set[str]) -> dict[str, Scalar]:
    """Fullness of data components, as last seen before the job started."""
    levels = ("ost", "nsd", "pool", "filesystem")
    since = span.start_ns - LOOK_BACK_NS
    names = [n for n in store.series_names(since, span.start_ns) if n.system in systems]
    for level in levels:
        totals = {n.source: n for n in names if n.level == level and n.metric == "total_bytes"}
        for source, total in totals.items():
            used = _last(store, total._replace(metric="used_bytes"), span.start_ns)
            whole = _last(store, total, span.start_ns)
            if used is None or whole is None:
                continue
            scalars = _shares(used, whole, span.start_ns)
            if scalars:
                return {name: s._replace(source=source) for name, s in scalars.items()}
    return {}


def _last(store: Passing, name: SeriesName, before_ns: int) -> MetricBlock | None:
    return store.read_block(name, before_ns - LOOK_BACK_NS, before_ns + 1)


def _shares(used: MetricBlock, whole: MetricBlock, at_ns: int) -> dict[str, Scalar]:
    """Fullness at the last instant, not after the job's start, with both values known."""
    both = np.intersect1d(used.time_ns, whole.time_ns)
    both = both[both <= at_ns]
    if len(both) == 0:
        return {}
    when = int(both[-1])
    sizes = {}
    for key, block in (("used", used), ("whole", whole)):
        row = block.value[int(np.searchsorted(block.time_ns, when))]
        sizes[key] = dict(zip(block.components, row, strict=True))
    parts = sorted(sizes["used"].keys() | sizes["whole"].keys())
    columns = [np.array([sizes[k].get(p, np.nan) for p in parts]) for k in ("used", "whole")]
    found = job_window.fullness(*columns)
    if found is None:
        return {}
    values = {
        "fullest_ost_percent": found.fullest,
        "emptiest_ost_percent": found.emptiest,
        "mean_fullness_percent": found.mean,
    }
    age_ns = at_ns - when
    told = {*_flags(used, found.missing), *_flags(whole, found.missing)}
    flags = tuple(sorted(told | ({"stale"} if age_ns > STALE_NS else set())))
    return {
        name: Scalar(value, "percent", used.source, found.n, found.missing, age_ns, flags)
        for name, value in values.items()
    }


def _failover(store: Passing, span: JobSpan, systems: set[str]) -> dict[str, Scalar]:
    """Distribution of OSTs over servers when last seen before the job started."""
    since = span.start_ns - LOOK_BACK_NS
    edges = [e for e in store.read_edges("ost", since, span.start_ns + 1) if e.system in systems]
    if not edges:
        return {}
    when = edges[-1].time_ns
    last = {edge.child: edge.parent for edge in edges if edge.time_ns == when}
    found = job_window.failover(last)
    if found is None:
        return {}
    age, source = span.start_ns - when, edges[-1].source
    units = {
        "overloaded_oss": ("servers", float(found.servers)),
        "overloaded_osts": ("OSTs", float(found.osts)),
        "overloaded_osts_percent": ("percent", found.osts_percent),
        "osts_per_overloaded_oss": ("OSTs", found.osts_per_server),
        "overload_factor_ratio": ("ratio", found.overload_factor),
    }
    flags = ("stale",) if age > STALE_NS else ()
    return {
        name: Scalar(value, unit, source, len(last), 0.0, age, flags)
        for name, (unit, value) in units.items()
    }
