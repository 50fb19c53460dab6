"""Division of a shared node's operations among its runs: non-negative least squares over the node's history.

In each piece the node's rate is the sum of a rate for each run that has it and one of the node itself (background).
Rates are what fits all pieces best, weighted by their time over their variance. Each piece is then divided in
proportion to the rates of those in it, so that parts add up to what was recorded. All nodes are solved at once:
projected gradient steps scaled by row sums, with momentum. Sources: Lawson and Hanson 1974; Beck and Teboulle 2009
(momentum), O'Donoghue and Candes 2015 (its restart).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Places

STEPS = 200
_SETTLED = 1e-5
"""Convergence limit: the largest change of a rate relative to the largest rate."""
_FLOOR = 0.02
"""Floor of rates in variances, relative to the mean."""


class Equations(NamedTuple):
    """Sparse equations: ``unknown[m]`` takes part in ``row[m]`` by ``amount[m]``, shapes (M,); rows (R,)."""

    row: Places
    unknown: Places
    amount: Floats
    rate: Floats
    seconds: Floats
    unknowns: int


def solve(equations: Equations, start: Floats | None = None, steps: int = STEPS) -> Floats:
    """(U,) Non-negative rates. Rows without time are ignored; an unknown without rows is 0."""
    from scipy.sparse import csr_array  # type: ignore[import-untyped, unused-ignore]

    row, unknown, amount, rate, seconds, size = equations
    if not len(row):
        return np.zeros(size)
    across = csr_array((amount, (row, unknown)), shape=(len(rate), size))
    down = across.T.tocsr()
    weight = _weights(rate, seconds)
    scale = down @ (weight * (across @ np.ones(size)))
    safe = np.where(scale > 0, scale, np.inf)
    wanted = down @ (weight * rate)
    now = np.zeros(size) if start is None else start.copy()
    ahead, pace = now, 1.0
    for _ in range(steps):
        after: Floats = np.maximum(
            0.0, ahead + (wanted - down @ (weight * (across @ ahead))) / safe
        )
        if float(np.dot((ahead - after) * scale, after - now)) > 0:
            pace, ahead, now = 1.0, after, after
            continue
        if np.max(np.abs(after - now)) <= _SETTLED * np.max(after, initial=0.0):
            return after
        later = (1 + np.sqrt(1 + 4 * pace * pace)) / 2
        ahead = after + (pace - 1) / later * (after - now)
        now, pace = after, later
    return now


def _weights(rate: Floats, seconds: Floats) -> Floats:
    """Seconds over a variance that grows with the rate, as that of counts does."""
    known = seconds > 0
    mean = float(np.average(rate[known], weights=seconds[known])) if known.any() else 1.0
    return np.where(known, seconds / np.maximum(rate, _FLOOR * max(mean, 1e-12)), 0.0)
