"""Climates: spans of days in which all metrics together stay at one level.

Metrics are scaled by their noise from day to day, clipped, and cut where ::

    sum of squared distances to segment means + PENALTY kappa p ln n  per segment

is least (exactly), for ``n`` days of ``p`` metrics; ``kappa = (1 + f) / (1 - f)`` says how much days
resemble their neighbours. Segments with medians close to each other are then one climate that came back.
Sources: ``stats.partition``; docs/methods/umami.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from iosonde.stats.partition import best_cuts
from iosonde.stats.scaled import tamed

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Ints, Places


CLIP = 3.5
"""Clip scaled values at this distance from the days around them ..."""
FAR = 3 * CLIP
"""... and at this distance from the median of all days (as in ``shifts``)."""
SHORTEST_DAYS = 7
"""Least number of known days of a segment."""
PENALTY = 1.5
WIDE = 21
"""Days of the running median around which noise is measured."""
HIDDEN = 0.1
"""Added to the autocorrelation, part of which the running median removes."""
SLACK = 0.05
"""Tolerated excess of autocorrelation within segments over the first estimate."""
MOST_ALIKE = 0.9
"""Upper bound of the autocorrelation."""
SAME = 0.75
"""Segments closer than this times sqrt(p) are one climate."""
KNOWN_SHARE = 0.5
"""Least share of known metrics for a day to count."""

MOST = 1e150
"""Largest number taken as a measurement: squares of larger ones overflow."""


@dataclass(frozen=True)
class Regimes:
    """Days (n,) cut into segments.

    ``starts`` (segments,): first days, as places in the input; ``climate`` (segments,): which climate each is,
    from 0 in order of appearance; ``medians`` (segments, p) in the unit of each metric; ``days`` (segments,):
    known days; ``segment`` (n,): of each day, -1 where the day is not known; ``alike``: f.
    """

    starts: Ints
    climate: Ints
    medians: Floats
    days: Ints
    segment: Ints
    alike: float

    @property
    def climates(self) -> int:
        """Number of climates."""
        return len(np.unique(self.climate))


def regimes(values: Floats) -> Regimes:
    """Climates of ``values`` (days, p), one row a calendar day in order.

    Missing data: what is beyond ``MOST`` is missing. A day is left out when fewer than ``KNOWN_SHARE`` of the
    metrics that are ever known are known on it (segments have ``SHORTEST_DAYS`` known days); other gaps are filled
    with the running median of the metric, for the cuts only. Metrics that never change, or are known on fewer than
    half of those days, say nothing.
    """
    values = np.where(np.abs(values) <= MOST, values, np.nan)
    told = values[:, ~np.isnan(values).all(axis=0)]
    known = (~np.isnan(told)).sum(axis=1) >= max(1.0, KNOWN_SHARE * told.shape[1])
    places = np.flatnonzero(known)
    scaled, alike = _scaled(values[places])
    n, p = scaled.shape
    ends = [n] if n else []
    if p and n >= 2 * SHORTEST_DAYS:
        ends, alike = _stretches(scaled, alike)
    bounds = [0, *ends]
    pieces = [np.arange(a, b) for a, b in pairwise(bounds)]
    levels = np.array([np.median(scaled[piece], axis=0) for piece in pieces])
    climate = _recurring(np.clip(levels, -CLIP, CLIP), p)
    segment = np.full(len(values), -1, dtype=np.int64)
    for index, piece in enumerate(pieces):
        segment[places[piece]] = index
    medians = [known_median(values[places[piece]]) for piece in pieces]
    return Regimes(
        np.array([places[piece[0]] for piece in pieces], dtype=np.int64),
        climate,
        np.array(medians).reshape(len(pieces), values.shape[1]),
        np.array([len(piece) for piece in pieces], dtype=np.int64),
        segment,
        alike,
    )


def known_median(values: Floats) -> Floats:
    """Median of known values in each column (n, p) -> (p,); NaN without any."""
    medians = np.full(values.shape[1], np.nan)
    some = ~np.isnan(values).all(axis=0)
    medians[some] = np.nanmedian(values[:, some], axis=0)
    return medians


def noise_scale(series: Floats) -> float:
    """Standard deviation of the noise of ``series`` (n,), from steps between neighbours; 0 for a constant series.

    Missing data: none may be. From the median of absolute steps, from their mean where half of them are 0.
    """
    steps = np.abs(np.diff(series))
    if len(steps) == 0 or not steps.any():
        return 0.0
    return float(np.median(steps) * 1.4826 / np.sqrt(2) or steps.mean() * np.sqrt(np.pi) / 2)


def running_median(series: Floats, wide: int = WIDE) -> Floats:
    """Median of the ``wide`` values around each of ``series`` (n,); fewer at the ends. NaN is left out."""
    half = wide // 2
    padded = np.pad(series, half, constant_values=np.nan)
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1)
    median = np.full(len(series), np.nan)
    some = ~np.isnan(windows).all(axis=1)
    median[some] = np.nanmedian(windows[some], axis=1)
    return median


def alikeness(residuals: Floats) -> float:
    """f: lag-1 autocorrelation of ``residuals`` (n, p) around a running median, mean over columns, + ``HIDDEN``."""
    size = (residuals**2).sum(axis=0)
    use = size > 0
    if len(residuals) < 3 or not use.any():
        return 0.0
    first = (residuals[1:] * residuals[:-1]).sum(axis=0)[use] / size[use]
    return float(np.clip(first.mean() + HIDDEN, 0.0, MOST_ALIKE))


def _scaled(values: Floats) -> tuple[Floats, float]:
    """Informative columns in units of their noise, without gaps; and f."""
    columns, residuals = [], []
    for column in tamed(values).T if len(values) else ():
        missing = np.isnan(column)
        if missing.mean() > 1 - KNOWN_SHARE or not (scale := noise_scale(column[~missing])):
            continue
        with np.errstate(over="ignore"):  # what is out of reach is clipped
            z = np.clip((column - np.median(column[~missing])) / scale, -FAR, FAR)
        around = running_median(z)
        around[np.isnan(around)] = 0.0
        # Around the level of these days: far from that of all days, a level must not be clipped away.
        z = np.where(missing, around, np.clip(z, around - CLIP, around + CLIP))
        columns.append(z)
        residuals.append(z - around)
    if not columns:
        return np.empty((len(values), 0)), 0.0
    return np.column_stack(columns), alikeness(np.column_stack(residuals))


def _stretches(scaled: Floats, alike: float) -> tuple[list[int], float]:
    """Ends of segments, and f. Autocorrelation within segments above the estimate raises the penalty of cuts."""
    n, p = scaled.shape
    while True:
        ends = _cut(scaled, PENALTY * (1 + alike) / (1 - alike) * p * np.log(n))
        within = _within(scaled, [0, *ends])
        if within <= alike + SLACK:
            return ends, alike
        alike = within


def _within(scaled: Floats, bounds: list[int]) -> float:
    """Lag-1 autocorrelation within segments, corrected for the subtraction of means."""
    rest = np.vstack([scaled[a:b] - scaled[a:b].mean(axis=0) for a, b in pairwise(bounds)])
    size = (rest**2).sum(axis=0)
    if not (size > 0).all():
        return 0.0
    first = float(((rest[1:] * rest[:-1]).sum(axis=0) / size).mean())
    return float(np.clip(first + (1 + 4 * first) * (len(bounds) - 1) / len(rest), 0.0, MOST_ALIKE))


def _cut(scaled: Floats, penalty: float) -> list[int]:
    """Ends of segments, the last one n."""
    n = len(scaled)
    total = np.vstack([np.zeros(scaled.shape[1]), np.cumsum(scaled, axis=0)])
    squares = np.concatenate([[0.0], np.cumsum((scaled**2).sum(axis=1))])

    def cost(starts: Places, end: int) -> Floats:
        """Squared distances of [start, end) to the segment's means."""
        gap = total[end] - total[starts]
        return np.asarray(squares[end] - squares[starts] - (gap**2).sum(axis=1) / (end - starts))

    return [*best_cuts(cost, np.arange(n) + 1 - SHORTEST_DAYS, penalty), n]


def _recurring(medians: Floats, p: int) -> Ints:
    """Number climates in order of appearance; segments with nearby medians share one."""
    if len(medians) < 2 or p == 0:
        return np.zeros(len(medians), dtype=np.int64)
    from scipy.cluster.hierarchy import fcluster, linkage  # type: ignore[import-untyped, unused-ignore]
    from scipy.spatial.distance import pdist  # type: ignore[import-untyped, unused-ignore]

    groups = fcluster(linkage(pdist(medians), "average"), SAME * np.sqrt(p), "distance")
    _, first, which = np.unique(groups, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))
    return np.asarray(order[which], dtype=np.int64)
