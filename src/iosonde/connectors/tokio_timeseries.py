"""TOKIO TimeSeries v1 (HDF5): what servers and targets did in each step, with -0.0 where nothing is known.

Edges: a time stamp is the left edge of its bin [t, t + step); the step is the usual distance of two time
stamps, so that a gap in them makes no bin longer. Amounts (``readbytes``, ``opens``) are deltas as they
are; rates (``readrates``) are multiplied by the step. CPU, memory and fullness were read at the left edge:
gauges with a step of 0. A value of -0.0 (or NaN) was never written: missing.

A ``units`` attribute can lie: pytokio writes ``bytes/sec`` at ``readbytes``, which holds bytes. The name
decides, unless the numbers cannot be what it says; either way the block says "wrong-unit".
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from iosonde.connectors import hdf5_safe as hdf5
from iosonde.connectors.lustre_names import system_of
from iosonde.connectors.source import Head, Item, Settings, Tell
from iosonde.model.errors import InputFileError
from iosonde.model.metrics import Kind, MetricBlock
from iosonde.model.quality import Note

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

KIND = "TOKIO TimeSeries"
SOURCE = "tokio"
_LEVELS = {
    "datatargets": "ost",
    "mdtargets": "mdt",
    "dataservers": "oss",
    "mdservers": "mds",
    "fullness": "ost",
    "failover": "ost",
}
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
_LEAST_BYTES_PER_INODE = 4096.0
"""A target with less room than this for each of its files was measured in KiB, whatever it says."""


class _Series(NamedTuple):
    """A dataset and what is to be made of it."""

    data: Any
    level: str
    metric: str
    unit: str
    kind: Kind
    per_s: bool
    """Values are rates."""
    factor: float
    notes: tuple[Note, ...] = ()


def recognises(head: Head) -> bool:
    """An HDF5 file with a group of TimeSeries that has time stamps."""
    if not head.raw.startswith(hdf5.MAGIC):
        return False
    try:
        with hdf5.opened(head.path) as file:
            return any(hdf5.dataset(file, f"{g}/timestamps", (1,)) is not None for g in _LEVELS)
    except InputFileError:
        return False


def read(path: Path, settings: Settings, tell: Tell) -> Iterator[MetricBlock | Item]:
    """Blocks of every dataset that is known, in slices of time. Raises InputFileError: no or broken HDF5."""
    with hdf5.opened(path) as file:
        system = _system(file) or settings.system
        done = 0
        for group, level in _LEVELS.items():
            done += 1
            if settings.progress:
                settings.progress(done, len(_LEVELS))
            if group not in file:
                continue
            try:
                stamps = hdf5.dataset(file, f"{group}/timestamps", (1,))
                if stamps is None:
                    raise ValueError("there are no time stamps")
                steps = hdf5.Steps(stamps[:])
            except (ValueError, OSError) as error:
                tell(InputFileError(f"{path}, {group}: {error}", expected="timestamps of numbers"))
                continue
            if steps.unset:
                what = f"{path}, {group}: {steps.unset} time stamps are no times"
                tell(InputFileError(what, expected="seconds since 1970"))
            for name in file[group]:
                place = f"{group}/{name}"
                if name == "timestamps":
                    continue
                try:
                    series = _series(file, group, name, level, steps)
                    if series is not None:
                        yield from _blocks(series, steps, system, (path, place), tell)
                except (ValueError, OSError) as error:
                    tell(InputFileError(f"{path}, {place}: {error}", expected="a table of numbers"))


def _system(file: Any) -> str:
    """The file system that the names of targets begin with."""
    for place in ("datatargets", "fullness", "mdtargets"):
        for data in file[place].values() if place in file else ():
            for column in hdf5.texts(data.attrs.get("columns", ()))[:1]:
                if found := system_of(column):
                    return found
    return ""


def _series(file: Any, group: str, name: str, level: str, steps: hdf5.Steps) -> _Series | None:
    """What a dataset holds; None for one that is not known or was never written to."""
    data = hdf5.dataset(file, f"{group}/{name}")
    if data is None or data.id.get_storage_size() == 0:
        return None
    unit = hdf5.text(data.attrs.get("units", "")).lower()
    if group == "fullness" and name in _FULLNESS:
        return _fullness(file, name, data, unit)
    if group == "failover":
        level = "mdt" if name == "mdtargets" else level
        return _Series(data, level, "servers", "", "gauge", False, 1.0)
    if name in _AMOUNTS or name in _RATES:
        return _traffic(data, name, level, unit, steps)
    if name in _GAUGES:
        return _gauge(data, name, level, unit)
    return None


def _traffic(data: Any, name: str, level: str, unit: str, steps: hdf5.Steps) -> _Series:
    """Bytes or operations, as amounts or as rates: by the name, unless its numbers are none of that."""
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
    return _Series(data, level, metric, word, "delta", per_s, factor, notes)


def _gauge(data: Any, name: str, level: str, unit: str) -> _Series:
    """CPU and memory."""
    metric = _GAUGES[name]
    if metric.endswith("percent"):
        return _Series(data, level, metric, "percent", "gauge", False, 1.0)
    if unit in ("%", "percent"):  # of all memory, as LMT has it
        metric = "memory_percent" if name == "memused" else metric.replace("_bytes", "_percent")
        return _Series(data, level, metric, "percent", "gauge", False, 1.0)
    return _Series(data, level, metric, "bytes", "gauge", False, _SIZES.get(unit, 1.0))


def _fullness(file: Any, name: str, data: Any, unit: str) -> _Series:
    """Used and total bytes or inodes of OSTs, as instants."""
    metric = _FULLNESS[name]
    if metric.endswith("inodes"):
        return _Series(data, "ost", metric, "inodes", "gauge", False, 1.0)
    factor = _SIZES.get(unit, 1.0)
    notes: tuple[Note, ...] = ()
    if factor == 1.0 and _too_small(file):
        factor = 1024.0
        notes = (Note("wrong-unit", f"{data.name} says {unit!r}: taken as KiB"),)
    return _Series(data, "ost", metric, "bytes", "gauge", False, factor, notes)


def _too_small(file: Any) -> bool:
    """Whether targets have room for so few bytes a file that the bytes must be KiB."""
    room, files = (hdf5.dataset(file, f"fullness/{name}") for name in ("bytestotal", "inodestotal"))
    if room is None or files is None or room.shape != files.shape or not room.size:
        return False
    low, many = np.asarray(room[:64], dtype=float), np.asarray(files[:64], dtype=float)
    known = (low > 0) & (many > 0)
    return bool(known.any() and np.median(low[known] / many[known]) < _LEAST_BYTES_PER_INODE)


def _whole(data: Any, steps: hdf5.Steps) -> bool:
    """Whether all values of the first slice that has any are whole numbers, as amounts are."""
    for rows in steps.slices(data.shape[1]):
        value = hdf5.taken(data, steps.rows[rows])
        value = value[np.isfinite(value) & (value != 0)]
        if value.size:
            return bool((value == np.rint(value)).all())
    return True


def _blocks(
    series: _Series, steps: hdf5.Steps, system: str, where: tuple[Path, str], tell: Tell
) -> Iterator[MetricBlock]:
    """A dataset in slices of time."""
    data, (path, place) = series.data, where
    names = hdf5.texts(data.attrs.get("columns", ()))
    columns = _columns(names, data.shape[1])
    if not columns:
        raise ValueError(f"{len(names)} names for {data.shape[1]} columns")
    if len(columns) < data.shape[1]:
        what = f"{path}, {place}: {data.shape[1] - len(columns)} columns have no name of their own"
        tell(InputFileError(what, expected="a name for each column"))
    steps = _within(steps, data.shape[0], place, path, tell)
    components = tuple(names[column] for column in columns)
    for rows in steps.slices(data.shape[1]):
        value = hdf5.taken(data, steps.rows[rows])[:, columns]
        notes = [*series.notes, *_time_notes(steps, place)]
        value, more = _cleaned(value, place)
        length = steps.lengths(rows)
        if series.per_s:
            value = amounts(value * (length[:, None] / 1e9))
        step = length if series.kind == "delta" else np.zeros_like(length)
        yield MetricBlock(
            SOURCE,
            system,
            series.level,
            series.metric,
            series.unit,
            series.kind,
            components,
            steps.time_ns[rows],
            step,
            value * series.factor,
            (*notes, *more),
        )


def _columns(names: tuple[str, ...], width: int) -> list[int]:
    """Columns that have a name, the first of each name."""
    first: dict[str, int] = {}
    for column, name in enumerate(names[:width]):
        if name:
            first.setdefault(name, column)
    return list(first.values())


def _within(steps: hdf5.Steps, rows: int, place: str, path: Path, tell: Tell) -> hdf5.Steps:
    """The time stamps that the dataset has rows for."""
    if not len(steps.rows) or int(steps.rows.max()) < rows:
        return steps
    what = f"{path}, {place}: it has {rows} rows, fewer than there are time stamps"
    tell(InputFileError(what, expected="a row for each time stamp"))
    cut = object.__new__(hdf5.Steps)
    cut.__dict__.update(steps.__dict__)
    inside = steps.rows < rows
    cut.time_ns, cut.rows = steps.time_ns[inside], steps.rows[inside]
    return cut


def _time_notes(steps: hdf5.Steps, place: str) -> list[Note]:
    """What was wrong with the time stamps."""
    notes = []
    if steps.late:
        notes.append(Note("out-of-order", f"time stamps of {place}", steps.late))
    if steps.twice:
        notes.append(Note("duplicate", f"time stamps of {place}", steps.twice))
    return notes


def _cleaned(value: Floats, place: str) -> tuple[Floats, list[Note]]:
    """Values with NaN where they are -0.0, infinite or negative, and how many of each there were."""
    never = (value == 0) & np.signbit(value)
    wrong = np.isinf(value) | (value < 0)
    absent = np.isnan(value)
    notes = [
        Note(flag, f"samples of {place}", int(mask.sum()))
        for flag, mask in (("negative-zero", never), ("not-a-number", wrong), ("missing", absent))
        if mask.any()
    ]
    if notes:
        value = np.where(never | wrong, np.nan, value)
    return value, notes


def amounts(value: Floats) -> Floats:
    """Products of rates and steps: whole numbers again where only rounding made them others."""
    whole = np.rint(value)
    near = np.abs(value - whole) <= np.maximum(np.abs(value), 1.0) * 1e-12
    return np.where(near, whole, value)
