"""Metrics that stood out in a slow run, and in other slow runs.

For metric ``j`` with today's value ``x``::

    z_j = sign_j (x - median) / scale_j        how far on the bad side; |.| where no side is known to be bad
    L_j = (M - median{y_d : |r_j(d) - r_j(today)| <= REACH}) / M        what the m runs like today lost
    w_j = (m L_j + SHRINK PRIOR) / (m + SHRINK)
    score_j = w_j log(1 + z_j) ** (FADE / (FADE + m))

With few runs hardly any is like today, and how far a metric stands out decides; with many the loss of runs
like today does. Figures beside those of the loss alone: docs/methods/umami.md (``benchmarks.truth``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.jobs.explain.neighbour_loss import REACH
from iosonde.stats.midranks import midranks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SHRINK, PRIOR = 2.0, 0.1
"""Prior before any similar run: a loss of 10%, with the weight of two runs."""
FADE = 6.0
"""Number of similar runs above which the distance counts by its square root."""
FEWEST_NEAR = 3
"""Least number of runs like today, and of others, for a test whether the former were slower."""
SMALLEST_SCALE = 0.1
"""Least spread of a metric as a share of its median: a near-constant one does not explode."""


@dataclass(frozen=True)
class Suspects:
    """Per metric, (p,) each; NaN if unknown.

    ``score``: 0 for what lies on the good side. ``loss``: share of the usual y that runs like today lost
    (not shrunk; NaN without such a run); ``matches``: their number; ``z``: how far on the bad side, in scales;
    ``share``: share of history below today's value, ties half; ``usual``: the median of each metric.
    """

    score: Floats
    loss: Floats
    matches: NDArray[np.int64]
    z: Floats
    share: Floats
    usual: Floats
    near_z: Floats
    """How much slower runs like today were than the others: their mean rank, in standard errors; NaN: too few."""

    @property
    def ranking(self) -> NDArray[np.intp]:
        """Metrics by score, the largest first; those of score 0 or none are left out."""
        order = np.argsort(-np.nan_to_num(self.score), kind="stable")
        return order[np.nan_to_num(self.score[order]) > 0]


def suspects(
    y: Floats, history: Floats, today: Floats, bad_sign: Floats, floors: Floats
) -> Suspects:
    """Judge today's metrics by earlier runs.

    Shapes: ``y`` (n,), higher is better; ``history`` (n, p), ``today`` (p,), not in the history; ``bad_sign``
    (p,): +1 where high is bad, -1 where low is, 0 where neither is known; ``floors`` (p,): the least scale of
    each metric, in its unit. Missing data: runs without y are left out, a metric's missing values with it;
    NaN for a metric that is missing today or in all history.
    """
    known = np.isfinite(y)
    y, x = y[known], np.where(np.isfinite(history[known]), history[known], np.nan)
    p = len(today)
    told = np.isfinite(today) & np.isfinite(x).any(axis=0) if len(y) else np.zeros(p, dtype=bool)
    score, loss, z, share, usual, near_z = (np.full(p, np.nan) for _ in range(6))
    matches = np.zeros(p, dtype=np.int64)
    for metric in np.flatnonzero(told):
        column = x[:, metric]
        seen = np.isfinite(column)
        values, of_y = column[seen], y[seen]
        usual[metric] = float(np.median(values))
        z[metric] = _apart(values, today[metric], bad_sign[metric], floors[metric])
        share[metric] = _below(values, today[metric])
        places = (midranks(values[:, None])[:, 0] - 0.5) / len(values)
        near = np.abs(places - share[metric]) <= REACH + 1e-12
        m = int(near.sum())
        matches[metric] = m
        near_z[metric] = _slower(of_y, near)
        middle = float(np.median(y))
        if m and middle > 0:
            loss[metric] = (middle - float(np.median(of_y[near]))) / middle
        weight = (m * np.nan_to_num(loss[metric]) + SHRINK * PRIOR) / (m + SHRINK)
        out = np.log1p(max(0.0, z[metric]))
        score[metric] = max(0.0, weight) * out ** (FADE / (FADE + m)) if out > 0 else 0.0
    return Suspects(score, loss, matches, z, share, usual, near_z)


def _slower(y: Floats, near: NDArray[np.bool_]) -> float:
    """Distance of the mean rank of ``y`` (n,) of some runs below that of all, in standard errors (rank sums)."""
    n, m = len(y), int(near.sum())
    if m < FEWEST_NEAR or n - m < FEWEST_NEAR:
        return float("nan")
    ranks = midranks(y[:, None])[:, 0]
    return float(((n + 1) / 2 - ranks[near].mean()) / np.sqrt((n - m) * (n + 1) / (12 * m)))


def _below(values: Floats, at: float) -> float:
    return float(((values < at) + 0.5 * (values == at)).mean())


def _apart(values: Floats, at: float, bad_sign: float, floor: float) -> float:
    """Distance of ``at`` on the bad side of the median, in scales."""
    middle = float(np.median(values))
    mad = 1.4826 * float(np.median(np.abs(values - middle)))
    low, high = np.percentile(values, [25, 75])
    scale = max(mad, float(high - low) / 1.349, SMALLEST_SCALE * abs(middle), floor)
    if scale <= 0:
        return 0.0
    apart = (at - middle) / scale
    return float(abs(apart) if bad_sign == 0 else bad_sign * apart)
