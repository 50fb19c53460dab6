"""Capacity of servers, unloaded response time of an operation, and number of clients that saturate them.

Service time ``D`` and delay ``L`` of a closed network (``queue.closed_network``) are fitted to the logarithms of
corrected rates: one station, m servers, least squares with Huber's bound on what a single measurement may say. The
rates of all levels hang on ``L / D`` alone but for a common factor, so the search has one dimension.

Intervals are of 90%, from a jackknife over measurements (t with k - 1 degrees of freedom; no randomness), widened by
what the model itself is off (``MODEL_ERROR``). Source: methods of docs/methods/adaptive.md; Huber 1964; Tukey 1958.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from iosonde.queue.closed_network import Network, relative_response
from iosonde.stats.t_interval import SD_FLOOR, half_of, half_width

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FLAT = 1.15
"""Rates at the largest T and without waits that differ by less than this factor show no saturation."""
EDGE = 1.25
"""Below so many times N / (1 + T) the fitted N* is too large: clients that wait for as long as a queue kept them
come back together, and leave the servers idle in between, which looks like the end of saturation."""
STEEP = 0.9
"""Share of the largest possible ratio, 1 + T, above which only saturation is visible."""
MODEL_ERROR = {"max_per_s": 0.02, "unloaded_s": 0.05, "saturating_clients": 0.05}
"""Standard deviation of the model's error in the logarithm, on simulated stores."""
_PLACES = 161
_HUBER = 1.345
_ROUNDS = 6
_NORMAL_MAD = 1.4826
_NORMAL_90 = 1.645


class CurveCoverage(StrEnum):
    """Part of the curve that the waiting factors cover."""

    FLAT = "flat"
    """No saturation: an unloaded response time, and bounds on the rest."""
    BEND = "bend"
    """Saturation and its end: all three numbers."""
    EDGE = "edge"
    """End of saturation just not reached: the servers' rate; the other two are upper bounds."""
    STEEP = "steep"
    """Saturation only: the servers' rate, and bounds on the rest."""


@dataclass(frozen=True)
class Estimate:
    """A number with its 90% interval; ``value`` None: not identifiable, the ends are bounds.

    An end that is None is missing.
    """

    value: float | None
    lower: float | None
    upper: float | None


@dataclass(frozen=True)
class Capacity:
    """Capacity of the store from corrected rates, for ``clients`` clients and ``servers`` servers.

    ``max_per_s``: X_max, operations per second; ``unloaded_s``: R0, seconds; ``saturating_clients``: N*;
    ``network``: the fitted network, None where none was.
    """

    coverage: CurveCoverage
    clients: int
    servers: int
    max_per_s: Estimate
    unloaded_s: Estimate
    saturating_clients: Estimate
    network: Network | None


def capacity(
    waiting_factor: Floats, corrected_per_s: Floats, clients: int, servers: int = 1
) -> Capacity:
    """Estimate capacity from rates of all clients together.

    ``waiting_factor`` (levels,): T as measured, rising, the first one without waits (about 0);
    ``corrected_per_s`` (measurements, levels), operations per second, NaN = missing. Raises ValueError when a level at
    either end has no rate.
    """
    factor, rate = np.asarray(waiting_factor, dtype=np.float64), np.log(corrected_per_s)
    first, last = _finite(rate[:, 0]), _finite(rate[:, -1])
    if len(first) == 0 or len(last) == 0 or factor[-1] <= factor[0]:
        raise ValueError("a capacity needs rates without waits and with long ones")
    ratio = float(np.exp(last.mean() - first.mean()))
    if ratio < FLAT:
        return _flat(first, last, clients, servers)
    network, found = _fitted(factor, rate, clients, servers)
    longest = 1 + float(factor[-1])
    most = clients / longest
    coverage = CurveCoverage.BEND
    if ratio > STEEP * longest / (1 + float(factor[0])):
        coverage = CurveCoverage.STEEP
        found["unloaded_s"] = Estimate(None, None, most / network.max_per_s)
        found["saturating_clients"] = Estimate(None, None, most)
    elif network.saturating_clients < EDGE * most:
        coverage = CurveCoverage.EDGE
        for name in ("unloaded_s", "saturating_clients"):
            found[name] = Estimate(found[name].value, None, found[name].upper)
    return Capacity(coverage, clients, servers, **found, network=network)


