"""Pieces: the time of a node between two changes of its runs, with the runs that share it.

Within a piece the same runs have the node: one run, and what the node did was its own; several, and it has to be split.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from iosonde.jobs.attribution.allocations import Allocations
    from iosonde.jobs.attribution.grid import Cells, Grid, NodeOps
    from iosonde.model.arrays import Column, Flags, Floats, Instants, Places


@dataclass(frozen=True)
class RunPieces:
    """Pieces (P,), sorted by node and start, and members (M,): allocations within each piece.

    ``begin_ns``, ``end_ns`` lie within the grid. ``ops``: operations of the piece; ``covered_s``: its time
    with records. ``runs``: how many runs have the node. ``allocation``: index into the pairs of ``Allocations``.
    """

    node: Places
    begin_ns: Instants
    end_ns: Instants
    runs: Places
    ops: Floats
    covered_s: Floats
    piece: Places
    allocation: Places

    def sum_of(self, values: Floats) -> Floats:
        """(P,) Sums of values (M,) of members."""
        return np.asarray(np.bincount(self.piece, values, minlength=len(self.ops)), np.float64)

    def within(self, begin_ns: int, end_ns: int) -> RunPieces:
        """Pieces within [begin, end)."""
        return self.take((self.begin_ns >= begin_ns) & (self.end_ns <= end_ns))

    def take(self, keep: Flags) -> RunPieces:
        """Pieces selected by a mask (P,)."""
        members = keep[self.piece]
        return RunPieces(
            node=self.node[keep],
            begin_ns=self.begin_ns[keep],
            end_ns=self.end_ns[keep],
            runs=self.runs[keep],
            ops=self.ops[keep],
            covered_s=self.covered_s[keep],
            piece=(np.cumsum(keep) - 1)[self.piece[members]],
            allocation=self.allocation[members],
        )


def pieces_of(
    recorded: NodeOps, allocations: Allocations, cut_ns: Instants | None = None
) -> RunPieces:
    """Pieces of all nodes over the whole grid; ``cut_ns`` (ascending): further boundaries."""
    grid = recorded.grid
    order = np.argsort(allocations.node, kind="stable")
    nodes = np.arange(len(recorded.nodes))
    first = np.searchsorted(allocations.node[order], nodes, "left")
    last = np.searchsorted(allocations.node[order], nodes, "right")
    parts = [
        _of_node(recorded, allocations, order[low:high], node, _edges(grid, cut_ns))
        for node, low, high in zip(nodes.tolist(), first.tolist(), last.tolist(), strict=True)
    ]
    columns: list[list[Column]] = [list(column) for column in zip(*parts, strict=True)]
    if not columns:
        none = np.zeros(0, dtype=np.int64)
        columns = [[none] for _ in range(8)]
    sizes = np.array([len(column) for column in columns[0]])
    begins = np.cumsum(sizes) - sizes
    columns[6] = [piece + begin for piece, begin in zip(columns[6], begins, strict=False)]
    return RunPieces(*(np.concatenate(column) for column in columns))


def _edges(grid: Grid, cut_ns: Instants | None) -> Instants:
    ends = np.array([grid.begin_ns, grid.end_ns], dtype=np.int64)
    return ends if cut_ns is None else np.concatenate([ends, cut_ns])


def _of_node(
    recorded: NodeOps, allocations: Allocations, pairs: Places, node: int, edges: Instants
) -> tuple[Column, ...]:
    """Columns of ``Pieces`` of one node; pieces are numbered from 0."""
    grid = recorded.grid
    begin = np.clip(allocations.begin_ns[allocations.run[pairs]], grid.begin_ns, grid.end_ns)
    end = np.clip(allocations.end_ns[allocations.run[pairs]], grid.begin_ns, grid.end_ns)
    there = end > begin
    pairs, begin, end = pairs[there], begin[there], end[there]
    cut = edges[(edges >= grid.begin_ns) & (edges <= grid.end_ns)]
    edge = np.unique(np.concatenate([begin, end, cut]))
    low, high = np.searchsorted(edge, begin), np.searchsorted(edge, end)
    change = np.bincount(low, minlength=len(edge)) - np.bincount(high, minlength=len(edge))
    runs = np.cumsum(change)[:-1]
    count = high - low
    of = np.repeat(np.arange(len(pairs)), count)
    piece = low[of] + np.arange(len(of)) - np.repeat(np.cumsum(count) - count, count)
    place = grid.place(edge)
    ops = np.diff(sum_up_to(recorded.ops[node], place))
    covered = np.diff(sum_up_to(recorded.covered[node], place)) * (grid.step_ns / 1e9)
    where = np.full(len(runs), node, dtype=np.intp)
    return where, edge[:-1], edge[1:], runs, ops, covered, piece, pairs[of]


def sum_up_to(cells: Cells, place: Floats) -> Floats:
    """Cumulative sums of ``cells`` (T,) up to each fractional position."""
    sums = np.concatenate([[0.0], np.cumsum(cells, dtype=np.float64)])
    whole = np.minimum(place.astype(np.int64), len(cells) - 1) if len(cells) else place.astype(int)
    if not len(cells):
        return np.zeros(len(place))
    found: Floats = sums[whole] + cells[whole].astype(np.float64) * (place - whole)
    return found
