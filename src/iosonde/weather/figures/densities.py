"""Distributions of latencies: a smoothed histogram per op, of targets or of runs (paper: density diagrams)."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from iosonde.model.frames import SlowdownQuery
from iosonde.stats.density import Density, log_density
from iosonde.weather.store import Store

PER_DECADE = 400
"""Cells per decade: 0.6% of a latency."""


@dataclass(frozen=True)
class OpDensity:
    """Density of one op of one target or run. ``density`` is None for too few operations."""

    name: str
    op: str
    n: int
    density: Density | None


def densities(store: Store, query: SlowdownQuery) -> list[OpDensity]:
    """Densities of service times (log10 of ns) of successful operations, by target, then by run if runs are
    requested.
    """
    by_run = query.runs is not None
    found = store.levels(PER_DECADE, by_run=by_run, **query.which_samples())
    keys = list(zip(*(found[name].tolist() for name in ("target", "run_id", "op")), strict=True))
    edges = [
        0,
        *(np.flatnonzero([a != b for a, b in itertools.pairwise(keys)]) + 1).tolist(),
    ]
    parts = []
    for begin, end in zip(edges, [*edges[1:], len(keys)], strict=True):
        if begin == end:
            continue
        target, run, op = keys[begin]
        level, n = found["level"][begin:end], found["n"][begin:end].astype(np.int64)
        parts.append(
            OpDensity(
                run if by_run else target, op, int(n.sum()), log_density(level, n, PER_DECADE)
            )
        )
    return parts
