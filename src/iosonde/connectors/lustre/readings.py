"""Single readings of many components, as they come line by line, to blocks of bounded size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.connectors.counters import increments
from iosonde.model.metrics import SERIES, Kind, MetricBlock
from iosonde.model.quality import Note

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Instants = NDArray[np.int64]

_MOST = 1_000_000
"""Readings that are held."""


class Series(NamedTuple):
    """Whose reading it is, and of what."""

    system: str
    level: str
    metric: str


class Readings:
    """Readings of counters and gauges; what was read twice counts once, the first time.

    A component is read when it is read: its steps are between its own readings, and components that were
    read at the same instants share a block. A counter needs two readings to say anything.
    """

    def __init__(self, source: str, notes: tuple[Note, ...] = ()) -> None:
        self.source, self.notes = source, notes
        self._held: dict[Series, dict[str, list[tuple[int, float]]]] = {}
        self._last: dict[tuple[Series, str], tuple[int, float]] = {}
        self._size = 0
        self.instants: set[int] = set()

    def add(self, series: Series, component: str, time_ns: int, value: float) -> None:
        """One reading. NaN: it should have been there."""
        of_series = self._held.setdefault(series, {})
        of_series.setdefault(component, []).append((time_ns, value))
        self._size += 1
        if len(self.instants) < 3:
            self.instants.add(time_ns)

    @property
    def full(self) -> bool:
        """Whether it is time for ``blocks``."""
        return self._size >= _MOST

    def blocks(self) -> Iterator[MetricBlock]:
        """What is held, as blocks; it is not held any longer, but for the reading the next step begins with."""
        held, self._held, self._size = self._held, {}, 0
        for series, components in held.items():
            unit, kind = SERIES[series.metric]
            groups: dict[bytes, list[tuple[str, Instants, Instants, Floats]]] = {}
            notes = list(self.notes)
            for name, readings in components.items():
                time_ns, value = self._in_order(series, name, readings, kind, notes)
                step = np.zeros_like(time_ns)
                if kind == "delta":
                    value, steps_notes = increments(value[:, None], (name,))
                    value = value[:, 0]
                    notes.extend(steps_notes)
                    time_ns, step = time_ns[:-1], np.diff(time_ns)
                if len(time_ns):
                    key = time_ns.tobytes() + step.tobytes()
                    groups.setdefault(key, []).append((name, time_ns, step, value))
            for group in groups.values():
                names, times, steps, values = zip(*group, strict=True)
                yield MetricBlock(
                    self.source,
                    *series,
                    unit,
                    kind,
                    tuple(names),
                    times[0],
                    steps[0],
                    np.stack(values, axis=1),
                    tuple(notes),
                )

    def _in_order(
        self,
        series: Series,
        name: str,
        readings: list[tuple[int, float]],
        kind: Kind,
        notes: list[Note],
    ) -> tuple[Instants, Floats]:
        """Readings of one component by time, each instant once, from the last one of before on."""
        before = self._last.get((series, name))
        time_ns = np.array([t for t, _ in readings], dtype=np.int64)
        value = np.array([v for _, v in readings], dtype=np.float64)
        late = int((np.diff(time_ns) < 0).sum())
        order = np.argsort(time_ns, kind="stable")
        time_ns, value = time_ns[order], value[order]
        fresh = np.diff(time_ns, prepend=np.iinfo(np.int64).min) != 0
        if kind == "delta":
            fresh &= ~np.isnan(value)
        if before is not None:
            late += int((time_ns < before[0]).sum())
            fresh &= time_ns > before[0]
        twice = int((np.diff(time_ns) == 0).sum())
        for flag, n in (("out-of-order", late), ("duplicate", twice)):
            if n:
                notes.append(Note(flag, f"{series.metric} of {name}", n))
        time_ns, value = time_ns[fresh], value[fresh]
        if len(time_ns):
            self._last[series, name] = (int(time_ns[-1]), float(value[-1]))
        if kind == "delta" and before is not None:
            time_ns, value = np.insert(time_ns, 0, before[0]), np.insert(value, 0, before[1])
        if kind == "delta":
            seen, blank = without_blanks(value[:, None])
            if blank:
                notes.append(Note("monitor-down", f"{series.metric} of {name} read 0", blank))
                kept = ~np.isnan(seen[:, 0])
                time_ns, value = time_ns[kept], value[kept]
        return time_ns, value


def without_blanks(readings: Floats) -> tuple[Floats, int]:
    """``(T, N)`` counters, NaN where one reads 0 and then goes on from where it was; how many such cells.

    Nothing was reset then: the monitor found no counter and wrote a zero. A counter that goes on below
    where it was had indeed been reset.
    """
    usable = readings > 0
    rows = np.arange(len(readings))[:, None]
    earlier = np.maximum.accumulate(np.where(usable, rows, -1), axis=0)
    later = np.minimum.accumulate(np.where(usable, rows, len(readings))[::-1], axis=0)[::-1]
    between = (readings == 0) & (earlier >= 0) & (later < len(readings))
    if not between.any():
        return readings, 0
    columns = np.arange(readings.shape[1])[None, :]
    was = readings[np.maximum(earlier, 0), columns]
    then = readings[np.minimum(later, len(readings) - 1), columns]
    blank = between & (then >= was)
    return np.where(blank, np.nan, readings), int(blank.sum())
