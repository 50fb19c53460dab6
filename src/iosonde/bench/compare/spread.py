"""Variation between runs with equal parameters, and a test of the difference of two sides against it.

Values are logarithms. A run counts once: its mean over repetitions, because repetitions of one run share what differs
from run to run (the file system's state, the load, where files lie). The variance ``s2`` of a run's mean is ::

    s2 = max(l**2 + u v0, (u F0 v0 + S) / (u F0 + f))
    v0 = LEAST**2 + w (1 / R + 1)        u = max(0, 1 - f / ENOUGH)

with ``w`` the variance among the ``R`` repetitions of a run, ``f`` the degrees of freedom of what shows how runs
differ, ``S`` its sum of squares: several runs a side (``l`` = FLOOR), else other runs of the store that were asked for
alike (``l`` = LEAST). ``F0`` and ``v0`` stand for what is not seen, and count for less the more is. The difference of
both sides has variance ``s2 (1 / a + 1 / b)`` and Student's distribution with ``u F0 + f`` degrees of freedom.
Source: Smyth 2004 (moderated t); von Neumann 1941 (squared differences of neighbours); docs/methods/compare-runs.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

LEAST = 0.10
"""Prior standard deviation between runs, in addition to that between repetitions."""
ASSUMED_FREEDOM = 2.0
"""F0: degrees of freedom of the prior."""
ENOUGH = 4.0
"""Observed degrees of freedom above which the prior is dropped."""
FLOOR = 0.03
"""Least standard deviation of runs; better agreement is luck."""
MOST_OF_OTHERS = 8.0
"""Most degrees of freedom of other runs: variation between runs has heavier tails than a normal distribution."""
NEIGHBOUR = 2.0 / 3.0
"""Degrees of freedom of a squared difference of neighbours: they overlap."""
POWER = 0.8


@dataclass(frozen=True, slots=True)
class Separation:
    """log b - log a with its standard error and degrees of freedom."""

    difference: float
    error: float
    freedom: float

    @property
    def p_value(self) -> float:
        """Two-sided p value of "both sides are equal"."""
        from scipy.special import stdtr  # type: ignore[import-untyped, unused-ignore]

        return float(2 * stdtr(self.freedom, -abs(self.difference) / self.error))

    def ratio(self) -> float:
        """B / a."""
        return math.exp(self.difference)

    def interval(self, level: float) -> tuple[float, float]:
        """Interval of b / a."""
        half = self._t((1 + level) / 2) * self.error
        return math.exp(self.difference - half), math.exp(self.difference + half)

    def smallest(self, alpha: float) -> float:
        """Smallest ratio above 1 that is detected at ``alpha`` in 80 % of cases."""
        return math.exp(min(700.0, (self._t(1 - alpha / 2) + self._t(POWER)) * self.error))

    def _t(self, probability: float) -> float:
        from scipy.special import stdtrit  # type: ignore[import-untyped, unused-ignore]

        return float(stdtrit(self.freedom, probability))


Run = Sequence[float]
"""Logarithms of one measure, one per repetition."""


def separate(
    a: Sequence[Run], b: Sequence[Run], others: Sequence[Sequence[Run]] = ()
) -> Separation:
    """Compare two sides of one or more runs. ``others``: groups of runs in time order that show how runs differ."""
    means_a, means_b = ([_mean(run) for run in side] for side in (a, b))
    squares, freedom = 0.0, 0.0
    for means in (means_a, means_b):
        squares += (len(means) - 1) * _variance(means)
        freedom += len(means) - 1
    for group in others:
        means = [_mean(run) for run in group]
        steps = [(y - x) ** 2 / 2 for x, y in pairwise(means)]
        squares += NEIGHBOUR * sum(steps)
        freedom += NEIGHBOUR * len(steps)
    if others and freedom > MOST_OF_OTHERS:
        squares, freedom = squares * MOST_OF_OTHERS / freedom, MOST_OF_OTHERS
    every = [*a, *b]
    repetitions = len(every) / sum(1 / len(run) for run in every)
    assumed = LEAST**2 + _within(every) * (1 / repetitions + 1)
    unseen = max(0.0, 1 - freedom / ENOUGH)
    weight = unseen * ASSUMED_FREEDOM
    floor = (LEAST if others else FLOOR) ** 2 + unseen * assumed
    variance = max(floor, (weight * assumed + squares) / (weight + freedom))
    error = math.sqrt(variance * (1 / len(means_a) + 1 / len(means_b)))
    return Separation(_mean(means_b) - _mean(means_a), error, weight + freedom)


def _within(runs: Sequence[Run]) -> float:
    """Pooled variance among repetitions; 0 if each run has one."""
    freedom = sum(len(run) - 1 for run in runs)
    return sum((len(run) - 1) * _variance(run) for run in runs) / freedom if freedom else 0.0


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _variance(values: Sequence[float]) -> float:
    if len(values) < 2:
        return 0.0
    mean = _mean(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
