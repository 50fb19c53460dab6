"""Ten-minute intervals: unordered parts, sorted and added up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.engine.contract import INTERVAL_NS, QUANTILE_COLUMNS, ROLLUP_COUNTS
from iosonde.engine.ordering import key_columns
from iosonde.model.frames import NULL_NS, Frame, SeriesKey
from iosonde.weather.rollups.histograms import SummedHistograms, joined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from iosonde.model.arrays import Flags, Ints, Places


@dataclass(frozen=True)
class IntervalParts:
    """Unordered intervals, each of a series once or in several parts.

    ``columns``: int64 ``id`` (which of ``series``), ``start_ns`` and ``ROLLUP_COUNTS`` (min_ns and
    max_ns are ``NULL_NS`` where nothing ended ok), and those of ``QUANTILE_COLUMNS`` that were asked
    for: float64, NaN where n is too small or where not ``exact``, which is where an interval is only
    known from its histogram. ``response`` has an empty row where ``differs`` is false: it is then the
    same as ``service``. Both are empty where nobody asked for them.
    """

    series: list[SeriesKey]
    columns: dict[str, NDArray[Any]]
    service: SummedHistograms
    response: SummedHistograms
    differs: Flags
    exact: Flags


@dataclass(frozen=True)
class Rollups:
    """Intervals of ten minutes, sorted by series and start, each once.

    ``series`` and ``id`` (int64, which of ``series``) name the series of a row. ``columns``: int64
    ``start_ns n_due n_seen n_lost sum_ns min_ns max_ns`` (instants and ns; min and max are
    ``NULL_NS`` where nothing ended ok). Histograms are put in order when they are asked for; what
    is worked out row by row may use ``unsorted`` and take ``order`` of the result.
    """

    unsorted: IntervalParts
    """Unordered rows; those that are no interval by themselves are not in ``order``."""
    order: Ints

    def __len__(self) -> int:
        return len(self.order)

    @property
    def series(self) -> list[SeriesKey]:
        """All series, sorted."""
        return self.unsorted.series

    @cached_property
    def id(self) -> Ints:
        """Index into ``series`` of each row."""
        return self.unsorted.columns["id"][self.order]

    @cached_property
    def columns(self) -> dict[str, Ints]:
        """start_ns and the numbers of each row."""
        names = ("start_ns", *ROLLUP_COUNTS)
        return {name: self.unsorted.columns[name][self.order] for name in names}

    @cached_property
    def frame(self) -> Frame:
        """host, target, op, period_ns as words, and ``columns``."""
        return Frame(key_columns(self.series, self.id) | self.columns)

    @cached_property
    def differs(self) -> Flags:
        """True for rows in which some response time differs from the service time."""
        return self.unsorted.differs[self.order]

    @cached_property
    def service(self) -> SummedHistograms:
        """Histograms of service time, a row each."""
        return self.unsorted.service.take(self.order)

    @cached_property
    def other(self) -> SummedHistograms:
        """Histograms of response time for rows that differ, else empty: equal to ``service``."""
        return self.unsorted.response.take(self.order)

    @cached_property
    def response(self) -> SummedHistograms:
        """Histograms of response time for every row."""
        n = len(self)
        return joined([self.service, self.other]).take(np.arange(n) + n * self.differs)


def take(found: IntervalParts, rows: Ints) -> IntervalParts:
    """Some rows, in the given order."""
    columns = {name: column[rows] for name, column in found.columns.items()}
    histograms = found.service.take(rows), found.response.take(rows)
    return IntervalParts(found.series, columns, *histograms, found.differs[rows], found.exact[rows])


def in_order(parts: Sequence[IntervalParts]) -> Rollups:
    """All parts sorted, with intervals in several files added up."""
    whole = together(parts)
    order, firsts, sizes = _runs(whole.columns["id"], whole.columns["start_ns"])
    if (sizes <= 1).all():
        return Rollups(whole, order)
    several = take(whole, order[np.repeat(sizes > 1, sizes)])
    sizes_there = sizes[sizes > 1]
    sums = _merged(several, np.cumsum(sizes_there) - sizes_there)
    rows = order[firsts]
    rows[sizes > 1] = len(order) + np.arange(len(sizes_there))
    return Rollups(together([whole, sums]), rows)


def most_known(parts: Sequence[IntervalParts]) -> IntervalParts:
    """Best version of each interval among parts that share rows: the one with most rows."""
    whole = together(parts)
    columns = whole.columns
    keys = (columns["n_seen"], columns["n_due"], columns["start_ns"], columns["id"])
    order = np.lexsort(keys)
    firsts = _firsts(columns["id"][order], columns["start_ns"][order])
    lasts = np.append(firsts[1:], len(order)) - 1
    return take(whole, order[lasts[lasts >= 0]])


def inexact_starts(parts: Sequence[IntervalParts]) -> Ints:
    """Start times, ascending, of intervals without exact quantiles: missing, or in several parts."""
    _, ids = _numbered(parts)
    start = _glued([part.columns["start_ns"] for part in parts])
    exact = _glued([part.exact for part in parts])
    order, firsts, sizes = _runs(ids, start)
    shared = start[order[firsts[sizes > 1]]]
    return np.unique(np.concatenate((shared, start[~exact]))).astype(np.int64)


def together(parts: Sequence[IntervalParts]) -> IntervalParts:
    """Concatenate intervals of all parts, with their common columns."""
    if not parts:
        columns = dict.fromkeys(("id", "start_ns", *ROLLUP_COUNTS), np.zeros(0, dtype=np.int64))
        nothing = np.zeros(0, dtype=bool)
        return IntervalParts([], columns, joined([]), joined([]), nothing, nothing)
    series, ids = _numbered(parts)
    names = [name for name in parts[0].columns if all(name in part.columns for part in parts)]
    columns = {name: _glued([part.columns[name] for part in parts]) for name in names}
    return IntervalParts(
        series,
        columns | {"id": ids},
        joined([part.service for part in parts]),
        joined([part.response for part in parts]),
        _glued([part.differs for part in parts]),
        _glued([part.exact for part in parts]),
    )


def _numbered(parts: Sequence[IntervalParts]) -> tuple[list[SeriesKey], Ints]:
    """All series, sorted, and the index of each row's."""
    series = sorted({key for part in parts for key in part.series})
    place = {key: number for number, key in enumerate(series)}
    moved = [np.array([place[k] for k in part.series], dtype=np.int64) for part in parts]
    return series, _glued([to[part.columns["id"]] for to, part in zip(moved, parts, strict=True)])


