"""What an incident is made of: places, the stretch, who loads and what is slow."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from benchmarks.truth.why.queued import QueueServer
from iosonde.model.arrays import Floats, Instants
from iosonde.why.links import Kind

HOST = "login1"
WHOLE, OTHERS = "/work", ("/home", "/scratch", "/proj")
SERVERS = tuple(f"OST{number:04d}" for number in range(4))
STEP_S = 60
HOUR_S, DAY_S = 3600, 86_400
NIGHTS = 12


@dataclass(frozen=True)
class Queued:
    """The server, the load that it had in each step of ``STEP_S``, without the job, and the stretch in seconds."""

    server: QueueServer
    per_s: Floats
    without_per_s: Floats
    begin_s: float
    end_s: float


class Course(NamedTuple):
    """What multiplied a target's latencies (``by``) at each instant, and what did usually."""

    at_ns: Instants
    by: Floats
    usual: float

    def slowdown(self, begin_ns: int, end_ns: int) -> float:
        """The true slowdown of [begin, end): the median multiplier over the usual one; NaN without an instant."""
        first, last = np.searchsorted(self.at_ns, [begin_ns, end_ns])
        return float(np.median(self.by[first:last])) / self.usual if last > first else float("nan")


@dataclass
class Plan:
    """Seconds from ``BEGIN_NS``; ``begin`` to ``end`` of the stretch."""

    kind: Kind
    rng: np.random.Generator
    withheld: str
    days: float
    period_s: int
    begin: float
    end: float
    hogs: int = 0
    component: str | None = None
    cells: Floats = field(default_factory=lambda: np.zeros(0))
    """Load of all nodes, operations per second, in each step of ``STEP_S``; filled by ``load_records``."""
    jobs: tuple[str, ...] = ()
    scale: float = 1.0
    """Of the load: one queue is simulated operation by operation."""
    hog_cells: Floats = field(default_factory=lambda: np.zeros(0))
    queued: Queued | None = None
    network: float = 1.0
    """What the network multiplies latencies of all targets by."""
    courses: dict[str, Course] = field(default_factory=dict)
    """By target; from ``probe_samples``."""
