"""Ranks with ties averaged, for many columns at once.

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
    columns = np.ascontiguousarray(values.T)  # sorting along memory is several times as fast
    order = np.argsort(columns, axis=1, kind="stable")
    ranked = np.take_along_axis(columns, order, axis=1)
    fresh = np.ones((p, n + 1), dtype=np.bool_)
    fresh[:, 1:n] = ranked[:, 1:] != ranked[:, :-1]
    place = np.arange(n)
    first = np.maximum.accumulate(np.where(fresh[:, :-1], place, 0), axis=1)
    last = np.minimum.accumulate(np.where(fresh[:, 1:], place, n - 1)[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty((p, n))
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=1)
    found = np.ascontiguousarray(ranks.T)
    found[np.isnan(values)] = np.nan
    return found


def share_below(history: Floats, value: float) -> float:
    """Share of ``history`` (n,) below ``value``, ties counted half; NaN without history or value.

    Missing data: NaN in the history is left out.
    """
    known = history[~np.isnan(history)]
    if len(known) == 0 or np.isnan(value):
        return float("nan")
    below = np.count_nonzero(known < value) + 0.5 * np.count_nonzero(known == value)
    return float(below / len(known))


FEWEST_RANKED = 8
"""Least number of rows for a rank correlation."""


def rank_correlation(y: Floats, x: Floats) -> Floats:
    """(p,) Spearman's coefficient of ``y`` (n,) with each column of ``x`` (n, p).

    Missing data: of each column the rows in which both are known; 0 with fewer than ``FEWEST_RANKED`` of them, and
    where either never changes.
    """
    found = np.zeros(x.shape[1])
    known = np.isfinite(y)[:, None] & np.isfinite(x)
    keys: dict[bytes, list[int]] = {}
    for column, packed in enumerate(np.packbits(known, axis=0).T):
        keys.setdefault(packed.tobytes(), []).append(column)
    for columns in keys.values():
        rows = known[:, columns[0]]
        if rows.sum() < FEWEST_RANKED:
            continue
        a, b = midranks(y[rows][:, None]), midranks(x[rows][:, columns])
        a, b = a - a.mean(), b - b.mean(axis=0)
        size = np.sqrt((a**2).sum() * (b**2).sum(axis=0))
        found[columns] = np.where(
            size > 0, (a * b).sum(axis=0) / np.where(size > 0, size, 1.0), 0.0
        )
    return found
