"""G4: hourly slowdown with a planted pattern, random events, and working days that mean nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.truth.weather.latency import Floats
from benchmarks.truth.weather.stream import walk

WEEK_H = 168


@dataclass(frozen=True)
class Pattern:
    """Slow by ``factor`` for ``hours`` from ``start_h`` on, every ``period_h`` hours.

    Each time is moved by up to ``jitter_h`` hours and left out with probability ``missed``.
    """

    period_h: int
    start_h: float
    hours: float
    factor: float
    jitter_h: float = 0.0
    missed: float = 0.0


BACKUP = Pattern(WEEK_H, 122, 30, 3.0)
"""Saturday 02:00 to Sunday 08:00."""
WEEKLY = Pattern(WEEK_H, 50, 4, 2.0)
"""Wednesday 02:00 to 06:00."""
DAILY = Pattern(24, 3, 2, 1.6)


def hours(
    random: np.random.Generator, weeks: int, pattern: Pattern | None = None
) -> tuple[NDArray[np.int64], Floats]:
    """Hours since a Monday 00:00, and the slowdown of each."""
    n = weeks * WEEK_H
    hour = np.arange(n)
    log = 0.12 * random.standard_normal(n) + walk(random, n, 0.12, 6)
    log += 0.15 * ((hour // 24 % 7 < 5) & (hour % 24 >= 9) & (hour % 24 < 18))
    for _ in range(random.poisson(3 * weeks)):
        start, long = int(random.integers(0, n)), int(random.integers(1, 9))
        log[start : start + long] += np.log(10) * random.uniform(0.3, 1.3)
    if pattern is not None:
        for period in range(n // pattern.period_h):
            moved = random.uniform(-1, 1) * pattern.jitter_h
            if random.random() < pattern.missed:
                continue
            start = round(period * pattern.period_h + pattern.start_h + moved)
            log[start : start + round(pattern.hours)] += np.log(pattern.factor)
    return hour, np.exp(log)
