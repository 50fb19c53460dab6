"""Course of a load beside that of the slowdown and of other loads: who leads, who follows, who is no different."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from iosonde.jobs.attribution.pursuit import LoadFit
    from iosonde.model.arrays import Flags, Floats, Places

BLOCK = 12
"""Slots (of five minutes) per bootstrap block."""
AFTER = 3
"""Largest lag of loads after the slowdown, in slots: a load that fits better so follows it."""
ALIKE = 0.95
"""Correlation above which two loads are indistinguishable."""
WITHIN = 0.7
"""Correlation inside the event that outweighs totals that were harmless at other times ..."""
EDGE = 2
"""... without so many slots of its begin and of its end."""
RIVAL = 0.9
"""Fit of an unchosen load, relative to a chosen one, above which the two are indistinguishable."""


def match(load: Floats, y: Floats, later: int) -> float:
    """Correlation of a load with the series ``later`` slots after it; negative: before it."""
    moved = np.roll(load, later)
    x, centred = moved - moved.mean(), y - y.mean()
    return float(x @ centred / max(np.sqrt((x @ x) * (centred @ centred)), 1e-300))


def lead(load: Floats, y: Floats) -> int:
    """Number of slots by which a load precedes the slowdown at the best fit; the smallest of equal ones."""
    return max(sorted(range(-AFTER, AFTER + 1), key=abs), key=lambda by: match(load, y, by))


def follows(load: Floats, y: Floats) -> bool:
    """True if the load fits better after the slowdown than at it or before."""
    cause = max(match(load, y, shift) for shift in range(AFTER + 1))
    return max(match(load, y, -shift) for shift in range(1, AFTER + 1)) > 1.1 * cause


def within(load: Floats, y: Floats, event: Flags) -> bool:
    """True if the load goes up and down with the slowdown inside the event, not just begins and ends with it."""
    inside = np.flatnonzero(event)[EDGE:-EDGE]
    return len(inside) >= BLOCK and match(load[inside], y[inside], 0) >= WITHIN


def alike(x: Floats, place: int) -> Places:
    """Other loads with the same course."""
    centred = x - x.mean(axis=1, keepdims=True)
    length = np.maximum(np.sqrt((centred**2).sum(axis=1)), 1e-300)
    same = centred @ centred[place] / (length * length[place]) >= ALIKE
    same[place] = False
    return np.flatnonzero(same)


def rivals(x: Floats, y: Floats, fit: LoadFit, place: int) -> Places:
    """Unchosen loads that explain the residual of the others almost as well as ``place`` does."""
    kept = fit.chosen != place
    left = y - fit.effect[kept] @ x[fit.chosen[kept]]
    centred, rest = x - x.mean(axis=1, keepdims=True), left - left.mean()
    length = np.maximum(np.sqrt((centred**2).sum(axis=1)), 1e-300)
    match = centred @ rest / length
    near = match >= RIVAL * match[place]
    near[fit.chosen] = False
    return np.flatnonzero(near)
