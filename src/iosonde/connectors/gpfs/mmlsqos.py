"""GPFS ``mmlsqos``: what each class of each pool did and waited; text, or the colon form of ``-Y``.

::

    === for pool system
    18:00:05  other iops=35545 ioql=41.399 qsdl=0.0021 et=5

A time is the END of a period of ``et`` seconds (the text has a time of day only: of the day on which it was recorded).
``iops`` operations per second; ``ioql`` operations under way in the disks; ``qsdl`` operations that QoS holds back;
``MBs`` 10**6 bytes per second. Decimal commas of some locales are read. Component: ``system/other``.
Source: IBM Storage Scale, mmlsqos command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, tzinfo
from itertools import islice
from pathlib import Path

from iosonde.connectors.gather import ComponentSeries
from iosonde.connectors.gpfs.answers import ColonTitles, Reading, StateAnswer, read_answers
from iosonde.connectors.lines import Line, shown
from iosonde.connectors.plain_numbers import count, plain
from iosonde.connectors.source import Head, Item, Settings, Warn
from iosonde.connectors.wall_times import WallTimes
from iosonde.model.units import LATEST_S

KIND = "mmlsqos"
_COLON = re.compile(r"mmlsqos:(?:status|config|values|stats):HEADER:version:")
_POOL = re.compile(r"=== for pool (\S{1,200})")
_ROW = re.compile(r"(\d\d):(\d\d):(\d\d)\s+(\S{1,100})\s+(iops=.*)")
_CUT = re.compile(r"\d\d:\d\d:\d\d\b.*")
_METRICS = {
    "iops": ("ops_per_s", 1.0),
    "ioql": ("in_flight_ops", 1.0),
    "qsdl": ("queued_ops", 1.0),
    "MBs": ("bytes_per_s", 1e6),
}
_LONGEST_S = 86_400.0
_MOST = 2_000_000
_DAY_NS = 86_400 * 10**9


def recognises(head: Head) -> bool:
    """Whether it has a title of the colon form, or a pool and rows of classes."""
    lines = [line.strip() for line in islice(head.lines, 200)]
    pools = any(_POOL.fullmatch(line) for line in lines)
    return any(_COLON.match(line) for line in lines) or (
        pools and any(_ROW.fullmatch(line) for line in lines)
    )


def read(path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
    """Rates and queues of classes. Raises InputFileError (unreadable)."""
    yield from read_many([path], settings, warn)


def read_many(paths: Sequence[Path], settings: Settings, warn: Warn) -> Iterator[Item]:
    """The same of several answers; a period that several of them have counts once."""

    def begin(path: Path) -> StateAnswer:
        return _Classes(path, settings)

    yield from read_answers(KIND, paths, settings, warn, begin)


class _Classes:
    def __init__(self, path: Path, settings: Settings) -> None:
        self._path, self._system, self._zone = path, settings.system, settings.zone
        self._titles = ColonTitles(KIND)
        self._pool = ""
        self._rows: list[tuple[str, int | tuple[int, int, int], dict[str, str]]] = []
        self._clock = WallTimes(settings.zone, ascending=True)

    def take(self, line: Line) -> None:
        text = line.text.strip()
        if text.startswith("mmlsqos:"):
            row = self._titles.row(text)
            if row is not None and row[0] == "stats":
                end = count(row[1].get("timeEpoch", ""))
                if end is None or end > LATEST_S:
                    raise ValueError(f"the time {shown(row[1].get('timeEpoch'))} cannot be")
                self._add(row[1].get("pool", ""), row[1].get("class", ""), end, row[1])
        elif found := _POOL.fullmatch(text):
            self._pool = found[1]
        elif found := _ROW.fullmatch(text):
            words = (word.partition("=") for word in found[5].split())
            cells = {name: value for name, _, value in words}
            end_of_day = (int(found[1]), int(found[2]), int(found[3]))
            self._add(self._pool, found[4], end_of_day, cells)
        elif _CUT.fullmatch(text):
            raise ValueError(f"the row {shown(text)} is cut")

    def _add(
        self, pool: str, of: str, end: int | tuple[int, int, int], cells: dict[str, str]
    ) -> None:
        if not pool or not of:
            raise ValueError("the pool or the class is missing")
        if len(self._rows) >= _MOST:
            raise ValueError(f"more than {_MOST} rows")
        length = _number(cells.get("et", ""))
        if length is None or not 0 < length <= _LONGEST_S:
            raise ValueError(f"the period's length {shown(cells.get('et'))} cannot be")
        if not isinstance(end, int) and (end[0] > 23 or end[1] > 59 or end[2] > 59):
            raise ValueError("the time of day cannot be")
        self._rows.append((f"{pool}/{of}"[:256], end, cells))

    def readings(self, time_ns: int) -> Iterator[Reading]:
        for name, end, cells in self._rows:
            end_ns = end * 10**9 if isinstance(end, int) else self._of_day(end, time_ns)
            length = round((_number(cells.get("et", "")) or 0) * 1e9)
            if end_ns is None or end_ns < length:
                continue
            for cell, (metric, scale) in _METRICS.items():
                value = _number(cells.get(cell, ""))
                if value is not None and value >= 0:
                    series = ComponentSeries(self._system, "pool", metric, name)
                    yield Reading(series, value * scale, end_ns - length, length)

    def _of_day(self, of_day: tuple[int, int, int], time_ns: int) -> int | None:
        """The last such time of day that is not behind the answer's own time."""
        zone: tzinfo | None = self._zone
        there = datetime.fromtimestamp(time_ns / 1e9, UTC).astimezone(zone)
        hour, minute, second = of_day
        naive = there.replace(tzinfo=None, hour=hour, minute=minute, second=second, microsecond=0)
        found = self._clock.ns(naive)
        if found is None:
            return None
        return found - _DAY_NS if found > time_ns + 60 * 10**9 else found

    def notes(self) -> Iterator[tuple[str, str, int]]:
        days = sum(not isinstance(end, int) for _, end, _ in self._rows)
        if days:
            yield "estimated", "days of times of day: that of the answer", days


def _number(text: str) -> float | None:
    """A number, also with the comma of some locales; None: nan and what is none."""
    return plain(text.replace(",", ".")) if text.count(",") <= 1 else None
