"""Streams of one op at 1 Hz in which nothing is wrong, and which break what detectors like to assume.

Slow operations that are usual, bursts that are usual, levels, long memory, a day that is always the same.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.signal import fftconvolve, lfilter

from benchmarks.truth.weather.latency import Floats
from benchmarks.truth.weather.stream import DAY_S, HOUR_S, walk

Draw = Callable[[np.random.Generator, int], Floats]

_MEDIAN_S, _SIGMA = 1.5e-3, 0.4


def _plain(random: np.random.Generator, n: int) -> Floats:
    return np.asarray(_MEDIAN_S * np.exp(_SIGMA * random.standard_normal(n)))


def always_slow(random: np.random.Generator, n: int, share: float, factor: float) -> Floats:
    """A share of the operations that always take ``factor`` times as long."""
    return _plain(random, n) * np.where(random.random(n) < share, factor, 1.0)


def usual_bursts(
    random: np.random.Generator, n: int, share: float, factor: float, long_s: float
) -> Floats:
    """Bursts of all operations, geometric lengths around ``long_s``, in a share of the time."""
    chance = np.where(random.random(n) < share / long_s, 1, 0)
    length = random.geometric(1 / long_s, n) * chance
    ends = np.flatnonzero(length)
    edges = np.zeros(n + 1, np.int64)
    np.add.at(edges, ends, 1)
    np.add.at(edges, np.minimum(n, ends + length[ends]), -1)
    busy = np.cumsum(edges)[:-1] > 0
    return _plain(random, n) * np.where(busy, factor, 1.0)


def autoregressive(random: np.random.Generator, n: int, phi: float) -> Floats:
    """Log latencies of the first order, with the usual spread."""
    noise = random.standard_normal(n) * _SIGMA * np.sqrt(1 - phi**2)
    return np.asarray(_MEDIAN_S * np.exp(lfilter([1.0], [1.0, -phi], noise)))


def long_memory(random: np.random.Generator, n: int, hurst: float) -> Floats:
    """Log latencies of fractional noise (ARFIMA(0, H - 1/2, 0) of a day's memory), standard deviation 0.3."""
    d, k = hurst - 0.5, np.arange(1, DAY_S)
    weights = np.concatenate([[1.0], np.cumprod((k - 1 + d) / k)])
    noise = fftconvolve(random.standard_normal(n + DAY_S), weights)[DAY_S : DAY_S + n]
    return np.asarray(_MEDIAN_S * np.exp(0.3 * noise / noise.std()))


def levels(random: np.random.Generator, n: int) -> Floats:
    """Three exact levels, a tenth of a millisecond to ten, whose mix drifts within hours."""
    at = 1 / (1 + np.exp(-(walk(random, n, 0.7, 4 * HOUR_S) + 1.0)))
    drawn = random.random(n)
    return np.where(drawn < 0.7 * at, 1e-4, np.where(drawn < 0.95, 1e-3, 1e-2))


def daily(random: np.random.Generator, n: int, factor: float) -> Floats:
    """Each day from 8 to 20 h a load that makes operations up to ``factor`` times slower."""
    hour = np.arange(n) % DAY_S / HOUR_S
    load = np.log(factor) * np.maximum(0, np.sin(np.pi * (hour - 8) / 12))
    return _plain(random, n) * np.exp(load)


def flush(random: np.random.Generator, n: int) -> Floats:
    """A flush each 30 s that holds one or two operations up, 30 times as long."""
    late = np.arange(n) % 30 < random.integers(1, 3, n)
    return _plain(random, n) * np.where(late, 30.0, 1.0)


def from_cache(random: np.random.Generator, share: Floats, slow: Floats) -> Floats:
    """Operations of which a share, of each its own, comes from a cache in 0.1 ms; the others take ``slow``."""
    hit = random.random(len(share)) < share
    return np.where(hit, 1e-4 * np.exp(0.25 * random.standard_normal(len(share))), slow)


def from_disk(random: np.random.Generator, n: int) -> Floats:
    """Lognormal operations around 8 ms."""
    return np.asarray(8e-3 * np.exp(0.5 * random.standard_normal(n)))


def heavy_disk(random: np.random.Generator, n: int) -> Floats:
    """Operations from 4 ms on with a Pareto tail of index 1.5, 10 s at most."""
    return np.minimum(4e-3 * (1 + random.pareto(1.5, n)), 10.0)


def _steady(share: float, _random: np.random.Generator, n: int) -> Floats:
    return np.full(n, share)


def _wandering(random: np.random.Generator, n: int) -> Floats:
    cycle = 0.5 * np.sin(2 * np.pi * np.arange(n) / DAY_S)
    return np.asarray(1 / (1 + np.exp(-(walk(random, n, 0.7, 4 * HOUR_S) + cycle))))


def _each_day(_random: np.random.Generator, n: int) -> Floats:
    hour = np.arange(n) % DAY_S / HOUR_S
    return np.asarray(0.9 - 0.5 * np.maximum(0, np.sin(np.pi * (hour - 8) / 12)))


def _bursts(random: np.random.Generator, n: int) -> Floats:
    """One file after another is read: each minute has a share of its own."""
    return np.repeat(random.beta(3, 2, n // 60 + 1), 60)[:n]


CACHED: dict[str, tuple[Draw, Draw]] = {
    "80% hits": (partial(_steady, 0.8), from_disk),
    "50% hits, heavy tail": (partial(_steady, 0.5), heavy_disk),
    "30% hits": (partial(_steady, 0.3), from_disk),
    "12% hits": (partial(_steady, 0.12), from_disk),
    "hits wander, 20-80%": (_wandering, from_disk),
    "40-90% hits by day": (_each_day, from_disk),
    "a share of its own each minute": (_bursts, from_disk),
}
"""The share of hits of each operation, and how long the others take."""

ODD: dict[str, Draw] = {
    "5% always at 100x": partial(always_slow, share=0.05, factor=100.0),
    "4% always at 100x": partial(always_slow, share=0.04, factor=100.0),
    "3% always at 100x": partial(always_slow, share=0.03, factor=100.0),
    "bursts of 30 s, 3%, x10": partial(usual_bursts, share=0.03, factor=10.0, long_s=30.0),
    "bursts of 8 s, 1%, x20": partial(usual_bursts, share=0.01, factor=20.0, long_s=8.0),
    "AR(1) 0.99": partial(autoregressive, phi=0.99),
    "AR(1) 0.5": partial(autoregressive, phi=0.5),
    "long memory 0.85": partial(long_memory, hurst=0.85),
    "long memory 0.95": partial(long_memory, hurst=0.95),
    "three levels": levels,
    "each day x4": partial(daily, factor=4.0),
    "each day x2.5": partial(daily, factor=2.5),
    "flush of 30 s": flush,
}
