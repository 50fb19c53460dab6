"""Boxes: a distribution in five numbers, and what lies outside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Ints

LEAST = 5
"""Least number of values for a box; fewer are all shown one by one."""
REACH = 1.5
"""Longest whisker in box heights on the log axis; it ends at the last value within."""


class Box(NamedTuple):
    """Five numbers in the unit of the values; NaN when ``n`` < LEAST: then all are outliers.

    ``outliers`` and ``outlier_n``, shape (outliers,): what lies beyond the whiskers, and how many
    values stand there (1, or more where values were counted on a grid).
    """

    n: int
    q25: float
    q50: float
    q75: float
    low: float
    high: float
    outliers: Floats
    outlier_n: Ints


def box(values: Floats) -> Box:
    """The box of positive values.

    Shape: (values,) -> five numbers and (outliers,). Unit: that of the values.
    Quartiles are nearest ranks; fences lie ``REACH`` log box heights from the quartiles, so that a
    log-normal latency has as few outliers as a normal one would on a linear axis.
    Missing data: NaN is left out and not counted in ``n``.
    Source: Tukey, Exploratory Data Analysis (1977), 2C-2D, on logarithms.
    """
    known = np.sort(values[~np.isnan(values)])
    n = len(known)
    if n < LEAST:
        nan = float("nan")
        return Box(n, nan, nan, nan, nan, nan, known, np.ones(n, dtype=np.int64))
    q25, q50, q75 = (float(known[int(np.ceil(q * n)) - 1]) for q in (0.25, 0.5, 0.75))
    below, above = fences(q25, q75)
    inside = (known >= below) & (known <= above)
    outliers = known[~inside]
    low, high = float(known[inside][0]), float(known[inside][-1])
    return Box(n, q25, q50, q75, low, high, outliers, np.ones(len(outliers), dtype=np.int64))


def fences(q25: float, q75: float) -> tuple[float, float]:
    """Limits of the whiskers, from positive quartiles."""
    spread = (q75 / q25) ** REACH if q25 > 0 else np.inf
    return q25 / spread, q75 * spread
