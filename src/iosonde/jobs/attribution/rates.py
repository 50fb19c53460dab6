"""Rates of runs on nodes, learned from all records, and of nodes without runs.

Runs that begin and end together on a node cannot be told apart by any record of the node: their sum is
divided by processors, or evenly, and marked as a guess.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.jobs.attribution.background import background_of
from iosonde.jobs.attribution.pieces import RunPieces, pieces_of
from iosonde.jobs.attribution.split import Equations, solve

if TYPE_CHECKING:
    from iosonde.jobs.attribution.allocations import Allocations
    from iosonde.jobs.attribution.grid import NodeOps
    from iosonde.model.arrays import Flags, Floats, Places


LEAST_FREE = 0.1
"""Least degrees of freedom of a node's residuals, as a part of its pieces."""


@dataclass(frozen=True)
class RunRates:
    """Operations per second of allocations (A,) on shared nodes, and of nodes (N,).

    ``background``: of a node without runs; ``own``: the same where runs share it, as fits them best. ``guess`` (A,):
    one of a group that no record tells apart; ``within`` (A,): its part of the group. ``misfit`` (N,): difference of
    sums of rates from what the node's shared pieces recorded, as a part of it; jobs in bursts have no rate that fits.
    """

    rate: Floats
    guess: Flags
    within: Floats
    background: Floats
    own: Floats
    misfit: Floats


def learn(recorded: NodeOps, allocations: Allocations) -> RunRates:
    """Rates that explain the whole grid."""
    pieces = pieces_of(recorded, allocations)
    background = background_of(pieces, len(recorded.nodes))
    same = _same(allocations, recorded.grid.step_ns)
    share = _cpu_shares(same, allocations.cpus)
    equations = _equations(pieces, same, share, len(recorded.nodes))
    groups = equations.unknowns - len(background)
    found = solve(equations, np.concatenate([np.zeros(groups), background]))
    guess = np.bincount(same, minlength=groups)[same] > 1
    rate, own = found[same] * share, found[groups:]
    misfit = _misfit(pieces, rate, own, allocations.node)
    return RunRates(rate, guess, share, background, own, misfit)


def _misfit(pieces: RunPieces, rate: Floats, own: Floats, node_of: Places) -> Floats:
    """(N,) Root of the mean squared residual over that of the sums, for pieces less rates fitted to them."""
    nodes, shared = len(own), pieces.runs > 1

    def summed(values: Floats) -> Floats:
        return np.bincount(pieces.node[shared], values[shared], nodes).astype(np.float64)

    fitted = (pieces.sum_of(rate[pieces.allocation]) + own[pieces.node]) * pieces.covered_s
    number = summed(np.ones(len(fitted)))
    free = np.maximum(number - np.bincount(node_of, rate > 0, minlength=nodes), number * LEAST_FREE)
    residual, whole = summed((pieces.ops - fitted) ** 2), summed(fitted**2)
    ratio = residual / np.maximum(whole, 1e-300) * number / np.maximum(free, 1e-300)
    return np.asarray(np.sqrt(np.where(whole > 0, ratio, 0.0)))


def _same(allocations: Allocations, step_ns: int) -> Places:
    """(A,) Groups of allocations with equal first and last cells on the same node."""
    begin = (allocations.begin_ns // step_ns)[allocations.run]
    end = (allocations.end_ns // step_ns)[allocations.run]
    keys = np.stack([allocations.node, begin, end], axis=1)
    if not len(keys):
        return np.zeros(0, dtype=np.intp)
    order = np.lexsort(keys.T)
    fresh = np.any(np.diff(keys[order], axis=0, prepend=keys[order][:1] - 1) != 0, axis=1)
    group = np.empty(len(keys), dtype=np.intp)
    group[order] = np.cumsum(fresh) - 1
    return group


def _cpu_shares(same: Places, cpus: Floats) -> Floats:
    """(A,) Share of each in its group: by processors if all of the group are known, else equal."""
    groups = int(same.max(initial=-1)) + 1
    known = np.bincount(same, ~(cpus > 0), minlength=groups)[same] == 0
    weight = np.where(known, cpus, 1.0)
    return np.asarray(weight / np.bincount(same, weight, minlength=groups)[same])


def _equations(pieces: RunPieces, same: Places, share: Floats, nodes: int) -> Equations:
    """Equations of shared nodes: an unknown for each group, one for each node's background."""
    groups = int(same.max(initial=-1)) + 1
    shared = np.bincount(pieces.node[pieces.runs > 1], minlength=nodes) > 0
    rows = np.flatnonzero(shared[pieces.node] & (pieces.covered_s > 0))
    place = np.full(len(pieces.node), -1)
    place[rows] = np.arange(len(rows))
    members = np.flatnonzero(place[pieces.piece] >= 0)
    allocation = pieces.allocation[members]
    return Equations(
        row=np.concatenate([place[pieces.piece[members]], np.arange(len(rows))]),
        unknown=np.concatenate([same[allocation], groups + pieces.node[rows]]),
        amount=np.concatenate([share[allocation], np.ones(len(rows))]),
        rate=pieces.ops[rows] / pieces.covered_s[rows],
        seconds=pieces.covered_s[rows],
        unknowns=groups + nodes,
    )
