"""Nodes and jobs near the limit in generated months.

    python -m benchmarks load_months [--days 30] [--months 3]

In moments near the limit, 2 to 50 nodes hold more than half of the operations, and these belong to one or two jobs. The
counter-case: as many jobs with small steady loads of one size and no hog, of which nobody stands out.

near       the busiest hundredth of the moments; middle: those between the 40 and the 60% quantile
nodes      that made more than half of a moment: middle, smallest and largest
jobs       that made more than half of what these nodes did
claim      share of moments with 2 to 50 such nodes and one or two such jobs; few: one or two jobs, any number of nodes
"""

from __future__ import annotations

import numpy as np

from benchmarks.truth.load.week import Cluster, Made, generate
from benchmarks.truth.shares import show
from iosonde.jobs.attribution.join import join
from iosonde.jobs.blame.bands import Each, band_of

JOBS_PER_DAY = 23_500 / 7
ALIKE = ((0.10, 0.0, 0.90, 0.0), ((60.0, 0.8), (20.0, 0.2), (150.0, 0.7)))
"""Shares of kinds and rates of the counter-case: nine of ten jobs do 20 operations per second, more or less."""


def rows(made: Made) -> list[tuple[object, ...]]:
    """A row a band of one month."""
    joined = join(made.recorded, made.allocations)
    rate = made.recorded.ops.sum(axis=0, dtype=np.float64) / (made.recorded.grid.step_ns / 1e9)
    bands = {"near": (0.99, 1.0), "middle": (0.4, 0.6)}
    found = []
    grid = made.recorded.grid
    for name, quantiles in bands.items():
        low, high = np.quantile(rate, quantiles)
        high = np.inf if name == "near" else high
        band = band_of(joined, grid.begin_ns, grid.end_ns, (float(low), float(high)))
        each = (_each(band.nodes_each), _each(band.jobs_each), band.claim, band.few)
        found.append((name, f"{low:,.0f}", band.moments, *each))
    return found


def _each(each: Each) -> str:
    return f"{each.middle:g} ({each.least}-{each.most})"


def main(days: int = 30, months: int = 3) -> None:
    """Print two rows a month and kind of cluster."""
    jobs = int(JOBS_PER_DAY * days)
    print(f"196 nodes, {days} days at 30 s, {jobs} jobs\n")
    clusters = {
        "hogs": Cluster(jobs=jobs, days=days),
        "alike": Cluster(jobs=jobs, days=days, shares=ALIKE[0], rates=ALIKE[1]),
    }
    show(
        ("month", "moments", "from (1/s)", "n", "nodes", "jobs", "claim", "few"),
        (
            (f"{seed} {name}", *row)
            for seed in range(1, months + 1)
            for name, cluster in clusters.items()
            for row in rows(generate(cluster, seed))
        ),
    )
