"""Closed queueing network: N clients that wait between operations, and the servers behind them.

::

    client --> delay L/2 --> queue of m servers, service D --> delay L/2 --> wait T times the response R
       ^                                                                          |
       +--------------------------------------------------------------------------+

``R(T)`` solves ``R = MVA(N; D, L, m, Z = T R)``: exact mean value analysis of one exponential station, with m > 1
servers as a station of demand D/m and a delay D (m-1)/m. The corrected rate ``X(T) = N / R(T)`` never exceeds
``(1 + T) X_max`` nor ``N / R0``, never falls with T, and ``X(T) / X(0) <= 1 + T``.

Rates are operations per second, times seconds, waiting factors T without unit. Nothing here may be missing.
Source: Reiser and Lavenberg 1980 (MVA); Seidmann et al. 1987 (several servers); Little 1961; docs/methods/adaptive.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

_STEPS, _EXACT = 60, 1e-12


@dataclass(frozen=True)
class Network:
    """Clients ``N``, mean service time ``D`` and mean delay ``L`` (seconds), servers ``m``.

    Raises ValueError unless N >= 1, D > 0, L >= 0, m >= 1.
    """

    clients: int
    service_s: float
    delay_s: float
    servers: int = 1

    def __post_init__(self) -> None:
        if self.clients < 1 or self.servers < 1:
            raise ValueError("a closed network needs a client and a server")
        if not (self.service_s > 0 and self.delay_s >= 0):
            raise ValueError("service must take time, and a delay cannot be negative")

    @property
    def max_per_s(self) -> float:
        """``X_max = m / D``: capacity of the servers."""
        return self.servers / self.service_s

    @property
    def unloaded_s(self) -> float:
        """``R0 = D + L``: response time of an operation without contention."""
        return self.service_s + self.delay_s

    @property
    def saturating_clients(self) -> float:
        """``N* = X_max R0`` (Little): number of non-waiting clients that keep the servers busy."""
        return self.max_per_s * self.unloaded_s

    def response_s(self, waiting_factor: ArrayLike) -> Floats:
        """``R(T)``, same shape as ``waiting_factor`` (>= 0)."""
        station_s = self.service_s / self.servers
        outside = self.delay_s / station_s + self.servers - 1
        factors = np.asarray(waiting_factor, dtype=np.float64)
        return station_s * relative_response(self.clients, np.asarray(outside), factors)

    def corrected_per_s(self, waiting_factor: ArrayLike) -> Floats:
        """``X(T) = N / R(T)``: the rate at which clients would work if they did not wait."""
        return np.asarray(self.clients / self.response_s(waiting_factor))

    def bounds_per_s(self, waiting_factor: ArrayLike) -> tuple[Floats, Floats]:
        """``(1 + T) X_max`` and ``N / R0``, upper bounds of the corrected rate."""
        factors = np.asarray(waiting_factor, dtype=np.float64)
        unsaturated = np.full_like(factors, self.clients / self.unloaded_s)
        return (1 + factors) * self.max_per_s, unsaturated


def relative_response(clients: int, outside: Floats, waiting_factor: Floats) -> Floats:
    """Response over the station's service time, for every pair of the two broadcast arrays.

    ``outside``: delays outside of the queue over the service time. Newton's method: what is solved is concave and
    rises, so that steps from the shortest response approach the answer from below.
    """
    outside, factor = np.broadcast_arrays(
        np.asarray(outside, dtype=np.float64), np.asarray(waiting_factor, dtype=np.float64)
    )
    response = outside + 1.0
    for _ in range(_STEPS):
        queued, slope = _queue(clients, factor * response + outside)
        step = (queued + outside - response) / (1 - factor * slope)
        response = response + step
        if np.all(np.abs(step) <= _EXACT * response):
            break
    return np.asarray(response)


def _queue(clients: int, elsewhere: Floats) -> tuple[Floats, Floats]:
    """Time at the station and its derivative by the time spent elsewhere, both over the service time."""
    waiting, change = np.zeros_like(elsewhere), np.zeros_like(elsewhere)
    response, slope = np.ones_like(elsewhere), np.zeros_like(elsewhere)
    for n in range(1, clients + 1):
        response, slope = 1.0 + waiting, change
        cycle = elsewhere + response
        waiting = n * response / cycle
        change = (n * slope - waiting * (1.0 + slope)) / cycle
    return response, slope
