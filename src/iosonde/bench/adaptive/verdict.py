"""Verdict on the limit, clients, servers or background work, from corrected rates at several waiting factors.

A closed network (``queue.closed_network``) knows two things only: the corrected rate stays as it is (nothing queues:
the clients are the limit) or rises with T (what queued finds the servers free). It never falls. Where it falls,
something else works when the servers are left idle.

::

    increases     at the largest T: lower end of the interval above 1 and the ratio above MARGIN; and over all levels:
                  lower end of the interval of the elasticity above 0
    decreases     the same downwards, or, by a stricter test, at a level in between alone (a dip)
    similar       interval at the largest T within 1 / MARGIN .. MARGIN, no level in between beyond it, and no dip
    inconclusive  neither, or fewer than FEWEST measurements

All tests are of logarithms and paired: the k-th measurement of a level with the k-th without waits, which takes away
what drifts from one measurement to the next.
Source: Kunkel and Markomanolis 2018 (the three answers); Schuirmann 1987 (two one-sided tests); Theil 1950, Sen 1968
(slope); docs/methods/adaptive.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from iosonde.bench.adaptive.rates import Rates
from iosonde.stats.t_interval import SD_FLOOR, half_of, half_width, quantile_of_t

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MARGIN = 1.15
"""Equivalence margin: ratios from 1 / 1.15 to 1.15 count as equal."""
FEWEST, EXTENDED, MOST = 5, 8, 20
"""Measurements before any verdict, for a second look at an inconclusive run, and at most."""
DIP_ERROR = 0.02
"""Probability of a false dip at any level in between, over all of them."""
_LIKELY = 0.8416
"""Standard errors of reserve: with so many measurements four runs in five decide."""


class RateTrend(StrEnum):
    """Effect of rising waiting factors on the corrected rate."""

    SIMILAR = "similar"
    INCREASES = "increases"
    DECREASES = "decreases"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True)
class RateRatio:
    """Corrected rate at ``level`` over that without waits, with its 90% interval (None below two measurements)."""

    level: float
    ratio: float
    lower: float | None
    upper: float | None
    measurements: int


@dataclass(frozen=True)
class LimitVerdict:
    """Verdict of a run. ``leaning``: the verdict if the ratios were exact.

    ``change``: at the largest T; ``changes``: at all levels above 0; ``dip``: the lowest one, where that is what the
    verdict rests on; ``implausible``: one that lies clearly above what waiting can explain, (1 + T) / (1 + T_0);
    ``more_measurements`` would decide an inconclusive run in four of five cases, None: not even
    ``MOST`` in all would; ``elasticity``: slope of the log rate on log(1 + T), 0 unsaturated, 1 saturated, with its
    interval.
    """

    trend: RateTrend
    leaning: RateTrend
    change: RateRatio
    changes: tuple[RateRatio, ...]
    dip: RateRatio | None
    implausible: RateRatio | None
    more_measurements: int | None
    elasticity: tuple[float, float | None, float | None]

    @property
    def plausible(self) -> bool:
        """True if waiting can explain every ratio."""
        return self.implausible is None


def judge(run: Rates) -> LimitVerdict:
    """Verdict of a run. Raises ValueError if no measurement has both T = 0 and the largest T."""
    logs = np.log(run.corrected_per_s)
    against = logs[:, 1:] - logs[:, :1]
    pairs = [column[np.isfinite(column)] for column in against.T]
    if len(pairs[-1]) == 0:
        raise ValueError(
            "no measurement has a rate without waits and one at the largest waiting factor"
        )
    slopes = _slopes_of_measurements(run)
    rule = _Rule(pairs, slopes)
    found = [_change(level, values) for level, values in zip(run.level[1:], pairs, strict=True)]
    trend, place = rule.decide(0)
    changes = tuple(change for change in found if change is not None)
    at_end = changes[-1]
    dip = found[place] if trend is RateTrend.DECREASES and place < len(pairs) - 1 else None
    return LimitVerdict(
        trend=trend,
        leaning=rule.leaning(),
        change=at_end,
        changes=changes,
        dip=dip,
        implausible=_implausible(run, found),
        more_measurements=rule.more() if trend is RateTrend.INCONCLUSIVE else 0,
        elasticity=_elasticity(slopes, _floor_of_slope(run)),
    )


def more_to_run(verdict: LimitVerdict, measurements: int) -> int:
    """Measurements to add to ``measurements`` before judging again: one further look, which the error rates include.

    0: there is a verdict, or there was that look.
    """
    if measurements < FEWEST:
        return FEWEST - measurements
    return max(0, EXTENDED - measurements) if verdict.trend is RateTrend.INCONCLUSIVE else 0


def _change(level: float, values: Floats) -> RateRatio | None:
    if len(values) == 0:
        return None
    mean, half = float(values.mean()), half_width(values)
    single = len(values) < 2
    return RateRatio(
        float(level),
        float(np.exp(mean)),
        None if single else float(np.exp(mean - half)),
        None if single else float(np.exp(mean + half)),
        len(values),
    )


class _Rule:
    """Decision rule of the verdict, for the actual or a hypothetical number of measurements."""

    def __init__(self, pairs: list[Floats], slopes: Floats) -> None:
        present = [values for values in pairs if len(values)]
        self._place = [place for place, values in enumerate(pairs) if len(values)]
        self._n = np.array([len(values) for values in present])
        self._mean = np.array([values.mean() for values in present])
        spread = [float(np.std(values, ddof=1)) if len(values) > 1 else 0.0 for values in present]
        self._sd = np.maximum(SD_FLOOR, spread)
        self._slope = float(slopes.mean())
        self._slope_sd = float(np.std(slopes, ddof=1)) if len(slopes) > 1 else 0.0

    def leaning(self) -> RateTrend:
        """Trend if the ratios were exact."""
        low, end, border = self._mean.min(), self._mean[-1], np.log(MARGIN)
        if low < -border:
            return RateTrend.DECREASES
        return RateTrend.INCREASES if end > border else RateTrend.SIMILAR

    def decide(self, more: int, luck: float = 0.0) -> tuple[RateTrend, int]:
        """Trend after ``more`` measurements like these and ``luck`` standard errors against us; and the deciding
        level.
        """
        n, border = self._n + more, float(np.log(MARGIN))
        if n[-1] < FEWEST:
            return RateTrend.INCONCLUSIVE, self._place[-1]
        error = self._sd / np.sqrt(n)
        low = self._dip(n, error, border, luck)
        if low is not None:
            return RateTrend.DECREASES, self._place[low]
        end, last = float(self._mean[-1]), float(error[-1])
        half, spare = half_of(last, int(n[-1])), luck * last
        clear = abs(end) - spare > border and abs(end) - spare - half > 0
        if clear and self._slope_agrees(int(n[-1]), end, luck):
            way = RateTrend.INCREASES if end > 0 else RateTrend.DECREASES
            return way, self._place[-1]
        within = bool(np.all(np.abs(self._mean[:-1]) + luck * error[:-1] < border))
        if within and abs(end) + spare + half < border:
            return RateTrend.SIMILAR, self._place[-1]
        return RateTrend.INCONCLUSIVE, self._place[-1]

    def _slope_agrees(self, n: int, way: float, luck: float) -> bool:
        """True if the elasticity clearly has the sign of ``way``: one lucky level is not enough."""
        error = self._slope_sd / n**0.5
        return bool(np.sign(way) * self._slope - luck * error - half_of(error, n) > 0)

    def _dip(self, n: NDArray[np.int64], error: Floats, border: float, luck: float) -> int | None:
        """Lowest of the levels in between with a significant fall of the rate (Bonferroni)."""
        between = len(n) - 1
        found = [
            place
            for place in range(between)
            if n[place] >= FEWEST
            and self._mean[place] + luck * error[place] < -border
            and self._mean[place] + luck * error[place]
            < -quantile_of_t(1 - DIP_ERROR / between, int(n[place]) - 1) * error[place]
        ]
        return min(found, key=lambda place: self._mean[place], default=None)

    def more(self) -> int | None:
        """Number of further measurements that would decide, if they are like these."""
        for more in range(1, MOST - int(self._n[-1]) + 1):
            if self.decide(more, _LIKELY)[0] is not RateTrend.INCONCLUSIVE:
                return more
        return None


def _implausible(run: Rates, changes: list[RateRatio | None]) -> RateRatio | None:
    """Ratio that is furthest beyond its limit."""
    most = (1 + run.measured[1:]) / (1 + run.measured[0])
    beyond = [
        ((change.lower or change.ratio) / float(limit), change)
        for change, limit in zip(changes, most, strict=True)
        if change is not None
    ]
    worst = max(beyond, key=lambda pair: pair[0], default=None)
    return worst[1] if worst is not None and worst[0] > 1 + SD_FLOOR else None


def _slopes_of_measurements(run: Rates) -> Floats:
    """Median slope of log rate on log(1 + T) over pairs of levels (Theil-Sen), for each measurement."""
    waited = np.log1p(run.measured)
    return np.array(
        [
            float(np.median(slopes))
            for row in np.log(run.corrected_per_s)
            if np.isfinite(row[[0, -1]]).all() and (slopes := list(_slopes(waited, row)))
        ]
    )


def _floor_of_slope(run: Rates) -> float:
    waited = np.log1p(run.measured)
    return SD_FLOOR / float(waited[-1] - waited[0])


def _elasticity(slopes: Floats, floor: float) -> tuple[float, float | None, float | None]:
    mean = float(slopes.mean())
    if len(slopes) < 2:
        return mean, None, None
    half = half_width(slopes, floor)
    return mean, mean - half, mean + half


def _slopes(waited: Floats, logs: Floats) -> Iterator[float]:
    present = np.flatnonzero(np.isfinite(logs))
    for low, high in combinations(present, 2):
        if waited[high] > waited[low]:
            yield float((logs[high] - logs[low]) / (waited[high] - waited[low]))
