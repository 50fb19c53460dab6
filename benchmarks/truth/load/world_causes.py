"""Causes of an event in a made cluster: jobs that fill the storage, faults, and what only looks like a cause."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.truth.load.world_jobs import (
    CELLS,
    HOUR,
    MINUTE,
    Jobs,
    Span,
    chain,
    demand_of,
    pattern,
)

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats


class Cause(NamedTuple):
    """``slow`` (C,): factor of a fault. ``event``: in minutes, where the kind has its own."""

    culprits: tuple[int, ...] = ()
    slow: Floats | None = None
    hidden: Floats | float = 0.0
    event: Span | None = None
    by_user: bool = False


def _hog_of(jobs: Jobs, size: float, span: Span, rng: np.random.Generator, kind: int) -> int:
    on = jobs.new_nodes(int(rng.integers(1, 17)))
    chain(jobs, on, 3600, span[0] - 2)
    demand = pattern(span[1] - span[0], rng, kind) * size / len(on)
    return jobs.add(*span, on, demand)


def _hog(jobs: Jobs, capacity: float, span: Span, rng: np.random.Generator) -> Cause:
    kind = 2 if rng.random() < 0.3 else 1
    return Cause((_hog_of(jobs, rng.uniform(1.2, 3) * capacity, span, rng, kind),))


def _late(jobs: Jobs, capacity: float, span: Span, rng: np.random.Generator) -> Cause:
    """A long job that works only in the event."""
    on = jobs.new_nodes(int(rng.integers(1, 17)))
    begin, end = int(rng.integers(0, 6 * HOUR)), int(rng.integers(21 * HOUR, CELLS))
    demand = np.zeros(end - begin)
    length = span[1] - span[0]
    demand[span[0] - begin : span[1] - begin] = (
        pattern(length, rng, 1) * rng.uniform(1.2, 3) * capacity / len(on)
    )
    return Cause((jobs.add(begin, end, on, demand),))


def _shared(jobs: Jobs, capacity: float, span: Span, rng: np.random.Generator) -> Cause:
    node = int(rng.integers(jobs.shared_from, jobs.nodes))
    demand = pattern(span[1] - span[0], rng, 1) * rng.uniform(1.2, 3) * capacity
    return Cause((jobs.add(*span, [node], demand),))


def _two(jobs: Jobs, capacity: float, span: Span, rng: np.random.Generator) -> Cause:
    moved = [int(rng.integers(-10, 11)) * MINUTE for _ in range(2)]
    both = [
        _hog_of(
            jobs,
            rng.uniform(0.7, 1.4) * capacity,
            (span[0] + by, span[1] + by),
            rng,
            1 if rng.random() < 0.7 else 2,
        )
        for by in moved
    ]
    return Cause(tuple(both))


def _array(jobs: Jobs, capacity: float, span: Span, rng: np.random.Generator) -> Cause:
    """Short tasks of one user, one after the other on a few nodes."""
    nodes = jobs.new_nodes(int(rng.integers(4, 13)))
    size = rng.uniform(1.2, 2) * capacity / len(nodes)
    tasks = []
    for node in nodes:
        at = span[0] + int(rng.integers(0, 3 * MINUTE))
        while at < span[1]:
            end = min(at + int(rng.uniform(2, 10) * MINUTE), span[1] + 1)
            demand = pattern(end - at, rng, 1) * size
            tasks.append(jobs.add(at, end, [node], demand, "mallory"))
            at = end + int(rng.integers(0, 3))
    return Cause(tuple(tasks), by_user=True)


def _alike(jobs: Jobs, capacity: float, span: Span, rng: np.random.Generator) -> Cause:
    many = int(rng.integers(8, 17))
    for _ in range(many):
        _hog_of(jobs, rng.uniform(1.2, 2) * capacity / many, span, rng, 1)
    return Cause()


def _diurnal(jobs: Jobs, capacity: float, span: Span, rng: np.random.Generator) -> Cause:
    """All do more for hours, none stands out."""
    usual = demand_of(jobs)
    middle, width = sum(span) / 2, rng.uniform(2, 4) * HOUR
    slope = np.exp(-(((np.arange(CELLS) - middle) / width) ** 2))
    top = np.median(usual[int(middle) - HOUR : int(middle) + HOUR])
    rise = 1 + slope * max(rng.uniform(0.9, 1.2) * capacity / top - 1, 0)
    for place, (begin, end) in enumerate(jobs.spans):
        jobs.demand[place] = jobs.demand[place] * rise[begin:end]
    return Cause()


def _fault(jobs: Jobs, capacity: float, span: Span, rng: np.random.Generator) -> Cause:
    del jobs, capacity
    return Cause(slow=_slow(span, rng))


def _slow(span: Span, rng: np.random.Generator) -> Floats:
    slow = np.ones(CELLS)
    slow[slice(*span)] = rng.uniform(2.5, 8)
    return slow


def _hidden(jobs: Jobs, capacity: float, span: Span, rng: np.random.Generator) -> Cause:
    """Load from a cluster that nobody records."""
    del jobs
    hidden = np.zeros(CELLS)
    hidden[slice(*span)] = pattern(span[1] - span[0], rng, 1) * rng.uniform(1.2, 3) * capacity
    return Cause(hidden=hidden)


def _coinc(jobs: Jobs, capacity: float, span: Span, rng: np.random.Generator) -> Cause:
    """A fault, and a job of 4 to 12% of the capacity that begins and ends within 4 min of it."""
    off = rng.integers(-4 * MINUTE, 4 * MINUTE + 1, 2)
    _hog_of(jobs, rng.uniform(0.04, 0.12) * capacity, (span[0] + off[0], span[1] + off[1]), rng, 1)
    return Cause(slow=_slow(span, rng))


def _hourly(jobs: Jobs, capacity: float, span: Span, rng: np.random.Generator) -> Cause:
    """A snapshot slows 8 min of each hour; in half of the worlds a job writes checkpoints near the same minute."""
    at = np.arange(CELLS)
    minute = int(rng.integers(0, HOUR))
    slow = np.where((at - minute) % HOUR < 8 * MINUTE, rng.uniform(3, 6), 1.0)
    if rng.random() < 0.5:
        on = jobs.new_nodes(int(rng.integers(1, 17)))
        off = int(rng.integers(-3 * MINUTE, 3 * MINUTE + 1))
        wrote = ((at - minute - off) % HOUR < rng.uniform(4, 8) * MINUTE) * 1.0
        size = rng.uniform(0.05, 0.15) * capacity / len(on)
        begin = int(rng.integers(0, 3 * HOUR))
        jobs.add(begin, CELLS, on, wrote[begin:] * size * rng.gamma(6, 1 / 6, CELLS - begin))
    begin = (span[0] // HOUR * HOUR + minute) // MINUTE
    return Cause(slow=slow, event=(begin, begin + 8))


CAUSES = {
    "hog": _hog,
    "late": _late,
    "shared": _shared,
    "two": _two,
    "array": _array,
    "alike": _alike,
    "diurnal": _diurnal,
    "fault": _fault,
    "hidden": _hidden,
    "coinc": _coinc,
    "hourly": _hourly,
}
