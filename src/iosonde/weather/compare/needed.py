"""Power of an inconclusive comparison: detectable difference, and data needed for a verdict.

The standard deviation of a share falls with the square root of a period's length, and the half width ``w`` of an
interval of log ratios with it. If the log ratios ``l`` stay as they are, periods must be longer by::

    max over q25 .. q95 of (w / (log m - |l|))^2      to be the same within the margin m, where all |l| lie below log m
    min over q25 .. q95 of (w / |l|)^2                to be different, else
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags
    from iosonde.weather.compare.compare import OpShift

_MOST = 100.0
"""Largest extrapolation factor of a width."""


class Needed(NamedTuple):
    """``factor``: difference of all latencies that would have been detected in 80% of cases.

    ``longer``: periods of so many times the length would tell, if the ratios stay;
    ``samples``: fewest samples of a side, where one has fewer. None = not known.
    """

    factor: float | None
    longer: float | None
    samples: int | None


def needed(op: OpShift, asked: Flags, margin: float, fewest: int | None) -> Needed:
    """Data needed for an op that is shown neither equal nor different.

    ``asked`` (levels,): quantiles that must lie within the margin to be the same; ``fewest``: samples that a side
    lacks. Missing data: an interval without an end gives no ``longer``.
    """
    if fewest is not None:
        return Needed(None, None, fewest)
    shift, seen = op.shift, op.seen
    half = np.log(shift.same_upper[asked] / shift.same_lower[asked]) / 2
    apart = np.abs(np.log(shift.ratio[asked]))
    with np.errstate(divide="ignore"):
        if (apart < np.log(margin)).all():
            longer = float(((half / (np.log(margin) - apart)) ** 2).max())
        else:
            longer = float(((half / apart) ** 2).min())
    return Needed(
        seen if np.isfinite(seen) else None,
        max(longer, 1.0) if longer <= _MOST else None,
        None,
    )
