"""Selection of the drawn part of a diagram: runs around the job, and rows without repetitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.jobs.umami.diagram import MetricRow, Umami

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats

MOST_RUNS, MOST_ROWS = 30, 9
"""Most runs and rows distinguishable in a picture."""
_FEWEST = 4
"""Least number of distinct values: fewer are in the same order by chance."""
_WEEK_S = 7 * 86_400.0
_FARTHER = 4.0
"""Least gap in typical distances between runs, and at least a week."""


class Shown(NamedTuple):
    """Numbers of runs and rows drawn. ``runs``, ``rows``: None draws all, with rows that repeat another."""

    runs: int | None = MOST_RUNS
    rows: int | None = MOST_ROWS

    def slice(self, umami: Umami) -> slice:
        """Slice of runs: the latest up to the job, and later ones if there are too few before it."""
        n = len(umami.times_s)
        if self.runs is None or n <= self.runs:
            return slice(0, n)
        last = n if umami.history == "earlier" else min(n, umami.place + 1 + self.runs // 2)
        last = max(last, self.runs)
        return slice(last - self.runs, last)

    def picked(self, rows: Sequence[MetricRow]) -> tuple[MetricRow, ...]:
        """Rows drawn, in order."""
        if self.rows is None:
            return tuple(rows)
        kept: list[MetricRow] = []
        for row in rows:
            if not any(repeats(row.values, other.values) for other in kept):
                kept.append(row)
        return tuple(kept[: self.rows])


def repeats(one: Floats, other: Floats) -> bool:
    """True if two metrics order all runs equally, or oppositely: one row suffices.

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
    """Indices of runs after weeks without any: no line leads to them. ``times_s`` (n,) ascending."""
    steps = np.diff(times_s)
    if len(steps) < 2:
        return ()
    least = max(_WEEK_S, _FARTHER * float(np.median(steps)))
    return tuple((np.flatnonzero(steps > least) + 1).tolist())
