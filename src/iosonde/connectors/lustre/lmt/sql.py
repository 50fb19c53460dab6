"""LMT's SQL tables in a SQLite file: cumulative counters of OSTs and MDTs, CPU of servers, usage.

Edges: LMT takes a sample of everything at each TS_ID. A counter's difference between two samples is what
passed in [first, second): T samples give T - 1 steps, and the step's time is the earlier sample's. Gauges
(CPU, memory, fullness) are instants: T samples give T values, with a step of 0. A tick that nobody
recorded makes the step longer; a single target without a row at a tick has NaN in both steps it bounds.

TIMESTAMP_INFO holds local text without a zone: ``Settings.zone``, see ``connectors.local_time``. Only
SQLite, by its content; nothing is written, no extension can be loaded. Schema 1.1 of LMT 3.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.connectors.counters import increments
from iosonde.connectors.lustre.lmt.blanks import Blanks
from iosonde.connectors.lustre.lmt.spans import Samples, Spans
from iosonde.connectors.lustre.lmt.tables import (
    MAGIC,
    Times,
    broken,
    columns_of,
    opened,
    parts_of,
    times_of,
)
from iosonde.connectors.lustre.names import OPERATIONS
from iosonde.connectors.source import Head, Item, Settings, Warn
from iosonde.model.errors import InputFileError
from iosonde.model.metrics import SERIES, Edge, MetricBlock
from iosonde.model.quality import Note

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats


KIND = "LMT database"
SOURCE = "lmt"
Parts = dict[int, tuple[str, str]]


class _Data(NamedTuple):
    """A table of samples: its components, its name, and the meaning of its columns."""

    table: str
    key: str
    info: str
    name: str
    level: str
    columns: dict[str, tuple[str, float]]
    """Column -> metric and factor. ``free_*`` is read for the total and emitted as that."""


class _Metric(NamedTuple):
    """Metric of one column."""

    level: str
    name: str
    blanks: Blanks | None
    """Detector of false zeros, for counters."""


_CAPACITY = {
    "KBYTES_USED": ("used_bytes", 1024.0),
    "KBYTES_FREE": ("free_bytes", 1024.0),
    "INODES_USED": ("used_inodes", 1.0),
    "INODES_FREE": ("free_inodes", 1.0),
}
_TABLES = (
    _Data(
        *("OST_DATA", "OST_ID", "OST_INFO", "OST_NAME", "ost"),
        {"READ_BYTES": ("read_bytes", 1.0), "WRITE_BYTES": ("written_bytes", 1.0)} | _CAPACITY,
    ),
    _Data(
        *("OSS_DATA", "OSS_ID", "OSS_INFO", "HOSTNAME", "oss"),
        {"PCT_CPU": ("cpu_percent", 1.0), "PCT_MEMORY": ("memory_percent", 1.0)},
    ),
    _Data(
        *("MDS_DATA", "MDS_ID", "MDS_INFO", "HOSTNAME", "mds"),
        {"PCT_CPU": ("cpu_percent", 1.0)},
    ),
    _Data(*("MDS_DATA", "MDS_ID", "MDS_INFO", "MDS_NAME", "mdt"), dict(_CAPACITY)),
)


def recognises(head: Head) -> bool:
    """True for a SQLite file with LMT's table of times and one of its tables of samples."""
    if not head.raw.startswith(MAGIC):
        return False
    try:
        with opened(head.path) as db:
            tables = columns_of(db)
    except (InputFileError, sqlite3.Error, UnicodeError):
        return False
    return _is_lmt(tables)


def _is_lmt(tables: dict[str, frozenset[str]]) -> bool:
    samples = {"OST_DATA", "OSS_DATA", "MDS_DATA", "MDS_OPS_DATA"} & tables.keys()
    return {"TS_ID", "TIMESTAMP"} <= tables.get("TIMESTAMP_INFO", frozenset()) and bool(samples)


