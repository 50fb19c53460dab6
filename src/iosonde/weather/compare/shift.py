"""Ratio of the quantiles of two samples, with intervals.

With ``F_a``, ``F_b`` the shares of samples at or below a latency, and ``Q_a``, ``Q_b`` the nearest-rank
quantiles, "b is higher at level p" means that some latency exists which more of a's samples than of b's
stay below. With ``s_a**2``, ``s_b**2`` the variances of these shares and ``s**2`` their sum, the interval ::

    Q_b(p - c s_b**2 / s) / Q_a(p + c s_a**2 / s)  ..  Q_b(p + c s_b**2 / s) / Q_a(p - c s_a**2 / s)

excludes 1 exactly when the shares differ by more than ``c s`` at the latency where their mean, weighted by
precision, is ``p``. So interval and p value are one thing, need no density and no resampling, hold for
distributions with two modes, and are the same every time. ``s`` comes from ``weather.compare.dependence``.
Source: Woodruff 1952 for one quantile; docs/methods/compare.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.stats.multiple import simes
from iosonde.weather.compare import dependence
from iosonde.weather.compare.sides import Period, Side
from iosonde.weather.compare.unseen_load import Gaps, bisect
from iosonde.weather.compare.whole import UNKNOWN, Whole

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats


LEVELS: tuple[float, ...] = (0.25, 0.50, 0.75, 0.90, 0.95, 0.99)
OF_MEANS: tuple[float, ...] = (0.50,)
"""Levels of means of steps: a mean hides what was slow in its step, so that no other quantile is one of operations."""
FEWEST = 20
"""Least number of samples on a side to estimate their dependence."""
_POWER_80 = 0.8416
_TOGETHER = (1, 3, 5)
"""Numbers of quantiles that may detect a shift of all latencies."""


@dataclass(frozen=True)
class QuantileShift:
    """b / a at each level; (levels,) each. NaN = too few samples.

    ``lower``, ``upper``: 95% interval; ``same_lower``, ``same_upper``: the interval that an equivalence
    test looks at; ``smallest``: the ratio above 1 that is found in 80% of cases at 5%;
    ``effective_a``, ``effective_b``: as many independent samples would know the share below as well.
    """

    ratio: Floats
    lower: Floats
    upper: Floats
    p_value: Floats
    same_lower: Floats
    same_upper: Floats
    smallest: Floats
    quantile_a: Floats
    quantile_b: Floats
    effective_a: Floats
    effective_b: Floats
    whole: Whole = UNKNOWN
    """All latencies together: the part not explained by load, even if quantiles have too few samples."""

    @property
    def different(self) -> float:
        """P value of "neither a quantile nor the whole differs" (Simes). NaN = too few samples."""
        return simes(np.append(self.p_value, self.whole.p_value))


class Pair:
    """Two periods to compare. Raises ValueError for an empty level list."""

    def __init__(self, a: Period, b: Period, levels: tuple[float, ...] = LEVELS) -> None:
        if not levels:
            raise ValueError("no levels")
        self._p = np.array(levels)
        self._known = min(len(a.value), len(b.value)) >= FEWEST
        if self._known:
            self._sides = (Side(a), Side(b))
            self._gaps = Gaps(self._sides, self._p)

    @property
    def odds_of_load(self) -> float:
        """Evidence of load for the other ops (``dependence.no_load_beside``); 1 = none."""
        return self._gaps.odds_of_load if self._known else 1.0

    def shift(
        self, *, same_level: float = 0.90, no_load: float = dependence.NO_LOAD
    ) -> QuantileShift:
        """Estimate the shift. ``same_level``: level of the equivalence test's interval; ``no_load``: weight of no load.

        Below ``FEWEST`` samples on a side all is NaN.
        """
        if not self._known:
            return _unknown(self._p)
        self._gaps.weigh(no_load)
        return _shift(self._sides, self._gaps, self._p, same_level)

    def seen(self, level: float) -> float:
        """Smallest ratio above 1 of all latencies that is detected in 80% of cases.

        ``level``: that of this op among all ops. With what was weighed last; NaN for too few samples. Simes finds
        a move when ``k`` quantiles reach ``k`` times the level of one, or when the whole does.
        """
        if not self._known:
            return float("nan")
        gaps, (a, b), p = self._gaps, self._sides, self._p
        part = gaps.sides / gaps.sides.sum(axis=1, keepdims=True)
        one, spare = level / (len(p) + 1), _POWER_80 * gaps.at(0.3173)
        found = [np.exp(gaps.distance.at(one) + _POWER_80 * gaps.distance.at(0.3173))]
        with np.errstate(divide="ignore", invalid="ignore"):
            for k in _TOGETHER:
                gap = gaps.at(k * one) + spare
                moved = b.quantile(p + gap * part[:, 1]) / a.quantile(p - gap * part[:, 0])
                sizes = np.sort(moved / (b.quantile(p) / a.quantile(p)))
                found += sizes[k - 1 : k].tolist()
        return float(np.nanmin(found))


def _shift(sides: tuple[Side, Side], gaps: Gaps, p: Floats, same_level: float) -> QuantileShift:
    a, b = sides
    part = gaps.sides / gaps.sides.sum(axis=1, keepdims=True)

    def low(gap: Floats) -> Floats:
        return b.quantile(p - gap * part[:, 1]) / a.quantile(p + gap * part[:, 0])

    def high(gap: Floats) -> Floats:
        return b.quantile(p + gap * part[:, 1]) / a.quantile(p - gap * part[:, 0])

    with np.errstate(divide="ignore", invalid="ignore"):
        qa, qb = a.quantile(p), b.quantile(p)
        up = bisect(lambda gap: low(gap) > 1, len(p))
        down = bisect(lambda gap: high(gap) < 1, len(p))
        usual, same = gaps.at(0.05), gaps.at(1 - same_level)
        needed = usual + _POWER_80 * gaps.at(0.3173)
        spread = p * (1 - p)
        known = ~np.isnan(low(usual)) & ~np.isnan(high(usual))
        return QuantileShift(
            ratio=qb / qa,
            lower=low(usual),
            upper=high(usual),
            p_value=np.where(known, gaps.chance(np.maximum(up, down)), 1.0),
            same_lower=low(same),
            same_upper=high(same),
            smallest=high(needed) / (qb / qa),
            quantile_a=qa,
            quantile_b=qb,
            effective_a=spread / gaps.sides[:, 0],
            effective_b=spread / gaps.sides[:, 1],
            whole=gaps.distance.whole(),
        )


def _unknown(p: Floats) -> QuantileShift:
    nothing = np.full(len(p), np.nan)
    return QuantileShift(
        ratio=nothing,
        lower=nothing,
        upper=nothing,
        p_value=nothing,
        same_lower=nothing,
        same_upper=nothing,
        smallest=nothing,
        quantile_a=nothing,
        quantile_b=nothing,
        effective_a=nothing,
        effective_b=nothing,
    )
