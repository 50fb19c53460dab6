"""Unusual for this hour of the week: what returns every week is slow, and no surprise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Ints

WEEKS = 4
"""Weeks looked back."""
AROUND = 3
"""Intervals of ten minutes to either side: half an hour."""
LEAST = 3
"""Values needed."""
_A_WEEK = 7 * 24 * 6


def hour_of_week(number: Ints, typ: Floats) -> Floats:
    """The median slowdown at the same time of the week, over the past four weeks.

    Shape: (n,), (n,) -> (n,). ``number``: ascending numbers of ten-minute intervals (start / 600 s).
    Value i is the median of typ within 30 minutes of the same time 1, 2, 3 and 4 weeks earlier.
    Unit: ratio.
    Missing data: NaN values are left out; NaN below three values.
    Source: docs/methods/slowdown.md.
    """
    n = len(number)
    if n == 0:
        return np.empty(0)
    first = int(number[0])
    grid = np.full(int(number[-1]) - first + 1, np.nan)
    place = number - first
    grid[place] = typ
    found = np.full((n, WEEKS * (2 * AROUND + 1)), np.nan)
    column = 0
    for week in range(1, WEEKS + 1):
        for step in range(-AROUND, AROUND + 1):
            at = place - week * _A_WEEK + step
            inside = at >= 0
            found[inside, column] = grid[at[inside]]
            column += 1
    enough = np.count_nonzero(~np.isnan(found), axis=1) >= LEAST
    answer = np.full(n, np.nan)
    if enough.any():
        answer[enough] = np.nanmedian(found[enough], axis=1)
    return answer
