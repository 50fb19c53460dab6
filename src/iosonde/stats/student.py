"""Student's distribution without SciPy, whose import takes longer than most questions about one job.

    P(T < t) = I_x(nu / 2, 1 / 2) / 2    for t < 0,  x = nu / (nu + t^2)

``I`` is the incomplete beta function: its continued fraction where that converges fast, else that of its complement.
Source: Abramowitz and Stegun 26.5.8, 26.7.1, 6.1.47 (ratio of gamma functions); Lentz 1976 (continued fractions).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats

_MOST_STEPS = 400
_EXACT = 1e-15
_TINY = 1e-300
_LARGE = 20.0
"""From here on four terms of the series of the gamma functions' ratio are exact."""


def student_share(t: Floats, freedom: Floats | float) -> Floats:
    """Share of Student's variable with ``freedom`` > 0 degrees (same shape, or one for all) below ``t``.

    NaN stays NaN.
    """
    given, nu = np.broadcast_arrays(
        np.asarray(t, dtype=np.float64), np.asarray(freedom, dtype=np.float64)
    )
    tail = _lower_tail(np.abs(given).ravel(), nu.ravel()).reshape(given.shape)
    return np.where(given > 0, 1 - tail, tail)


@lru_cache(maxsize=4096)
def student_quantile(probability: float, freedom: float) -> float:
    """What Student's variable is below with a probability, 0 < p < 1."""
    if probability == 0.5:
        return 0.0
    share = min(probability, 1 - probability)
    low, high = 0.0, 1.0
    while _one_tail(high, freedom) > share and high < 1e150:
        low, high = high, 4 * high
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if _one_tail(middle, freedom) > share else (low, middle)
    return math.copysign((low + high) / 2, probability - 0.5)


def _one_tail(t: float, nu: float) -> float:
    """``_lower_tail`` of one t > 0: arrays of one number cost twenty times as much."""
    a = nu / 2
    log_x, log_rest = -math.log1p(t * t / nu), -math.log1p(nu / t / t)
    front = math.exp(a * log_x + 0.5 * log_rest - float(_log_beta(np.array([a]))[0]))
    x, rest = math.exp(log_x), math.exp(log_rest)
    if x < (a + 1) / (a + 2.5):
        return front * _one_fraction(a, 0.5, x) / a / 2
    return (1 - front * _one_fraction(0.5, a, rest) / 0.5) / 2


def _one_fraction(a: float, b: float, x: float) -> float:
    """``_fraction`` of one."""
    c, d = 1.0, 1 / _or_tiny(1 - (a + b) * x / (a + 1))
    found = d
    for m in range(1, _MOST_STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for step in (even, odd):
            d = 1 / _or_tiny(1 + step * d)
            c = _or_tiny(1 + step / c)
            found *= c * d
        if abs(c * d - 1) <= _EXACT:
            break
    return found


def _or_tiny(value: float) -> float:
    return _TINY if abs(value) < _TINY else value


def _lower_tail(t: Floats, nu: Floats) -> Floats:
    """Share below ``-t`` for t >= 0, (n,) each."""
    found = np.full(len(t), np.nan)
    found[t == 0] = 0.5
    found[np.isinf(t)] = 0.0
    usable = (t > 0) & np.isfinite(t) & (nu > 0)
    t, nu = t[usable], nu[usable]
    a, square = nu / 2, t * t
    with np.errstate(over="ignore", under="ignore"):
        log_x, log_rest = -np.log1p(square / nu), -np.log1p(nu / square)
        front = np.exp(a * log_x + 0.5 * log_rest - _log_beta(a))
        x, rest = np.exp(log_x), np.exp(log_rest)
        near = x < (a + 1) / (a + 2.5)
        half = np.full(len(a), 0.5)
        fraction = _fraction(
            np.where(near, a, half), np.where(near, half, a), np.where(near, x, rest)
        )
        share = front * fraction / np.where(near, a, half)
    found[usable] = np.where(near, share, 1 - share) / 2
    return found


def _log_beta(a: Floats) -> Floats:
    """Logarithm of B(a, 1/2)."""
    found = np.empty(len(a))
    large = a >= _LARGE
    b = a[large]
    series = 1 / (8 * b) - 1 / (192 * b**3) + 1 / (640 * b**5) - 17 / (14336 * b**7)
    found[large] = 0.5 * np.log(np.pi / b) + series
    some = a[~large].tolist()
    found[~large] = [math.lgamma(one) + math.lgamma(0.5) - math.lgamma(one + 0.5) for one in some]
    return found


def _fraction(a: Floats, b: Floats, x: Floats) -> Floats:
    """The continued fraction of the incomplete beta function, (n,) each."""
    c, d = np.ones(len(a)), 1 / _not_zero(1 - (a + b) * x / (a + 1))
    found = d.copy()
    for m in range(1, _MOST_STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for step in (even, odd):
            d = 1 / _not_zero(1 + step * d)
            c = _not_zero(1 + step / c)
            found *= c * d
        if (np.abs(c * d - 1) <= _EXACT).all():
            break
    return found


def _not_zero(values: Floats) -> Floats:
    return np.where(np.abs(values) < _TINY, _TINY, values)
