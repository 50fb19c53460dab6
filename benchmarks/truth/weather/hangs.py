"""G3: a storage that stalls. What users saw, and what each way of measuring makes of it.

A stall is [a, a + d): every operation in flight or issued then completes at its end plus its own
service time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.truth.weather.latency import Floats

SERVICE_S = 0.01
SIGMA = 0.5
PERIOD_S = 1.0
LANE_OFFSET_S = 0.3
DAY_S = 86_400


@dataclass(frozen=True)
class Stalls:
    """One stall of ``length_s`` in every ``every_s``, at a uniformly random place of it."""

    length_s: float
    every_s: float

    def draw(self, random: np.random.Generator, seconds: float = DAY_S) -> Floats:
        """When each stall begins."""
        n = int(seconds // self.every_s)
        return np.arange(n) * self.every_s + random.uniform(0, self.every_s - self.length_s, n)


CASES = {
    "100 s an hour": Stalls(100, 3_600),
    "5 s in 5 min": Stalls(5, 300),
    "0.5 s in 10 s": Stalls(0.5, 10),
}


def ended(issued: Floats, service: Floats, begins: Floats, length_s: float) -> Floats:
    """When operations end that are issued at these times."""
    end = issued + service
    stall = np.searchsorted(begins, end, side="right") - 1
    inside = (stall >= 0) & (issued < begins[stall] + length_s) & (end > begins[stall])
    return np.where(inside, begins[stall] + length_s + service, end)


def users(
    random: np.random.Generator, begins: Floats, length_s: float, n: int, seconds: float = DAY_S
) -> Floats:
    """What operations take that are issued at random instants: the truth."""
    issued = np.sort(random.uniform(0, seconds, n))
    service = random.lognormal(np.log(SERVICE_S), SIGMA, n)
    return ended(issued, service, begins, length_s) - issued


@dataclass(frozen=True)
class Lane:
    """One row a tick: seconds of service (NaN when skipped) and of response (never missing)."""

    service: Floats
    response: Floats
    skipped: NDArray[np.bool_]


def lane(
    random: np.random.Generator, begins: Floats, length_s: float, seconds: float = DAY_S
) -> Lane:
    """A lane of its own with a schedule: a tick that is due while it is blocked is skipped."""
    due = np.arange(int(seconds / PERIOD_S)) * PERIOD_S + LANE_OFFSET_S
    service = random.lognormal(np.log(SERVICE_S), SIGMA, len(due))
    end = ended(due, service, begins, length_s)
    free = np.concatenate(([0.0], np.maximum.accumulate(end)[:-1]))
    skipped = due < free
    # skipped ticks wait for the operation that blocks them, which is the last that was issued
    issued_end = np.maximum.accumulate(np.where(_issued(due, end), end, -np.inf))
    response = np.where(skipped, issued_end, end) - due
    return Lane(np.where(skipped, np.nan, end - due), response, skipped)


def _issued(due: Floats, end: Floats) -> NDArray[np.bool_]:
    """Which ticks find the lane free, one after the other."""
    issued = np.ones(len(due), bool)
    busy_until = -np.inf
    long = np.flatnonzero(end - due > PERIOD_S)
    for tick in long.tolist():
        if due[tick] < busy_until:
            continue
        busy_until = end[tick]
        last = int(np.searchsorted(due, busy_until))
        issued[tick + 1 : last] = False
    return issued


def sequential(
    random: np.random.Generator, begins: Floats, length_s: float, seconds: float = DAY_S
) -> Floats:
    """Six operations in one loop, one round a second: service time alone, which looks healthy."""
    due = np.arange(int(seconds / PERIOD_S)) * PERIOD_S
    service = random.lognormal(np.log(SERVICE_S), SIGMA, (len(due), 6))
    took: list[float] = []
    now, stall = 0.0, 0
    for when, six in zip(due.tolist(), service.tolist(), strict=True):
        now = max(now, when)
        for alone in six:
            while stall < len(begins) and begins[stall] + length_s <= now:
                stall += 1
            end = now + alone
            if stall < len(begins) and end > begins[stall]:
                end = begins[stall] + length_s + alone
            took.append(end - now)
            now = end
    return np.array(took)
