"""Events: changes of several series that may have happened on the same date."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.model.units import DAY_NS

if TYPE_CHECKING:
    from iosonde.jobs.climate.metrics import MetricChange
    from iosonde.jobs.climate.series import JobSeries, LevelChange

Key = tuple[str, str]
"""(file system, motif)."""
NEAR_NS = 7 * DAY_NS
"""Largest distance of a metric's date from the event's interval to count as simultaneous."""


@dataclass(frozen=True)
class ClimateEvent:
    """Changes whose intervals overlap, in ``earliest_ns`` to ``latest_ns``.

    ``at_ns``: where the surest of them has its first run afterwards, within these. ``steady``: series with runs
    before and after that did not change. ``silent_ns``: the longest time within the interval in which
    none of its series ran, from and to: the date cannot be told better. ``metrics``: what else changed on its
    file systems at that time, those nearest to its date first.
    """

    at_ns: int
    earliest_ns: int
    latest_ns: int
    changes: tuple[LevelChange, ...]
    steady: tuple[Key, ...]
    silent_ns: tuple[int, int]
    metrics: tuple[MetricChange, ...]

    @property
    def asked(self) -> int:
        """Number of series that could have changed."""
        return len({(c.file_system, c.motif) for c in self.changes}) + len(self.steady)

    @property
    def file_systems(self) -> tuple[str, ...]:
        """Affected file systems."""
        return tuple(sorted({change.file_system for change in self.changes}))

    def parts(self) -> list[tuple[str, bool, tuple[LevelChange, ...]]]:
        """(motif, True for a rise, changes), most file systems first, then the largest change."""
        groups: dict[tuple[str, bool], list[LevelChange]] = {}
        for change in self.changes:
            groups.setdefault((change.motif, change.rose), []).append(change)
        return sorted(
            ((motif, rose, tuple(some)) for (motif, rose), some in groups.items()),
            key=lambda part: (-len(part[2]), min(_rest(c) for c in part[2]), part[0]),
        )


def events_of(
    series: Sequence[JobSeries], metrics: Sequence[MetricChange]
) -> tuple[ClimateEvent, ...]:
    """Events by date. A change belongs to one event; two changes of a series are never one.

    The fewest dates such that every change's interval holds one (greedy by their ends, which is best for
    intervals); a change goes to the date in its interval that is nearest to its own.
    """
    changes = sorted(
        (change for one in series for change in one.changes),
        key=lambda c: (c.latest_ns, c.earliest_ns, c.file_system, c.motif),
    )
    dates: list[int] = []
    for change in changes:
        if not dates or dates[-1] < change.earliest_ns:
            dates.append(change.latest_ns)
    groups: dict[int, list[LevelChange]] = {}
    for change in changes:
        inside = [date for date in dates if change.earliest_ns <= date <= change.latest_ns]
        nearest = min(inside, key=lambda date: abs(date - change.at_ns))
        groups.setdefault(nearest, []).append(change)
    made = [_event(group, series, metrics) for group in _one_each(groups)]
    return tuple(sorted(made, key=lambda event: (event.at_ns, event.earliest_ns)))


def _one_each(groups: dict[int, list[LevelChange]]) -> list[list[LevelChange]]:
    """Split groups so that a series occurs once in each: its further changes become groups of their own."""
    found = []
    for date in sorted(groups):
        once: dict[Key, LevelChange] = {}
        for change in groups[date]:
            key = (change.file_system, change.motif)
            kept = once.setdefault(key, change)
            if kept is not change:
                nearer = min(kept, change, key=lambda c: abs(c.at_ns - date))
                once[key] = nearer
                found.append([change if nearer is kept else kept])
        found.append(list(once.values()))
    return found


def _event(
    changes: Sequence[LevelChange], series: Sequence[JobSeries], metrics: Sequence[MetricChange]
) -> ClimateEvent:
    earliest = max(change.earliest_ns for change in changes)
    latest = min(change.latest_ns for change in changes)
    surest = min(changes, key=lambda c: (c.p, c.latest_ns - c.earliest_ns))
    moved = {(change.file_system, change.motif) for change in changes}
    places = {change.file_system for change in changes}
    steady = tuple(
        (one.file_system, one.motif)
        for one in series
        if (one.file_system, one.motif) not in moved and one.could_change(earliest, latest)
    )
    at = min(max(surest.at_ns, earliest), latest)
    along = [
        one
        for one in metrics
        if one.file_system in places
        and one.earliest_ns <= latest
        and one.latest_ns >= earliest
        and earliest - NEAR_NS <= one.at_ns <= latest + NEAR_NS
    ]
    along.sort(key=lambda one: (abs(one.at_ns - at), one.p, one.file_system, one.metric))
    order = sorted(changes, key=lambda c: (c.motif, c.file_system))
    return ClimateEvent(
        at,
        earliest,
        latest,
        tuple(order),
        steady,
        _silent(series, moved, earliest, latest),
        tuple(along),
    )


def _silent(
    series: Sequence[JobSeries], moved: set[Key], earliest: int, latest: int
) -> tuple[int, int]:
    """Longest time without a run of ``moved`` within an interval."""
    inside = [
        one.times_ns[(one.times_ns >= earliest) & (one.times_ns <= latest)]
        for one in series
        if (one.file_system, one.motif) in moved
    ]
    times = np.unique(np.concatenate([*inside, np.array([earliest, latest])]))
    longest = int(np.argmax(np.diff(times))) if len(times) > 1 else 0
    return int(times[longest]), int(times[min(longest + 1, len(times) - 1)])


def _rest(change: LevelChange) -> float:
    """Ratio of the smaller side to the larger: small for large changes."""
    low, high = sorted((change.before, change.after))
    return low / high if high > 0 else 1.0
