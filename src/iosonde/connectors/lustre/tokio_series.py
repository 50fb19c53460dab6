"""Datasets of TOKIO TimeSeries: names to metrics, with corrections for wrong units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from iosonde.connectors.lustre import hdf5_safe as hdf5
from iosonde.connectors.lustre.hdf5_steps import TimeSteps, taken
from iosonde.model.metrics import Kind
from iosonde.model.quality import Note

if TYPE_CHECKING:
    pass

_OPS = (
    *("opens", "closes", "mknods", "links", "unlinks", "mkdirs", "rmdirs", "renames"),
    *("getxattrs", "statfss", "setattrs", "getattrs"),
)
_AMOUNTS = {
    "readbytes": "read_bytes",
    "writebytes": "written_bytes",
    "readops": "read_ops",
    "writeops": "write_ops",
    "netinbytes": "in_bytes",
    "netoutbytes": "out_bytes",
    **{op: op for op in _OPS},
}
_RATES = {
    "readrates": "read_bytes",
    "writerates": "written_bytes",
    "readoprates": "read_ops",
    "writeoprates": "write_ops",
    **{f"{op[:-1]}rates": op for op in _OPS},
}
_GAUGES = {
    "cpuload": "cpu_percent",
    "cpuuser": "cpu_user_percent",
    "cpusys": "cpu_system_percent",
    "cpuidle": "cpu_idle_percent",
    "memused": "memory_used_bytes",
    "memfree": "memory_free_bytes",
    "memcached": "memory_cached_bytes",
    "membuffered": "memory_buffered_bytes",
    "memslab": "memory_slab_bytes",
    "memslab_unrecl": "memory_slab_unreclaimable_bytes",
    "memtotal": "memory_total_bytes",
}
_FULLNESS = {
    "bytes": "used_bytes",
    "bytestotal": "total_bytes",
    "inodes": "used_inodes",
    "inodestotal": "total_inodes",
}
_SIZES = {"": 1.0, "b": 1.0, "bytes": 1.0, "kib": 1024.0, "kb": 1024.0, "mib": 1048576.0}
TRAFFIC_AND_FULLNESS = (*_AMOUNTS, *_RATES, *_FULLNESS)
"""Datasets whose columns are targets."""
_LEAST_BYTES_PER_INODE = 4096.0
"""Least plausible bytes per inode: a smaller capacity is in KiB, whatever its unit says."""


class TokioDataset(NamedTuple):
    """A dataset and its conversion."""

    data: Any
    level: str
    metric: str
    unit: str
    kind: Kind
    per_s: bool
    """True if values are rates."""
    factor: float
    notes: tuple[Note, ...] = ()


def series_of(
    file: Any, group: str, name: str, level: str, steps: TimeSteps
) -> TokioDataset | None:
    """Metric of a dataset; None for unknown ones and those never written to."""
    data = hdf5.dataset(file, f"{group}/{name}")
    if data is None or data.id.get_storage_size() == 0:
        return None
    unit = hdf5.text(data.attrs.get("units", "")).lower()
    if group == "fullness" and name in _FULLNESS:
        return _fullness(file, name, data, unit)
    if group == "failover":
        level = "mdt" if name == "mdtargets" else level
        return TokioDataset(data, level, "servers", "", "gauge", False, 1.0)
    if name in _AMOUNTS or name in _RATES:
        return _traffic(data, name, level, unit, steps)
    if name in _GAUGES:
        return _gauge(data, name, level, unit)
    return None


def _traffic(data: Any, name: str, level: str, unit: str, steps: TimeSteps) -> TokioDataset:
    """Bytes or operations, as amounts or rates: by the name, unless the numbers contradict it."""
    metric = _AMOUNTS.get(name) or _RATES[name]
    named_rate = name in _RATES
    said_rate = any(word in unit for word in ("/s", "/sec", "per sec", "persec"))
    per_s = named_rate
    factor = _SIZES.get(unit.partition("/")[0], 1.0) if metric.endswith("bytes") else 1.0
    notes: tuple[Note, ...] = ()
    if unit and said_rate != named_rate:
        if said_rate and not _whole(data, steps):
            per_s = True
        kind = "rates" if per_s else "amounts"
        notes = (Note("wrong-unit", f"{data.name} says {unit!r}: taken as {kind}"),)
    word = "bytes" if metric.endswith("bytes") else "operations"
    return TokioDataset(data, level, metric, word, "delta", per_s, factor, notes)


def _gauge(data: Any, name: str, level: str, unit: str) -> TokioDataset:
    """CPU and memory gauges."""
    metric = _GAUGES[name]
    if metric.endswith("percent"):
        return TokioDataset(data, level, metric, "percent", "gauge", False, 1.0)
    if unit in ("%", "percent"):  # of all memory, as LMT has it
        metric = "memory_percent" if name == "memused" else metric.replace("_bytes", "_percent")
        return TokioDataset(data, level, metric, "percent", "gauge", False, 1.0)
    return TokioDataset(data, level, metric, "bytes", "gauge", False, _SIZES.get(unit, 1.0))


def _fullness(file: Any, name: str, data: Any, unit: str) -> TokioDataset:
    """Used and total bytes or inodes of OSTs, as instants."""
    metric = _FULLNESS[name]
    if metric.endswith("inodes"):
        return TokioDataset(data, "ost", metric, "inodes", "gauge", False, 1.0)
    factor = _SIZES.get(unit, 1.0)
    notes: tuple[Note, ...] = ()
    if factor == 1.0 and _too_small(file):
        factor = 1024.0
        notes = (Note("wrong-unit", f"{data.name} says {unit!r}: taken as KiB"),)
    return TokioDataset(data, "ost", metric, "bytes", "gauge", False, factor, notes)


def _too_small(file: Any) -> bool:
    """True if targets have so few bytes per file that the unit must be KiB."""
    try:
        room = hdf5.dataset(file, "fullness/bytestotal")
        files = hdf5.dataset(file, "fullness/inodestotal")
    except ValueError:
        return False
    if room is None or files is None or room.shape != files.shape or not room.size:
        return False
    low, many = np.asarray(room[:64], dtype=float), np.asarray(files[:64], dtype=float)
    known = (low > 0) & (many > 0)
    return bool(known.any() and np.median(low[known] / many[known]) < _LEAST_BYTES_PER_INODE)


def _whole(data: Any, steps: TimeSteps) -> bool:
    """True if all values of the first non-empty slice are integers, as amounts are."""
    for rows in steps.slices(data.shape[1]):
        value = taken(data, steps.rows[rows])
        value = value[np.isfinite(value) & (value != 0)]
        if value.size:
            return bool((value == np.rint(value)).all())
    return True
