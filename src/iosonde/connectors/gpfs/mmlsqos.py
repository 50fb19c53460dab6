"""GPFS ``mmlsqos``: operations, bytes and queues of each class of each pool.

::

    === for pool system
    18:00:05  other iops=35545 ioql=41.399 qsdl=0.0021 et=5

A time is the END of a period of ``et`` seconds (the text has a time of day only: of the day on which it was recorded).
``iops`` operations per second; ``ioql`` operations under way in the disks; ``qsdl`` operations that QoS holds back;
``MBs`` 10**6 bytes per second. Decimal commas of some locales are read. Component: ``system/other``. A period that
several answers have counts once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, time
from pathlib import Path

from iosonde.connectors.gather import ComponentSeries
from iosonde.connectors.gpfs.y_table import Cells, Reading, YAnswer, connector
from iosonde.connectors.lines import shown
from iosonde.connectors.plain_numbers import count, plain
from iosonde.connectors.source import Settings
from iosonde.connectors.wall_times import WallTimes
from iosonde.model.units import LATEST_S

KIND = "mmlsqos"
_POOL = re.compile(r"=== for pool (?P<pool>\S{1,200})")
_ROW = re.compile(r"(?P<of_day>\d\d:\d\d:\d\d)\s+(?P<class>\S{1,100})\s+(?P<values>iops=.*)")
_METRICS = {
    "iops": ("ops_per_s", 1.0),
    "ioql": ("in_flight_ops", 1.0),
    "qsdl": ("queued_ops", 1.0),
    "MBs": ("bytes_per_s", 1e6),
}
_LONGEST_S = 86_400.0
_MOST = 2_000_000
_DAY_NS = 86_400 * 10**9


class _Classes(YAnswer):
    COMMAND, TITLES, SIGNS = "mmlsqos", "status|config|values|stats", (_POOL, _ROW)
    ROWS, CUT = (("", _POOL), ("stats", _ROW)), re.compile(r"\d\d:\d\d:\d\d\b.*")

    def __init__(self, path: Path, settings: Settings) -> None:
        super().__init__(path, settings)
        self._rows: list[tuple[str, int | time, float, Cells]] = []
        self._clock = WallTimes(settings.zone, ascending=True)

    def row(self, kind: str, cells: Cells) -> None:
        if kind != "stats":
            return
        end: int | time | None = count(cells.get("timeEpoch", ""))
        if "of_day" in cells:
            pairs = (word.partition("=") for word in cells["values"].split())
            cells = cells | {name: value for name, _, value in pairs}
            end = _of_day(cells["of_day"])
        elif not isinstance(end, int) or end > LATEST_S:
            raise ValueError(f"the time {shown(cells.get('timeEpoch'))} cannot be")
        if end is None:
            raise ValueError("the time of day cannot be")
        if not cells.get("pool") or not cells.get("class"):
            raise ValueError("the pool or the class is missing")
        if len(self._rows) >= _MOST:
            raise ValueError(f"more than {_MOST} rows")
        length = _number(cells.get("et", ""))
        if length is None or not 0 < length <= _LONGEST_S:
            raise ValueError(f"the period's length {shown(cells.get('et'))} cannot be")
        if isinstance(end, time):
            self.noted["estimated", "days of times of day: that of the answer"] += 1
        self._rows.append((f"{cells['pool']}/{cells['class']}"[:256], end, length, cells))

    def readings(self, time_ns: int) -> Iterator[Reading]:
        for name, end, length_s, cells in self._rows:
            end_ns = end * 10**9 if isinstance(end, int) else self._on_day(end, time_ns)
            length = round(length_s * 1e9)
            if end_ns is None or end_ns < length:
                continue
            for cell, (metric, scale) in _METRICS.items():
                value = _number(cells.get(cell, ""))
                if value is not None and value >= 0:
                    series = ComponentSeries(self.settings.system, "pool", metric, name)
                    yield Reading(series, value * scale, end_ns - length, length)

    def _on_day(self, of_day: time, time_ns: int) -> int | None:
        """Latest instant with this time of day, not after the answer's own time."""
        there = datetime.fromtimestamp(time_ns / 1e9, UTC).astimezone(self.settings.zone)
        found = self._clock.ns(datetime.combine(there.date(), of_day))
        if found is None:
            return None
        return found - _DAY_NS if found > time_ns + 60 * 10**9 else found


def _of_day(text: str) -> time | None:
    try:
        return time.fromisoformat(text)
    except ValueError:
        return None


def _number(text: str) -> float | None:
    """Parse a number, also with a decimal comma; None for nan and malformed ones."""
    return plain(text.replace(",", ".")) if text.count(",") <= 1 else None


recognises, read, read_many = connector(KIND, _Classes)
