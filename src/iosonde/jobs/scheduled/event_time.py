"""Slow time of a job as events have it, and the events that its slow time does not count.

Events judge what cells of a minute cannot: stretches of seconds, and those of a baseline of less than an hour. Of
several hosts so many must have an event of an op as the lower median of their cells asks for: all of two, two of three.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from iosonde.model.ops import SLOW_AT
from iosonde.model.verdicts import Reason
from iosonde.weather.events.noted import slow_hangs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iosonde.model.events import OpShare, SlowEvent
    from iosonde.weather.events.told import Happened

    Span = tuple[int, int]
    """[begin, end), ns."""

_KINDS = ("slow", "partly_slow", "lost", "hang")


class EventTime(NamedTuple):
    """[begin, end) in which an op was slow by ``typ`` (ratio; inf: it hung), with its interval."""

    op: str
    begin_ns: int
    end_ns: int
    typ: float
    lower: float
    upper: float


class Untold(NamedTuple):
    """An event during the job that its slow time does not count: of ``length_ns`` within the job.

    ``factor``: ratio of a slow op; ``lost``: share of its operations. ``host``: who alone saw it; "": who watched.
    """

    kind: str
    op: str
    length_ns: int
    factor: float | None
    lost: float | None
    host: str


class TargetEvents(NamedTuple):
    """What events say of a target during a job: slow times, times that a young baseline judged, all its events."""

    slow: tuple[EventTime, ...] = ()
    young: tuple[Span, ...] = ()
    events: tuple[SlowEvent, ...] = ()


def judged_by(found: Happened | None, target: str, hosts: int, now_ns: int) -> TargetEvents:
    """What the events of a span say of a target that so many hosts watch."""
    if found is None:
        return TargetEvents()
    every = [*found.slow, *slow_hangs(found.logged, now_ns)]
    events = [one for one in every if one.target == target and one.kind in _KINDS]
    needed = hosts - max(0, hosts - 1) // 2
    of_op: dict[str, list[EventTime]] = {}
    for event in events:
        for share in event.ops:
            if (time := _time(event, share)) is not None:
                of_op.setdefault(share.op, []).append(time)
    slow = [one for times in of_op.values() for one in _shared(times, needed)]
    return TargetEvents(tuple(slow), tuple(_young(found, target, now_ns)), tuple(events))


def untold(
    judged: TargetEvents, slow: Sequence[Span], span_ns: Span, hosts: int
) -> tuple[Untold, ...]:
    """Events within [begin, end) that share no moment with its slow time, the longest first."""
    found = []
    for event in judged.events:
        begin, end = max(event.start_ns, span_ns[0]), min(_end(event), span_ns[1])
        if begin >= end or event.op is None:
            continue
        counted = event.kind in ("slow", "hang") and any(a < end and b > begin for a, b in slow)
        if not counted:
            host = event.host if hosts > 1 else ""
            found.append(Untold(event.kind, event.op, end - begin, event.median, event.lost, host))
    return tuple(sorted(found, key=lambda one: -one.length_ns))


def _time(event: SlowEvent, share: OpShare) -> EventTime | None:
    """The time in which an op was slow itself, or hung; None: it was not."""
    if event.kind == "hang":
        return EventTime(share.op, event.start_ns, _end(event), *(float("inf"),) * 3)
    if event.kind != "slow" or share.start_ns is None or (share.median or 0.0) < SLOW_AT:
        return None
    typ = share.median or 0.0
    bounds = (typ if share.lower is None else share.lower, share.upper or typ)
    end = _end(event) if event.end_ns is None else share.end_ns or event.end_ns
    return EventTime(share.op, share.start_ns, end, typ, *bounds)


def _end(event: SlowEvent) -> int:
    return event.seen_until_ns if event.end_ns is None else event.end_ns


def _shared(times: Sequence[EventTime], needed: int) -> list[EventTime]:
    """Where so many of the times hold at once, by the least of the ``needed`` largest."""
    if needed <= 1:
        return list(times)
    cuts = sorted({ns for one in times for ns in (one.begin_ns, one.end_ns)})
    found = []
    for begin, end in pairwise(cuts):
        here = [one for one in times if one.begin_ns <= begin and one.end_ns >= end]
        if len(here) >= needed:
            least = sorted(here, key=lambda one: -one.typ)[needed - 1]
            found.append(least._replace(begin_ns=begin, end_ns=end))
    return found


def _young(found: Happened, target: str, now_ns: int) -> list[Span]:
    """Times in which a baseline of less than an hour judged the whole target."""
    return [
        (one.begin_ns, now_ns if one.end_ns is None else one.end_ns)
        for one in found.not_judged
        if one.target == target
        and one.op is None
        and one.reason is Reason.LEARNING
        and not one.blind
    ]
