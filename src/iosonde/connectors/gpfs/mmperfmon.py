"""GPFS ``mmperfmon query`` of usage, gpfsNumberOperations and gpfsnsdds: text, or a tar archive of many.

::

    Legend:
     1: n1|GPFSFilesystem|cluster|scratch|gpfs_fs_read_ops
     2: n1|CPU|cpu_user

    Row           Timestamp gpfs_fs_read_ops cpu_user
      1 2019-01-08-13:00:00             1144     0.22

A row's time has no zone and is the END of what it sums up; how long that is follows from the rows' distance, and
of the first row and of one behind a gap it is taken to be the usual distance. ``null`` is missing. A cut row has
what it has. Units are powers of 1024, printed to a tenth. Source: IBM Storage Scale, mmperfmon command.

Where a legend is too wide for a line, its columns come in blocks: a title with the next names, then all rows again.
A title with the legend's first names where others are due begins the table anew, for more rows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from iosonde.connectors.gather import ComponentSeries, Gather
from iosonde.connectors.gpfs.column_blocks import ColumnBlocks, TableRow, merged
from iosonde.connectors.lines import Line, bad, read_lines, shown
from iosonde.connectors.many_files import read_each
from iosonde.connectors.plain_numbers import plain
from iosonde.connectors.source import Head, Item, Settings, Warn, head_of
from iosonde.connectors.tar_members import is_tar, members
from iosonde.connectors.wall_times import WallTimes
from iosonde.model.errors import InputFileError
from iosonde.model.metrics import Edge

KIND = "mmperfmon"
_LEGEND = re.compile(r"\s*(\d{1,6}):\s*(\S+\|\S+\|\S+)\s*")
_ROW = re.compile(r"\s*(\d{1,10})\s+(\d{4}-\d\d-\d\d-\d\d:\d\d:\d\d)(?:\s+(.*))?")
_ANY = re.compile(rb"Legend:\s+1:\s*[^\s|]+\|[^\s|]+\|\S+")
_UNITS = {"B": 1, "kB": 1 << 10, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
_MOST_COLUMNS = 50_000
_MOST_ROWS = 50_000
_EMPTY = {"null", "none", "-", "n/a"}

_IO = {"bytes_read": "read_bytes", "bytes_written": "written_bytes"} | {
    name: name for name in ("read_ops", "write_ops")
}
_AMOUNTS = {
    **{f"gpfs_fs_{theirs}": ours for theirs, ours in _IO.items()},
    **{f"gpfs_nsdds_{theirs}": ours for theirs, ours in _IO.items()},
    **{"net_r": "in_bytes", "net_s": "out_bytes"},
}
_STATES = {
    "cpu_user": "cpu_user_percent",
    "cpu_sys": "cpu_system_percent",
    "mem_total": "memory_total_bytes",
    "mem_free": "memory_free_bytes",
}


class _Column(NamedTuple):
    series: ComponentSeries
    amount: bool


def recognises(head: Head) -> bool:
    """True with a legend of sensors in the text or in an archive's first member."""
    return _ANY.search(head.data) is not None


