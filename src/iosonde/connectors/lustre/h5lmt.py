"""pyLMT's h5lmt files (HDF5): a day of one file system, rates in transposed tables.

Edges: FSStepsDataSet has T + 1 stamps for T steps. A rate at stamp i was measured over the step that
*ends* there, so that the first column says nothing and the last belongs to the day's last step: the amount
of [stamp i - 1, stamp i) is rate i x (stamp i - stamp i - 1). Files of later make put the rate where its
step *begins* and leave the last column empty: seen by a last column of zeros below a first that has any.
CPU was read at its stamp: a gauge with a step of 0.

FSMissingGroup marks what was not recorded, by server: its CPU is NaN, and so is every target of it (the
file does not say which these are: with k times as many targets as servers, k each in their order; else all).
Behind a gap a rate above 0 counts for its own step; a 0 may be a rate that was never computed, and is missing.
Operations are sums of histograms of sizes. Where bytes moved and the histogram is empty, it was not recorded: missing.
Names: there is one MDS without a name ("mds"). Without a units attribute, pyLMT's own hold: B/s, 1/s, %.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from iosonde.connectors.lustre import hdf5_safe as hdf5
from iosonde.connectors.lustre import hdf5_steps
from iosonde.connectors.lustre.h5lmt_missing import (
    empty_histograms,
    marked,
    rows_with_any,
    without_begin,
)
from iosonde.connectors.lustre.hdf5_steps import TimeSteps, amounts, cleaned, taken, time_notes
from iosonde.connectors.lustre.names import OPERATIONS, system_of
from iosonde.connectors.source import Head, Item, Settings, Warn
from iosonde.model.errors import InputFileError
from iosonde.model.metrics import SERIES, MetricBlock
from iosonde.model.quality import Note

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Places


KIND = "h5lmt"
SOURCE = "pylmt"
_STEPS = "FSStepsGroup/FSStepsDataSet"
_MISSING = "FSMissingGroup/FSMissingDataSet"
_READ = "OSTReadGroup/OSTBulkReadDataSet"
_WRITE = "OSTWriteGroup/OSTBulkWriteDataSet"
_SIZES = ("OSTReadGroup/OSTIosizeReadDataSet", "OSTWriteGroup/OSTIosizeWriteDataSet")
_OSS, _MDS, _OPS = (
    "OSSCPUGroup/OSSCPUDataSet",
    "MDSCPUGroup/MDSCPUDataSet",
    "MDSOpsGroup/MDSOpsDataSet",
)
_ALWAYS = frozenset(
    (
        *("open", "close", "mknod", "link", "unlink", "mkdir", "rmdir", "rename", "getxattr"),
        *("statfs", "create", "setattr", "getattr"),
    )
)
"""Operations LMT has always recorded. For others, a row of zeros means not recorded."""


class _Series(NamedTuple):
    """Metric: names of its rows, and reader of a span of columns as (N, T)."""

    place: str
    data: Any
    level: str
    metric: str
    names: tuple[str, ...]
    row: int | None = None
    """Row number, if the metric is a single row (operations)."""
    notes: tuple[Note, ...] = ()
    moved: Any = None
    """Dataset of bytes that belongs to a histogram of sizes."""


def recognises(head: Head) -> bool:
    """True for an HDF5 file with pyLMT's table of steps."""
    if not head.raw.startswith(hdf5.MAGIC):
        return False
    try:
        with hdf5.opened(head.path) as file:
            return hdf5.dataset(file, _STEPS, (1,)) is not None
    except InputFileError:
        return False


def read(path: Path, settings: Settings, warn: Warn) -> Iterator[MetricBlock | Item]:
    """Blocks of targets, servers and operations. Raises InputFileError: no HDF5, damaged, without steps."""
    with hdf5.opened(path) as file:
        stamps = hdf5.dataset(file, _STEPS, (1,))
        if stamps is None:
            raise InputFileError(f"{path} has no {_STEPS}", expected="a file of pyLMT")
        steps = TimeSteps(stamps[:])
        if steps.unset:
            what = f"{path}, {_STEPS}: {steps.unset} stamps are no times"
            warn(InputFileError(what, expected="seconds since 1970"))
        if len(steps.rows) < 2:
            return
        system, at_end = _system(file) or settings.system, _ends_its_step(file, steps)
        missing = _opened(file, _MISSING, (2,), path, warn)
        for place, dimensions in (
            *((p, (2,)) for p in (_READ, _WRITE, _OSS)),
            *((p, (3,)) for p in _SIZES),
            *((_MDS, (1,)), (_OPS, (2,))),
        ):
            data = _opened(file, place, dimensions, path, warn)
            if data is None:
                continue
            if data.shape[-1] <= int(steps.rows.max()):
                what = f"{path}, {place}: fewer columns ({data.shape[-1]}) than stamps"
                warn(InputFileError(what, expected="a column for each stamp"))
                continue
            moved = None
            if place in _SIZES:
                moved = _opened(file, (_READ, _WRITE)[_SIZES.index(place)], (2,), path, warn)
            for series in _series(place, data):
                if not series.names:
                    what = f"{path}, {place}: its rows have no names"
                    warn(InputFileError(what, expected="a name for each row"))
                    continue
                yield from _blocks(_beside(series, moved), steps, missing, system, at_end)


