"""Losses of runs with metric values near today's.

"The 22 runs with fullness like today were 31% slower": for metric ``j`` ::

    L_j = (M - mean{y_d : |r_j(d) - r_j(today)| <= REACH}) / M * m / (m + SHRINK)

with ``M`` the median of y, ``r`` the share of history below (ties half) and ``m`` the number of such runs. The mean
leaves out the lowest and highest ``TRIMMED`` of them: one crashed run moves it as little as the median, and it tells
runs that were all a bit slow from runs of which half were. Few runs are shrunk towards no loss.
Source: docs/methods/umami.md; Tukey 1962 (trimmed means).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.stats.midranks import midranks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from iosonde.model.arrays import Flags, Floats, Places

REACH = 0.1
"""Distance in ranks, as a share of history, within which runs are like today."""
TRIMMED = 0.2
"""Share trimmed at either end of runs like today."""
SHRINK = 1
"""Number of lossless pseudo-runs added for shrinkage."""
FEWEST_MATCHES = 3
"""Least number of runs like today."""


@dataclass(frozen=True)
class LocalLosses:
    """Per metric, (p,) each; NaN if unknown.

    ``loss``: shrunk share of the usual y that runs like today lost (below 0: won); ``share``: share of history
    below today's value, ties half; ``matches``: runs like today; ``usual``: median of y.
    """

    usual: float
    loss: Floats
    share: Floats
    matches: NDArray[np.int64]

    @property
    def ranking(self) -> NDArray[np.intp]:
        """Metrics by loss, the largest first; unknown ones are left out."""
        order = np.argsort(-self.loss, kind="stable")
        return order[~np.isnan(self.loss[order])]


def local_losses(y: Floats, history: Floats, today: Floats) -> LocalLosses:
    """Losses of runs like today. Shapes: ``y`` (n,) > 0, ``history`` (n, p), ``today`` (p,), not in the history.

    Unit of ``loss``: share of the usual y. Missing data: runs without y are left out, and a metric's missing
    values with it; NaN for a metric that is missing today. All is NaN when the usual y is not above 0.
    Raises ValueError when the numbers of rows or metrics differ.
    """
    if history.shape != (len(y), len(today)):
        raise ValueError(f"history has shape {history.shape}; expected ({len(y)}, {len(today)})")
    known = np.isfinite(y)
    y, x = y[known], np.where(np.isfinite(history[known]), history[known], np.nan)
    p = len(today)
    loss, share = np.full(p, np.nan), np.full(p, np.nan)
    matches = np.zeros(p, dtype=np.int64)
    usual = float(np.median(y)) if len(y) else float("nan")
    if len(y) == 0 or not usual > 0:
        return LocalLosses(usual, loss, share, matches)
    counts = np.maximum(1, (~np.isnan(x)).sum(axis=0))
    places = (midranks(x) - 0.5) / counts
    below = ((x < today) + 0.5 * (x == today)).sum(axis=0) / counts
    told = np.isfinite(today) & ~np.isnan(x).all(axis=0)
    share[told] = below[told]
    near = np.abs(places - share) <= REACH + 1e-12
    order = np.argsort(y, kind="stable")
    return _losses(usual, y[order], near[order], share)


def losses_of_rows(y: Floats, metrics: Floats, rows: Places) -> list[LocalLosses]:
    """``local_losses`` of each of ``rows`` against all others; ranks are computed once, not per row.

    Shapes: ``y`` (n,) > 0, ``metrics`` (n, p), ``rows`` (k,), each with a y. Missing data as there.
    """
    kept = np.flatnonzero(np.isfinite(y))
    kept = kept[np.argsort(y[kept], kind="stable")]
    y, x = y[kept], np.where(np.isfinite(metrics[kept]), metrics[kept], np.nan)
    place_of = {int(row): place for place, row in enumerate(kept)}
    ranks, known = midranks(x), ~np.isnan(x)
    filled = known.sum(axis=0)
    found = []
    for row in rows.tolist():
        place = place_of[row]
        usual = float(np.median(np.delete(y, place))) if len(y) > 1 else float("nan")
        mine, counts = ranks[place], np.maximum(1, filled - known[place])
        share = np.where(filled > 1, (mine - 1) / counts, np.nan)
        # Without this row those above it have one rank less, and its equals half a rank.
        apart = ranks - (mine - 0.5) - (ranks > mine) - 0.5 * (ranks == mine)
        near = np.abs(apart) <= (REACH + 1e-12) * counts
        near[place] = False
        found.append(_losses(usual, y, near, share))
    return found


def _losses(usual: float, y: Floats, near: Flags, share: Floats) -> LocalLosses:
    """Losses of runs in the order of ``y`` (n,) that are ``near`` (n, p) today's value of each metric."""
    matches = near.sum(axis=0, dtype=np.int64)
    loss = np.full(len(share), np.nan)
    if not usual > 0:
        return LocalLosses(usual, loss, np.full(len(share), np.nan), np.zeros_like(matches))
    which, out = near.cumsum(axis=0), (TRIMMED * matches).astype(np.int64)
    kept = near & (which > out) & (which <= matches - out)
    enough = matches >= FEWEST_MATCHES
    like_today = (y @ kept)[enough] / kept.sum(axis=0)[enough]
    m = matches[enough]
    loss[enough] = (usual - like_today) / usual * m / (m + SHRINK)
    return LocalLosses(usual, loss, share, matches)
