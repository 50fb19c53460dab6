"""Reads at a series of loads, simulated from storage of which N and M are known, or that is no such queue."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from iosonde.queue.scenario import ArrivalProcess, Cache, Scenario, Storage
from iosonde.queue.simulate import simulate

KINDS = ("queue", "load", "servers", "cache", "bursts", "heavy", "modulated")
"""The model itself; service times that depend on load, two servers, a write-back cache, bursts; service times with
a heavy tail (log-normal, coefficient of variation 3), writes whose rate swings (autocorrelated arrivals)."""
SWING, SWINGS = 0.6, 40
"""A modulated rate is so much higher and lower in turns, each as long as so many operations take."""
LOADS = (0.05, 0.2, 0.35, 0.5, 0.6, 0.7, 0.8, 0.88, 0.95, 1.1, 1.25, 1.4)
"""Offered load over capacity."""
TICKS, SHARE, READS = 64, 0.02, 800


@dataclass(frozen=True)
class Truth:
    """What the reads come from: N, L (seconds) and M; each read's latency and the load beside it."""

    service_s: float
    queue: int
    base_s: float
    family: str
    latency_s: np.ndarray
    load_per_s: np.ndarray


def known_reads(kind: str, seed: int) -> Truth:
    """N from 0.3 to 10 ms, M from 5 to 500, L up to N and the service distribution follow from the seed."""
    random = np.random.default_rng(seed)
    service_s = 10 ** random.uniform(-3.5, -2)
    queue = round(10 ** random.uniform(0.7, 2.7))
    base_s = service_s * random.uniform(0, 1)
    family = str(random.choice(["slots", "constant", "exponential"]))
    latencies, loads = [], []
    for load in LOADS:
        reads = _reads(kind, family, queue, load, int(random.integers(1, 2**40)))
        latencies.append(base_s + service_s * reads / TICKS)
        loads.append(np.full(len(reads), load / service_s))
    return Truth(
        *(service_s, queue, base_s, family), np.concatenate(latencies), np.concatenate(loads)
    )


def _reads(kind: str, family: str, queue: int, load: float, seed: int) -> np.ndarray:
    """Ticks that reads took, once the queue is in balance."""
    storage: dict[str, Any] = {"service_ticks": TICKS, "queue": queue, "service": family}
    batch = 20 if kind == "bursts" else 1
    if kind == "load":
        # Half as long when idle, and 1.2 times as long at the highest load.
        storage["service_ticks"] = max(1, round(TICKS * (0.5 + 0.5 * load)))
    elif kind == "servers":
        one = "constant" if family == "slots" else family
        storage |= {"service_ticks": 2 * TICKS, "servers": 2, "service": one}
    elif kind == "cache":
        storage["cache"] = Cache(max(4 * queue, 40), max(2 * queue, 20), max(queue // 2, 2))
    elif kind == "heavy":
        storage |= {"service": "lognormal", "variation": 3.0}
    every = TICKS / (SHARE * load)
    full = 4 * queue / max(load - 1, 0.05) * TICKS if load > 0.95 else 0.0
    warm = 20 * every + full
    writes = batch * TICKS / ((1 - SHARE) * load)
    ticks = int(warm + (READS + 100) * every)
    written = ArrivalProcess("writes", "write", "poisson", writes, batch=batch, lose=True)
    if kind == "modulated":
        written = replace(written, times="at", at=_modulated(ticks, writes, seed))
    clients = (written, ArrivalProcess("reads", "read", "poisson", every))
    found = simulate(Scenario(ticks, Storage(**storage), clients, seed=seed)).reads
    late = found["due_tick"] >= warm
    return (found["ended_tick"] - found["due_tick"])[late][:READS]


def _modulated(ticks: int, every: float, seed: int) -> np.ndarray:
    """Ticks of Poisson arrivals whose rate swings; ``every`` on average."""
    random = np.random.default_rng(seed)
    phase = np.arange(0, ticks, SWINGS * every)
    counts = random.poisson(SWINGS * (1 + SWING * (-1.0) ** np.arange(len(phase))))
    at = np.repeat(phase, counts) + random.uniform(0, SWINGS * every, counts.sum())
    return np.sort(at[at < ticks]).astype(np.int64)
