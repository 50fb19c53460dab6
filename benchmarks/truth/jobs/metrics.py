"""G5, G5b, G5c and the AR null: histories of metrics with a performance whose causes are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from benchmarks.truth.weather.latency import Floats

METRICS = 8
CAUSES = (0, 1, 2, 3, 4, 6, 7)
"""What may be a cause in G5; metric 5 has two values only."""
FORMS = {
    "linear": lambda z: z,
    "threshold": lambda z: 10 * np.maximum(0, z - 0.7),
    "step": lambda z: 1 / (1 + np.exp(-12 * (z - 0.5))),
    "U": lambda z: 4 * np.abs(z - 0.5),
}
"""How a cause acts, of its rank z in (0, 1)."""
NOISE_B = 0.1
BAD_SHARE, MAIN_SHARE = 0.25, 0.6
DAYS, SHORTEST = 365, 25


def ar(random: np.random.Generator, n: int, phi: float, columns: int = 1) -> Floats:
    """(n, columns) stationary AR(1) series of variance 1."""
    shocks = random.standard_normal((n, columns)) * np.sqrt(1 - phi**2)
    shocks[0] /= np.sqrt(1 - phi**2)
    return np.asarray(lfilter([1.0], [1.0, -phi], shocks, axis=0))


def standard(values: Floats) -> Floats:
    """Mean 0, variance 1."""
    return np.asarray((values - values.mean()) / values.std())


def ranks(values: Floats) -> Floats:
    """Rank over n + 1 of each column."""
    return np.asarray((values.argsort(axis=0).argsort(axis=0) + 1) / (len(values) + 1))


def metrics(random: np.random.Generator, n: int) -> Floats:
    """(n, 8): four that share a latent load, fullness, one of two values, one alone, one skewed."""
    load = ar(random, n, 0.6)[:, 0]
    found = np.empty((n, METRICS))
    for column, phi in ((0, 0.3), (1, 0.6), (2, 0.6), (4, 0.3)):
        found[:, column] = 0.7 * load + 0.714 * ar(random, n, phi)[:, 0]
    found[:, 3] = standard(
        0.15 * random.standard_normal(n).cumsum() + 0.3 * random.standard_normal(n)
    )
    found[:, 5] = (random.random(n) < 0.2) + 0.01 * random.standard_normal(n)
    found[:, 6] = ar(random, n, 0.3)[:, 0]
    found[:, 7] = np.exp(0.8 * ar(random, n, 0.3)[:, 0])
    return found


def history(
    random: np.random.Generator, n: int, form: str, r2: float, causes: int = 1
) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """G5: metrics (n, 8), y (n,) and which metrics cause it."""
    found = metrics(random, n)
    which = random.choice(CAUSES, causes, replace=False)
    z = ranks(found)
    signal = sum(random.choice([-1, 1]) * standard(FORMS[form](z[:, cause])) for cause in which)
    noise = ar(random, n, 0.3)[:, 0]
    noise[random.random(n) < 0.03] -= 4
    y = np.sqrt(r2) * standard(np.asarray(signal)) + np.sqrt(1 - r2) * standard(noise)
    return found, y, which


def bad_days(
    random: np.random.Generator, n: int
) -> tuple[Floats, Floats, list[tuple[int, int, bool]]]:
    """G5b: metrics (n, 8), y (n,), and the days of its lowest quartile that have one main cause.

    A day, its cause, and whether the cause makes most of the whole drop: if not, luck made it a bad day.
    """
    found = metrics(random, n)
    z = ranks(found)
    which = random.choice(METRICS, 3, replace=False)
    drops = np.zeros((n, METRICS))
    for cause in which:
        drops[:, cause] = np.maximum(0, (z[:, cause] - 0.8) / 0.2) * random.uniform(0.25, 0.5)
    total = drops.sum(axis=1)
    y = 0.9 - total + NOISE_B * random.standard_normal(n)
    main = drops.argmax(axis=1)
    largest = drops.max(axis=1)
    bad = (largest >= MAIN_SHARE * total) & (total > 0) & (y <= np.quantile(y, BAD_SHARE))
    most = largest >= MAIN_SHARE * (0.9 - y)
    return found, y, [(int(day), int(main[day]), bool(most[day])) for day in np.flatnonzero(bad)]


@dataclass(frozen=True)
class Year:
    """``values`` (365, 5), ``starts``: first days of the climates, ``climate`` (365,)."""

    values: Floats
    starts: list[int]
    climate: NDArray[np.int64]


def year(random: np.random.Generator, climates: int, sigmas: float, phi: float = 0.4) -> Year:
    """G5c: each climate shifts y (column 0) and one to four other metrics by +-``sigmas``."""
    values = ar(random, DAYS, phi, 5)
    values[random.random(values.shape) < 0.03] *= 4
    while True:
        starts = [0, *sorted(random.choice(np.arange(1, DAYS), climates - 1, replace=False))]
        if np.diff([*starts, DAYS]).min() >= SHORTEST:
            break
    level = np.zeros(5)
    climate = np.zeros(DAYS, dtype=np.int64)
    for index, start in enumerate(starts[1:], 1):
        moved = [0, *(1 + random.permutation(4)[: random.integers(1, 5)])]
        step = np.zeros(5)
        step[moved] = sigmas * random.choice([-1, 1], len(moved))
        level = level + step
        values[start:] += step
        climate[start:] = index
    return Year(values, [int(start) for start in starts], climate)


def runs(
    random: np.random.Generator,
    *,
    phi: float,
    levels: tuple[float, ...],
    spreads: tuple[float, ...],
    cuts: tuple[float, ...],
    slow: tuple[float, ...],
    n: int = 330,
) -> tuple[Floats, Floats]:
    """A motif's year: ``n`` times (days), and fractions of peak with a level, a spread and slow runs a segment."""
    at = np.sort(random.uniform(0, DAYS, n))
    which = np.searchsorted(np.array(cuts), at, side="right")
    y = np.array(levels)[which] + np.array(spreads)[which] * ar(random, n, phi)[:, 0]
    hit = random.random(n) < np.array(slow)[which]
    y[hit] *= random.uniform(0.05, 0.6, int(hit.sum()))
    return at, y
