"""Slow runs in a row: the third slow run of its kind in four days is no accident of one day."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.jobs.explain.comparable import SLOW_FROM
from iosonde.model.units import DAY_NS

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Instants

LONGEST_DAYS = 7
"""Days before the run in which slow runs are counted."""
FEWEST = 2
"""Least number of slow runs before it."""
MOSTLY = 2 / 3
"""Least share of slow runs among all runs from the first of them on."""
RARELY = 0.25
"""Largest share of slow runs in the rest of the history."""
AS_SLOW = 0.5
"""Least loss of a run that counts as slow too, as a share of the run's."""


class Streak(NamedTuple):
    """Slow runs before a slow run: their begins in ns, oldest first, and the run's own begin last."""

    at_ns: tuple[int, ...]

    @property
    def days(self) -> int:
        """Days from the first to the last, both counted as begun."""
        return int((self.at_ns[-1] - self.at_ns[0]) // DAY_NS) + 1


def streak(start_ns: Instants, y: Floats, today: tuple[int, float], usual: float) -> Streak | None:
    """Slow runs shortly before a run, None if it does not continue a row of them.

    ``start_ns``, ``y`` (n,): begins and performance of its history in order of time; ``today``: of the run. Missing
    data: runs without performance are left out.
    """
    loss = (usual - today[1]) / usual if usual > 0 else 0.0
    if not loss >= SLOW_FROM:
        return None
    known = np.isfinite(y) & (start_ns < today[0])
    begun, slow = start_ns[known], (usual - y[known]) / usual >= max(SLOW_FROM, AS_SLOW * loss)
    recent = begun >= today[0] - LONGEST_DAYS * DAY_NS
    if slow[~recent].sum() > RARELY * (~recent).sum():
        return None
    for first in np.flatnonzero(recent & slow):
        row = slow[first:]
        if row.sum() >= FEWEST and row.sum() + 1 >= MOSTLY * (len(row) + 1):
            return Streak((*begun[first:][row].tolist(), today[0]))
    return None
