"""Whether it is this host (its processor, or it alone of several), comes back, or is a level that stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iosonde.model.units import DAY_NS, to_datetime
from iosonde.model.verdicts import Reason
from iosonde.weather.events import answers
from iosonde.weather.fleet.answers import fleet_at
from iosonde.weather.fleet.shapes import ENOUGH_HOSTS, FleetShape
from iosonde.weather.slowdown.rules import FLOOR_NS
from iosonde.why.links import (
    Change,
    Gap,
    HostEvidence,
    Link,
    RecurrenceEvidence,
    found,
    not_known,
    ruled_out,
)
from iosonde.why.windows import mostly_lost

if TYPE_CHECKING:
    from datetime import tzinfo

    from iosonde.model.events import Recurring, WeekSpan, Witnesses
    from iosonde.why.links import StretchFacts
    from iosonde.why.question import Scene, Weather

MOSTLY = 0.5
"""From this share of the slow or lost windows on the host's run queue explains the stretch."""
LOST_WINDOWS = 2
"""From so many windows on in which most operations were lost, the run queue does not explain the stretch."""
SHORTEST_NS = 4 * DAY_NS
"""In less history nothing can come back often enough."""
STAYS_NS = DAY_NS
"""A stretch that has gone on for so long is a level that stays, until the baseline knows it."""
_EARLY_MIN, _DAY_MIN, _WEEK_MIN = 30, 1440, 10080
_SAME_NS = DAY_NS // 24


def host_link(scene: Scene) -> Link[HostEvidence]:
    """The run queue's part of the slow windows, and what other hosts saw."""
    weather, slow, windows, *_ = scene
    if slow.kind == "host_busy":
        n = 0 if slow.factor is None else slow.windows
        woken = slow.added_ns is not None and slow.added_ns <= FLOOR_NS
        return found(HostEvidence(slow.host, n, n, 0, 0, woken))
    seen = _witnesses(weather, slow)
    hosts, of_hosts = (len(seen.hosts), seen.of) if seen else (0, 0)
    if seen and seen.scope == "client":
        if slow.host in seen.hosts or not seen.hosts:
            return found(HostEvidence(slow.host, 0, 0, max(1, hosts), of_hosts))
    elif seen and seen.scope != "storage":
        hosts, of_hosts = 0, 0
    if not of_hosts and (beside := _beside(scene)) is not None:
        alone, hosts, of_hosts = beside
        if alone:
            return found(HostEvidence(slow.host, 0, 0, hosts, of_hosts))
    if not _controlled(weather, slow):
        if of_hosts:
            return ruled_out(HostEvidence(slow.host, 0, 0, hosts, of_hosts))
        return not_known(Gap.NO_CONTROL)
    mine = (windows["target"] == slow.target) & (windows["op"] == slow.op)
    # What did not come back in time began beside a busy lane: no run queue explains it.
    lost = mostly_lost(windows)[mine]
    bad = windows["slow"][mine].astype(bool) | lost
    busy = int((bad & ~lost & windows["host_busy"][mine].astype(bool)).sum())
    fact = HostEvidence(slow.host, busy, int(bad.sum()), hosts, of_hosts)
    # A busy hour before it does not explain a storage that stopped answering in its end.
    explained = busy > MOSTLY * fact.slow and int(lost.sum()) < LOST_WINDOWS
    return found(fact) if explained else ruled_out(fact)


def _witnesses(weather: Weather, slow: StretchFacts) -> Witnesses | None:
    """What several hosts saw of the stretch; the op of the stretch first."""
    end = slow.end_ns or slow.seen_until_ns
    there = [
        one
        for one in weather.happened.seen
        if one.target == slow.target and one.start_ns < end and one.end_ns > slow.begin_ns
    ]
    return min(there, key=lambda one: one.op != slow.op, default=None)


def _beside(scene: Scene) -> tuple[bool, int, int] | None:
    """The verdict of all hosts x targets of the stretch: whether the host is alone, how many see it, of how many.

    None: too few hosts watch the target, or the verdict says nothing of it.
    """
    weather, slow = scene.weather, scene.slow
    watching = {ref.host for ref in weather.refs if ref.target == slow.target}
    if len(watching) < ENOUGH_HOSTS or scene.end_ns - slow.begin_ns > DAY_NS:
        return None
    fleet = fleet_at(weather.store, (slow.begin_ns, scene.end_ns), scene.now_ns)
    part = fleet.part
    targets = {fleet.matrix.targets[place] for place in part.targets}
    blamed = {fleet.matrix.hosts[place] for place in part.hosts}
    if slow.target not in targets or slow.host not in blamed:
        return None
    if part.shape in (FleetShape.HOST, FleetShape.CELL):
        return True, 1, len(fleet.matrix.hosts)
    if part.shape in (FleetShape.TARGET, FleetShape.TARGETS, FleetShape.EVERYTHING):
        return False, len(blamed), len(fleet.matrix.hosts)
    return None


