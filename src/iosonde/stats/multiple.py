"""Corrections of p values for multiple tests.

Arrays of p values in, adjusted p values (same shape) out. Missing data: NaN is no question and stays NaN.
Sources: Simes 1986; Holm 1979; Benjamini and Hochberg 1995.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from iosonde.model.arrays import Floats


def simes(p: Floats) -> float:
    """Simes' p value of "none of them differs". NaN without any p value.

    Holds for p values that go together, as those of a distribution's quantiles do.
    """
    known = np.sort(p[~np.isnan(p)])
    if len(known) == 0:
        return float("nan")
    return float(min(1.0, (known * len(known) / np.arange(1, len(known) + 1)).min()))


def holm(p: Floats) -> Floats:
    """Holm's correction: at most 5% of families without a difference have any p below 5%, whatever the dependence."""
    return _stepped(p, lambda known: np.maximum.accumulate(known * np.arange(len(known), 0, -1)))


def benjamini_hochberg(p: Floats) -> Floats:
    """Benjamini-Hochberg correction: at most 5% of those below 5% are wrong on average."""

    def steps(known: Floats) -> Floats:
        scaled = known * len(known) / np.arange(1, len(known) + 1)
        smallest: Floats = np.minimum.accumulate(scaled[::-1])[::-1]
        return smallest

    return _stepped(p, steps)


def _stepped(p: Floats, steps: Callable[[Floats], Floats]) -> Floats:
    flat = np.asarray(p, dtype=np.float64).ravel()
    places = np.flatnonzero(~np.isnan(flat))
    order = places[np.argsort(flat[places], kind="stable")]
    adjusted = np.full(len(flat), np.nan)
    adjusted[order] = np.minimum(1.0, steps(flat[order]))
    return adjusted.reshape(np.shape(p))
