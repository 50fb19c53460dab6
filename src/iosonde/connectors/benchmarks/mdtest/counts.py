"""Number of objects and duration of a phase of mdtest, from counts, times and rates that its text gives.

"N tasks, M files" is the plan. With a time limit (``-W``), and where the count is read from the file of an earlier
limit (``-x``: stat, read and delete of IO500), another number of objects was done, which no line gives: it is the
rate times the time. Each rank does the same number then, so it is a whole number a rank.
"""

from __future__ import annotations

from typing import NamedTuple

from iosonde.connectors.benchmarks.flags import DIFFERS

_DIGIT = 0.0005
"""Half of the last printed digit of times and rates."""


class Stated(NamedTuple):
    """What a text says of a phase. None: not said."""

    counted: int | None
    """Objects by a count: the plan's, or the longest rank's at the time limit times ranks."""
    seconds: float | None
    per_s: float | None
    tasks: int | None
    iterations: int = 1
    """Iterations that time and rate are means of."""


class PhaseCount(NamedTuple):
    """Objects done and seconds of a phase. None: unknown."""

    ops: int | None
    seconds: float | None
    differs: bool = False
    """True if the count was another one than rate times time."""


def amount_of(said: Stated) -> PhaseCount:
    """Objects and time of a phase; where three numbers contradict each other, rate and time count.

    A mean rate times a mean time of several iterations is no count: the count stays, and the time is count / rate.
    """
    count, seconds, rate = said.counted, said.seconds, said.per_s
    if not rate or not seconds or said.iterations > 1:
        return PhaseCount(count, count / rate if count is not None and rate else seconds)
    done = rate * seconds
    error = _DIGIT / seconds + _DIGIT / rate
    if count is not None and abs(count / done - 1) <= DIFFERS + error:
        return PhaseCount(count, seconds)
    if done >= 2**63:
        return PhaseCount(None, seconds)
    alone = done / said.tasks if said.tasks else 0.0
    exact = alone >= 0.5 and said.tasks and abs(round(alone) / alone - 1) <= error
    ops = round(alone) * said.tasks if exact and said.tasks else round(done)
    return PhaseCount(ops, seconds, count is not None)
