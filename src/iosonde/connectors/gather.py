"""Readings of many series, in any order, to blocks: the one place that turns counters into increments.

Components whose readings have the same times share a block. What came twice, out of order, fell back or was 0 in
between is in the blocks' notes. About ``most`` readings are held: then what is complete is given out, and of each
series is kept what the next reading may yet change. However readings are cut, the same becomes of them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from iosonde.connectors.accumulator import Column, Held
from iosonde.connectors.counters import increments
from iosonde.model.metrics import SERIES, Kind, MetricBlock
from iosonde.model.quality import Note

Group = tuple[str, str, str, str, bytes, bytes]
"""System, level, metric, kind, times and steps: series with equal values share a block."""

MOST_READINGS = 2_000_000
MOST_SERIES = 500_000
_LATEST_NS = 2**62
_KINDS = ("counter", "gauge", "amount", "state")
_UNITS = {"bytes", "s", "percent", "inodes", "operations", "ratio"}


class ComponentSeries(NamedTuple):
    """A metric of one component."""

    system: str
    level: str
    metric: str
    component: str


class Gather:
    """Readings in, blocks out. ``source``: the tool's name.

    A reading that is NaN is none of a counter, whose step goes on to the next one, and a missing one of a state.
    Nor is a counter's reading of 0 one, if the counter then goes on from where it was ("monitor-down"): so zeros
    are held until the next reading tells, or until the end. If there are more of these than ``most``, they are given
    out as if it had been reset; if it then goes on from where it was, what passed is missing.
    """

    def __init__(
        self, source: str, most: int = MOST_READINGS, most_series: int = MOST_SERIES
    ) -> None:
        self._source, self._most, self._most_series = source, most, most_series
        self._held: dict[str, dict[ComponentSeries, Held]] = {kind: {} for kind in _KINDS}
        self._n = self._doubtful = self._series = 0
        self._counts: Counter[tuple[str, str]] = Counter()
        self.refused = 0
        """Readings of series beyond the limit, or at impossible times."""

    def counter(
        self, series: ComponentSeries, time_ns: int, value: float, restarted: bool = False
    ) -> None:
        """Add a counter's reading. ``restarted``: it was reset since the last one."""
        if not math.isfinite(value):
            return
        held = self._of(series, "counter", time_ns, value)
        if held is None:
            return
        if value:
            held.values.append(value - held.base)
        else:
            held.values.append(math.nan)
            held.zeros += 1
        if restarted:
            held.restarts = held.restarts or []
            held.restarts.append(time_ns)

    def gauge(self, series: ComponentSeries, time_ns: int, value: float) -> None:
        """Add a gauge's value at an instant."""
        if (held := self._of(series, "gauge", time_ns)) is not None:
            held.values.append(value)

    def reading(self, series: ComponentSeries, time_ns: int, value: float) -> None:
        """Add a reading of a counter or a gauge, as ``SERIES`` declares it."""
        give = self.counter if SERIES[series.metric][1] == "delta" else self.gauge
        give(series, time_ns, value)

    def amount(self, series: ComponentSeries, time_ns: int, step_ns: int, value: float) -> None:
        """Add an amount over [time, time + step)."""
        if (held := self._of(series, "amount", time_ns)) is not None:
            held.values.append(value)
            held.steps.append(step_ns)

    def over(self, series: ComponentSeries, time_ns: int, step_ns: int, value: float) -> None:
        """Add a gauge's value over [time, time + step)."""
        if (held := self._of(series, "state", time_ns)) is not None:
            held.values.append(value)
            held.steps.append(step_ns)

    def note(self, flag: str, what: str, n: int = 1) -> None:
        """Attach a note to every block emitted from now on; repeats are counted."""
        if len(self._counts) < 1000 or (flag, what) in self._counts:
            self._counts[(flag, what)] += n

    @property
    def full(self) -> bool:
        """True if ``blocks`` should be called now."""
        return self._n >= self._most

    @property
    def alone(self) -> int:
        """Number of counters with a single reading."""
        return sum(held.alone for held in self._held["counter"].values())

    def blocks(self, also: tuple[Note, ...] = ()) -> Iterator[MetricBlock]:
        """Pop complete blocks: counters first, then gauges, in the order in which series came."""
        return self._given(also, end=False)

    def rest(self, also: tuple[Note, ...] = ()) -> Iterator[MetricBlock]:
        """Pop everything at the end."""
        return self._given(also, end=True)

    def _of(
        self, series: ComponentSeries, kind: str, time_ns: int, base: float = 0.0
    ) -> Held | None:
        """Buffer for a reading, with its time appended."""
        held = self._held[kind].get(series)
        if not 0 <= time_ns < _LATEST_NS or (held is None and self._series >= self._most_series):
            self.refused += 1
            return None
        if held is None:
            held = self._held[kind][series] = Held(kind == "counter", base)
            self._series += 1
        self._n += 1
        held.times.append(time_ns)
        return held

    def _given(self, also: tuple[Note, ...], end: bool) -> Iterator[MetricBlock]:
        groups: dict[Group, list[Column]] = {}
        enough = self._doubtful > self._most
        self._n = self._doubtful = 0
        everything = ((kind, *one) for kind in _KINDS for one in self._held[kind].items())
        for kind, series, held in everything:
            column = held.give(series.component, end or (enough and held.doubtful > 0))
            self._doubtful += held.doubtful
            if column is not None:
                key = (series.system, series.level, series.metric, kind)
                shared = (*key, column.times.tobytes(), column.steps.tobytes())
                groups.setdefault(shared, []).append(column)
        common = [*also, *(Note(flag, what, n) for (flag, what), n in self._counts.items())]
        if self.refused:
            common.append(
                Note("left-out", "readings of too many series or of no time", self.refused)
            )
        for group, columns in groups.items():
            yield self._block(group, columns, common)

    def _block(self, group: Group, columns: list[Column], common: list[Note]) -> MetricBlock:
        system, level, metric, kind, _, _ = group
        names = tuple(column.component for column in columns)
        times, steps = columns[0].times, columns[0].steps
        value = np.column_stack([column.values for column in columns])
        notes = [*common]
        for column in columns:
            notes += column.notes
        if kind == "counter":
            value, fell = increments(value, names)
            notes += fell
            for place, column in enumerate(columns):
                value[column.unknown, place] = np.nan
            steps, times = np.diff(times), times[:-1]
        elif not len(steps):
            steps = np.zeros_like(times)
        of_steps: Kind = "delta" if kind in ("counter", "amount") else "gauge"
        return MetricBlock(
            self._source, system, level, metric, unit_of(metric), of_steps, names, times,
            steps, value, tuple(notes),
        )  # fmt: skip


def unit_of(metric: str) -> str:
    """Unit of a series: from ``SERIES``, else the last word of its name if that is a unit."""
    known = SERIES.get(metric)
    if known is not None:
        return known[0]
    last = metric.rsplit("_", 1)[-1]
    return last if last in _UNITS else ("operations" if last == "ops" else "")
