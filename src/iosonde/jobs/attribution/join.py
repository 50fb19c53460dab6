"""Join of node operations with allocations: operations of each, with bounds.

A piece in which one run has the node is that run's, less the node's background; one without a run is nobody's. Pieces
with several are divided in proportion to rates learned from the node's history (``rates``); how far these miss what was
recorded says how sure that is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.jobs.attribution.pieces import RunPieces, pieces_of
from iosonde.jobs.attribution.rates import RunRates, learn

if TYPE_CHECKING:
    from iosonde.jobs.attribution.allocations import Allocations
    from iosonde.jobs.attribution.grid import NodeOps
    from iosonde.model.arrays import Flags, Floats, Instants

MISFIT = 3.0
"""Bounds of a part, in multiples of its piece's deviation from the sum of rates.

On a node of its own they are as far away as the node's background."""
USUAL_MISFIT = 1.5
"""Least bounds, in the node's misfit (``RunRates``): a piece that fits by chance is no surer than the others."""


@dataclass(frozen=True)
class Joined:
    """Node records, allocations, and rates learned from all of it. Their indices are shared."""

    recorded: NodeOps
    allocations: Allocations
    rates: RunRates


@dataclass(frozen=True)
class Divided:
    """Shapes: (P,) pieces, (M,) members of pieces.

    ``part`` (M,): operations of the allocation in the piece; ``nobody`` (P,): background and time without runs. Of each
    piece parts and ``nobody`` add up to ``pieces.ops``. ``least``, ``most`` (M,): bounds of ``part``.
    """

    pieces: RunPieces
    part: Floats
    nobody: Floats
    least: Floats
    most: Floats

    def take(self, keep: Flags) -> Divided:
        """Pieces selected by a mask (P,)."""
        members = keep[self.pieces.piece]
        return Divided(
            self.pieces.take(keep),
            self.part[members],
            self.nobody[keep],
            self.least[members],
            self.most[members],
        )


def join(recorded: NodeOps, allocations: Allocations) -> Joined:
    """Join both, with rates from the whole grid. Raises ValueError: they name different nodes."""
    if recorded.nodes != allocations.nodes:
        raise ValueError("records and allocations name different nodes")
    return Joined(recorded, allocations, learn(recorded, allocations))


def divide(joined: Joined, begin_ns: int, end_ns: int, cut_ns: Instants | None = None) -> Divided:
    """Operations in [begin, end) by allocation; ``cut_ns``: further boundaries of pieces."""
    limits = np.array([begin_ns, end_ns], dtype=np.int64)
    cuts = limits if cut_ns is None else np.union1d(limits, cut_ns)
    recorded = joined.recorded.between(begin_ns, end_ns)
    pieces = pieces_of(recorded, joined.allocations, cuts).within(begin_ns, end_ns)
    rates = joined.rates
    shared = pieces.runs > 1
    own = np.where(shared, rates.own[pieces.node], rates.background[pieces.node])
    own = own * pieces.covered_s
    weight = np.where(shared[pieces.piece], rates.rate[pieces.allocation], 1.0)
    left = np.maximum(pieces.ops - own, 0.0)
    part = weight * _ratio(left, pieces.sum_of(weight))[pieces.piece]
    nobody = pieces.ops - pieces.sum_of(part)
    expected = pieces.sum_of(weight) * pieces.covered_s + own
    usual = USUAL_MISFIT * rates.misfit[pieces.node] * expected
    missed = np.maximum(MISFIT * np.abs(pieces.ops - expected), usual)
    missed = np.where(shared, missed, own)[pieces.piece]
    tied = rates.guess[pieces.allocation]
    least = np.where(tied, 0.0, np.maximum(part - missed, 0.0))
    most = part / rates.within[pieces.allocation] + missed
    most = np.clip(most, part, np.maximum(pieces.ops[pieces.piece], part))
    return Divided(pieces, part, nobody, least, most)


def _ratio(above: Floats, below: Floats) -> Floats:
    return np.divide(above, below, out=np.zeros(len(above)), where=below > 0)
