"""Does a number differ between categories: a rank test that allows for neighbouring rows being alike.

Kruskal and Wallis's H says how far mean ranks of the categories lie apart. Its p value believes rows to be
independent; so the same is asked of the categories shifted along the rows (the end comes first), which keeps what is
alike beside each other, and the larger p value counts.

Sources: Kruskal and Wallis 1952; Ernst 2004 (permutation tests); circular shifts: Besag and Clifford 1989.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.stats.midranks import midranks

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Ints

MOST_SHIFTS = 199


class Difference(NamedTuple):
    """``share``: of the variance of ranks that lies between categories, 0 to 1; NaN: unknown."""

    share: float
    p: float


def difference(values: Floats, codes: Ints) -> Difference:
    """Test whether ``values`` (n,) differ between categories ``codes`` (n,), rows in the order of time.

    Missing data: none may be missing. Fewer than two categories give NaN.
    """
    n = len(values)
    counts = np.bincount(codes, minlength=1)
    several = int((counts > 0).sum())
    if several < 2 or n <= several:
        return Difference(np.nan, np.nan)
    ranks = midranks(values[:, None])[:, 0] - (n + 1) / 2
    total = float(ranks @ ranks)
    if total <= 0:
        return Difference(0.0, 1.0)

    def between(shifted: Ints) -> float:
        sums = np.bincount(shifted, weights=ranks, minlength=len(counts))
        return float((sums[counts > 0] ** 2 / counts[counts > 0]).sum())

    found = between(codes)
    shifts = np.unique(np.linspace(1, n - 1, min(MOST_SHIFTS, n - 1)).round().astype(np.int64))
    beyond = sum(between(np.roll(codes, int(shift))) >= found * (1 - 1e-12) for shift in shifts)
    by_shift = (1 + beyond) / (1 + len(shifts))
    return Difference(
        found / total, max(by_shift, _chi_square(found / total * (n - 1), several - 1))
    )


def _chi_square(value: float, freedom: int) -> float:
    """P(chi square of ``freedom`` > value)."""
    from scipy.special import gammaincc  # type: ignore[import-untyped, unused-ignore]

    return float(gammaincc(freedom / 2, max(value, 0.0) / 2))
