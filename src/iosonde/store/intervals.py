"""Intervals of ten minutes: parts of them in any order, put in order and added up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.model.frames import NULL_NS, Frame, SeriesKey
from iosonde.store.columns import INTERVAL_NS, ROLLUP_COUNTS
from iosonde.store.histograms import Histograms, joined
from iosonde.store.series import key_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Intervals:
    """Intervals in no order, each of a series once or in several parts.

    ``columns``: int64 ``id`` (which of ``series``), ``start_ns`` and ``ROLLUP_COUNTS`` (min_ns and
    max_ns are ``NULL_NS`` where nothing ended ok). ``response`` has an empty row where ``differs``
    is false: it is then the same as ``service``.
    """

    series: list[SeriesKey]
    columns: dict[str, NDArray[np.int64]]
    service: Histograms
    response: Histograms
    differs: NDArray[np.bool_]


@dataclass(frozen=True)
class Rollups:
    """Intervals of ten minutes, sorted by series and start, each once.

    ``series`` and ``id`` (int64, which of ``series``) name the series of a row. ``columns``: int64
    ``start_ns n_due n_seen n_lost sum_ns min_ns max_ns`` (instants and ns; min and max are
    ``NULL_NS`` where nothing ended ok). Histograms are put in order when they are asked for; what
    is worked out row by row may use ``unsorted`` and take ``order`` of the result.
    """

    unsorted: Intervals
    """May have rows that are no interval by themselves: they are not in ``order``."""
    order: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.order)

    @property
    def series(self) -> list[SeriesKey]:
        """Every series there is, sorted."""
        return self.unsorted.series

    @cached_property
    def id(self) -> NDArray[np.int64]:
        """Which of ``series`` each row is of."""
        return self.unsorted.columns["id"][self.order]

    @cached_property
    def columns(self) -> dict[str, NDArray[np.int64]]:
        """start_ns and the numbers of a row."""
        names = ("start_ns", *ROLLUP_COUNTS)
        return {name: self.unsorted.columns[name][self.order] for name in names}

    @cached_property
    def frame(self) -> Frame:
        """host, target, op, period_ns in words, and ``columns``."""
        return Frame(key_columns(self.series, self.id) | self.columns)

    @cached_property
    def differs(self) -> NDArray[np.bool_]:
        """Whether the response latency of some sample of a row is not its service latency."""
        return self.unsorted.differs[self.order]

    @cached_property
    def service(self) -> Histograms:
        """Histograms of service latency, a row each."""
        return self.unsorted.service.take(self.order)

    @cached_property
    def other(self) -> Histograms:
        """Those of response latency where ``differs``, else empty: it is the same as ``service``."""
        return self.unsorted.response.take(self.order)

    @cached_property
    def response(self) -> Histograms:
        """Those of response latency in every row."""
        n = len(self)
        return joined([self.service, self.other]).take(np.arange(n) + n * self.differs)


def take(found: Intervals, rows: NDArray[np.int64]) -> Intervals:
    """Some rows, in the order asked for."""
    columns = {name: column[rows] for name, column in found.columns.items()}
    histograms = found.service.take(rows), found.response.take(rows)
    return Intervals(found.series, columns, *histograms, found.differs[rows])


def in_order(parts: Sequence[Intervals]) -> Rollups:
    """All parts in order, with what is there in several files added up."""
    whole = together(parts)
    order = np.lexsort((whole.columns["start_ns"], whole.columns["id"]))
    firsts = _firsts(whole.columns["id"][order], whole.columns["start_ns"][order])
    sizes = np.diff(np.append(firsts, len(order)))
    if (sizes <= 1).all():
        return Rollups(whole, order)
    several = take(whole, order[np.repeat(sizes > 1, sizes)])
    sizes_there = sizes[sizes > 1]
    sums = _merged(several, np.cumsum(sizes_there) - sizes_there)
    rows = order[firsts]
    rows[sizes > 1] = len(order) + np.arange(len(sizes_there))
    return Rollups(together([whole, sums]), rows)


def together(parts: Sequence[Intervals]) -> Intervals:
    """The intervals of all parts, one after the other; series sorted."""
    series = sorted({key for part in parts for key in part.series})
    place = {key: number for number, key in enumerate(series)}
    moved = [np.array([place[k] for k in part.series], dtype=np.int64) for part in parts]
    ids = [to[part.columns["id"]] for to, part in zip(moved, parts, strict=True)]
    nothing: list[Any] = [np.zeros(0, dtype=np.int64)]
    columns = {
        name: np.concatenate([part.columns[name] for part in parts] or nothing)
        for name in ("start_ns", *ROLLUP_COUNTS)
    }
    return Intervals(
        series,
        columns | {"id": np.concatenate(ids or nothing)},
        joined([part.service for part in parts]),
        joined([part.response for part in parts]),
        np.concatenate([part.differs for part in parts] or [np.zeros(0, dtype=bool)]),
    )


def added_up(found: Rollups, window_ns: int) -> Rollups:
    """Intervals of ``window_ns``, a multiple of ten minutes."""
    if window_ns == INTERVAL_NS or len(found) == 0:
        return found
    whole = take(found.unsorted, found.order)
    start = whole.columns["start_ns"] // window_ns * window_ns
    whole.columns["start_ns"] = start
    sums = _merged(whole, _firsts(whole.columns["id"], start))
    return Rollups(sums, np.arange(len(sums.differs)))


def _firsts(ids: NDArray[np.int64], start: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where a new interval begins, of rows in order."""
    changed = np.ones(len(ids), dtype=bool)
    changed[1:] = (ids[1:] != ids[:-1]) | (start[1:] != start[:-1])
    return np.flatnonzero(changed)


def _merged(found: Intervals, firsts: NDArray[np.int64]) -> Intervals:
    """Runs of rows added up, each of one series; they begin at ``firsts`` (ascending, from 0)."""
    columns = {name: found.columns[name][firsts] for name in ("id", "start_ns")}
    for name in ROLLUP_COUNTS[:4]:
        columns[name] = np.add.reduceat(found.columns[name], firsts)
    most = np.iinfo(np.int64).max
    least = np.where(found.columns["min_ns"] == NULL_NS, most, found.columns["min_ns"])
    least = np.minimum.reduceat(least, firsts)
    columns["min_ns"] = np.where(least == most, NULL_NS, least)
    columns["max_ns"] = np.maximum.reduceat(found.columns["max_ns"], firsts)
    differs = np.logical_or.reduceat(found.differs, firsts)
    # Of a run with one that differs, the others count with their service latencies.
    n = len(found.differs)
    whole = np.repeat(differs, np.diff(np.append(firsts, n)))
    rows = np.arange(n) + n * found.differs + 2 * n * ~whole
    choices = joined([found.service, found.response, found.service.none()])
    response = choices.take(rows).merged(firsts)
    return Intervals(found.series, columns, found.service.merged(firsts), response, differs)
