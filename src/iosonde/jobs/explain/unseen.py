"""Values beyond everything seen before: history cannot give their cost, but they must be reported.

How far beyond is counted from the extreme of the history, in robust scales, on the metric's own scale or on that of its
logarithm, whichever says less: a metric with a long tail often has a new largest value::

    scale = max(1.4826 MAD, IQR / 1.349, SMALLEST |median|, floor)
    beyond = (x - largest) / scale, of low values (smallest - x) / scale
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iosonde.jobs.umami.quartile import ENOUGH

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats

SMALLEST = 0.02
"""Least scale of a metric as a share of its median: a near-constant one does not explode."""


def beyond(history: Floats, value: float, bad_sign: float, floor: float) -> float:
    """Distance of ``value`` beyond all of ``history`` (n,) on its bad side, in scales; 0 if within.

    ``bad_sign``: +1 where high is bad, -1 where low is, 0: either side. ``floor``: least scale, in the metric's unit.
    Missing data: left out of the history; 0 with fewer than ``ENOUGH`` values, and for a missing value.
    """
    known = history[np.isfinite(history)]
    if len(known) < ENOUGH or not np.isfinite(value):
        return 0.0
    side = bad_sign or (1.0 if value > known.max() else -1.0)
    if not (value - (known.max() if side > 0 else known.min())) * side > 0:
        return 0.0
    far = _excess(known, value, side, max(floor, SMALLEST * abs(float(np.median(known)))))
    if value > 0 and known.min() > 0:
        far = min(far, _excess(np.log(known), float(np.log(value)), side, SMALLEST))
    return far


def _excess(known: Floats, value: float, side: float, least: float) -> float:
    middle = float(np.median(known))
    low, high = np.percentile(known, [25, 75])
    mad = 1.4826 * float(np.median(np.abs(known - middle)))
    scale = max(mad, float(high - low) / 1.349, least)
    end = float(known.max() if side > 0 else known.min())
    return (value - end) * side / scale if scale > 0 else float("inf")
