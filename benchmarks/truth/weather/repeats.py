"""Faults that come back several times a day, from the first hour on: those of the last days must still be found."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.truth.target import Row, share
from benchmarks.truth.weather.alarms import INFINITE, delays, median, raised_live
from benchmarks.truth.weather.judge import judged
from benchmarks.truth.weather.latency import Floats
from benchmarks.truth.weather.stream import DAY_S, walk

OP = "md_create"
LEARNING_DAYS = 14
A_DAY = (1, 2, 4, 8)


class Fault(NamedTuple):
    """So many seconds in which a share of the operations takes so many times as long."""

    long: int
    factor: float
    share: float


FAULTS = {
    "x10, 60 s": Fault(60, 10.0, 1.0),
    "x3, 10 min": Fault(600, 3.0, 1.0),
    "x2, 2 h": Fault(7_200, 2.0, 1.0),
    "x10 on 30%, 60 s": Fault(60, 10.0, 0.3),
    "x10 on 10%, 10 min": Fault(600, 10.0, 0.1),
}


def repeats(seed: int, scale: float = 1.0) -> list[Row]:
    """A line a fault, a column a number of times a day: the share found after what 14 days taught, and how soon."""
    days = LEARNING_DAYS + max(4, round(27 * scale))
    rows = []
    for place, (name, fault) in enumerate(FAULTS.items()):
        for a_day in A_DAY:
            random = np.random.default_rng((seed, place, a_day))
            seconds, begins = _stream(random, days, a_day, fault)
            _, baseline = judged(OP, seconds)
            last = begins[begins >= LEARNING_DAYS * DAY_S]
            after = delays(raised_live(seconds, baseline).at_s, last, fault.long)
            p, error = share(len(after), len(last))
            soon = f"{median(after):.0f} s" if len(after) else ""
            column = f"{a_day} a day"
            rows.append(Row("repeats", name, p, 0, INFINITE, "-", "-", error, column, soon))
    return rows


def _stream(
    random: np.random.Generator, days: int, a_day: int, fault: Fault
) -> tuple[Floats, NDArray[np.int64]]:
    """Lognormal operations with a harmless load, one fault at random in each part of a day."""
    n, each = days * DAY_S, DAY_S // a_day
    load = walk(random, n, 0.1, 1_800)
    seconds = 1.5e-3 * np.exp(0.4 * random.standard_normal(n) + load)
    room = each - fault.long - 900
    begins = np.arange(days * a_day) * each + random.integers(0, max(1, room), days * a_day)
    for begin in begins.tolist():
        struck = random.random(fault.long) < fault.share
        seconds[begin : begin + fault.long] *= np.where(struck, fault.factor, 1.0)
    return np.asarray(seconds), begins.astype(np.int64)
