"""``lfs df`` and ``lfs df -i``: usage of each OST and MDT; one text, or a log of ``BEGIN <epoch>`` texts.

Sizes must be in KiB blocks, as without options (``1K-blocks``). Rounded texts (``-h``: 84.5T) are refused.
A target that is there without numbers (``: inactive device``, ``: Resource temporarily unavailable``) is
missing at that instant: NaN, never 0, and so is a target that other texts of the same file system have.
Edges: instants, with a step of 0. ``used`` and ``total`` are the columns as they are; fullness of a target is
used / total, not the ``Use%`` of the text, which leaves out what is kept for root.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from iosonde.connectors.lines import bad, shown
from iosonde.connectors.lustre.health_log import dated_lines, single
from iosonde.connectors.lustre.names import level_of, number, system_of, target
from iosonde.connectors.source import Head, Item, Settings, Warn
from iosonde.connectors.stamps import stamp_of
from iosonde.connectors.wall_times import WallTimes
from iosonde.model.errors import InputFileError
from iosonde.model.metrics import SERIES, Edge, MetricBlock
from iosonde.model.quality import Note
from iosonde.model.units import DAY_NS

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats


KIND = "lfs df"
SOURCE = "lfs df"
_HEADER = re.compile(r"UUID\s+(\S+)\s+I?Used\s+(?:Available|IFree)\s+I?Use%\s+Mounted on.*")
_ROW = re.compile(r"(\S{1,160}?)(?:\s*:\s+(?P<fault>\S.*)|\s+(?P<fields>\d.*))")
_SHORT = re.compile(r"((?:OST|MDT)[0-9a-fA-F]{4})\s*:\s+\S.*")
"""A target that did not answer, by the suffix of its name."""
_BYTES = ("total_bytes", "used_bytes", "available_bytes")
_INODES = ("total_inodes", "used_inodes", "free_inodes")
_CELLS = 1_000_000
_MOUNT = re.compile(r"%\s+(/\S{0,4000}?)\[(?:OST|MDT):\d{1,6}\]$")
_EXPECTED = "a target with total, used and available, as lfs df prints it in KiB"


def recognises(head: Head) -> bool:
    """True with the header of ``lfs df`` among the first lines, preceded only by BEGIN or errors."""
    clock = WallTimes(None)
    for line in head.lines[:20]:
        text = line.strip()
        if _HEADER.fullmatch(text):
            return True
        if text and stamp_of(text, clock) is None and not text.startswith(("lfs", "error", "#")):
            return False
    return False


def read(path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
    """Blocks of OSTs and MDTs. Malformed lines are reported. Raises InputFileError: unreadable, damaged gzip."""
    table, pending, mounts = _Table(settings), list[str](), _Mounts()
    system = ""
    metrics: tuple[str, ...] = ()
    clock = WallTimes(settings.zone, ascending=True)
    begun, undated = False, single(path, settings)[1]
    broken: InputFileError | None = None
    try:
        for time_ns, line, begins, stated in dated_lines(path, settings, warn, clock):
            text = line.text.strip()
            begun |= stated
            table.notes = clock.notes() if begun else undated
            if begins and table.full:
                yield from table.blocks()
            ends = text.startswith("filesystem") and bool(pending)
            if ends and not _silent(table, time_ns, system, pending, metrics):
                warn(bad(path, line.number, f"{pending} of which file system?", _EXPECTED))
                pending.clear()
            if not text or stated or text.startswith("filesystem"):
                continue
            header = _HEADER.fullmatch(text)
            if header:
                metrics, system = _columns(header[1]), ""
                pending.clear()
                if not metrics:
                    what = f"sizes in {shown(header[1])}"
                    warn(
                        bad(path, line.number, what, "1K-blocks: lfs df without -h or another unit")
                    )
                continue
            if _SHORT.fullmatch(text):
                pending.append(text[:7])
                continue
            name, values = _row(text)
            if name is None or (metrics and values is None):
                warn(bad(path, line.number, f"no row of lfs df: {shown(text)}", _EXPECTED))
            if name is not None and metrics:
                system = system_of(name)
                yield from mounts.seen(time_ns, system, text)
                table.add(time_ns, system, name, metrics, values or _MISSING)
                _silent(table, time_ns, system, pending, metrics)
    except InputFileError as error:
        broken = error
    yield from table.blocks()
    if broken is not None:
        raise broken


_MISSING = [float("nan")] * 3


def _silent(
    table: _Table, time_ns: int, system: str, shorts: list[str], metrics: tuple[str, ...]
) -> bool:
    """Assign targets that did not answer, printed without their file system, to that of the rows around them."""
    if not system or not metrics:
        return False
    for short in shorts:
        table.add(time_ns, system, f"{system}-{short}", metrics, _MISSING)
    shorts.clear()
    return True


def _columns(unit: str) -> tuple[str, ...]:
    """Metrics of the columns; () for a unit that is not KiB."""
    if unit.lower() in ("1k-blocks", "1024-blocks", "kbytes"):
        return _BYTES
    return _INODES if unit.lower() == "inodes" else ()


def _row(text: str) -> tuple[str | None, list[float] | None]:
    """Target and numbers (NaN: it did not answer); no numbers: malformed row; no name: no row at all."""
    found = _ROW.fullmatch(text)
    name = target(found[1]) if found else None
    if found is None or name is None:
        return None, None
    if found["fault"]:
        return name, [float("nan")] * 3
    fields = found["fields"].split()
    if len(fields) < 5 or not re.fullmatch(r"\d{1,3}%|-", fields[3]):
        return name, None
    values = [value for field in fields[:3] if (value := number(field)) is not None]
    return name, values if len(values) == 3 and values[1] <= values[0] else None


class _Mounts:
    """Mount points of file systems, emitted once a day and on change."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, int]] = {}

    def seen(self, time_ns: int, system: str, text: str) -> Iterator[Edge]:
        """Yield the mount point of a row unless already emitted that day."""
        found = _MOUNT.search(text)
        if found is not None and self._known.get(system) != (found[1], time_ns // DAY_NS):
            self._known[system] = (found[1], time_ns // DAY_NS)
            yield Edge(SOURCE, system, time_ns, "filesystem", system, found[1])


class _Table:
    """Rows of some instants, by file system, level and kind of column."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.notes: tuple[Note, ...] = ()
        self._rows: dict[tuple[str, str, tuple[str, ...]], dict[int, dict[str, list[float]]]] = {}
        self._size = 0
        self._last: dict[tuple[str, str, tuple[str, ...]], int] = {}
        self._names: dict[tuple[str, str, tuple[str, ...]], dict[str, None]] = {}
        self._twice = self._late = 0
        self._before = 0

    def add(
        self, time_ns: int, system: str, name: str, metrics: tuple[str, ...], values: list[float]
    ) -> None:
        """Add one target at one instant; the first row counts."""
        key = (system, level_of(name), metrics)
        if time_ns <= self._last.get(key, -1):
            self._late += 1
            return
        if time_ns < self._before:
            self._late += 1
        self._before = time_ns
        row = self._rows.setdefault(key, {}).setdefault(time_ns, {})
        if name in row:
            self._twice += 1
            return
        row[name] = values
        self._names.setdefault(key, {})[name] = None
        self._size += 1

    @property
    def full(self) -> bool:
        """True if ``blocks`` should be called now."""
        return self._size >= _CELLS

    def blocks(self) -> Iterator[MetricBlock]:
        """Pop all buffered rows as blocks."""
        for key, rows in self._rows.items():
            system, level, metrics = key
            times = sorted(rows)
            self._last[key] = times[-1]
            names = tuple(self._names[key])
            cube = np.full((3, len(times), len(names)), np.nan)
            place = {name: column for column, name in enumerate(names)}
            for at, time_ns in enumerate(times):
                for name, values in rows[time_ns].items():
                    cube[:, at, place[name]] = values
            factor = 1024.0 if metrics is _BYTES else 1.0
            for metric, value in zip(metrics, cube * factor, strict=True):
                unit, kind = SERIES[metric]
                instants = np.array(times, dtype=np.int64)
                step = np.zeros_like(instants)
                notes = self._notes(metric, level, value)
                yield MetricBlock(
                    SOURCE, system, level, metric, unit, kind, names, instants, step, value, notes
                )
        self._rows, self._size, self._late, self._twice = {}, 0, 0, 0

    def _notes(self, metric: str, level: str, value: Floats) -> tuple[Note, ...]:
        """Notes of a block."""
        notes = list(self.notes)
        if gaps := int(np.isnan(value).sum()):
            notes.append(Note("missing", f"{metric} of {level}", gaps))
        for flag, n in (("out-of-order", self._late), ("duplicate", self._twice)):
            if n:
                notes.append(Note(flag, "rows of lfs df", n))
        return tuple(notes)
