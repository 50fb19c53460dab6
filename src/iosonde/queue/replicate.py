"""Simulated reads of a fitted model, with as many reads at each load as measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iosonde.queue.measured import ReadGroup, groups_of
from iosonde.queue.scenario import ArrivalProcess, Scenario, Storage
from iosonde.queue.simulate import simulate

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats
    from iosonde.queue.fitted_model import Model

TICKS = 64
"""Ticks of one N."""
SHARE = 0.02
"""Share of the load that is reads."""
WARM, MOST_WARM = 20, 30_000
"""Reads discarded as warm-up; most N of extra warm-up while a queue fills."""


def simulated_groups(model: Model, groups: list[ReadGroup], seed: int) -> list[ReadGroup]:
    """Groups with the loads of ``groups``, from a simulation of the model."""
    latencies, loads = [], []
    for place, group in enumerate(groups):
        load = group.load_per_s * model.service_s
        relative = reads_of(model.family, load, model.queue, group.reads, seed * 1000 + place)
        latencies.append(model.base_s + model.service_s * relative)
        loads.append(np.full(len(relative), group.load_per_s))
    return groups_of(np.concatenate(latencies), np.concatenate(loads))


def reads_of(family: str, load: float, queue: float, reads: int, seed: int) -> Floats:
    """Latencies over N of ``reads`` reads at a load, beside writes that are lost when the queue is full."""
    load = min(max(load, 1e-3), 3.0)
    every = TICKS / (SHARE * load)
    limit = None if queue > 1e5 else max(1, round(queue))
    storage = Storage(TICKS, limit, service=family)
    writes = ArrivalProcess("writes", "write", "poisson", TICKS / ((1 - SHARE) * load), lose=True)
    probe = ArrivalProcess("reads", "read", "poisson", every)
    # A queue at a load above 1 fills at the rate of load - 1.
    fills = min(4 * queue / max(load - 1, 0.05), MOST_WARM) * TICKS if load > 0.95 else 0.0
    warm = WARM * every + fills
    ticks = int(warm + (reads + 4 * reads**0.5 + 20) * every)
    found = simulate(Scenario(ticks, storage, (writes, probe), seed=seed % 2**53)).reads
    late = found["due_tick"] >= warm
    taken = (found["ended_tick"] - found["due_tick"])[late][:reads]
    return np.asarray(np.maximum(taken, 1) / TICKS)