def _controlled(weather: Weather, slow: StretchFacts) -> bool:
    """Whether samples of the stretch say how long the prober waited for a processor."""
    samples = weather.store.samples(
        ("control_runq_ns",),
        host=slow.host,
        target=slow.target,
        ops=(slow.op,),
        since_ns=slow.begin_ns,
        until_ns=(slow.end_ns or slow.seen_until_ns) + 1,
    )
    control = np.asarray(samples["control_runq_ns"], dtype=np.float64)
    return bool(len(control)) and bool(np.isfinite(control).any())


def change_link(scene: Scene) -> Link[Change]:
    """Whether the stretch is, or began with, a lasting change of what is usual."""
    weather, slow, *_ = scene
    if slow.kind == "change":
        return found(Change(slow.factor.value if slow.factor else None, slow.begin_ns))
    for one in weather.happened.slow:
        if one.kind == "change" and (one.host, one.target) == (slow.host, slow.target):
            began_with_it = abs(one.start_ns - slow.begin_ns) <= _SAME_NS
            if began_with_it and (one.median or 0.0) > 1:
                return found(Change(one.median, one.start_ns))
    if slow.end_ns is None and slow.seen_until_ns - slow.begin_ns >= STAYS_NS:
        return found(Change(slow.factor.value if slow.factor else None, slow.begin_ns, False))
    learning = any(
        (one.host, one.target) == (slow.host, slow.target)
        and one.reason is Reason.LEARNING
        and (one.end_ns is None or one.end_ns > slow.begin_ns)
        for one in weather.happened.not_judged
    )
    if learning:
        return not_known(Gap.LEARNING)
    return ruled_out(Change(None, None))


def recurrence_link(scene: Scene) -> Link[RecurrenceEvidence]:
    """Whether the stretch lies in a time of day or week that was slow before."""
    weather, slow, _, question, now_ns = scene
    until = min(now_ns, scene.end_ns)
    back = answers.recurring(
        weather.root, until, question.seed, question.zone, targets=(slow.target,)
    )
    mine = [
        one
        for one in back.found
        if (one.host, one.target) == (slow.host, slow.target)
        and slow.kind != "change"
        and _within(one.span, slow, _zone(one, question.zone))
    ]
    if mine:
        best = min(mine, key=lambda one: (not one.sure, one.op != slow.op, -one.seen))
        return found(_recurrence(best, back.looked_ns))
    if back.looked_ns < SHORTEST_NS:
        return not_known(Gap.SHORT_HISTORY)
    return ruled_out(RecurrenceEvidence(None, None, "", 0, 0, False, back.looked_ns))


def _recurrence(one: Recurring, looked_ns: int) -> RecurrenceEvidence:
    return RecurrenceEvidence(
        one.span, one.period_h, one.zone, one.seen, one.of, one.sure, looked_ns
    )


def _zone(one: Recurring, zone: tzinfo | None) -> tzinfo | None:
    """The zone that the weeks agree best in: the reader's if it has that name, else UTC."""
    from datetime import UTC

    named = zone is not None and one.zone == str(getattr(zone, "key", None) or zone.tzname(None))
    return zone if named else UTC


def _within(span: WeekSpan, slow: StretchFacts, zone: tzinfo | None) -> bool:
    """Whether the stretch begins in the span, half an hour early at most, and mostly lies in it."""
    begin = to_datetime(slow.begin_ns, zone)
    minute = begin.hour * 60 + begin.minute
    period = _DAY_MIN
    if span.weekday is not None:
        minute += _DAY_MIN * ((begin.weekday() - span.weekday) % 7)
        period = _WEEK_MIN
    after = (minute - span.start_min + _EARLY_MIN) % period - _EARLY_MIN
    length = span.end_min - span.start_min
    lasted = ((slow.end_ns or slow.seen_until_ns) - slow.begin_ns) / 60e9
    inside = min(after + lasted, length + _EARLY_MIN) - max(after, -_EARLY_MIN)
    return -_EARLY_MIN <= after < length and inside >= MOSTLY * lasted