def read(path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
    """Blocks of OSTs, OSSes, MDSes and MDTs, and the server of each target.

    Raises InputFileError: no database, damaged, or none of LMT's. Rows without a known time or name are
    counted and told of; a cell that is no number is NaN and noted.
    """
    try:
        with opened(path) as db:
            tables = columns_of(db)
            if not _is_lmt(tables):
                raise InputFileError(f"{path} has no tables of LMT", expected="TIMESTAMP_INFO")
            times = times_of(db, settings.zone, path, warn)
            reader = _Reader(db, tables, times, (path, settings, warn))
            if len(times.ids):
                yield from reader.edges()
                for data in _TABLES:
                    yield from reader.samples(data)
                yield from reader.operations()
    except (sqlite3.Error, OverflowError, UnicodeError) as error:
        known = error if isinstance(error, sqlite3.Error) else sqlite3.DataError(str(error))
        raise broken(path, known) from error


class _Reader:
    """Reader for one database."""

    def __init__(
        self,
        db: sqlite3.Connection,
        tables: dict[str, frozenset[str]],
        times: Times,
        given: tuple[Path, Settings, Warn],
    ) -> None:
        self.db, self.tables, self.times = db, tables, times
        self.path, self.settings, self.warn = given

    def edges(self) -> Iterator[Edge]:
        """OST -> server, from OST_INFO."""
        names = parts_of(self.db, self.tables, "OST_INFO", "OST_ID", "OST_NAME")
        hosts = parts_of(self.db, self.tables, "OST_INFO", "OST_ID", "HOSTNAME")
        when = int(self.times.time_ns[0])
        for ident, (system, name) in names.items():
            if ident in hosts:
                system_name = system or self.settings.system
                yield Edge(SOURCE, system_name, when, "ost", name, hosts[ident][1])

    def samples(self, data: _Data) -> Iterator[MetricBlock]:
        """All metrics of one table."""
        parts = parts_of(self.db, self.tables, data.info, data.key, data.name)
        columns = [c for c in data.columns if c in self.tables.get(data.table, frozenset())]
        if not parts or not columns or not {data.key, "TS_ID"} <= self.tables[data.table]:
            return
        spans = Spans(self.db, self.times, Samples(data.table, data.key), sorted(parts))
        metrics = [data.columns[column] for column in columns]
        blanks = {
            metric: spans.blanks(column)
            for column, (metric, _) in zip(columns, metrics, strict=True)
            if SERIES[metric][1] == "delta"
        }
        for rows, cubes, notes in self._read(spans, columns, data.table):
            values = {m: cube * factor for (m, factor), cube in zip(metrics, cubes, strict=True)}
            for what in ("bytes", "inodes"):
                free = values.pop(f"free_{what}", None)
                if free is not None and f"used_{what}" in values:
                    values[f"total_{what}"] = values[f"used_{what}"] + free
            for name, value in values.items():
                metric = _Metric(data.level, name, blanks.get(name))
                yield from self._blocks(metric, parts, value, (rows, notes))

    def operations(self) -> Iterator[MetricBlock]:
        """Metadata operations of MDS_OPS_DATA, one metric after the other."""
        names = parts_of(self.db, self.tables, "OPERATION_INFO", "OPERATION_ID", "OPERATION_NAME")
        parts = parts_of(self.db, self.tables, "MDS_INFO", "MDS_ID", "MDS_NAME")
        wanted = {"MDS_ID", "TS_ID", "OPERATION_ID", "SAMPLES"}
        if not parts or not wanted <= self.tables.get("MDS_OPS_DATA", frozenset()):
            return
        for ident, (_, name) in names.items():
            if name not in OPERATIONS:
                continue
            only = f"AND OPERATION_ID = {int(ident)}"
            samples = Samples("MDS_OPS_DATA", "MDS_ID", only)
            spans = Spans(self.db, self.times, samples, sorted(parts))
            metric = _Metric("mdt", OPERATIONS[name], spans.blanks("SAMPLES"))
            for rows, cubes, notes in self._read(spans, ["SAMPLES"], samples.table):
                if not np.isnan(cubes[0]).all():
                    yield from self._blocks(metric, parts, cubes[0], (rows, notes))

    def _read(
        self, spans: Spans, columns: list[str], table: str
    ) -> Iterator[tuple[slice, Floats, list[Note]]]:
        """Spans with their columns as (C, T, N) and notes; rows with unknown ids are reported."""
        for rows, found in spans.all(columns):
            if found.strange:
                what = f"{self.path}, {table}: {found.strange} rows name no known time or component"
                self.warn(InputFileError(what, expected="a TS_ID and an id of the *_INFO tables"))
            notes = [Note("duplicate", f"rows of {table}", found.twice)] if found.twice else []
            if found.bad:
                notes.append(Note("not-a-number", f"fields of {table}", found.bad))
            yield rows, found.cube, notes
            if self.settings.progress:
                self.settings.progress(rows.stop, spans.total)

    def _blocks(
        self, of: _Metric, parts: Parts, values: Floats, span: tuple[slice, list[Note]]
    ) -> Iterator[MetricBlock]:
        """Blocks of one metric over one span, one per file system."""
        level, metric, blanks = of
        unit, kind = SERIES[metric]
        rows, notes = span
        time_ns = self.times.time_ns[rows]
        last = rows.stop == len(self.times.ids)
        if kind == "gauge" and not last:  # the tick that is shared belongs to the next span
            time_ns, values = time_ns[:-1], values[:-1]
        elif kind == "delta" and len(time_ns) < 2:
            return
        blank = np.zeros(values.shape, dtype=np.bool_)
        if blanks is not None:
            values, blank = blanks.out(values, rows)
        places: dict[str, list[int]] = {}
        names = [parts[ident] for ident in sorted(parts)]
        for place, (system, _) in enumerate(names):
            places.setdefault(system or self.settings.system, []).append(place)
        for system, columns in places.items():
            components = tuple(names[place][1] for place in columns)
            value = values[:, columns]
            step = np.zeros(len(time_ns), dtype=np.int64)
            more: tuple[Note, ...] = (*self.times.notes(rows), *notes)
            left = time_ns
            if kind == "delta":
                if n := int(blank[bool(rows.start) :, columns].sum()):
                    more = (*more, Note("monitor-down", f"{metric} of {level} read 0", n))
                value, resets = increments(value, components)
                more, left, step = (*more, *resets), time_ns[:-1], np.diff(time_ns)
            gaps = int(np.isnan(value).sum())
            if gaps:
                more = (*more, Note("missing", f"{metric} of {level}", gaps))
            yield MetricBlock(
                SOURCE, system, level, metric, unit, kind, components, left, step, value, more
            )