def read(path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
    """Blocks per sensor; servers of NSDs as edges. Raises InputFileError (unreadable; a broken archive)."""
    yield from read_many([path], settings, warn)


def read_many(paths: Sequence[Path], settings: Settings, warn: Warn) -> Iterator[Item]:
    """Blocks of several files; a row found in several counts once."""
    reader = _Reader(settings, warn)

    def one(path: Path) -> Iterator[Item]:
        if is_tar(head_of(path).data):
            for member in members(path, warn):
                yield from reader.read(path / member.name, member.lines)
        else:
            yield from reader.read(path, read_lines(path, warn))

    yield from read_each(paths, one, reader.rest, warn, settings.progress)


class _Reader:
    def __init__(self, settings: Settings, warn: Warn) -> None:
        self._settings, self._warn = settings, warn
        self._gather = Gather("mmperfmon")
        self._edges: set[tuple[str, str]] = set()

    def read(self, path: Path, lines: Iterable[Line]) -> Iterator[Item]:
        """Read one answer (or several, each with its legend)."""
        query = _Query(path, self._settings, self._warn, self._gather)
        try:
            for line in lines:
                try:
                    query.take(line)
                except ValueError as error:
                    self._warn(bad(path, line.number, str(error), "a line of mmperfmon query"))
                if query.held >= _MOST_ROWS:
                    query.flush()
                if self._gather.full:
                    yield from self._gather.blocks(query.clock.notes())
        finally:
            query.end()
        if not query.legends:
            self._warn(InputFileError(f"{path}: no legend", expected="the text of mmperfmon query"))
        for note in query.clock.notes():
            self._gather.note(note.flag, note.what, note.n)
        yield from self._served(query)

    def rest(self) -> Iterator[Item]:
        yield from self._gather.rest()

    def _served(self, query: _Query) -> Iterator[Item]:
        for child, parent in query.served.items():
            if (child, parent) not in self._edges and len(self._edges) < _MOST_COLUMNS:
                self._edges.add((child, parent))
                yield Edge(
                    "mmperfmon", self._settings.system, query.first_ns or 0, "nsd", child, parent
                )


class _Query:
    """State of an answer: its legend, then rows, emitted once their distance in time is known."""

    def __init__(self, path: Path, settings: Settings, warn: Warn, gather: Gather) -> None:
        self._path, self._settings, self._warn, self._gather = path, settings, warn, gather
        self.clock = WallTimes(settings.zone, ascending=True)
        self.served: dict[str, str] = {}
        self.first_ns: int | None = None
        self.legends = 0
        self._columns: dict[int, _Column | None] = {}
        self._names: list[str] = []
        self._legend = False
        self._blocks = ColumnBlocks()
        self._rows: list[TableRow] = []

    @property
    def held(self) -> int:
        return len(self._rows) * max(1, len(self._columns) // 8)

    def take(self, line: Line) -> None:
        text = line.text
        if text.strip() == "Legend:":
            self.end()
            self._columns, self._names, self._legend = {}, [], True
            self._blocks = ColumnBlocks()
            self.legends += 1
        elif self._legend and (match := _LEGEND.fullmatch(text)):
            if len(self._columns) >= _MOST_COLUMNS:
                raise ValueError(f"more than {_MOST_COLUMNS} columns")
            self._columns[int(match[1])] = self._column(match[2])
            self._names.append(match[2].rsplit("|", 1)[-1])
        elif text.lstrip().startswith("Row "):
            self._legend = False
            self.clock.anew()
            self._blocks.title(text.split()[2:], self._names)
        elif match := _ROW.fullmatch(text):
            self._row(match, line.ended)
        elif text.strip(" .\t") and self._columns:  # a dot ends an answer
            raise ValueError(f"the line is {shown(text)}")

    def _column(self, key: str) -> _Column | None:
        """Series of a sensor; None for ignored ones."""
        words = key.split("|")
        host, sensor, metric = words[0], words[1], words[-1]
        if sensor == "GPFSFilesystem" and metric in _AMOUNTS and len(words) >= 4:
            return _Column(ComponentSeries(words[-2], "client", _AMOUNTS[metric], host), True)
        if metric in _AMOUNTS and metric.startswith("gpfs_nsdds_") and len(words) >= 4:
            child = f"{words[-2]}@{host}"
            self.served[child] = host
            return _Column(
                ComponentSeries(self._settings.system, "nsd", _AMOUNTS[metric], child), True
            )
        if sensor == "Network" and metric in _AMOUNTS and len(words) >= 4:
            name = f"{host}/{words[-2]}"
            return _Column(
                ComponentSeries(self._settings.system, "device", _AMOUNTS[metric], name), True
            )
        if metric in _STATES:
            return _Column(
                ComponentSeries(self._settings.system, "server", _STATES[metric], host), False
            )
        self._gather.note("left-out", f"sensors that are not read: {metric}")
        return None

    def _row(self, match: re.Match[str], ended: bool) -> None:
        if not self._columns:
            raise ValueError("a row before the legend")
        try:
            moment = datetime.strptime(match[2], "%Y-%m-%d-%H:%M:%S")  # noqa: DTZ007
        except ValueError:
            raise ValueError(f"the time {shown(match[2])} cannot be") from None
        end_ns = self.clock.ns(moment)
        if end_ns is None:
            raise ValueError(f"the time {shown(match[2])} cannot be")
        blocks = self._blocks
        if not blocks.width:
            return  # its title was refused
        if self._rows and self._rows[-1][:2] == (blocks.number, end_ns):
            self._gather.note("duplicate", f"rows of {self._path.name}")
            return
        values, wrong = _values((match[3] or "").split())
        if not ended:
            values = values[:-1]
        if self.first_ns is None:
            self.first_ns = end_ns
        before = [math.nan] * blocks.first
        self._rows.append(TableRow(blocks.number, end_ns, before + values[: blocks.width]))
        if wrong:
            self._gather.note("not-a-number", self._path.name, len(wrong))
            raise ValueError(f"{shown(wrong[0])} is no number")
        if len(values) != blocks.width:
            raise ValueError(f"the row has {len(values)} values of {blocks.width}")

    def end(self) -> None:
        """End the table: report legend columns that it lacked."""
        self.flush()
        lacking = len(self._names) - self._blocks.behind
        if self._names and lacking > 0 and self._blocks.behind:
            what = f"{self._path}: the legend has {lacking} more columns than the tables below it"
            self._warn(InputFileError(what, expected="a table with every column of the legend"))

    def flush(self) -> None:
        """Emit the rows. The last one is remembered for the next one's distance."""
        rows, disordered = merged(self._rows)
        self._rows = []
        if disordered:
            self._gather.note("out-of-order", f"rows of {self._path.name}")
        ends = [end for end, _ in rows]
        gaps = sorted(b - a for a, b in pairwise(ends) if b > a)
        if not gaps:
            if rows:
                self._warn(
                    InputFileError(
                        f"{self._path}: one row only, its length is unknown",
                        expected="two rows or more",
                    )
                )
            return
        usual = gaps[len(gaps) // 2]
        self._gather.note("estimated", "length of the first row's interval")
        before: int | None = None
        for end, values in rows:
            step = usual if before is None else min(end - before, usual)
            if step > 0:
                self._give(end - step, step, values)
            before = end

    def _give(self, time_ns: int, step_ns: int, values: list[float]) -> None:
        states: dict[str, dict[str, float]] = {}
        for (_, column), value in zip(sorted(self._columns.items()), values, strict=False):
            if column is None or math.isnan(value):
                continue
            if column.amount and value >= 0:
                self._gather.amount(column.series, time_ns, step_ns, value)
            elif not column.amount:
                states.setdefault(column.series.component, {})[column.series.metric] = value
        for host, found in states.items():
            for metric, value in _derived(found).items():
                self._gather.over(
                    ComponentSeries(self._settings.system, "server", metric, host),
                    time_ns,
                    step_ns,
                    value,
                )


def _derived(found: dict[str, float]) -> dict[str, float]:
    """CPU in total and memory in use, if both parts are known; the parts as they are."""
    more = dict(found)
    if "cpu_user_percent" in found and "cpu_system_percent" in found:
        more["cpu_percent"] = found["cpu_user_percent"] + found["cpu_system_percent"]
    total, free = found.get("memory_total_bytes"), found.get("memory_free_bytes")
    if total and free is not None:
        more["memory_used_bytes"] = total - free
        more["memory_percent"] = 100 * (1 - free / total)
    return more


def _values(words: list[str]) -> tuple[list[float], list[str]]:
    """Numbers in base units (NaN: missing), and malformed words."""
    values: list[float] = []
    wrong: list[str] = []
    for word in words:
        if word in _UNITS:
            if values:
                values[-1] *= _UNITS[word]
            continue
        number = plain(word)
        values.append(float("nan") if number is None else number)
        if number is None and word.lower() not in _EMPTY:
            wrong.append(word)
    return values, wrong
