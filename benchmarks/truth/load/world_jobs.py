"""Jobs of a made cluster: they follow each other on blocks of exclusive nodes and on places of shared ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats

BEGIN_NS = 1_788_220_800_000_000_000
"""2026-09-01 00:00 UTC."""
S = 1_000_000_000
STEP_S = 30
HOURS = 28
CELLS = HOURS * 3600 // STEP_S
MINUTE = 60 // STEP_S
HOUR = 3600 // STEP_S
Span = tuple[int, int]
"""Begin and end, in cells or minutes."""


@dataclass
class Jobs:
    """Runs so far: begin and end in cells, owner, nodes, and demand of all nodes together a cell."""

    rng: np.random.Generator
    nodes: int = 0
    shared_from: int = 0
    spans: list[tuple[int, int]] = field(default_factory=list)
    users: list[str] = field(default_factory=list)
    on: list[list[int]] = field(default_factory=list)
    demand: list[Floats] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)

    def add(self, begin: int, end: int, on: list[int], demand: Floats, user: str = "") -> int:
        """One run; ``demand`` (end - begin,) operations per second on each of its nodes."""
        begin, end = max(begin, 0), min(end, CELLS)
        self.spans.append((begin, end))
        self.users.append(user or f"u{min(int(self.rng.zipf(1.6)), 40):02d}")
        self.on.append(on)
        self.demand.append(demand[: end - begin])
        self.waits.append(float(self.rng.uniform(0.3, 0.9)))
        return len(self.spans) - 1

    def new_nodes(self, n: int) -> list[int]:
        """So many nodes more."""
        self.nodes += n
        return list(range(self.nodes - n, self.nodes))


def fill(jobs: Jobs) -> None:
    """Chains of jobs on blocks of exclusive nodes and on places of shared ones."""
    rng = jobs.rng
    left = int(rng.integers(50, 121))
    while left > 0:
        block = jobs.new_nodes(min(left, int(np.clip(rng.lognormal(0.7, 0.9), 1, 16))))
        left -= len(block)
        chain(jobs, block, 3600 * rng.lognormal(0, 0.5))
    jobs.shared_from = jobs.nodes
    for _ in range(int(rng.integers(8, 31))):
        node = jobs.new_nodes(1)
        for _ in range(int(rng.integers(3, 6))):
            chain(jobs, node, 1800 * rng.lognormal(0, 0.5))


def chain(jobs: Jobs, on: list[int], usual_s: float, until: int = CELLS) -> None:
    rng, at = jobs.rng, -int(jobs.rng.integers(0, 2 * HOUR))
    while at < until:
        length = max(2, int(rng.lognormal(np.log(usual_s), 0.9)) // STEP_S)
        end = min(at + length, until)
        if end - max(at, 0) >= 2:
            jobs.add(at, end, on, pattern(end - max(at, 0), rng) * rng.lognormal(1.0, 1.2))
        at = end + int(rng.exponential(10)) + 1


def pattern(n: int, rng: np.random.Generator, kind: int | None = None) -> Floats:
    """Demand over a run in multiples of its rate: none, steady, on and off, repeated, in one phase."""
    kind = int(rng.choice(5, p=[0.45, 0.2, 0.15, 0.12, 0.08])) if kind is None else kind
    at = np.arange(n)
    level = np.zeros(n)
    if kind == 1:
        level[:] = 1
    elif kind == 2:
        mean = rng.uniform(1, 8) * MINUTE
        turns = np.cumsum(1 + rng.exponential(mean, n).astype(int))
        level = (np.searchsorted(turns, at, side="right") % 2).astype(float)
    elif kind == 3:
        period = int(rng.uniform(10, 60) * MINUTE)
        level = (at % period < rng.uniform(1, 5) * MINUTE) * 3.0
    elif kind == 4:
        first = rng.uniform(0, 0.7) * n
        level = ((at >= first) & (at < first + 0.3 * n)) * 2.0
    return level * rng.gamma(6.0, 1 / 6.0, n)


def demand_of(jobs: Jobs) -> Floats:
    total = np.zeros(CELLS)
    for (begin, end), on, demand in zip(jobs.spans, jobs.on, jobs.demand, strict=True):
        total[begin:end] += demand * len(on)
    return total
