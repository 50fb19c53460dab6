"""TOKIO TimeSeries v1 (HDF5): activity of servers and targets per step, with -0.0 for missing values.

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
from typing import Any

import numpy as np

from iosonde.connectors.lustre import hdf5_safe as hdf5
from iosonde.connectors.lustre.hdf5_steps import TimeSteps, amounts, cleaned, taken, time_notes
from iosonde.connectors.lustre.names import system_of
from iosonde.connectors.lustre.tokio_series import TRAFFIC_AND_FULLNESS, TokioDataset, series_of
from iosonde.connectors.source import Head, Item, Settings, Warn
from iosonde.model.errors import InputFileError
from iosonde.model.metrics import MetricBlock

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


def recognises(head: Head) -> bool:
    """True for an HDF5 file with a group of TimeSeries that has time stamps."""
    if not head.raw.startswith(hdf5.MAGIC):
        return False
    try:
        with hdf5.opened(head.path) as file:
            return any(hdf5.dataset(file, f"{g}/timestamps", (1,)) is not None for g in _LEVELS)
    except InputFileError:
        return False


def read(path: Path, settings: Settings, warn: Warn) -> Iterator[MetricBlock | Item]:
    """Blocks of every known dataset, in slices of time. Raises InputFileError: no or damaged HDF5."""
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
                steps = TimeSteps(stamps[:])
            except (ValueError, OSError) as error:
                warn(InputFileError(f"{path}, {group}: {error}", expected="timestamps of numbers"))
                continue
            if steps.unset:
                what = f"{path}, {group}: {steps.unset} time stamps are no times"
                warn(InputFileError(what, expected="seconds since 1970"))
            for name in file[group]:
                place = f"{group}/{name}"
                if name == "timestamps":
                    continue
                try:
                    series = series_of(file, group, name, level, steps)
                    if series is not None:
                        yield from _blocks(series, steps, system, (path, place), warn)
                except (ValueError, OSError) as error:
                    warn(InputFileError(f"{path}, {place}: {error}", expected="a table of numbers"))


def _system(file: Any) -> str:
    """File system by the prefix of target names."""
    for group in ("datatargets", "fullness", "mdtargets"):
        for name in TRAFFIC_AND_FULLNESS:
            for column in hdf5.names_of(file, f"{group}/{name}", "columns")[:1]:
                if found := system_of(column):
                    return found
    return ""


def _blocks(
    series: TokioDataset, steps: TimeSteps, system: str, where: tuple[Path, str], warn: Warn
) -> Iterator[MetricBlock]:
    """Blocks of a dataset in slices of time."""
    data, (path, place) = series.data, where
    names = hdf5.texts(data.attrs.get("columns", ()))
    columns = _columns(names, data.shape[1])
    if not columns:
        raise ValueError(f"{len(names)} names for {data.shape[1]} columns")
    if len(columns) < data.shape[1]:
        what = f"{path}, {place}: {data.shape[1] - len(columns)} columns have no name of their own"
        warn(InputFileError(what, expected="a name for each column"))
    if len(steps.rows) and int(steps.rows.max()) >= data.shape[0]:
        what = f"{path}, {place}: it has {data.shape[0]} rows, fewer than there are time stamps"
        warn(InputFileError(what, expected="a row for each time stamp"))
        steps = steps.within(data.shape[0])
    components = tuple(names[column] for column in columns)
    for rows in steps.slices(data.shape[1]):
        value = taken(data, steps.rows[rows])[:, columns]
        notes = [*series.notes, *time_notes(steps, place)]
        value, more = cleaned(value, place)
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
    """Named columns, the first of each name."""
    first: dict[str, int] = {}
    for column, name in enumerate(names[:width]):
        if name:
            first.setdefault(name, column)
    return list(first.values())
