"""Robust locations and scales of many small groups at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Ints

HUBER = 1.345
"""Clipping point in standard deviations: 95 % efficient under normal noise."""
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
    values: Floats, number: Ints, count: int, scale: float, use: Floats | None = None
) -> tuple[Floats, Floats]:
    """Huber location by ``number`` and the weight of each value; ``use``: weights of 0 leave a value out.

    ``scale``: standard deviation within groups. NaN for a group without values.
    """
    given = np.ones(len(values)) if use is None else use
    some = given > 0
    centre = group_median(values[some], number[some], count)
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
    """Standard deviation from the median absolute value; 0 for none."""
    known = np.abs(values[np.isfinite(values)])
    return float(np.median(known)) / _NORMAL_MAD if len(known) else 0.0


def scale_of(deviations: Floats, *, tails: bool) -> float:
    """Standard deviation of centred values. ``tails``: or of their 85 % quantile, whichever is larger."""
    known = np.abs(deviations[np.isfinite(deviations)])
    if not len(known):
        return 0.0
    middle = float(np.median(known)) / _NORMAL_MAD
    return max(middle, float(np.quantile(known, 0.85)) / _NORMAL_Q85) if tails else middle


def shortest_half(values: Floats) -> tuple[float, float]:
    """Centre and standard deviation from the shortest interval with half of the values: half of them may be wrong."""
    ordered = np.sort(values)
    take = len(ordered) // 2 + 1
    width = ordered[take - 1 :] - ordered[: len(ordered) - take + 1]
    at = int(np.argmin(width))
    inside = ordered[at : at + take]
    return float(inside.mean()), float(width[at]) / (2 * _NORMAL_MAD)


def biweight_fit(design: Floats, values: Floats, weight: Floats) -> Floats:
    """Robust linear regression: Huber, then Tukey's biweight. ``design`` (rows, columns) holds the constant."""
    w = weight.copy()
    beta = np.zeros(design.shape[1])
    for step in range(12):
        root = np.sqrt(w)[:, None]
        beta = np.linalg.lstsq(design * root, values * root[:, 0], rcond=1e-9)[0]
        left = values - design @ beta
        scale = max(mad(left - np.median(left)), 1e-6)
        u = np.abs(left) / scale
        w = weight * (np.fmin(1, HUBER / np.maximum(u, 1e-9)) if step < 6 else np.clip(1 - (u / 4.685) ** 2, 0, 1) ** 2)
        if w.sum() <= 0:
            break
    return beta
