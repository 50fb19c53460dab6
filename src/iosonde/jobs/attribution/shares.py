"""Shares of jobs, users or accounts in the operations of an interval, the largest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from iosonde.jobs.attribution.join import Divided, divide

if TYPE_CHECKING:
    from iosonde.jobs.attribution.join import Joined
    from iosonde.model.arrays import Flags, Floats, Ints, Places

By = Literal["job_id", "user", "account", "name"]


class Share(NamedTuple):
    """Operations of one contributor. ``share``: of all recorded operations, of jobs or not; 0 to 1."""

    who: str
    ops: float
    least: float
    most: float
    """Bounds of ``ops``, by ``join.MISFIT``."""
    share: float
    alone: float
    """Part of ``ops`` from time with exclusive use of the node."""
    guessed: float
    """Part of ``ops`` whose bounds begin at 0: shared, and no record tells whose it was."""
    nodes: int
    covered: float
    """Share of its time on nodes with records; the rest is unknown."""


class Shares(NamedTuple):
    """``total``: operations recorded in [begin, end). ``nobody``: background, and time without jobs."""

    begin_ns: int
    end_ns: int
    total: float
    nobody: float
    covered: float
    """Share of the nodes' time with records."""
    ranked: tuple[Share, ...]


def shares(
    joined: Joined,
    begin_ns: int | None = None,
    end_ns: int | None = None,
    by: By = "job_id",
    inside: Flags | None = None,
) -> Shares:
    """Shares in [begin, end), by default of the whole grid. Contributors without operations have 0.

    ``inside`` (T,): only these cells of the grid count.
    """
    grid = joined.recorded.grid
    begin = grid.begin_ns if begin_ns is None else max(begin_ns, grid.begin_ns)
    end = max(begin, grid.end_ns if end_ns is None else min(end_ns, grid.end_ns))
    if inside is None:
        return _ranked(joined, divide(joined, begin, end), begin, end, by)
    edges = np.flatnonzero(np.diff(inside)) + 1
    divided = divide(joined, begin, end, grid.begin_ns + grid.step_ns * edges.astype(np.int64))
    cell = (divided.pieces.begin_ns - grid.begin_ns) // grid.step_ns
    return _ranked(joined, divided.take(inside[cell]), begin, end, by)


def _ranked(joined: Joined, divided: Divided, begin: int, end: int, by: By) -> Shares:
    allocations = joined.allocations
    pieces, pair = divided.pieces, divided.pieces.allocation
    names, who = np.unique(getattr(allocations, by).astype(str), return_inverse=True)
    key = who[allocations.run[pair]]

    def summed(values: Floats) -> Floats:
        return np.asarray(np.bincount(key, values, minlength=len(names)), np.float64)

    seconds = (pieces.end_ns - pieces.begin_ns) / 1e9
    time = summed(seconds[pieces.piece])
    columns = (
        summed(divided.part),
        summed(divided.least),
        summed(divided.most),
        summed(divided.part * (pieces.runs == 1)[pieces.piece]),
        summed(divided.part * ((pieces.runs > 1)[pieces.piece] & (divided.least <= 0))),
        _nodes(key, allocations.node[pair], len(names)),
        _part(summed(pieces.covered_s[pieces.piece]), time),
    )
    total = float(pieces.ops.sum())
    there = np.flatnonzero(time > 0)
    order = there[np.lexsort((there, -columns[0][there]))]
    rows = zip(names[order].tolist(), *(column[order].tolist() for column in columns), strict=True)
    ranked = tuple(
        Share(who, ops, least, most, ops / total if total else 0.0, alone, guessed, nodes, covered)
        for who, ops, least, most, alone, guessed, nodes, covered in rows
    )
    covered = _part(pieces.covered_s.sum(keepdims=True), seconds.sum(keepdims=True))
    return Shares(begin, end, total, float(divided.nobody.sum()), float(covered[0]), ranked)


def _nodes(key: Places, node: Places, size: int) -> Ints:
    """Number of different nodes of each key."""
    pairs = np.unique(np.stack([key, node]), axis=1)
    return np.bincount(pairs[0], minlength=size)


def _part(known: Floats, time: Floats) -> Floats:
    return np.minimum(1.0, np.divide(known, time, out=np.zeros(len(time)), where=time > 0))
