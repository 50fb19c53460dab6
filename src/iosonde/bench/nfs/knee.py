"""Write rate at which reads begin to wait: a single queue, fitted to latency against rate.

A queue that serves C operations a second has a backlog of (r / C - 1) t seconds after t seconds at the rate r > C,
until it is full. So the median read of a point of T seconds waits base + min(P, (r / C - 1) T / 2), and the longest
one base + min(P, (r / C - 1) T). See docs/methods/nfs.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from iosonde.bench.nfs.points import SweepPoint
from iosonde.bench.nfs.spec import MS

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats

RAISED, LEAST_RISE_NS = 3.0, 2 * MS
"""Factor and least rise of the median read above the unloaded one that count as waiting."""
_GRID = 241
_FLAT = 1e-3
POOR_FIT = 0.2
"""Root mean square of the logarithm (base 10) above which the fit is poor."""


@dataclass(frozen=True, slots=True)
class Knee:
    """Write rate at which reads begin to wait. Rates per second, times in ns.

    ``low``: the highest rate at which they did not; ``high``: the lowest at which they did; ``rate`` lies between.
    ``lower``, ``upper``: the rates that explain the points equally well, whichever one of the points is left out.
    ``plateau_ns``: how long reads wait when the queue is full; None where none was seen. ``misfit``: root mean square
    of log10(measured / model).
    """

    rate: float
    low: float
    high: float
    lower: float
    upper: float
    base_ns: float
    plateau_ns: float | None
    misfit: float

    def median_ns(self, rate: Floats, seconds: float) -> Floats:
        """The model's median read at rates, for points of ``seconds``; shape of ``rate``."""
        return _model(rate, self.rate, self.base_ns, self.plateau_ns or math.inf, seconds / 2)

    def longest_ns(self, rate: Floats, seconds: float) -> Floats:
        """The model's longest read at rates, for points of ``seconds``; shape of ``rate``."""
        return _model(rate, self.rate, self.base_ns, self.plateau_ns or math.inf, seconds)


def is_raised(point: SweepPoint, base_ns: float) -> bool:
    """True if reads of a point waited; unanswered reads did."""
    median = point.quantile_ns(0.5)
    if 2 * point.unanswered >= max(1, point.reads_due):
        return True
    return median > max(RAISED * base_ns, base_ns + LEAST_RISE_NS)


def find_knee(points: Sequence[SweepPoint]) -> Knee | None:
    """Knee of a sweep; None if reads never waited, always did, or not at the highest rates.

    The first point has no load. Points whose writes were hardly answered are left out.
    """
    whole = _knee(points)
    if whole is None:
        return None
    without = (_knee([*points[:place], *points[place + 1 :]]) for place in range(1, len(points)))
    found = [whole, *(knee for knee in without if knee is not None)]
    return replace(
        whole, lower=min(one.lower for one in found), upper=max(one.upper for one in found)
    )


def _knee(points: Sequence[SweepPoint]) -> Knee | None:
    """Knee with the interval of these points alone."""
    base_ns = points[0].quantile_ns(0.5) if points else math.nan
    loaded = sorted((p for p in points if p.is_loaded), key=lambda p: p.rate_per_s)
    calm = [p.rate_per_s for p in loaded if not is_raised(p, base_ns)]
    raised = [p.rate_per_s for p in loaded if p.rate_per_s > max(calm, default=math.inf)]
    if not raised or math.isnan(base_ns):
        return None
    return _fit(loaded, calm[-1], raised[0])


def bump(points: Sequence[SweepPoint]) -> tuple[float, float] | None:
    """The least and the highest rate at which reads waited below a rate at which they did not; None without any."""
    base_ns = points[0].quantile_ns(0.5) if points else math.nan
    loaded = [p for p in points if p.is_loaded]
    calm = max((p.rate_per_s for p in loaded if not is_raised(p, base_ns)), default=0.0)
    within = [p.rate_per_s for p in loaded if is_raised(p, base_ns) and p.rate_per_s < calm]
    return (min(within), max(within)) if within else None


def _fit(loaded: Sequence[SweepPoint], low: float, high: float) -> Knee:
    seen = [p for p in loaded if not math.isnan(p.quantile_ns(0.5))]
    rate = np.array([p.rate_per_s for p in seen])
    measured = np.array([p.quantile_ns(0.5) for p in seen])
    half = np.array([p.lasted_ns / 2e9 for p in seen])
    base = float(np.exp(np.log(measured[rate <= low]).mean())) if (rate <= low).any() else math.nan
    grid = np.geomspace(low, high, _GRID)[:-1]
    plateaus = [math.inf, *(measured[rate >= high] - base).clip(1.0).tolist()]
    error = np.array(
        [
            [
                float(np.square(np.log10(measured / _model(rate, c, base, p, half))).sum())
                for p in plateaus
            ]
            for c in grid
        ]
    )
    best = error.min()
    _, full = np.unravel_index(int(error.argmin()), error.shape)
    # Where a full queue hides the growth, a stretch of rates explains the points equally well: its middle.
    equal = grid[error[:, full] <= best * 1.05 + _FLAT]
    plateau = plateaus[int(full)]
    return Knee(
        rate=float(np.sqrt(equal[0] * equal[-1])),
        low=low,
        high=high,
        lower=float(equal[0]),
        upper=float(equal[-1]),
        base_ns=base,
        plateau_ns=None if math.isinf(plateau) else plateau,
        misfit=math.sqrt(best / len(seen)),
    )


def _model(
    rate: Floats, capacity: float, base: float, plateau: float, seconds: float | Floats
) -> Floats:
    grown: Floats = np.maximum(rate / capacity - 1, 0) * np.asarray(seconds) * 1e9
    return base + np.minimum(grown, plateau)
