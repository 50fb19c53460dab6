"""Suspects by presence alone, if jobs have no recorded operations: correlation of presence with a slowdown.

One event says little, as many jobs come and go with it: the ranking is one of jobs "active at the time". Over several
events the same user or program comes back. Source: reference/methods.md, section 7.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from iosonde.jobs.attribution.pursuit import LAGS, lagged

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags, Floats


def presence_match(active: Floats, slowdown: Floats, event: Flags) -> Floats:
    """(M,) Largest correlation over lags of presence (M, K), 0 to 1, with ln slowdown (K,), NaN = unknown.

    Who was not there in the event has -1, and who was there all the time 0.
    """
    known = np.isfinite(slowdown)
    there = active[:, event].any(axis=1)
    y = np.log(np.maximum(slowdown[known], 1e-3))
    y = y - y.mean()
    size = max(float(np.sqrt(y @ y)), 1e-300)
    best = np.full(len(active), -1.0)
    for lag in LAGS:
        x = lagged(active, lag)[:, known]
        x = x - x.mean(axis=1, keepdims=True)
        length = np.sqrt((x**2).sum(axis=1))
        match = np.divide(x @ y, length * size, out=np.zeros(len(x)), where=length > 0)
        np.maximum(best, match, out=best)
    return np.where(there, best, -1.0)


def over_events(events: Sequence[tuple[Sequence[str], Floats]]) -> list[tuple[str, float]]:
    """Users or programs over several events, (owner of each job, its match) each: by the mean of the best match.

    Who was not there in an event has 0 for it.
    """
    sums: dict[str, float] = defaultdict(float)
    for names, match in events:
        best: dict[str, float] = {}
        for name, one in zip(names, match.tolist(), strict=True):
            best[name] = max(best.get(name, 0.0), one)
        for name, one in best.items():
            sums[name] += one / len(events)
    return sorted(sums.items(), key=lambda pair: (-pair[1], pair[0]))