def _glued(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _runs(ids: Ints, start: Ints) -> tuple[Places, Places, Places]:
    """Sort order of rows, starts of new intervals in it, and number of rows of each."""
    order = np.lexsort((start, ids))
    firsts = _firsts(ids[order], start[order])
    return order, firsts, np.diff(np.append(firsts, len(order)))


def added_up(found: Rollups, window_ns: int) -> Rollups:
    """Intervals merged to ``window_ns``, a multiple of ten minutes."""
    if window_ns == INTERVAL_NS or len(found) == 0:
        return found
    whole = take(found.unsorted, found.order)
    start = whole.columns["start_ns"] // window_ns * window_ns
    whole.columns["start_ns"] = start
    sums = _merged(whole, _firsts(whole.columns["id"], start))
    return Rollups(sums, np.arange(len(sums.differs)))


def _firsts(ids: Ints, start: Ints) -> Ints:
    """Starts of new intervals in sorted rows."""
    changed = np.ones(len(ids), dtype=bool)
    changed[1:] = (ids[1:] != ids[:-1]) | (start[1:] != start[:-1])
    return np.flatnonzero(changed)


def _merged(found: IntervalParts, firsts: Ints) -> IntervalParts:
    """Sums of consecutive rows of one series each; groups start at ``firsts`` (ascending, from 0)."""
    columns = {name: found.columns[name][firsts] for name in ("id", "start_ns")}
    nothing = np.full(len(firsts), np.nan)
    columns |= {name: nothing for name in QUANTILE_COLUMNS if name in found.columns}
    for name in ROLLUP_COUNTS[:4]:
        columns[name] = np.add.reduceat(found.columns[name], firsts)
    most = np.iinfo(np.int64).max
    least = np.where(found.columns["min_ns"] == NULL_NS, most, found.columns["min_ns"])
    least = np.minimum.reduceat(least, firsts)
    columns["min_ns"] = np.where(least == most, NULL_NS, least)
    columns["max_ns"] = np.maximum.reduceat(found.columns["max_ns"], firsts)
    differs = np.logical_or.reduceat(found.differs, firsts)
    # Of a run with one that differs, the others count with their service times.
    n = len(found.differs)
    whole = np.repeat(differs, np.diff(np.append(firsts, n)))
    rows = np.arange(n) + n * found.differs + 2 * n * ~whole
    choices = joined([found.service, found.response, found.service.none()])
    response = choices.take(rows).merged(firsts)
    exact = np.zeros(len(firsts), dtype=bool)
    return IntervalParts(
        found.series, columns, found.service.merged(firsts), response, differs, exact
    )
