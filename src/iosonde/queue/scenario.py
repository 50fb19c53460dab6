"""Scenario of a simulation: a storage system, its clients, its duration. Times are ticks of ``tick_s`` seconds.

The model and its symbols are in docs/methods/queue.md; docs/simulate.md shows the file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from iosonde.model.arrays import Ints

SERVICES = ("slots", "constant", "exponential", "lognormal", "values")
"""``slots``: a free-running clock; the others: distributions of the service time."""
DISCIPLINES = ("fifo", "fair", "reads-first")
ORDERS = ("fixed", "random")
TIMES = ("regular", "poisson", "at")
BINS = 500
"""Default number of bins of a trace."""
MOST_RECORDS = 2_000_000
"""Most reads and phases recorded one by one."""


@dataclass(frozen=True)
class Cache:
    """A write-back cache of so many ``writes``; above ``high`` of them writes precede reads, down to ``low``."""

    writes: int
    high: int
    low: int


@dataclass(frozen=True)
class Storage:
    """``service_ticks``: N; ``queue``: M, None = unlimited.

    ``variation``: coefficient of variation, of ``lognormal`` alone; ``values``: ticks, of ``values`` alone.
    """

    service_ticks: float
    queue: int | None
    service: str = "slots"
    variation: float = 1.0
    values: tuple[float, ...] = ()
    servers: int = 1
    discipline: str = "fifo"
    cache: Cache | None = None


@dataclass(frozen=True)
class Process:
    """A program that repeats ``pattern`` = (D0, R, D1, W): waits, reads, computes, writes."""

    name: str
    pattern: tuple[int, int, int, int]
    weight: int = 1


@dataclass(frozen=True)
class ArrivalProcess:
    """An open stream. ``times``: ``regular`` or ``poisson`` every ``every_ticks``, or ``at`` ticks (int64, ascending).

    ``batch`` operations arrive together; ``lose``: what finds no room is lost, else it waits.
    """

    name: str
    op: str
    times: str
    every_ticks: float = 1.0
    at: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    batch: int = 1
    lose: bool = False
    weight: int = 1


@dataclass(frozen=True)
class ParameterSweep:
    """Values of one parameter (``storage.queue``), each with ``seeds`` seeds."""

    parameter: str
    values: tuple[Any, ...]
    seeds: int = 1


@dataclass(frozen=True)
class Scenario:
    """A whole scenario: ticks 0 to ``ticks - 1``. ``tick_s`` None: ticks have no length in seconds."""

    ticks: int
    storage: Storage
    clients: tuple[Process | ArrivalProcess, ...]
    title: str = ""
    order: str = "random"
    seed: int = 1
    bin_ticks: int = 0
    tick_s: float | None = None
    sweep: ParameterSweep | None = None

    @property
    def trace_bin_ticks(self) -> int:
        """Width of a bin of the traces, ticks."""
        return self.bin_ticks or max(1, -(-self.ticks // BINS))

    @property
    def capacity_per_tick(self) -> float:
        """Mean number of operations that the storage executes in a tick."""
        storage = self.storage
        mean = float(np.mean(storage.values)) if storage.values else storage.service_ticks
        return storage.servers / mean
