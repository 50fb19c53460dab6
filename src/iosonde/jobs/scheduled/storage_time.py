"""Slow, clear and unknown time of a target during a job, as values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from iosonde.jobs.scheduled.event_time import Untold

LEVELS = (2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0)
"""Slowdown levels of counted times; the first is the limit of slow."""


class TimeAt(NamedTuple):
    """Duration (ns) above a slowdown ``level`` (ratio), and its bounds."""

    level: float
    slow_ns: int
    least_ns: int
    most_ns: int


class OpTime(NamedTuple):
    """Slow duration of one op (ns), and its median typ (ratio) in that time; inf: it did not answer."""

    op: str
    slow_ns: int
    typ: float


@dataclass(frozen=True)
class StorageTime:
    """Target during a job. ``slow_ns + clear_ns + unknown_ns`` = the job's time.

    ``at``: by ``LEVELS``. ``ops``: those that were slow, longest first. ``unknown_ns`` is ``unprobed_ns`` (nobody
    measured), ``busy_ns`` (the probing host explains it) and the rest (too few operations, or still learning).
    ``stretches``: [begin, end) ns, within the job. ``window_ns``: length of a cell; ``hosts``: who probed.
    ``untold``: events that count for none of this.
    """

    target: str
    slow_ns: int
    clear_ns: int
    unknown_ns: int
    unprobed_ns: int
    busy_ns: int
    at: tuple[TimeAt, ...]
    ops: tuple[OpTime, ...]
    stretches: tuple[tuple[int, int], ...]
    window_ns: int
    hosts: tuple[str, ...]
    untold: tuple[Untold, ...] = ()

    @property
    def told(self) -> TimeAt:
        """Highest level that holds for at least half of the slow time."""
        held = [one for one in self.at if one.slow_ns and 2 * one.slow_ns >= self.slow_ns]
        return held[-1] if held else self.at[0]

    @property
    def worst_op(self) -> OpTime:
        """The op that was slow longest, of those at the told level. Only of a target that was slow."""
        return next((one for one in self.ops if one.typ >= self.told.level), self.ops[0])

    @property
    def silent(self) -> bool:
        """Whether most operations of the worst op were lost, rather than slow. Only of a target that was slow."""
        return math.isinf(self.worst_op.typ) and self.told.level == LEVELS[-1]
