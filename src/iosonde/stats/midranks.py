"""Ranks in which equal values share their middle, for many columns at once.

Source: Kendall, Rank Correlation Methods (1948), 3 (mid-rank method).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats


def midranks(values: Floats) -> Floats:
    """Ranks from 1 within each column.

    Shape: (n, p) -> (n, p). Unit: ranks. Missing data: NaN stays NaN, others are ranked among themselves.
    """
    n, p = values.shape
    order = np.argsort(values, axis=0, kind="stable")
    ranked = np.take_along_axis(values, order, axis=0)
    place = np.broadcast_to(np.arange(n)[:, None], (n, p))
    fresh = np.ones((n + 1, p), dtype=np.bool_)
    fresh[1:n] = ranked[1:] != ranked[:-1]
    first = np.maximum.accumulate(np.where(fresh[:-1], place, 0), axis=0)
    last = np.minimum.accumulate(np.where(fresh[1:], place, n - 1)[::-1], axis=0)[::-1]
    ranks = np.empty((n, p))
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=0)
    ranks[np.isnan(values)] = np.nan
    return ranks


def share_below(history: Floats, value: float) -> float:
    """Share of ``history`` (n,) below ``value``, equal ones half counted; NaN without history or value.

    Missing data: NaN in the history is left out.
    """
    known = history[~np.isnan(history)]
    if len(known) == 0 or np.isnan(value):
        return float("nan")
    below = np.count_nonzero(known < value) + 0.5 * np.count_nonzero(known == value)
    return float(below / len(known))
