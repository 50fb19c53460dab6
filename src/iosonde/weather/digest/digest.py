"""A week of every target beside the week before, as data."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from iosonde.model.frames import SlowdownQuery
from iosonde.model.units import DAY_NS
from iosonde.model.verdicts import Verdict
from iosonde.weather.events.history import recurrence_of
from iosonde.weather.report.report import reports
from iosonde.weather.report.worst import lost_time_s, slow_events

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import tzinfo

    import numpy as np

    from iosonde.model.events import Recurring, SlowEvent
    from iosonde.model.verdicts import Unjudged
    from iosonde.weather.events.log import Event
    from iosonde.weather.report.report import Report
    from iosonde.weather.store import Store

WEEK_NS = 7 * DAY_NS


@dataclass(frozen=True)
class Episode:
    """Time in which a target was slow, lost operations or hung, from whatever host: events that overlap are one.

    ``worst``: of its events, the one that cost most.
    """

    start_ns: int
    end_ns: int
    hosts: tuple[str, ...]
    worst: SlowEvent


@dataclass(frozen=True)
class Week:
    """A target in a week. ``known_ns``: the longest that a host watched it; 0: nobody did.

    ``verdict``: of the host that could judge most; ``not_judged``: intervals that a host could not judge. ``ops``:
    median slowdown of the worst event of each op that was slow, the largest first.
    """

    known_ns: int
    hosts: tuple[str, ...]
    verdict: Verdict
    not_judged: tuple[Unjudged, ...]
    stretches: tuple[Episode, ...]
    ops: tuple[tuple[str, float], ...]

    @property
    def slow_ns(self) -> int:
        """Nanoseconds of all stretches."""
        return sum(one.end_ns - one.start_ns for one in self.stretches)


@dataclass(frozen=True)
class TargetDigest:
    """A target in two weeks, and what comes back on it."""

    target: str
    week: Week
    before: Week
    recurring: tuple[Recurring, ...]


@dataclass(frozen=True)
class Digest:
    """Every target that was watched in [since, until), the one that was slow for longest first."""

    since_ns: int
    until_ns: int
    targets: tuple[TargetDigest, ...]


def digest(
    store: Store,
    until_ns: int,
    zone: tzinfo | None,
    random: np.random.Generator,
    noted: Sequence[Event] = (),
) -> Digest:
    """The seven days before ``until_ns`` beside the seven before them. ``noted``: what agents logged of both.

    ``random``: for the tests of what comes back. Raises StoreError.
    """
    store = store.with_rollups(None, None, None)
    since = until_ns - WEEK_NS
    week, before = (_week(store, end, zone, noted) for end in (until_ns, since))
    back = recurrence_of(store, SlowdownQuery(until_ns=until_ns), random, zone)
    recurring: dict[str, list[Recurring]] = defaultdict(list)
    for place, one in back.items():
        recurring[place.target] += one.found
    nothing = Week(0, (), Verdict.NOT_JUDGED, (), (), ())
    found = [
        TargetDigest(target, of, before.get(target, nothing), tuple(recurring[target]))
        for target, of in week.items()
    ]
    found.sort(key=lambda one: (-one.week.slow_ns, one.target))
    return Digest(since, until_ns, tuple(found))


def _week(
    store: Store, until_ns: int, zone: tzinfo | None, noted: Sequence[Event]
) -> dict[str, Week]:
    query = SlowdownQuery(since_ns=until_ns - WEEK_NS, until_ns=until_ns)
    by_target: dict[str, list[Report]] = defaultdict(list)
    for report in reports(store, query, zone, noted=noted):
        by_target[report.place.target].append(report)
    return {target: _of_target(found) for target, found in by_target.items()}


def _of_target(found: Sequence[Report]) -> Week:
    events = [event for report in found for event in slow_events(report)]
    ops: dict[str, float] = {}
    for event in events:
        for share in event.ops:
            if share.affected and share.median is not None:
                ops[share.op] = max(share.median, ops.get(share.op, 0.0))
    return Week(
        max(report.known_ns for report in found),
        tuple(sorted({report.place.host for report in found})),
        max((report.verdict for report in found), key=list(Verdict).index),
        tuple(one for report in found for one in report.not_judged),
        tuple(stretches(events)),
        tuple(sorted(ops.items(), key=lambda item: -item[1])),
    )


def stretches(events: Iterable[SlowEvent]) -> list[Episode]:
    """Events that share a moment as one stretch, by beginning."""
    groups: list[list[SlowEvent]] = []
    end_ns = 0
    for event in sorted(events, key=lambda one: one.start_ns):
        if not groups or event.start_ns >= end_ns:
            groups.append([])
            end_ns = event.seen_until_ns
        groups[-1].append(event)
        end_ns = max(end_ns, event.seen_until_ns)
    return [
        Episode(
            group[0].start_ns,
            max(event.seen_until_ns for event in group),
            tuple(sorted({event.host for event in group})),
            max(group, key=lost_time_s),
        )
        for group in groups
    ]
