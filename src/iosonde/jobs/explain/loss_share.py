"""Share of a run's loss that a metric accounts for, with its uncertainty.

What the run would have reached with the metric's value alone, from its history, beside what it reached::

    share = (M - Y(x)) / (M - y)       M: median of y, x: the metric's value, y: the run's performance

``Y(x)`` is the mean of least-squares fits of ``y`` on one shape each of the metric: its value, its rank, what lies
beyond a threshold, and on which side of one it is. A fit counts by how well it foretells runs that are left out
(``error ** (-n / 2)``); how far fits differ is part of the uncertainty. Beyond all earlier values nothing is drawn
further. The interval holds the share in about 90% of cases: Student's t, the number of independent runs, the spread of
M. Both ends and the share lie within 0 and 1.
Source: docs/methods/umami.md; Buckland et al. 1997 (averages of fits); Stone 1974 (leaving out).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.stats.midranks import midranks
from iosonde.stats.student import student_quantile

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats

FEWEST = 30
"""Fewer runs of the history say nothing: of 25 four are beyond a step that takes effect in the highest 15 %, and what
is drawn through them held the share in two of three cases (docs/methods/umami.md)."""
LEVEL = 0.95
"""Quantile of Student's t at either end."""
THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9)
"""Positions of a threshold, as shares of the history, from either end."""
CAUTION = 1.3
"""Factor that widens intervals: the true shape may be none of those."""
_FEWEST_SIDE = 3
"""Least number of runs beyond a threshold."""


class LossShare(NamedTuple):
    """Share of a loss, 0 to 1, with its 90% interval. ``n``: number of runs used."""

    share: float
    low: float
    high: float
    n: int


def loss_share(y: Floats, x: Floats, today: tuple[float, float], n_eff: float) -> LossShare | None:
    """Share of a loss that a metric accounts for; None if history is insufficient.

    ``y`` (n,), higher is better; ``x`` (n,); ``today``: y and x of the run, which is not in the history; ``n_eff``:
    independent runs of the history. Missing data: rows without either are left out. None for a run that lost nothing.
    """
    known = np.isfinite(y) & np.isfinite(x)
    y, x = y[known], x[known]
    n = len(y)
    if n < FEWEST or not np.isfinite(today).all() or not x.min() < x.max():
        return None
    usual = float(np.median(y))
    loss = usual - today[0]
    if not loss > 0:
        return None
    at, spread, left = _foretold(y, *_shapes(x, today[1]))
    fewer = np.sqrt(n / max(4.0, min(n_eff, n))) if np.isfinite(n_eff) else 1.0
    of_usual = 1.2533 * left / np.sqrt(n)
    half = CAUTION * student_quantile(LEVEL, n - 2) * np.hypot(spread, of_usual) * fewer
    ends = np.array([usual - at, usual - at - half, usual - at + half])
    share, low, high = np.clip(ends / loss, 0, 1).tolist()
    return LossShare(share, low, high, n)


def _shapes(x: Floats, today: float) -> tuple[Floats, Floats]:
    """Shapes of the history (n, k) and of the run's value (k,)."""
    n = len(x)
    ranks = (midranks(x[:, None])[:, 0] - 0.5) / n
    order = np.argsort(x, kind="stable")
    u = np.append(ranks, np.interp(today, x[order], ranks[order]))
    columns = [np.append(x, np.clip(today, x.min(), x.max())), u]
    for side in (u, 1 - u):
        for threshold in THRESHOLDS:
            beyond = np.maximum(0.0, side - threshold)
            if _FEWEST_SIDE <= np.count_nonzero(beyond[:-1]) <= n - _FEWEST_SIDE:
                columns += [beyond, np.sign(beyond)]
    shapes = np.column_stack(columns)
    several = shapes[:-1].min(axis=0) < shapes[:-1].max(axis=0)
    return shapes[:-1, several], shapes[-1, several]


def _foretold(y: Floats, shapes: Floats, today: Floats) -> tuple[float, float, float]:
    """Prediction for the run, its standard error, and the residual spread."""
    n = len(y)
    middle = shapes.mean(axis=0)
    wide = ((shapes - middle) ** 2).sum(axis=0)
    slope = (shapes - middle).T @ (y - y.mean()) / wide
    rest = (y - y.mean())[:, None] - (shapes - middle) * slope
    lever = 1 / n + (shapes - middle) ** 2 / wide
    error = ((rest / np.maximum(1 - lever, 1e-6)) ** 2).mean(axis=0)
    least = max(float(error.min()), 1e-300)
    weight = np.exp(-n / 2 * np.log(np.maximum(error, 1e-300) / least))
    weight /= weight.sum()
    at = y.mean() + slope * (today - middle)
    variance = (rest**2).sum(axis=0) / max(1, n - 2)
    own = variance * (1 / n + (today - middle) ** 2 / wide)
    mean = float(weight @ at)
    spread = float(np.sqrt(weight @ (own + (at - mean) ** 2)))
    return mean, spread, float(np.sqrt(weight @ variance))
