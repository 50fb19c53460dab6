"""Seed 2's claim on generated months: ``python -m benchmarks.load.months [--days 30] [--months 3]``.

In moments near the limit, 2 to 50 nodes hold more than half of the operations, and these belong to one or two jobs. The
counter-case: as many jobs with small steady loads of one size and no hog, of which nobody stands out.

near       the busiest hundredth of the moments; middle: those between the 40 and the 60% quantile
nodes      that made more than half of a moment: middle, smallest and largest
jobs       that made more than half of what these nodes did
claim      share of moments with 2 to 50 such nodes and one or two such jobs; few: one or two jobs, any number of nodes
"""

from __future__ import annotations

import argparse

import numpy as np

from benchmarks import machine
from benchmarks.load.week import Cluster, Made, generate
from iosonde.jobs.attribution.join import join
from iosonde.jobs.blame.bands import Each, band_of

JOBS_PER_DAY = 23_500 / 7
ALIKE = ((0.10, 0.0, 0.90, 0.0), ((60.0, 0.8), (20.0, 0.2), (150.0, 0.7)))
"""Shares of kinds and rates of the counter-case: nine of ten jobs do 20 operations per second, more or less."""


def rows(made: Made) -> list[str]:
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
        found.append(
            f"{name} | {low:,.0f} | {band.moments} | {_each(band.nodes_each)} | {_each(band.jobs_each)} | "
            f"{band.claim:.2f} | {band.few:.2f}"
        )
    return found


def _each(each: Each) -> str:
    return f"{each.middle:g} ({each.least}-{each.most})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--months", type=int, default=3)
    given = parser.parse_args()
    print(machine.line())
    print(f"\n196 nodes, {given.days} days at 30 s, {int(JOBS_PER_DAY * given.days)} jobs\n")
    print("| month | moments | from (1/s) | n | nodes | jobs | claim | few |\n" + "|---" * 8 + "|")
    jobs = int(JOBS_PER_DAY * given.days)
    for seed in range(1, given.months + 1):
        for name, cluster in (
            ("hogs", Cluster(jobs=jobs, days=given.days)),
            ("alike", Cluster(jobs=jobs, days=given.days, shares=ALIKE[0], rates=ALIKE[1])),
        ):
            for row in rows(generate(cluster, seed)):
                print(f"| {seed} {name} | {row} |", flush=True)


if __name__ == "__main__":
    main()
