"""Reads of a server that is one queue, simulated operation by operation from the recorded load of all clients.

Service takes N, at most M operations wait, what finds no room is lost; reads stand among the writes. The truth of a
remedy is the same server simulated again without a job's load, or with a shorter queue.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iosonde.model.arrays import Floats
from iosonde.queue.scenario import ArrivalProcess, Scenario, Storage
from iosonde.queue.simulate import simulate

TICKS = 64
"""Ticks of one N."""
PATH = 0.3
"""What the way to the storage takes, over N."""


@dataclass(frozen=True)
class QueueServer:
    """``service_s``: N, ``queue``: M; ``family`` as in a scenario."""

    service_s: float
    queue: int
    family: str = "constant"

    def reads(self, due_s: Floats, load_per_s: Floats, step_s: int, seed: int) -> Floats:
        """Latencies (s) of reads that are due then. ``load_per_s`` in each step from 0 on; NaN: the read was lost."""
        rng = np.random.default_rng(seed)
        width = step_s / self.service_s * TICKS
        counts = rng.poisson(load_per_s * step_s)
        begins = np.repeat(np.arange(len(load_per_s)), counts)
        at = np.sort(((begins + rng.random(len(begins))) * width).astype(np.int64))
        reads = (due_s / step_s * width).astype(np.int64)
        clients = (
            ArrivalProcess("clients", "write", "at", at=at, lose=True),
            ArrivalProcess("probe", "read", "at", at=reads),
        )
        storage = Storage(TICKS, self.queue, service=self.family)
        ticks = int(len(load_per_s) * width + 100 * self.queue * TICKS)
        found = simulate(Scenario(ticks, storage, clients, seed=seed)).reads
        took = np.full(len(due_s), np.nan)
        place = np.searchsorted(reads, found["due_tick"])
        took[place] = (found["ended_tick"] - found["due_tick"]) / TICKS
        return np.asarray((took + PATH) * self.service_s)
