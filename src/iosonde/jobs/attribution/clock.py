"""Offset of the nodes' clocks from the scheduler's.

What a node does changes as runs begin and end. With the right offset the pieces between these changes explain most of
ln(1 + operations): the offset that explains most is the estimate, its interval that of nodes drawn anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.jobs.attribution.pieces import sum_up_to

if TYPE_CHECKING:
    from iosonde.jobs.attribution.allocations import Allocations
    from iosonde.jobs.attribution.grid import NodeOps
    from iosonde.model.arrays import Floats, Instants

REPEATS = 200
MOST_S = 600.0
_STEPS = 4
"""Offsets are tried in quarters of a cell."""
FEWEST = 5


class Offset(NamedTuple):
    """Nodes' clocks minus the scheduler's, seconds; None: too few nodes change with jobs."""

    seconds: float | None
    lower: float | None
    upper: float | None
    nodes: int
    """Number of informative nodes."""


def clock_offset(
    recorded: NodeOps, allocations: Allocations, most_s: float = MOST_S, seed: int = 0
) -> Offset:
    """Offset within +-``most_s`` that explains records best, with its 95% interval."""
    step_s = recorded.grid.step_ns / 1e9 / _STEPS
    tried = np.arange(-round(most_s / step_s), round(most_s / step_s) + 1).astype(np.float64)
    tried *= step_s
    parts = []
    for node in range(len(recorded.nodes)):
        run = allocations.run[allocations.node == node]
        edges = np.concatenate([allocations.begin_ns[run], allocations.end_ns[run]])
        parts.append(_explained(recorded, node, np.unique(edges), tried))
    score = np.array(parts).reshape(len(parts), len(tried))
    # A node that no offset suits better than the usual one says nothing.
    gain = score.max(axis=1, initial=0.0) - np.median(score, axis=1)
    score = score[gain > 0]
    if len(score) < FEWEST:
        return Offset(None, None, None, len(score))
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(len(score), np.full(len(score), 1 / len(score)), REPEATS) @ score
    low, high = np.quantile([_peak(one, tried) for one in drawn], [0.025, 0.975])
    if high - low > most_s / 2:
        return Offset(None, None, None, 0)
    return Offset(_peak(score.sum(axis=0), tried), float(low), float(high), len(score))


def _explained(recorded: NodeOps, node: int, edges: Instants, tried: Floats) -> Floats:
    """(L,) Sum of squares between pieces, for each offset tried, over the variance."""
    grid = recorded.grid
    known = recorded.covered[node] > 0.5
    if not known.any():
        return np.zeros(len(tried))
    cells = np.log1p(recorded.ops[node])
    cells = np.where(known, cells - cells[known].mean(), np.float32(0))
    spread = float(np.var(cells[known]))
    if not spread or not len(edges):
        return np.zeros(len(tried))
    shifted = edges[None, :] + (tried * 1e9).astype(np.int64)[:, None]
    inner = grid.place(shifted.ravel()).reshape(shifted.shape)
    ends = np.full((len(tried), 1), float(grid.cells))
    place = np.concatenate([0 * ends, inner, ends], axis=1)
    sums = np.diff(sum_up_to(cells, place.ravel()).reshape(place.shape), axis=1)
    length = np.diff(place, axis=1)
    squares = np.divide(sums**2, length, out=np.zeros_like(sums), where=length > 0)
    return np.asarray(squares.sum(axis=1) / spread)


def _peak(score: Floats, tried: Floats) -> float:
    """Position of the maximum, interpolated by a parabola."""
    top = int(np.argmax(score))
    if not 0 < top < len(tried) - 1:
        return float(tried[top])
    before, here, after = score[top - 1 : top + 2]
    bend = before - 2 * here + after
    move = 0.5 * (before - after) / bend if bend < 0 else 0.0
    return float(tried[top] + move * (tried[1] - tried[0]))