def _opened(file: Any, place: str, dimensions: tuple[int, ...], path: Path, warn: Warn) -> Any:
    """A dataset; None, with a report, if it is malformed."""
    try:
        return hdf5.dataset(file, place, dimensions)
    except (ValueError, OSError) as error:
        warn(InputFileError(f"{path}, {place}: {error}", expected="a table of numbers"))
        return None


def _system(file: Any) -> str:
    """File system by the prefix of OST names, or as the steps name it."""
    for place in (_READ, _WRITE):
        for name in hdf5.names_of(file, place, "OSTNames")[:1]:
            if found := system_of(name):
                return found
    return hdf5.text(file[_STEPS].attrs.get("fs", ""))


def _ends_its_step(file: Any, steps: TimeSteps) -> bool:
    """True if a rate belongs to the step that ends at its stamp (see above)."""
    first = last = False
    for place in (_READ, _WRITE, _OPS):
        try:
            data = hdf5.dataset(file, place)
        except ValueError:
            continue
        if data is not None and data.shape[1] > int(steps.rows.max()):
            first |= bool(np.any(data[:, int(steps.rows[0])]))
            last |= bool(np.any(data[:, int(steps.rows[-1])]))
    return not (first and not last)


def _series(place: str, data: Any) -> Iterator[_Series]:
    """Metrics of a dataset."""
    if place in (_READ, _WRITE):
        metric = "read_bytes" if place == _READ else "written_bytes"
        yield _Series(place, data, "ost", metric, _names(data, "OSTNames"))
    elif place in _SIZES:
        metric = "read_ops" if place == _SIZES[0] else "write_ops"
        note = Note("estimated", "operations are the sum of the histogram of sizes")
        yield _Series(place, data, "ost", metric, _names(data, "OSTNames"), None, (note,))
    elif place == _OSS:
        yield _Series(place, data, "oss", "cpu_percent", _names(data, "OSSNames"))
    elif place == _MDS:
        yield _Series(place, data, "mds", "cpu_percent", ("mds",))
    else:
        for row, name in enumerate(hdf5.texts(data.attrs.get("OpNames", ()))[: data.shape[0]]):
            if name in OPERATIONS and (name in _ALWAYS or _any(data, row)):
                yield _Series(place, data, "mdt", OPERATIONS[name], ("mds",), row)


def _any(data: Any, row: int) -> bool:
    """True if a row has any value but zero."""
    width = hdf5_steps.BLOCK_VALUES
    spans = range(0, data.shape[1], width)
    return any(bool(np.any(data[row, begin : begin + width])) for begin in spans)


def _names(data: Any, attribute: str) -> tuple[str, ...]:
    """Names of the rows; () unless all are distinct."""
    names = hdf5.texts(data.attrs.get(attribute, ()))
    good = len(names) == data.shape[0] and len(set(names)) == len(names) and all(names)
    return names if good else ()


def _blocks(
    series: _Series, steps: TimeSteps, missing: Any, system: str, at_end: bool
) -> Iterator[MetricBlock]:
    """Blocks of one metric in slices of time."""
    unit, kind = SERIES[series.metric]
    gauge = kind == "gauge"
    total = len(steps.time_ns)
    width = series.data.size // series.data.shape[-1] if series.row is None else 1
    ticks = max(1, hdf5_steps.BLOCK_VALUES // max(width, 1))
    last = total if gauge and at_end else total - 1
    dead = None
    if series.moved is not None:
        dead = rows_with_any(series.moved) & ~rows_with_any(series.data)
    for begin in range(0, last, ticks):
        rows = np.arange(begin, min(begin + ticks, last))
        at = rows + 1 if at_end and not gauge else rows
        value = _rates(series.data, series.row, steps.rows[at])
        of_servers, names = series.level in ("ost", "oss"), len(series.names)
        lost = marked(missing, steps.rows[at], names, of_servers=of_servers)
        if not gauge and at_end:
            unseen = marked(missing, steps.rows[rows], names, of_servers=of_servers)
            lost |= without_begin(value, unseen)
        empty = np.zeros_like(lost)
        if dead is not None:
            empty = empty_histograms(value, _rates(series.moved, None, steps.rows[at]), dead)
        value, notes = cleaned(np.where(lost | empty, np.nan, value), series.place)
        if empty.any():
            what = f"{series.place}: empty where bytes moved"
            notes.append(Note("monitor-down", what, int(empty.sum())))
        left = steps.time_ns[rows]
        length = np.zeros_like(left)
        if not gauge:
            length = steps.time_ns[rows + 1] - left
            value = amounts(value * (length[:, None] / 1e9))
        yield MetricBlock(
            SOURCE,
            system,
            series.level,
            series.metric,
            unit,
            kind,
            series.names,
            left,
            length,
            value,
            (*series.notes, *time_notes(steps, _STEPS), *notes),
        )


def _beside(series: _Series, moved: Any) -> _Series:
    """The series with the bytes of its histograms, if both have the same targets and steps."""
    fits = moved is not None and (moved.shape[0], moved.shape[-1]) == (
        series.data.shape[0],
        series.data.shape[-1],
    )
    same = fits and hdf5.texts(moved.attrs.get("OSTNames", ())) == series.names
    return series._replace(moved=moved) if same else series


def _rates(data: Any, row: int | None, columns: Places) -> Floats:
    """Columns of a dataset (``row``: of this row only) as (T, N)."""
    value = taken(data if row is None else data[row : row + 1], columns, axis=-1)
    if value.ndim == 3:
        value = value.sum(axis=1)
    turned: Floats = np.atleast_2d(value).T
    return turned
