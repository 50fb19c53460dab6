"""Comparison of all latencies of two samples: distance explained by load alone.

The gap between two shares ends at 1, so a load of the model explains any gap with some probability, however far
apart the latencies lie. The difference of mean log latencies has no end. With ``s_a^2``, ``s_b^2`` the variances of
the log latencies seen within the sides and ``V`` that of the mean of a series of variance 1 under (``tau``, ``h``)::

    d   = mean log b - mean log a                           exp(d): ratio of geometric means
    D^2 = s_a^2 V_a / (1 - V_a) + s_b^2 V_b / (1 - V_b)     what this load and chance do to d

``s^2 / (1 - V)`` is the whole variance of a series of which a period shows the part ``1 - V`` on average. A mean of
logs is linear in shares, so it holds for a hit share that swings too. That there is a load is taken for granted
(no weight on ``h = 0``). Source: docs/methods/compare.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.stats.student import student_share
from iosonde.stats.tails import normal_quantile
from iosonde.weather.compare import dependence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iosonde.model.arrays import Floats
    from iosonde.weather.compare.sides import Side


_STEPS = 30
_LARGEST = np.log(1e12)


@dataclass(frozen=True)
class Whole:
    """Ratio of geometric means b / a, its 95% interval, the p value of "a load and chance explain it".

    NaN = too few samples.
    """

    ratio: float
    lower: float
    upper: float
    p_value: float


UNKNOWN = Whole(*[float("nan")] * 4)


class Distance:
    """Mean log latencies of two sides. ``layouts``: the block grids of both."""

    def __init__(self, sides: tuple[Side, Side], layouts: Sequence[dependence.BlockGrid]) -> None:
        least = min(_least(side.sorted) for side in sides)
        logs = [np.log(np.maximum(side.value, least)) for side in sides]
        weights = [side.blocks.weight for side in sides]
        means = [float(np.dot(w, log)) for w, log in zip(weights, logs, strict=True)]
        seen = [
            float(np.dot(w, (log - mean) ** 2))
            for w, log, mean in zip(weights, logs, means, strict=True)
        ]
        shares = [dependence.mean_variance(layout) for layout in layouts]
        self.size = means[1] - means[0]
        self._freedom = sum(len(layout.values[0]) for layout in layouts)
        self._deviation: Floats = np.sqrt(
            sum(s * v / (1 - v) for s, v in zip(seen, shares, strict=True)) + 1e-24
        )
        ranks = [normal_quantile(side.ranks) for side in sides]
        self._weights = [_weights(layouts, series) for series in (logs, ranks)]

    def chance(self, size: float) -> float:
        """Two-sided p value of a difference of at least ``size`` (log ratio)."""
        tail = 2 * student_share(-abs(size) / self._deviation, self._freedom)
        return min(1.0, max(float((weight * tail).sum()) for weight in self._weights))

    def at(self, chance: float) -> float:
        """Log ratio with this probability; infinite beyond 1e12."""
        low, high = 0.0, float(_LARGEST)
        if self.chance(high) > chance:
            return float("inf")
        for _ in range(_STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.chance(middle) > chance else (low, middle)
        return high

    def whole(self) -> Whole:
        """Result of the comparison."""
        usual = self.at(0.05)
        with np.errstate(over="ignore"):
            ratio, lower, upper = np.exp([self.size, self.size - usual, self.size + usual]).tolist()
        return Whole(ratio, lower, upper, self.chance(self.size))


def _weights(layouts: Sequence[dependence.BlockGrid], series: Sequence[Floats]) -> Floats:
    """Posterior weights of loads from both sides of a series."""
    one, other = (
        dependence.evidence(layout, of_side, outside=True)
        for layout, of_side in zip(layouts, series, strict=True)
    )
    return dependence.weights(one + other, no_load=0.0)


def _least(values: Floats) -> float:
    """Smallest positive value, a substitute for values that a coarse clock read as 0."""
    above = values[values > 0]
    return float(above[0]) if len(above) else 1.0
