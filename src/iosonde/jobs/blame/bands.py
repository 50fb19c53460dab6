"""Moments whose total of operations lies in a band: how many nodes and jobs make up more than half of them.

The claim of seed 2: near the limit of the storage it is few nodes, and these belong to one or two jobs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.jobs.attribution.blame import HALF, Majority, majority
from iosonde.jobs.attribution.join import divide
from iosonde.jobs.attribution.own_counters import by_node
from iosonde.jobs.attribution.shares import shares
from iosonde.model.errors import NothingMeasuredError

if TYPE_CHECKING:
    from iosonde.jobs.attribution.join import Joined
    from iosonde.jobs.attribution.shares import By
    from iosonde.model.arrays import Flags, Floats, Ints, Places

KNOWN = 0.8
"""Moments with records of less of the nodes than this, beside the best, are left out."""
MOST_MOMENTS = 2000
"""Of more moments so many, evenly spaced, are looked at one by one."""
FEW, NODES = 2, (2, 50)


class Each(NamedTuple):
    """Of the moments one by one: the middle number, the smallest and the largest."""

    middle: float
    least: int
    most: int


class OpsBand(NamedTuple):
    """``nodes``, ``jobs``: who made more than half of all operations of the moments together.

    ``nodes_each``: how many nodes made more than half of a moment; ``jobs_each``: how many jobs more than half of what
    these nodes did. ``few``: share of moments in which these are one or two.
    """

    low: float
    high: float
    moments: int
    of: int
    """Moments with records."""
    step_ns: int
    nodes: Majority
    jobs: Majority
    nodes_each: Each
    jobs_each: Each
    few: float
    claim: float
    """Of moments in which, besides, 2 to 50 nodes made more than half: what seed 2 says of those near the limit."""


def band_of(
    joined: Joined, begin_ns: int, end_ns: int, band: tuple[float, float], by: By = "job_id"
) -> OpsBand:
    """Cells of [begin, end) whose total lies in [low, high), operations per second. Raises NothingMeasuredError."""
    recorded, grid = joined.recorded, joined.recorded.grid
    rate = recorded.ops.sum(axis=0, dtype=np.float64) / (grid.step_ns / 1e9)
    covered = recorded.covered.mean(axis=0, dtype=np.float64)
    known = covered >= KNOWN * covered.max(initial=0.0)
    begins = grid.begin_ns + grid.step_ns * np.arange(grid.cells)
    known &= (covered > 0) & (begins >= begin_ns) & (begins < end_ns)
    inside: Flags = known & (rate >= band[0]) & (rate < band[1])
    if not inside.any():
        seen = rate[known]
        told = f"{seen.min():.0f} to {seen.max():.0f}" if len(seen) else "not known"
        raise NothingMeasuredError(
            f"no moment had a total of {band[0]:g} to {band[1]:g} operations per second",
            expected=f"a band within what there was: {told}",
        )
    cells = np.flatnonzero(inside)
    if len(cells) > MOST_MOMENTS:
        cells = cells[np.linspace(0, len(cells) - 1, MOST_MOMENTS).astype(np.intp)]
    nodes, jobs = _each(joined, cells, by)
    few = (jobs > 0) & (jobs <= FEW)
    return OpsBand(
        *band,
        moments=int(inside.sum()),
        of=int(known.sum()),
        step_ns=grid.step_ns,
        nodes=majority(shares(by_node(joined), begin_ns, end_ns, inside=inside)),
        jobs=majority(shares(joined, begin_ns, end_ns, by, inside=inside)),
        nodes_each=_numbers(nodes),
        jobs_each=_numbers(jobs[jobs > 0]),
        few=float(few.mean()),
        claim=float((few & (nodes >= NODES[0]) & (nodes <= NODES[1])).mean()),
    )


def _each(joined: Joined, cells: Places, by: By) -> tuple[Ints, Ints]:
    """(C,) Nodes that make more than half of each cell, and jobs that make more than half of theirs; 0: none do."""
    grid = joined.recorded.grid
    ops = joined.recorded.ops[:, cells].astype(np.float64)
    order = np.argsort(-ops, axis=0)
    nodes = _count(np.take_along_axis(ops, order, axis=0))
    among = np.argsort(order, axis=0) < nodes
    edges = grid.begin_ns + grid.step_ns * np.union1d(cells, cells + 1)
    first, last = int(edges[0]), int(edges[-1])
    divided = divide(joined, first, last, edges.astype(np.int64))
    pieces = divided.pieces
    cell = np.searchsorted(cells, (pieces.begin_ns - grid.begin_ns) // grid.step_ns)
    cell = np.minimum(cell, len(cells) - 1)
    mine = (pieces.begin_ns - grid.begin_ns) // grid.step_ns == cells[cell]
    mine &= among[pieces.node, cell]
    members = np.flatnonzero(mine[pieces.piece])
    run = joined.allocations.run[pieces.allocation[members]]
    names, who = np.unique(getattr(joined.allocations, by)[run].astype(str), return_inverse=True)
    at = cell[pieces.piece[members]]
    done = np.zeros((max(1, len(names)), len(cells)))
    np.add.at(done, (who, at), divided.part[members])
    theirs = np.where(among, ops, 0.0).sum(axis=0)
    return nodes, _count(-np.sort(-done, axis=0), theirs)


def _count(ranked: Floats, whole: Floats | None = None) -> Ints:
    """(C,) The fewest rows, the largest first, with more than half; 0 where all of them have less."""
    total = ranked.sum(axis=0) if whole is None else whole
    reached = np.cumsum(ranked, axis=0) > HALF * np.maximum(total, 1e-300)
    return np.where(reached.any(axis=0), np.argmax(reached, axis=0) + 1, 0)


def _numbers(counts: Ints) -> Each:
    if not len(counts):
        return Each(0.0, 0, 0)
    return Each(float(np.median(counts)), int(counts.min()), int(counts.max()))
