"""Reports of rates per disk, one after the other, to amounts of the steps between them.

The first report of a run is a mean since the machine was started, and no step. Amounts are rates of two decimals times
the time between reports ("estimated").
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from iosonde.connectors.client.node_name import node_of
from iosonde.connectors.disks.printed_times import DayOrder, stamp
from iosonde.connectors.disks.series import disk_series
from iosonde.connectors.gather import Gather
from iosonde.connectors.lines import Warn, bad, shown
from iosonde.connectors.source import Settings
from iosonde.connectors.wall_times import WallTimes

_LONGEST_NS = 86_400 * 10**9
"""Longest gap between two reports; after a longer one the next report starts anew."""
MOST_DISKS = 10_000
_KIB, _MIB, _SECTOR = 1024.0, 1024.0**2, 512.0
_MOST = 1e15
_NUMBER = re.compile(r"(\d{1,20}(?:[.,]\d{0,6})?)([BkMGTP%]?)", re.ASCII)
_HUMAN = {"B": 1.0, "k": _KIB, "M": _MIB, "G": _KIB**3, "T": _KIB**4, "P": _KIB**5}
"""Units behind numbers (``iostat --human``)."""


class _Column(NamedTuple):
    name: str
    """What it is, whatever the version calls it."""
    scale: float


COLUMNS: dict[str, _Column] = {
    **{f"{way}/s": _Column(f"{way}_rate", 1.0) for way in "rw"},
    **{f"{way}kB/s": _Column(f"{way}_bytes", _KIB) for way in "rw"},
    **{f"{way}MB/s": _Column(f"{way}_bytes", _MIB) for way in "rw"},
    **{f"{way}sec/s": _Column(f"{way}_bytes", _SECTOR) for way in "rw"},
    **{f"{way}_await": _Column(f"{way}_wait", 1e-3) for way in "rw"},
    **dict.fromkeys(("aqu-sz", "avgqu-sz"), _Column("queue", 1.0)),
    **dict.fromkeys(("%util", "util"), _Column("busy", 0.01)),
}
"""Columns of ``iostat -x`` that are read, of sysstat 10 to 12, in text and JSON."""
_WAYS = {
    "r": ("read_ops", "read_bytes", "read_execution_s"),
    "w": ("write_ops", "written_bytes", "write_execution_s"),
}
Rates = dict[str, float]
"""Number per second, in base units, by the names of ``COLUMNS``."""


def rate(column: str, text: str) -> float:
    """A column's number in base units. Raises ValueError."""
    match = _NUMBER.fullmatch(text)
    value = float(match[1].replace(",", ".")) if match else -1.0
    if match is None or not 0 <= value < _MOST:
        raise ValueError(f"{column} is {shown(text)}")
    return value * _HUMAN.get(match[2], COLUMNS[column].scale)


class IntervalReports:
    """Reports of one file."""

    def __init__(
        self, path: Path, settings: Settings, warn: Warn, gather: Gather, order: DayOrder
    ) -> None:
        self._path, self._warn, self._gather, self._order = path, warn, gather, order
        self._system, self._named = settings.system, node_of(path, settings)
        self._clock = WallTimes(settings.zone, ascending=True)
        self._host = self._named
        self._now: int | None = None
        self._before: int | None = None
        self._rows: dict[str, Rates] = {}
        self._timeless = 0

    def begin(self, host: str) -> None:
        """A run of the tool begins: its next report is since the start of the machine."""
        self.end_report()
        self._host = self._named or host
        self._now = self._before = None

    def at(self, text: str) -> bool:
        """Take a line that is only a time; False for another one. Raises ValueError: there is no such time."""
        found = stamp(text)
        if found is None:
            return False
        self.end_report()
        self._now = None
        moment = found.moment(self._order.of(found))
        now = None if moment is None else self._clock.ns(moment)
        if now is None or now < 0:
            raise ValueError(f"the time {shown(text)} cannot be")
        self._now = now
        return True

    def row(self, device: str, rates: Mapping[str, float]) -> None:
        """A disk of the report; its columns may come in several rows."""
        if device in self._rows or len(self._rows) < MOST_DISKS:
            self._rows.setdefault(device, {}).update(rates)

    def end_report(self) -> None:
        """Give out the report that is complete."""
        rows, self._rows = self._rows, {}
        now, before = self._now, self._before
        if not rows:
            return
        self._before = now
        if now is None:
            self._timeless += 1
            return
        if before is None or not 0 < now - before <= _LONGEST_NS:
            # Of a run, of what comes behind a report without a time, or behind a long gap.
            what = "a first report: a mean since the start of the machine, or of an unknown step"
            self._gather.note("left-out", what)
            return
        for device, rates in rows.items():
            for metric, value in _amounts(rates, (now - before) / 1e9).items():
                series = disk_series(self._system, self._host, device, metric)
                self._gather.amount(series, before, now - before, value)

    def end(self) -> None:
        """Give out the last report, at the end of the file."""
        self.end_report()
        for note in self._clock.notes():
            self._gather.note(note.flag, note.what, note.n)
        if self._timeless:
            what = f"{self._timeless} reports have no time: skipped"
            self._warn(bad(self._path, 1, what, "iostat -x -t"))


def _amounts(rates: Rates, seconds: float) -> dict[str, float]:
    """Amounts of a step by metric."""
    found: dict[str, float] = {}
    for way, (ops, moved, took) in _WAYS.items():
        if (each := rates.get(f"{way}_rate")) is not None:
            found[ops] = each * seconds
            if (wait := rates.get(f"{way}_wait")) is not None:
                found[took] = wait * each * seconds
        if (speed := rates.get(f"{way}_bytes")) is not None:
            found[moved] = speed * seconds
    if (queue := rates.get("queue")) is not None:
        found["execution_s"] = queue * seconds
    if (busy := rates.get("busy")) is not None:
        found["io_time_s"] = min(busy, 1.0) * seconds
    return found
