"""How often intervals and bounds of a fitted store hold what is true, from far too many clients to few enough."""

from __future__ import annotations

import numpy as np

from benchmarks.truth.bench import simulated
from benchmarks.truth.bench.waiting import NOISE
from benchmarks.truth.target import Row, share
from iosonde.queue.capacity import Capacity, capacity
from iosonde.queue.closed_network import Network

STORES = (
    (100, 2.0),
    (100, 6.0),
    (100, 15.0),
    (100, 20.0),
    (100, 30.0),
    (100, 70.0),
    (20, 3.0),
    (20, 10.0),
)
"""Clients, and as many as saturate the servers."""
_NUMBERS = ("max_per_s", "unloaded_s", "saturating_clients")


def coverage(seed: int, scale: float = 1.0) -> list[Row]:
    """Five measurements, 5% noise: shares of runs whose three intervals hold the truth; an open end holds anything."""
    rows, times = [], max(10, round(60 * scale))
    for clients, saturating in STORES:
        network = Network(clients, 177e-6, (saturating - 1) * 177e-6)
        made = simulated.runs(
            seed,
            times,
            clients=clients,
            service_us=network.service_s * 1e6,
            delay_us=network.delay_s * 1e6,
            noise=NOISE,
        )
        found = [capacity(run.measured, run.corrected_per_s, clients) for run in made]
        worst = min(sum(_holds(one, name, network) for one in found) for name in _NUMBERS)
        held, error = share(worst, times)
        fitted = [one.network.saturating_clients for one in found if one.network is not None]
        seen = "/".join(sorted({str(one.coverage) for one in found}))
        what = f"N {clients}, N* {saturating:g} ({seen}, fitted {np.median(fitted):.1f}): intervals hold"
        rows.append(Row("coverage", what, held, 0.9, 1, "-", "-", error))
    return rows


def _holds(found: Capacity, name: str, network: Network) -> bool:
    number, truth = getattr(found, name), getattr(network, name)
    return (number.lower or 0.0) <= truth <= (number.upper or np.inf)
