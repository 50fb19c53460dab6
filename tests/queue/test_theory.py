"""Open queues of which theory knows the answer, at ten million operations."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from iosonde.queue.scenario import ArrivalProcess, Scenario, Storage
from iosonde.queue.simulate import Simulated, simulate

OPERATIONS = 10_000_000
MEAN = 1000
"""Mean service time, ticks."""
CLOSE = 0.01


def simulated(load: float, *, queue: int | None = None, lose: bool = False, **storage) -> Simulated:
    """Ten million Poisson arrivals."""
    every = MEAN / load
    stream = ArrivalProcess("reads", "read", "poisson", every, lose=lose)
    made = Storage(MEAN, queue, **storage)
    scenario = Scenario(int(OPERATIONS * every), made, (stream,), seed=5)
    return simulate(scenario, most_records=0)


@pytest.fixture(scope="module")
def runs() -> dict[str, Simulated]:
    values = (400.0, 1600.0)
    with ThreadPoolExecutor(2) as pool:
        going = {
            "M/M/1": pool.submit(simulated, 0.7, service="exponential"),
            "M/M/1/5": pool.submit(simulated, 0.9, queue=5, lose=True, service="exponential"),
            "M/D/1": pool.submit(simulated, 0.8, service="constant"),
            "M/G/1": pool.submit(simulated, 0.6, service="lognormal", variation=1.5),
            "M/G/1 of values": pool.submit(simulated, 0.6, service="values", values=values),
            "M/M/2": pool.submit(simulated, 1.4, service="exponential", servers=2),
        }
        return {name: run.result() for name, run in going.items()}


def waited(found: Simulated) -> float:
    """Mean time before service, over the mean service time."""
    return float(found.clients["mean_read_ticks"][0]) / MEAN - 1


def pollaczek_khinchine(load: float, variation: float) -> float:
    return load * (1 + variation**2) / 2 / (1 - load)


def test_single_servers_wait_as_long_as_theory_says(runs):
    assert waited(runs["M/M/1"]) == pytest.approx(0.7 / 0.3, rel=CLOSE)
    assert waited(runs["M/D/1"]) == pytest.approx(pollaczek_khinchine(0.8, 0.0), rel=CLOSE)
    assert waited(runs["M/G/1"]) == pytest.approx(pollaczek_khinchine(0.6, 1.5), rel=CLOSE)
    values = pollaczek_khinchine(0.6, 0.6)
    assert waited(runs["M/G/1 of values"]) == pytest.approx(values, rel=CLOSE)


def test_a_short_queue_loses_as_many_as_theory_says(runs):
    found, load, size = runs["M/M/1/5"], 0.9, 5
    lost = found.clients["lost"][0] / (found.clients["lost"][0] + found.clients["reads"][0])
    shares = load ** np.arange(size + 1)
    shares /= shares.sum()
    assert lost == pytest.approx(shares[-1], rel=CLOSE)
    assert found.mean_inside == pytest.approx(float(shares @ np.arange(size + 1)), rel=CLOSE)


def test_two_servers_wait_as_erlang_says(runs):
    load = 0.7
    waits = 2 * load**2 / (1 + load)
    assert waited(runs["M/M/2"]) == pytest.approx(waits / (2 - 2 * load), rel=CLOSE)


def test_little_and_utilisation_hold(runs):
    for name, load in (("M/M/1", 0.7), ("M/D/1", 0.8), ("M/G/1", 0.6), ("M/M/2", 0.7)):
        found = runs[name]
        per_tick = found.clients["reads"][0] / found.ticks
        inside = per_tick * found.clients["mean_read_ticks"][0]
        assert found.mean_inside == pytest.approx(inside, rel=0.001)
        assert found.utilisation == pytest.approx(load, rel=0.003)
