"""What of a diagram is drawn: so many runs around the job, so many rows, none that repeats another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.jobs.umami.diagram import MetricRow, Umami

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats

MOST_RUNS, MOST_ROWS = 30, 9
"""Runs and rows that can be told apart in a picture."""
_FEWEST = 4
"""Fewer values are in the same order by chance."""
_WEEK_S = 7 * 86_400.0
_FARTHER = 4.0
"""A gap is as long as so many usual distances between runs, and a week at least."""


class Shown(NamedTuple):
    """How much is drawn. ``runs``, ``rows``: None draws all; all rows include those that repeat another."""

    runs: int | None = MOST_RUNS
    rows: int | None = MOST_ROWS

    def slice(self, umami: Umami) -> slice:
        """The runs: the latest up to the job, and later ones where there are too few before it."""
        n = len(umami.times_s)
        if self.runs is None or n <= self.runs:
            return slice(0, n)
        last = n if umami.history == "earlier" else min(n, umami.place + 1 + self.runs // 2)
        last = max(last, self.runs)
        return slice(last - self.runs, last)

    def picked(self, rows: Sequence[MetricRow]) -> tuple[MetricRow, ...]:
        """The rows, in order."""
        if self.rows is None:
            return tuple(rows)
        kept: list[MetricRow] = []
        for row in rows:
            if not any(repeats(row.values, other.values) for other in kept):
                kept.append(row)
        return tuple(kept[: self.rows])


def repeats(one: Floats, other: Floats) -> bool:
    """Whether two metrics put all runs in the same order, or in the opposite one: one row says what both say.

    Shapes (n,). Runs that miss one of both count as a difference; so do fewer than ``_FEWEST`` different values.
    """
    known = np.isfinite(one)
    if not np.array_equal(known, np.isfinite(other)):
        return False
    ranks = [np.unique(column[known], return_inverse=True)[1] for column in (one, other)]
    distinct = [int(rank.max()) + 1 if len(rank) else 0 for rank in ranks]
    if distinct[0] != distinct[1] or distinct[0] < _FEWEST:
        return False
    return bool(
        np.array_equal(ranks[0], ranks[1]) or np.array_equal(ranks[0], ranks[1].max() - ranks[1])
    )


def gaps(times_s: Floats) -> tuple[int, ...]:
    """Places of runs before which nothing ran for weeks: no line leads to them. ``times_s`` (n,) ascending."""
    steps = np.diff(times_s)
    if len(steps) < 2:
        return ()
    least = max(_WEEK_S, _FARTHER * float(np.median(steps)))
    return tuple((np.flatnonzero(steps > least) + 1).tolist())
