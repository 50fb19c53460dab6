"""Robust locations and scales of many small groups at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Ints

HUBER = 1.345
"""Clipping point in standard deviations: 95% efficient under normal noise."""
FEW = 8
"""Number of targets below which no covariates are fitted, and scatter needs a prior."""
_MOST_SLOPES = 1_500
_NORMAL_MAD, _NORMAL_Q85 = 0.6745, 1.4395


def group_median(values: Floats, number: Ints, count: int) -> Floats:
    """Median of ``values`` by ``number``, shape (count,); NaN for none."""
    order = np.lexsort((values, number))
    ordered, size = values[order], np.bincount(number, minlength=count)
    first = np.cumsum(size) - size
    known = size > 0
    out = np.full(count, np.nan)
    low = first[known] + (size[known] - 1) // 2
    high = first[known] + size[known] // 2
    out[known] = (ordered[low] + ordered[high]) / 2
    return out


def group_huber(
    values: Floats,
    number: Ints,
    count: int,
    scale: float,
    *,
    start: Floats | None = None,
    use: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Huber location by ``number`` and the weight of each value; NaN for a group without values.

    ``scale``: standard deviation within groups. ``start``: medians, shape (count,), if they are known. ``use``:
    weights, of which 0 leaves a value out.
    """
    given = np.ones(len(values)) if use is None else use
    some = given > 0
    centre = group_median(values[some], number[some], count) if start is None else start
    weight = given
    for _ in range(3):
        away = np.abs(values - centre[number])
        with np.errstate(divide="ignore", invalid="ignore"):
            weight = given * np.fmin(1.0, HUBER * scale / away)
        weight = np.where(np.isfinite(weight), weight, 0.0)
        total = np.bincount(number, weight, count)
        with np.errstate(invalid="ignore"):
            new = np.bincount(number, weight * np.where(weight > 0, values, 0.0), count) / total
        centre = np.where(total > 0, new, centre)
    return centre, weight


def mad(values: Floats) -> float:
    """Standard deviation from the median absolute value; 0 for an empty array."""
    known = np.abs(values[np.isfinite(values)])
    return float(np.median(known)) / _NORMAL_MAD if len(known) else 0.0


def scale_of(deviations: Floats, *, tails: bool) -> float:
    """Standard deviation of centred values. ``tails``: or from their 85% quantile, whichever is larger."""
    known = np.abs(deviations[np.isfinite(deviations)])
    if not len(known):
        return 0.0
    middle = float(np.median(known)) / _NORMAL_MAD
    return max(middle, float(np.quantile(known, 0.85)) / _NORMAL_Q85) if tails else middle


def shortest_half(values: Floats) -> tuple[float, float]:
    """Centre and standard deviation from the shortest interval with half of the values: half of them may be
    outliers.
    """
    ordered = np.sort(values)
    take = len(ordered) // 2 + 1
    width = ordered[take - 1 :] - ordered[: len(ordered) - take + 1]
    at = int(np.argmin(width))
    inside = ordered[at : at + take]
    return float(inside.mean()), float(width[at]) / (2 * _NORMAL_MAD)


def repeated_median(x: Floats, values: Floats) -> float:
    """Slope of ``values`` on ``x``: repeated median, which tolerates outliers in half of the rows."""
    if len(x) > _MOST_SLOPES:
        some = np.linspace(0, len(x) - 1, _MOST_SLOPES).astype(np.intp)
        x, values = x[some], values[some]
    dx = x[None, :] - x[:, None]
    far = np.abs(dx) > 0.2 * max(float(np.std(x)), 1e-12)
    slopes = np.where(far, (values[None, :] - values[:, None]) / np.where(far, dx, 1.0), np.nan)
    used = far.any(axis=1)
    return float(np.median(np.nanmedian(slopes[used], axis=1))) if used.any() else 0.0


def biweight_fit(design: Floats, values: Floats, weight: Floats, start: Floats) -> Floats:
    """Robust linear regression by Tukey's biweight from ``start``. ``design`` (rows, columns) holds the constant."""
    w: Floats = weight.copy()
    beta: Floats = start
    for _ in range(10):
        left = values - design @ beta
        left = left - np.median(left)
        u = np.abs(left) / max(mad(left), 1e-6)
        w = weight * np.clip(1 - (u / 4.685) ** 2, 0, 1) ** 2
        root = np.sqrt(w)[:, None]
        beta = np.asarray(np.linalg.lstsq(design * root, values * root[:, 0], rcond=1e-9)[0])
    return beta
