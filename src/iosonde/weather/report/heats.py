"""The slowdown of a place by local time, as data for heat maps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import tzinfo

import numpy as np

from iosonde.model.arrays import Floats, Ints
from iosonde.model.frames import Frame, SeriesKey
from iosonde.model.ops import SECOND_NS, op_order
from iosonde.model.units import DAY_NS, to_datetime
from iosonde.weather.slowdown.guarded import STAGES

WINDOW_NS = 600 * SECOND_NS
DATES = 10
"""Longest range in days with a row per date; longer ones have a row per weekday."""


@dataclass(frozen=True)
class Heat:
    """The slowdown of an op by local time: the median over the windows of a cell.

    ``value``, shape (rows, columns): NaN where no window is known. ``windows``: how many there are; beside them
    ``busy`` windows that the probing host explains, and ``learning`` ones of which nothing was expected yet.
    Rows are dates (``2026-07-01``), weekdays (``0`` = Monday) or minutes (``0 10 .. 50``), as
    ``by`` says (``date``, ``weekday``, ``minute``); columns are the 24 hours.
    """

    op: str
    by: str
    rows: tuple[str, ...]
    value: Floats
    windows: Ints
    busy: Ints
    learning: Ints


def heats(
    windows: Mapping[SeriesKey, Frame], span_ns: tuple[int, int], zone: tzinfo | None
) -> Iterator[Heat]:
    """Heat map of each series, in the order of ops. ``windows``: judged ones of ``WINDOW_NS``, none of them empty."""
    starts = np.unique(np.concatenate([part["start_ns"] for part in windows.values()]))
    by = heat_rows(*span_ns)
    labels = _labels(starts, by, zone)
    rows = _every_row(*span_ns, by, zone)
    for key, part in sorted(windows.items(), key=lambda item: op_order(item[0].op)):
        yield _heat(key.op, by, rows, part, labels)


def heat_rows(since_ns: int, until_ns: int) -> str:
    """Kind of the rows of a heat map, by the length of the range."""
    length = until_ns - since_ns
    return "minute" if length <= DAY_NS else "date" if length <= DATES * DAY_NS else "weekday"


def _labels(starts: Iterable[int], by: str, zone: tzinfo | None) -> dict[int, tuple[str, int]]:
    """Row and hour of every window."""
    found = {}
    for start in starts:
        moment = to_datetime(int(start), zone)
        row = {
            "minute": str(moment.minute // 10 * 10),
            "date": moment.date().isoformat(),
            "weekday": str(moment.weekday()),
        }[by]
        found[int(start)] = (row, moment.hour)
    return found


def _every_row(since_ns: int, until_ns: int, by: str, zone: tzinfo | None) -> tuple[str, ...]:
    """All rows of the range, including empty ones."""
    if by == "minute":
        return tuple(str(minute) for minute in range(0, 60, 10))
    if by == "weekday":
        return tuple(str(day) for day in range(7))
    steps = range(since_ns, until_ns, WINDOW_NS)
    return tuple(dict.fromkeys(to_datetime(ns, zone).date().isoformat() for ns in steps))


def _heat(
    op: str, by: str, rows: tuple[str, ...], windows: Frame, labels: dict[int, tuple[str, int]]
) -> Heat:
    """Heat map of the storage alone: windows that the probing host explains are counted, not drawn."""
    cells: dict[tuple[int, int], list[float]] = {}
    shape = len(rows), 24
    busy, learning = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    known = ~np.isnan(windows["typ"]) & ~windows["host_busy"]
    young = windows["stage"].astype(str) == STAGES[0]
    for place, start in enumerate(windows["start_ns"].tolist()):
        row, hour = labels[start]
        if row not in rows:
            continue
        cell = rows.index(row), hour
        if known[place]:
            cells.setdefault(cell, []).append(float(windows["typ"][place]))
        busy[cell] += int(windows["host_busy"][place])
        learning[cell] += int(young[place])
    value, count = np.full(shape, np.nan), np.zeros(shape, dtype=np.int64)
    for cell, values in cells.items():
        value[cell], count[cell] = float(np.median(values)), len(values)
    return Heat(op, by, rows, value, count, busy, learning)
