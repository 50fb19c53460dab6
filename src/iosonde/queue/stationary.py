"""Stationary latency of reads in the model: quantiles over load, in units of N.

Arrivals are Poisson. The unfinished work is a chain that falls by one step a step and jumps by whole operations;
its probabilities follow from the flow over each cut, all terms positive (docs/methods/queue.md). A queue of M cuts the
chain off (the probabilities below M keep their proportions), except that ``exponential`` is M/M/1/M exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats

FAMILIES = ("slots", "constant", "exponential")
"""Service distributions that the fit chooses from, as in a scenario."""
STEPS = 6
"""Steps of the chain in one N."""
MOST_STATES = 300
"""Operations of the chain; a longer queue is scaled to it (load near 1) or shifted (load above)."""
_MOST_LOAD = 2.5
_LEAST_LOAD = 1e-4
_NEAR = 0.02
_POINTS = 48
_IN_SERVICE = 0.7
"""Share of M, roughly, that an operation in service has left."""


def latency_quantiles(family: str, load: float, queue: float, q: Floats) -> Floats:
    """Quantiles ``q`` of a read's latency over N, at ``load`` = arrivals per second times N, with ``queue`` = M."""
    load = min(max(load, _LEAST_LOAD), _MOST_LOAD)
    if family == "exponential":
        return _exponential(load, queue, q)
    values, share = _work(load, queue if family == "slots" else max(queue - _IN_SERVICE, 1 / STEPS))
    if family == "slots":
        # Until the next slot: uniform over one N.
        share = np.convolve(share, np.full(STEPS, 1 / STEPS))
        values = values[0] + np.arange(len(share)) / STEPS
        return _quantiles(values, share, q)
    # A read that finds nothing waits for nothing.
    alone = min(max(0.0, 1 - load), float(share[0]))
    busy = np.concatenate([[share[0] - alone], share[1:]])
    late = np.maximum(q - alone, 0.0) / max(1 - alone, 1e-12)
    return np.where(q <= alone, 1.0, 1.0 + _quantiles(values, busy, late))


def _quantiles(values: Floats, share: Floats, q: Floats) -> Floats:
    """Quantiles of cells of a step's width that begin at ``values``."""
    total = np.concatenate([[0.0], np.cumsum(share)])
    edges = np.append(values, values[-1] + 1 / STEPS)
    return np.asarray(np.interp(q, total / total[-1], edges))


def _work(load: float, queue: float) -> tuple[Floats, Floats]:
    """Unfinished work over N that a read finds: left edges of cells, and their probabilities."""
    states = min(queue, MOST_STATES)
    share = _chain(load, max(1, round(states * STEPS)) + 1)
    values = np.arange(len(share)) / STEPS
    if queue > states and load > 1 + _NEAR:
        values = values + (queue - states)
    elif queue > states and load > 1 - _NEAR:
        share = np.repeat(share, max(1, round(queue / states)))
        values = np.arange(len(share)) / STEPS
    # Within a step half of it passes, and half of its arrivals come.
    shift = (load / 2 - 0.5) / STEPS
    return np.maximum(values + shift, 0.0), share


def _chain(load: float, count: int) -> Floats:
    """Stationary probabilities of work 0 ... count - 1 steps."""
    from scipy.signal import lfilter  # type: ignore[import-untyped, unused-ignore]
    from scipy.special import gammainc  # type: ignore[import-untyped, unused-ignore]

    rate = load / STEPS
    jumps = np.arange(1, 40)
    # P(at least k arrivals in a step), from k = 1 on.
    at_least = gammainc(jumps, rate)
    at_least = at_least[at_least > 1e-14]
    # A jump of k operations crosses a cut by STEPS k - 1 at most, after the step's own fall.
    tail = np.repeat(at_least, STEPS)
    coefficients = tail[1:] * np.exp(rate)
    root = _root(load) ** (1 / STEPS)
    powers = root ** np.arange(1, len(coefficients) + 1)
    impulse = np.zeros(count)
    impulse[0] = 1.0
    weights = lfilter([1.0], np.concatenate([[1.0], -coefficients * powers]), impulse)
    if root < 1:
        weights = weights * np.exp(-np.log(root) * (np.arange(count) - count))
    return np.asarray(weights / weights.sum())


def _root(load: float) -> float:
    """1, or above load 1 the root z < 1 of exp(load (z - 1)) = z: weights grow like z to the -n."""
    if load <= 1 + 1e-9:
        return 1.0
    z = 0.5 / load
    for _ in range(200):
        z = float(np.exp(load * (z - 1)))
    return z


def _exponential(load: float, queue: float, q: Floats) -> Floats:
    """M/M/1/M: of n operations found, a read takes n + 1 exponential times."""
    from scipy.special import gammainc  # type: ignore[import-untyped, unused-ignore]

    most = max(1.0, queue)
    middle = (np.arange(_POINTS) + 0.5) / _POINTS
    log = np.log(load)
    if abs(log) * most < 1e-9:
        found = middle * (most + 1)
    else:
        # Quantiles of a geometric distribution that ends at M.
        steep = log * (most + 1)
        far = most + 1 + np.log(middle) / log
        found = far if steep > 500 else np.log1p(middle * np.expm1(steep)) / log
    shape = np.floor(np.clip(found, 0, most)) + 1
    high = shape.max() + 8 * np.sqrt(shape.max()) + 12
    x = np.concatenate([[0.0], np.geomspace(1e-3, high, 240)])
    total = gammainc(shape[:, None], x[None, :]).mean(axis=0)
    return np.asarray(np.interp(q, total, x))