def _flat(first: Floats, last: Floats, clients: int, servers: int) -> Capacity:
    """Capacity without saturation: the response is the unloaded one."""
    ends = [(float(rates.mean()), half_width(rates)) for rates in (first, last)]
    slow, fast = min(mean - half for mean, half in ends), max(mean + half for mean, half in ends)
    middle = sum(mean for mean, _ in ends) / 2
    return Capacity(
        CurveCoverage.FLAT,
        clients,
        servers,
        Estimate(None, float(np.exp(first.mean())), None),
        Estimate(*(float(clients / np.exp(log)) for log in (middle, fast, slow))),
        Estimate(None, float(clients), None),
        None,
    )


def _finite(values: Floats) -> Floats:
    return np.asarray(values[np.isfinite(values)])


def _fitted(
    factor: Floats, rate: Floats, clients: int, servers: int
) -> tuple[Network, dict[str, Estimate]]:
    """Fit to all measurements, and intervals by the jackknife over measurements."""
    shape = _Shape(factor, clients, servers)
    scale = _scale(rate)
    network = shape.fit(rate, scale)
    each = [np.delete(rate, left_out, axis=0) for left_out in range(len(rate))]
    usable = len(each) > 2 and all(np.isfinite(part[:, [0, -1]]).any(axis=0).all() for part in each)
    parts = [shape.fit(part, scale) for part in each] if usable else []
    found = {}
    for name, off in MODEL_ERROR.items():
        value = float(getattr(network, name))
        if not parts:
            found[name] = Estimate(value, None, None)
            continue
        logs = np.log([getattr(part, name) for part in parts])
        k = len(logs)
        error = (k - 1) * float(np.std(logs, ddof=1)) / k**0.5
        half = (half_of(error, k) ** 2 + (_NORMAL_90 * off) ** 2) ** 0.5
        found[name] = Estimate(value, value * float(np.exp(-half)), value * float(np.exp(half)))
    return network, found


def _scale(rate: Floats) -> float:
    """Robust scatter of the measurements of a level; at least ``SD_FLOOR``."""
    several = np.isfinite(rate).sum(axis=0) > 1
    if not several.any():
        return SD_FLOOR
    off = rate[:, several] - np.nanmedian(rate[:, several], axis=0)
    return max(SD_FLOOR, _NORMAL_MAD * float(np.nanmedian(np.abs(off))))


class _Shape:
    """Logarithms of relative responses on a grid of networks, for one set of waiting factors."""

    def __init__(self, factor: Floats, clients: int, servers: int) -> None:
        # N* / m from one client a server to five times as many clients as there are.
        self._wanted = np.linspace(0.0, np.log(5.0 * max(1.0, clients / servers)), _PLACES)
        self._clients, self._servers, self._factor = clients, servers, factor
        self._log = np.log(relative_response(clients, self._outside(self._wanted)[:, None], factor))

    def _outside(self, wanted: Floats) -> Floats:
        """Delays outside of the queue over the station's service time; ``wanted`` = ln(1 + L / D)."""
        return np.asarray(self._servers * np.expm1(wanted) + self._servers - 1)

    def fit(self, rate: Floats, scale: float) -> Network:
        """Network with the closest logarithms of rates (measurements, levels)."""
        rows, columns = np.nonzero(np.isfinite(rate))
        logs = rate[rows, columns] + self._log[:, columns]
        centre, loss = _huber(logs, scale)
        at = int(np.argmin(loss))
        if 0 < at < _PLACES - 1:
            low, middle, high = loss[at - 1 : at + 2]
            bend = low - 2 * middle + high
            move = 0.5 * (low - high) / bend if bend > 0 else 0.0
            wanted = np.array([np.interp(at + move, np.arange(_PLACES), self._wanted)])
            outside = self._outside(wanted)[:, None]
            exact = np.log(relative_response(self._clients, outside, self._factor))
            centre, _ = _huber(rate[rows, columns] + exact[:, columns], scale)
            at = 0
        else:
            wanted = self._wanted
        service_s = self._servers * self._clients / float(np.exp(centre[at]))
        return Network(
            self._clients, service_s, service_s * float(np.expm1(wanted[at])), self._servers
        )


def _huber(logs: Floats, scale: float) -> tuple[Floats, Floats]:
    """Centre of each row, and its misfit; Huber's loss."""
    centre = np.median(logs, axis=1)
    for _ in range(_ROUNDS):
        off = np.abs(logs - centre[:, None]) / scale
        weight = np.minimum(1.0, _HUBER / np.maximum(off, 1e-12))
        centre = (weight * logs).sum(axis=1) / weight.sum(axis=1)
    off = np.abs(logs - centre[:, None]) / scale
    loss = np.where(off <= _HUBER, off**2 / 2, _HUBER * (off - _HUBER / 2))
    return centre, loss.sum(axis=1)
