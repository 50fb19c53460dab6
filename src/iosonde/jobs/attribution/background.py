"""Background load of nodes: operations of mounts, monitors and system services without jobs.

The mean rate of the time without a run, where there is an hour of it. Otherwise the rate that nine of ten
pieces of five minutes and more exceed, as most jobs do little: a tenth needs ten such pieces. Otherwise 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from iosonde.jobs.attribution.pieces import RunPieces
    from iosonde.model.arrays import Floats

IDLE_S = 3600.0
LONG_S = 300.0
QUIETEST = 0.1
FEWEST = 10


def background_of(pieces: RunPieces, nodes: int) -> Floats:
    """(N,) Operations per second."""
    idle = pieces.runs == 0
    seconds = np.bincount(pieces.node[idle], pieces.covered_s[idle], minlength=nodes)
    ops = np.bincount(pieces.node[idle], pieces.ops[idle], minlength=nodes)
    rate = np.divide(ops, seconds, out=np.zeros(nodes), where=seconds > 0)
    long = np.flatnonzero((pieces.covered_s >= LONG_S) & (pieces.runs > 0))
    for node in np.flatnonzero(seconds < IDLE_S).tolist():
        low, high = np.searchsorted(pieces.node[long], [node, node + 1])
        mine = long[low:high]
        rates = pieces.ops[mine] / pieces.covered_s[mine]
        rate[node] = np.quantile(rates, QUIETEST) if len(mine) >= FEWEST else 0.0
    return rate
