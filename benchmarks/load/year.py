"""A year of 200 nodes at 30 s with 200,000 jobs: ``python -m benchmarks.load.year [--days 365] [--jobs 200000]``.

Printed: seconds of regridding a day of samples, of joining and of shares, of a day, and peak memory. Making it is not
timed.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import machine
from benchmarks.load.week import BEGIN_NS, Cluster, Made, S, generate
from iosonde.jobs.attribution.clock import clock_offset
from iosonde.jobs.attribution.grid import CounterSamples, regrid
from iosonde.jobs.attribution.join import join
from iosonde.jobs.attribution.shares import shares

DAY_NS = 86_400 * S


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--jobs", type=int, default=200_000)
    given = parser.parse_args()
    print(machine.line())
    made = generate(Cluster(exclusive=144, shared=56, jobs=given.jobs, days=given.days), 1)
    recorded, allocations = made.recorded, made.allocations
    print(f"200 nodes, {given.days} days, {recorded.ops.size / 1e6:.0f} M cells, {given.jobs} jobs")
    print(f"peak after making it: {_peak_gib():.2f} GiB\n\n| what | seconds |\n|---|---|")
    joined = _timed("join", lambda: join(recorded, allocations))
    _timed("shares of all of it", lambda: shares(joined))
    begin = BEGIN_NS + (given.days // 2) * DAY_NS
    _timed("shares of a day", lambda: shares(joined, begin, begin + DAY_NS))
    day = recorded.between(begin, begin + DAY_NS)
    of_day = allocations.within(begin, begin + DAY_NS)
    _timed("join and shares of a day alone", lambda: shares(join(day, of_day)))
    _timed("offset of clocks, a day", lambda: clock_offset(day, of_day))
    samples = _samples(made, begin)
    _timed("regridding of a day", lambda: regrid(samples, day.grid, recorded.nodes))
    print(f"\npeak {_peak_gib():.2f} GiB")


def _timed(what: str, call: Callable[[], Any]) -> Any:
    begin = time.perf_counter()
    found = call()
    print(f"| {what} | {time.perf_counter() - begin:.2f} |", flush=True)
    return found


def _samples(made: Made, begin_ns: int) -> CounterSamples:
    """A day of samples of clocks that differ by up to a cell."""
    day = made.recorded.between(begin_ns, begin_ns + DAY_NS)
    nodes, cells = day.ops.shape
    phase = np.random.default_rng(1).integers(0, 30 * S, nodes)
    begin = (begin_ns + phase[:, None] + 30 * S * np.arange(cells)).ravel()
    node = np.repeat(np.arange(nodes), cells)
    return CounterSamples(node, begin, begin + 30 * S, day.ops.ravel().astype(np.float64))


def _peak_gib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


if __name__ == "__main__":
    main()
