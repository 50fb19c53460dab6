"""Readings of many series, in any order, to blocks: the one place where counters of monitors become deltas.

Components whose readings have the same times share a block. What came twice, out of order, fell back or was read
only once is in the blocks' notes. At most ``most`` readings are held: then what is complete is given out, and of
each counter only its last reading is kept.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iosonde.connectors.counters import increments
from iosonde.model.metrics import SERIES, Kind, MetricBlock
from iosonde.model.quality import Note

Floats = NDArray[np.float64]
Instants = NDArray[np.int64]

Group = tuple[str, str, str, str, bytes, bytes]
"""System, level, metric, kind, times and steps: what shares a block."""

MOST_READINGS = 2_000_000
MOST_SERIES = 500_000
_LATEST_NS = 2**62
_UNITS = {"bytes", "s", "percent", "inodes", "operations", "ratio"}


class Series(NamedTuple):
    """One number of one component."""

    system: str
    level: str
    metric: str
    component: str


class Gather:
    """Readings in, blocks out. ``source``: the tool's name."""

    def __init__(
        self, source: str, most: int = MOST_READINGS, most_series: int = MOST_SERIES
    ) -> None:
        self._source, self._most, self._most_series = source, most, most_series
        self._held: dict[tuple[Series, str], _Held] = {}
        self._n = 0
        self._counts: Counter[tuple[str, str]] = Counter()
        self.refused = 0
        """Readings of series beyond the limit, or at impossible times."""

    def counter(self, series: Series, time_ns: int, value: float, restarted: bool = False) -> None:
        """A counter's reading. ``restarted``: it is known to have begun again since the last one."""
        if (held := self._add(series, "counter", time_ns, value)) is not None and restarted:
            held.restarts.add(time_ns)

    def gauge(self, series: Series, time_ns: int, value: float) -> None:
        """A state at an instant."""
        self._add(series, "gauge", time_ns, value)

    def amount(self, series: Series, time_ns: int, step_ns: int, value: float) -> None:
        """What passed in [time, time + step)."""
        if (held := self._add(series, "amount", time_ns, value)) is not None:
            held.steps.append(step_ns)

    def over(self, series: Series, time_ns: int, step_ns: int, value: float) -> None:
        """A state over [time, time + step)."""
        if (held := self._add(series, "state", time_ns, value)) is not None:
            held.steps.append(step_ns)

    def note(self, flag: str, what: str, n: int = 1) -> None:
        """Is said of every block given out from now on; the same again is counted."""
        if len(self._counts) < 1000 or (flag, what) in self._counts:
            self._counts[(flag, what)] += n

    @property
    def full(self) -> bool:
        """Whether ``blocks`` should be taken now."""
        return self._n >= self._most

    @property
    def alone(self) -> int:
        """Counters that were read once and no more."""
        return sum(kind == "counter" and held.seen == 1 for (_, kind), held in self._held.items())

    def blocks(self, also: tuple[Note, ...] = ()) -> Iterator[MetricBlock]:
        """Everything held, in the order in which series came; counters go on from their last reading."""
        groups: dict[Group, list[_Column]] = {}
        for (series, kind), held in self._held.items():
            column = held.column(series.component)
            if len(column.times) <= (kind == "counter"):
                continue
            key = (series.system, series.level, series.metric, kind)
            groups.setdefault((*key, column.times.tobytes(), column.steps.tobytes()), []).append(
                column
            )
        self._n = 0
        for (_, kind), held in self._held.items():
            self._n += held.forget(kind == "counter")
        common = (*also, *(Note(flag, what, n) for (flag, what), n in self._counts.items()))
        for group, columns in groups.items():
            yield self._block(group, columns, common)

    def _add(self, series: Series, kind: str, time_ns: int, value: float) -> _Held | None:
        held = self._held.get((series, kind))
        if not 0 <= time_ns < _LATEST_NS or (held is None and len(self._held) >= self._most_series):
            self.refused += 1
            return None
        if held is None:
            held = self._held[(series, kind)] = _Held(value)
        self._n += 1
        held.seen += 1
        held.times.append(time_ns)
        held.values.append(value - held.base)
        return held

    def _block(self, group: Group, columns: list[_Column], common: tuple[Note, ...]) -> MetricBlock:
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
                known = column.restarts & ~np.isnan(value[:, place])
                value[known, place] = np.nan
                if known.any():
                    notes.append(
                        Note("counter-reset", f"{column.component} began anew", int(known.sum()))
                    )
            steps, times = np.diff(times), times[:-1]
        else:
            value = value + np.array([column.base for column in columns])
        of_steps: Kind = "delta" if kind in ("counter", "amount") else "gauge"
        return MetricBlock(
            self._source, system, level, metric, unit_of(metric), of_steps, names, times,
            steps, value, tuple(notes),
        )  # fmt: skip


class _Column(NamedTuple):
    component: str
    times: Instants
    steps: Instants
    values: Floats
    base: float
    restarts: NDArray[np.bool_]
    """(T - 1,): whether the counter is known to have begun anew within the step."""
    notes: list[Note]


class _Held:
    """Readings of one series. Values are less ``base``, the first one: long counters stay exact."""

    __slots__ = ("base", "flushed_ns", "restarts", "seen", "steps", "times", "values")

    def __init__(self, base: float) -> None:
        self.base = base
        self.times = array("q")
        self.values = array("d")
        self.steps = array("q")
        self.restarts: set[int] = set()
        self.seen = 0
        self.flushed_ns = -1

    def column(self, component: str) -> _Column:
        """In the order of time, each time once: the first reading of it."""
        times = np.array(self.times, dtype=np.int64)
        values = np.array(self.values, dtype=np.float64)
        steps = np.array(self.steps, dtype=np.int64)
        notes: list[Note] = []
        late = (times <= self.flushed_ns) & (np.arange(len(times)) > 0)
        falls = int((np.diff(times) < 0).sum())
        if falls or late.any():
            notes.append(Note("out-of-order", component, max(falls, int(late.sum()))))
        if late.any():
            times, values = times[~late], values[~late]
            steps = steps[~late] if len(steps) else steps
        if falls:
            order = np.argsort(times, kind="stable")
            times, values = times[order], values[order]
            steps = steps[order] if len(steps) else steps
        again = np.concatenate(([False], np.diff(times) == 0)) if len(times) else late
        if again.any():
            notes.append(Note("duplicate", component, int(again.sum())))
            times, values = times[~again], values[~again]
            steps = steps[~again] if len(steps) else steps
        if not len(steps):
            steps = np.zeros(len(times), dtype=np.int64)
        known = np.array(sorted(self.restarts), dtype=np.int64)
        restarts = np.isin(times[1:], known)
        return _Column(component, times, steps, values, self.base, restarts, notes)

    def forget(self, keep_last: bool) -> int:
        """Let go of what was given out; how many readings are left."""
        if keep_last and len(self.times):
            last = max(range(len(self.times)), key=self.times.__getitem__)
            self.flushed_ns = self.times[last]
            self.times = array("q", [self.times[last]])
            self.values = array("d", [self.values[last]])
        elif len(self.times):
            self.flushed_ns = max(self.times)
            self.times, self.values, self.steps = array("q"), array("d"), array("q")
        self.restarts.clear()
        return len(self.times)


def unit_of(metric: str) -> str:
    """Unit of a series: of ``SERIES``, else its name's last word if that is one."""
    known = SERIES.get(metric)
    if known is not None:
        return known[0]
    last = metric.rsplit("_", 1)[-1]
    return last if last in _UNITS else ("operations" if last == "ops" else "")
