"""Student's interval of a mean, with a floor for how alike repeats can be believed to be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iosonde.stats.student import student_quantile

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats


CONFIDENCE = 0.90
"""Of all intervals of adaptive mode: two one-sided tests at 5%."""
SD_FLOOR = 0.01
"""Repeats (logarithms) that agree better than this agree by luck."""


def quantile_of_t(probability: float, freedom: int) -> float:
    """Student's quantile."""
    return student_quantile(probability, freedom)


def standard_error(values: Floats, floor: float = SD_FLOOR) -> float:
    """Of the mean of ``values`` (n,), none missing; NaN below two."""
    if len(values) < 2:
        return float("nan")
    return max(floor, float(np.std(values, ddof=1))) / float(np.sqrt(len(values)))


def half_width(values: Floats, floor: float = SD_FLOOR) -> float:
    """Half of the interval of the mean of ``values`` (n,); 0 for a single one, which has no interval."""
    if len(values) < 2:
        return 0.0
    return half_of(standard_error(values, floor), len(values))


def half_of(error: float, n: int) -> float:
    """Half of the interval of what has a standard error from ``n`` > 1 repeats."""
    return quantile_of_t((1 + CONFIDENCE) / 2, n - 1) * error
