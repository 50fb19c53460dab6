"""View of a load: the largest columns in a span of time, in a bounded number of cells, and totals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.jobs.load.spans import FACTOR, Dense, dense, masked_sums, sums

if TYPE_CHECKING:
    from iosonde.jobs.load.history import Column, LoadHistory, LoadRows
    from iosonde.model.arrays import Flags, Floats

HALF = 0.5
BINS_A_DECADE = 10
_MOST_CELLS = 2048
"""Most cells of the level for ranking columns."""


class Asked(NamedTuple):
    """[``begin_ns``, ``end_ns``) of one kind of columns: the first ``top``, in at most ``cells``.

    ``margin``: cells go on before and after it, so many times its length; they have no part in ranks and
    totals. ``band``: total rates in operations per second, the first in it, the last not; None: no band.
    """

    column: Column
    begin_ns: int
    end_ns: int
    cells: int
    top: int
    band: tuple[float, float] | None = None
    margin: float = 0.0


class ColumnLoad(NamedTuple):
    """Load of one column. ``share``: of all recorded operations; 0 to 1."""

    row: int
    name: str
    ops: float
    share: float


class ViewAxis(NamedTuple):
    """``cells`` of ``step_ns`` from ``begin_ns``; ``low``, ``high``: their finest cells."""

    begin_ns: int
    step_ns: int
    cells: int
    low: int
    high: int

    @property
    def end_ns(self) -> int:
        """End of the last cell."""
        return self.begin_ns + self.step_ns * self.cells


@dataclass(frozen=True)
class TotalBand:
    """Time with the total in [low, high), per second; ``ranked``: largest contributors then, the first ``top``.

    ``ops``: all then; ``half``: how many of the largest make more than half; None: all of them together do not.
    """

    low: float
    high: float
    seconds: float
    share_of_time: float
    ops: float
    half: int | None
    ranked: tuple[ColumnLoad, ...]


@dataclass(frozen=True)
class TotalRates:
    """Seconds with a total rate between ``edges_per_s`` (B + 1,); the first bin starts at 0."""

    edges_per_s: Floats
    seconds: Floats


@dataclass(frozen=True)
class LoadView:
    """``parts``: the largest first; ``columns``: their number. ``ops``: all recorded in view.

    ``axis`` has the margin, too. ``total``, ``of`` (1, K), (M, K): rates per second, means of cells and largest
    finest cells. ``covered``, ``inside`` (K,): part of a cell with records, and with a total in the band.
    """

    asked: Asked
    axis: ViewAxis
    ops: float
    columns: int
    half: int | None
    parts: tuple[ColumnLoad, ...]
    total: Dense
    of: Dense
    covered: Floats
    inside: Floats
    rates: TotalRates
    band: TotalBand | None


def load_view(history: LoadHistory, asked: Asked) -> LoadView:
    """The view. The range is cut to the recorded time; an empty range has no cells."""
    rows = history.rows(asked.column)
    view = axis_of(history, asked.begin_ns, asked.end_ns, asked.cells)
    more = int(asked.margin * (asked.end_ns - asked.begin_ns))
    axis = axis_of(history, asked.begin_ns - more, asked.end_ns + more, asked.cells)
    ranked = _ranked(rows, view)
    everything = float(history.total[view.low : view.high].sum())
    total = history.total[axis.low : axis.high]
    parts = _parts(rows, ranked, everything, asked.top)
    place = np.full(len(rows.names), -1)
    place[[part.row for part in parts]] = np.arange(len(parts))
    per = max(1, axis.step_ns // history.grid.step_ns)
    covered = history.covered[axis.low : axis.high]
    inside = _inside(history, axis, asked.band)
    return LoadView(
        asked=asked,
        axis=axis,
        ops=everything,
        columns=int(np.count_nonzero(ranked > 0)),
        half=_half(np.sort(ranked)[::-1], everything),
        parts=parts,
        total=_rates(_reduced(Dense(total[None], total[None]), per), axis, history),
        of=_rates(_cells(rows, axis, per, place, len(parts)), axis, history),
        covered=_means(covered, per),
        inside=_means(inside.astype(np.float64), per),
        rates=_total_rates(history, view),
        band=None if asked.band is None else _band(history, rows, view, asked),
    )


def axis_of(history: LoadHistory, begin_ns: int, end_ns: int, most: int) -> ViewAxis:
    """Cells of a power of two times the grid's step, at most ``most`` for the range."""
    grid = history.grid
    begin, end = max(begin_ns, grid.begin_ns), min(end_ns, grid.end_ns)
    if end <= begin:
        return ViewAxis(begin, grid.step_ns, 0, 0, 0)
    per = 1
    while True:
        step = per * grid.step_ns
        low = (begin - grid.begin_ns) // step
        high = -((grid.begin_ns - end) // step)
        if high - low <= most:
            break
        per *= 2
    cells = high - low
    low, high = low * per, min(high * per, grid.cells)
    return ViewAxis(grid.begin_ns + low * grid.step_ns, step, cells, low, high)


def _level(per: int) -> int:
    """Coarsest level with cells of at most ``per`` finest ones."""
    level = 0
    while FACTOR ** (level + 1) <= per:
        level += 1
    return level


def _at(rows: LoadRows, per: int) -> tuple[int, int]:
    """A level of the rows, and the number of finest cells per cell."""
    level = min(_level(per), len(rows.levels) - 1)
    return level, FACTOR**level


def _ranked(rows: LoadRows, axis: ViewAxis) -> Floats:
    """(M,) Operations in view, by whole cells of a level that has some hundreds of them."""
    level, size = _at(rows, max(1, (axis.high - axis.low) // (_MOST_CELLS // FACTOR)))
    return sums(rows.levels[level], axis.low // size, -(-axis.high // size), len(rows.names))


def _parts(rows: LoadRows, ops: Floats, everything: float, top: int) -> tuple[ColumnLoad, ...]:
    order = np.argsort(-ops, kind="stable")[:top]
    whole = max(everything, 1e-300)
    return tuple(
        ColumnLoad(int(row), rows.names[row], float(ops[row]), min(1.0, float(ops[row]) / whole))
        for row in order
        if ops[row] > 0
    )


def _half(ranked: Floats, everything: float) -> int | None:
    """Number of the largest that make more than half."""
    more = np.flatnonzero(np.cumsum(ranked) > HALF * everything)
    return int(more[0]) + 1 if len(more) and everything > 0 else None


def _cells(rows: LoadRows, axis: ViewAxis, per: int, place: np.ndarray, many: int) -> Dense:
    level, size = _at(rows, per)
    found = dense(rows.levels[level], axis.low // size, -(-axis.high // size), place, many)
    return _reduced(found, per // size)


def _reduced(found: Dense, by: int) -> Dense:
    """Sums and maxima of ``by`` cells each; the last one may have fewer."""
    if by == 1 or not found.ops.shape[1]:
        return found
    begin = np.arange(0, found.ops.shape[1], by)
    return Dense(
        np.add.reduceat(found.ops, begin, axis=1), np.maximum.reduceat(found.most, begin, axis=1)
    )


def _means(values: Floats, by: int) -> Floats:
    if not len(values):
        return values
    begin = np.arange(0, len(values), by)
    return np.asarray(np.add.reduceat(values, begin) / np.diff(np.append(begin, len(values))))


def _rates(found: Dense, axis: ViewAxis, history: LoadHistory) -> Dense:
    """Per second: of cells, of the largest finest cell."""
    finest = history.grid.step_ns / 1e9
    edges = np.minimum(
        np.arange(axis.cells + 1) * axis.step_ns, (axis.high - axis.low) * history.grid.step_ns
    )
    seconds = np.maximum(np.diff(edges) / 1e9, finest)
    return Dense(found.ops / seconds, found.most / finest)


def _inside(history: LoadHistory, axis: ViewAxis, band: tuple[float, float] | None) -> Flags:
    total = history.total[axis.low : axis.high] / (history.grid.step_ns / 1e9)
    if band is None:
        return np.zeros(len(total), np.bool_)
    known = history.covered[axis.low : axis.high] > 0
    return np.asarray((total >= band[0]) & (total < band[1]) & known)


def _total_rates(history: LoadHistory, axis: ViewAxis) -> TotalRates:
    """Logarithmic bins; what is below 1/s is in the first."""
    known = history.covered[axis.low : axis.high] > 0
    step_s = history.grid.step_ns / 1e9
    rate = history.total[axis.low : axis.high][known] / step_s
    decades = np.log10(max(float(rate.max(initial=1.0)), 10.0))
    bins = int(np.floor(decades * BINS_A_DECADE)) + 1
    edges = np.concatenate([[0.0], 10.0 ** (np.arange(bins + 1) / BINS_A_DECADE)])
    found = np.minimum(np.searchsorted(edges, rate, "right") - 1, len(edges) - 2)
    seconds = np.bincount(found, minlength=len(edges) - 1).astype(np.float64) * step_s
    return TotalRates(np.asarray(edges, np.float64), seconds)


def _band(history: LoadHistory, rows: LoadRows, axis: ViewAxis, asked: Asked) -> TotalBand:
    """Contributions while the total was in the band, from the finest cells."""
    assert asked.band is not None
    inside = _inside(history, axis, asked.band)
    ops = masked_sums(rows.levels[0], axis.low, inside, len(rows.names))
    everything = float(history.total[axis.low : axis.high][inside].sum())
    step_s = history.grid.step_ns / 1e9
    known = max(1, int(np.count_nonzero(history.covered[axis.low : axis.high] > 0)))
    count = int(np.count_nonzero(inside))
    return TotalBand(
        low=asked.band[0],
        high=asked.band[1],
        seconds=count * step_s,
        share_of_time=count / known,
        ops=everything,
        half=_half(np.sort(ops)[::-1], everything),
        ranked=_parts(rows, ops, everything, asked.top),
    )
