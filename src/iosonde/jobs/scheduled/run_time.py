"""Rank of a job's run time among earlier runs of the same name, user and size.

The same size: as many nodes, where that is known of the job. Only completed runs count: one that was killed took as
long as somebody let it. ``share``: of the earlier runs, those that took less, ties as half; its interval is Wilson's at
95%. Under ``FEWEST`` runs nothing is said. Source: Wilson 1927; the midrank of ties as in stats/midranks.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from iosonde.jobs.store.earlier_runs import EarlierRuns

FEWEST = 8
"""Least number of earlier runs for a rank."""
LATEST = 1000
"""Most earlier runs, the latest: a program changes over the years."""
_Z = 1.959964


@dataclass(frozen=True)
class RunTime:
    """A run time (s) among ``n`` earlier ones of the same size; None for too few of them.

    ``others``: earlier runs of other sizes. ``going_on``: it takes longer still, so ``share`` is a lower bound.
    """

    run_s: float
    n: int
    others: int
    nodes: int | None
    going_on: bool = False
    share: float | None = None
    share_lower: float | None = None
    share_upper: float | None = None
    median_s: float | None = None
    q25_s: float | None = None
    q75_s: float | None = None

    @property
    def ratio(self) -> float | None:
        """Run time over the median of earlier ones."""
        return self.run_s / self.median_s if self.median_s else None


def run_time(
    run_s: float, nodes: int | None, earlier: EarlierRuns, *, going_on: bool = False
) -> RunTime:
    """Rank of a run time among earlier ones."""
    same = np.ones(len(earlier.run_s), bool) if nodes is None else earlier.nodes == nodes
    times = earlier.run_s[same][-LATEST:]
    others = int(np.count_nonzero(~same))
    n = len(times)
    if n < FEWEST:
        return RunTime(run_s, n, others, nodes, going_on)
    share = float(np.mean(times < run_s) + 0.5 * np.mean(times == run_s))
    lower, upper = _wilson(share, n)
    q25, median, q75 = np.quantile(times, (0.25, 0.5, 0.75)).tolist()
    return RunTime(run_s, n, others, nodes, going_on, share, lower, upper, median, q25, q75)


def _wilson(share: float, n: int) -> tuple[float, float]:
    middle = share + _Z * _Z / (2 * n)
    half = _Z * sqrt(share * (1 - share) / n + _Z * _Z / (4 * n * n))
    below = 1 + _Z * _Z / n
    return max(0.0, (middle - half) / below), min(1.0, (middle + half) / below)
