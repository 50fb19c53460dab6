"""Operations of each run in each cell of the grid: as ``attribution.loads`` for slots, for all cells at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.jobs.attribution.pieces import RunPieces, pieces_of
from iosonde.jobs.load.spans import CellSpans

if TYPE_CHECKING:
    from iosonde.jobs.attribution.join import Joined
    from iosonde.model.arrays import Floats, Ints


class _OfRuns(NamedTuple):
    """Positions of the values of each run."""

    first: Ints
    offset: Ints
    ops: np.ndarray


def run_cells(joined: Joined) -> CellSpans:
    """A span per run; over its nodes, minus their background. Cells without records have 0."""
    grid, allocations = joined.recorded.grid, joined.allocations
    begin, end = grid.place(allocations.begin_ns), grid.place(allocations.end_ns)
    first = np.floor(begin).astype(np.int64)
    length = np.where(end > begin, np.ceil(end).astype(np.int64) - first, 0)
    offset = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
    found = _OfRuns(first, offset, np.zeros(int(offset[-1]), np.float32))
    pieces = pieces_of(joined.recorded, allocations)
    weight = np.where(pieces.runs[pieces.piece] > 1, joined.rates.rate[pieces.allocation], 1.0)
    whole = pieces.sum_of(weight)[pieces.piece]
    share = np.divide(weight, whole, out=np.zeros(len(weight)), where=whole > 0)
    of_node = pieces.node[pieces.piece]
    for node in range(len(joined.recorded.nodes)):
        low, high = np.searchsorted(of_node, [node, node + 1])
        _add(joined, pieces, slice(int(low), int(high)), share, found)
    return CellSpans(np.arange(len(allocations)), first, offset, found.ops)


def _add(joined: Joined, pieces: RunPieces, members: slice, share: Floats, found: _OfRuns) -> None:
    """Add the shares of runs in one node's cells."""
    piece = pieces.piece[members]
    if not len(piece):
        return
    grid = joined.recorded.grid
    node = int(pieces.node[piece[0]])
    ops = joined.recorded.ops[node].astype(np.float64)
    known_s = joined.recorded.covered[node].astype(np.float64) * (grid.step_ns / 1e9)
    alone = ops - joined.rates.background[node] * known_s
    shared = ops - joined.rates.own[node] * known_s
    begin, end = grid.place(pieces.begin_ns[piece]), grid.place(pieces.end_ns[piece])
    low = np.floor(begin).astype(np.int64)
    count = np.where(end > begin, np.ceil(end).astype(np.int64) - low, 0)
    of = np.repeat(np.arange(len(piece)), count)
    cell = low[of] + np.arange(len(of)) - np.repeat(np.cumsum(count) - count, count)
    inside = np.minimum(end[of], cell + 1) - np.maximum(begin[of], cell)
    left = np.where((pieces.runs[piece] > 1)[of], shared[cell], alone[cell])
    # A piece has what ``attribution.join`` gives it: the background's noise in single cells is nobody's.
    raw = left * inside
    more = np.maximum(raw, 0.0)
    whole = np.bincount(of, more, minlength=len(piece))
    kept = np.maximum(np.bincount(of, raw, minlength=len(piece)), 0.0)
    factor = np.divide(kept, whole, out=np.zeros(len(piece)), where=whole > 0)
    run = joined.allocations.run[pieces.allocation[members]][of]
    to = found.offset[:-1][run] + cell - found.first[run]
    np.add.at(found.ops, to, (more * (factor * share[members])[of]).astype(np.float32))
