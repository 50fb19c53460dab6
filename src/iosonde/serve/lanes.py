"""Lanes: a pool of threads and a queue per kind of question, so that a heavy one blocks no other.

::

    quick     targets, status, badges           never behind anything else
    series    a target over time                windows of a second or more
    heavy     series of shorter windows         a few wait, the next is refused
    events    events of a range                 kept for some seconds
    jobs      lists of jobs and runs, diagrams
    slow      why, climate, a job's storage
    load, simulating, drawings                  one at a time: memory, and a library that draws on one thread
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from iosonde.model.ops import SECOND_NS
from iosonde.serve.params import SeriesRequest
from iosonde.serve.shared import Shared

EVENTS_KEPT_S = 15.0
"""Time that events are cached: one starts or ends with a window of a minute."""
MOST_HEAVY = 8
"""Most heavy series in progress or queued."""


class Lanes(NamedTuple):
    """All lanes."""

    quick: Shared
    series: Shared
    heavy: Shared
    events: Shared
    jobs: Shared
    slow: Shared
    load: Shared
    simulating: Shared
    drawings: Shared

    def of_series(self, asked: SeriesRequest) -> Shared:
        """Lane of a series request: short windows need all operations of days."""
        return self.heavy if asked.window_ns < SECOND_NS else self.series

    def close(self) -> None:
        """End the threads."""
        for lane in self:
            lane.close()


def lanes(seconds: Callable[[], float]) -> Lanes:
    """Create the lanes. ``seconds``: a monotonic clock."""
    return Lanes(
        quick=Shared(seconds),
        series=Shared(seconds),
        heavy=Shared(seconds, threads=1, most_open=MOST_HEAVY),
        # Every page asks for events once a minute: equal questions of that minute are answered once.
        events=Shared(seconds, keep_s=EVENTS_KEPT_S, most=64, threads=1),
        jobs=Shared(seconds),
        slow=Shared(seconds),
        load=Shared(seconds, threads=1),
        simulating=Shared(seconds, threads=1),
        drawings=Shared(seconds, threads=1),
    )
