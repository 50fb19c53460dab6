"""Sparse rows over time, with values in some spans of cells only, and coarser copies of them.

A coarser cell has the sum of the finer ones and the largest value that a cell of the finest level has in it:
down-sampling loses neither.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from iosonde.model.arrays import Floats, Ints, Places

    Values = NDArray[np.float32]

FACTOR = 4
"""Cells of a level per cell of the next."""
_AT_ONCE = 250_000
"""Values processed at a time: they stay in the processor's cache."""


@dataclass(frozen=True)
class CellSpans:
    """``row`` (S,): row of each span; ``first`` (S,): first cell; ``offset`` (S + 1,): bounds of its values.

    ``ops`` (V,): sums of cells; ``most`` (V,): largest finest cell in each; None at the finest level.
    """

    row: Places
    first: Ints
    offset: Ints
    ops: Values
    most: Values | None = None

    @property
    def end(self) -> Ints:
        """(S,) The cell after the last of each span."""
        return self.first + np.diff(self.offset)

    @property
    def bytes(self) -> int:
        """Memory of the values."""
        return self.ops.nbytes + (0 if self.most is None else self.most.nbytes)


class Dense(NamedTuple):
    """``ops``, ``most`` (M, K): of M rows in K cells."""

    ops: Floats
    most: Floats


def merged(spans: CellSpans, row: Places) -> CellSpans:
    """Finest spans assigned to other rows, ``row`` (S,); touching spans of a row are merged, their values add up."""
    order = np.lexsort((spans.first, row))
    order = order[np.diff(spans.offset)[order] > 0]
    rows, first, end = row[order], spans.first[order], spans.end[order]
    # LoadRows one after the other on one axis: the latest end so far is then that of the row itself.
    width = int(end.max(initial=0)) + 2
    reach = np.maximum.accumulate(rows * width + end)
    fresh = np.ones(len(order), np.bool_)
    fresh[1:] = rows[1:] * width + first[1:] > reach[:-1]
    begin = np.flatnonzero(fresh)
    group = np.cumsum(fresh) - 1
    last = np.append(begin[1:], len(order)) - 1
    new_first = first[begin]
    length = reach[last] - rows[last] * width - new_first if len(begin) else np.zeros(0, np.int64)
    offset = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
    ops = np.zeros(int(offset[-1]), np.float32)
    to = offset[:-1][group] + first - new_first[group]
    for part in _parts(np.diff(spans.offset)[order]):
        source, place, of = _expanded(spans.offset[order[part]], end[part] - first[part])
        np.add.at(ops, to[part][of] + place, spans.ops[source])
    return CellSpans(rows[begin], new_first, offset, ops)


def coarser(spans: CellSpans, factor: int = FACTOR) -> CellSpans:
    """Cells of ``factor`` of these, counted from cell 0. A row keeps its spans; they may share a cell."""
    first = spans.first // factor
    length = -(-spans.end // factor) - first
    length = np.where(np.diff(spans.offset) > 0, length, 0)
    offset = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
    _, place, of = _expanded(offset[:-1], length)
    begin = np.maximum((first[of] + place) * factor - spans.first[of], 0) + spans.offset[:-1][of]
    if not len(begin):
        none = np.zeros(0, np.float32)
        return CellSpans(spans.row, first, offset, none, none)
    most = spans.ops if spans.most is None else spans.most
    ops = np.add.reduceat(spans.ops, begin, dtype=np.float32)
    return CellSpans(spans.row, first, offset, ops, np.maximum.reduceat(most, begin))


def levels(finest: CellSpans, cells: int) -> tuple[CellSpans, ...]:
    """``finest`` and its coarser copies, until few cells are left of ``cells``."""
    found = [finest]
    while cells > FACTOR**4:
        found.append(coarser(found[-1]))
        cells = -(-cells // FACTOR)
    return tuple(found)


def sums(spans: CellSpans, low: int, high: int, rows: int) -> Floats:
    """(rows,) Sum of each row in the cells [low, high)."""
    found = np.zeros(rows)
    for source, _, span in _within(spans, low, high, np.ones(rows, np.bool_)):
        found += np.bincount(spans.row[span], spans.ops[source], minlength=rows)
    return found


def dense(spans: CellSpans, low: int, high: int, place: Places, many: int) -> Dense:
    """Cells [low, high) of the rows that have a ``place`` (rows,) of 0 to ``many`` - 1; -1 leaves a row out."""
    cells = high - low
    ops, most = np.zeros(many * cells), np.zeros(many * cells)
    for source, cell, span in _within(spans, low, high, place >= 0):
        flat = place[spans.row[span]] * cells + cell - low
        np.add.at(ops, flat, spans.ops[source])
        if spans.most is not None:
            np.maximum.at(most, flat, spans.most[source])
    if spans.most is None:
        most = ops
    return Dense(ops.reshape(many, cells), most.reshape(many, cells))


def masked_sums(spans: CellSpans, low: int, wanted: NDArray[np.bool_], rows: int) -> Floats:
    """(rows,) Sum of each row in the ``wanted`` cells from ``low`` on."""
    found = np.zeros(rows)
    for source, cell, span in _within(spans, low, low + len(wanted), np.ones(rows, np.bool_)):
        keep = wanted[cell - low]
        found += np.bincount(spans.row[span[keep]], spans.ops[source[keep]], minlength=rows)
    return found


def _within(
    spans: CellSpans, low: int, high: int, rows: NDArray[np.bool_]
) -> Iterator[tuple[Ints, Ints, Places]]:
    """Values in [low, high) of the chosen rows: positions, cells, spans; some at a time."""
    end = spans.end
    chosen = np.flatnonzero((spans.first < high) & (end > low) & rows[spans.row])
    first = np.maximum(spans.first[chosen], low)
    length = np.minimum(end[chosen], high) - first
    begin = spans.offset[:-1][chosen] + first - spans.first[chosen]
    for part in _parts(length):
        source, place, of = _expanded(begin[part], length[part])
        yield source, first[part][of] + place, chosen[part][of]


def _parts(length: Ints) -> Iterator[slice]:
    """Slices of spans with a bounded number of values."""
    until = np.cumsum(length)
    begin = 0
    while begin < len(length):
        done = int(until[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(until, done + _AT_ONCE, "right")))
        yield slice(begin, end)
        begin = end


def _expanded(begin: Ints, length: Ints) -> tuple[Ints, Ints, Places]:
    """Expand ranges of ``length`` from ``begin`` on: every index, its offset, its range."""
    of = np.repeat(np.arange(len(length)), length)
    place = np.arange(len(of)) - np.repeat(np.cumsum(length) - length, length)
    return begin[of] + place, place, of
