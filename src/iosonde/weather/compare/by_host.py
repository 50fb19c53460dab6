"""Whether the probing host explains that one side of a comparison is slower: the rule of windows, for quantiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iosonde.weather.slowdown.rules import host_busy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iosonde.model.arrays import Flags, Floats
    from iosonde.model.frames import Frame


def explained_by_host(a: Frame, b: Frame, levels: Sequence[float]) -> Flags:
    """(levels,) Whether the host of the slower side explains the difference of a quantile.

    ``a``, ``b``: ``response_ns waited_ns late_ns`` of samples with a response time; ``late_ns`` is NaN where unknown.
    A side without samples explains nothing.
    """
    if len(a) == 0 or len(b) == 0:
        return np.zeros(len(levels), dtype=np.bool_)
    ours, theirs = _at(a["response_ns"], levels), _at(b["response_ns"], levels)
    slower_b = theirs > ours
    return np.where(
        slower_b, _explained(b, theirs, ours, levels), _explained(a, ours, theirs, levels)
    )


def _explained(side: Frame, at: Floats, usual: Floats, levels: Sequence[float]) -> Flags:
    """Whether the host explains that the quantiles ``at`` of ``side`` are above the ``usual`` ones."""
    unqueued = _at(side["response_ns"] - side["waited_ns"], levels)
    known = side["late_ns"][~np.isnan(side["late_ns"])]
    median, q90 = (
        np.full(len(levels), float(np.quantile(known, q, method="inverted_cdf")))
        if len(known)
        else np.full(len(levels), np.nan)
        for q in (0.5, 0.9)
    )
    return host_busy(at / usual, unqueued / usual, median, usual, (median, q90))


def _at(values: Floats, levels: Sequence[float]) -> Floats:
    """Nearest-rank quantiles of values, at least 1 ns."""
    return np.maximum(np.quantile(values, levels, method="inverted_cdf"), 1.0)
