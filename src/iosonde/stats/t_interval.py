"""Student's interval of a mean, with a lower bound of the standard deviation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iosonde.stats.student import student_quantile

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats


CONFIDENCE = 0.90
"""Confidence of all intervals of adaptive mode: two one-sided tests at 5%."""
SD_FLOOR = 0.01
"""Least standard deviation of repeats (logarithms); better agreement is luck."""


def quantile_of_t(probability: float, freedom: int) -> float:
    """Student's quantile."""
    return student_quantile(probability, freedom)


def standard_error(values: Floats, floor: float = SD_FLOOR) -> float:
    """Standard error of the mean of ``values`` (n,), none missing; NaN below two."""
    if len(values) < 2:
        return float("nan")
    return max(floor, float(np.std(values, ddof=1))) / float(np.sqrt(len(values)))


def half_width(values: Floats, floor: float = SD_FLOOR) -> float:
    """Half width of the interval of the mean of ``values`` (n,); 0 for a single value, which has no interval."""
    if len(values) < 2:
        return 0.0
    return half_of(standard_error(values, floor), len(values))


def half_of(error: float, n: int) -> float:
    """Half width of the interval for a standard error from ``n`` > 1 repeats."""
    return quantile_of_t((1 + CONFIDENCE) / 2, n - 1) * error
