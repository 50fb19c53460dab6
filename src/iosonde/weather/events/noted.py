"""What agents noted beside what samples show: each thing is told once, from the better begin to the better end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from iosonde.model.events import OpShare, SlowEvent
from iosonde.model.frames import TargetRef
from iosonde.weather.events.log import UNSEEN, Event


def better_begins(events: Sequence[SlowEvent], noted: Iterable[Event]) -> list[SlowEvent]:
    """Slow events of one place, each from the begin of an alarm of its ops that was noted if that is earlier.

    An alarm's end never counts: it is over five quiet minutes later.
    """
    alarms = [
        event
        for event in noted
        if event.kind == "slow" and event.op is not None and not event.from_samples
    ]
    found: list[SlowEvent] = []
    for event in events:
        before = found[-1].seen_until_ns if found else None
        found.append(_earlier(event, alarms, before))
    return found


def _earlier(event: SlowEvent, alarms: Sequence[Event], before_ns: int | None) -> SlowEvent:
    ops = {share.op for share in event.ops if share.start_ns is not None}
    begins = {
        alarm.op: alarm.began_ns
        for alarm in sorted(alarms, key=lambda alarm: -alarm.began_ns)
        if (alarm.host, alarm.target) == (event.host, event.target)
        and alarm.op in ops
        and event.overlaps(alarm.began_ns, alarm.ended_ns)
        and (before_ns is None or alarm.began_ns > before_ns)
    }
    if not begins:
        return event
    shares = tuple(
        share
        if share.start_ns is None
        else replace(share, start_ns=min(share.start_ns, begins.get(share.op, share.start_ns)))
        for share in event.ops
    )
    return replace(event, ops=shares, start_ns=min(event.start_ns, *begins.values()))


def told_once(
    noted: Iterable[Event],
    slow: Sequence[SlowEvent],
    sampled_ns: Mapping[TargetRef, int] | None = None,
) -> tuple[list[Event], list[SlowEvent]]:
    """Both without what the other shows better.

    What was computed before and written back is left out where it was computed anew: ``sampled_ns`` is from when on
    each host and target has samples.

    An alarm that is part of a slow event is left out. A hang that an agent noted stays, with what the kernel said of
    it, and gets its end from samples if the agent did not see it; of the event from samples only other ops stay.
    """
    logged: list[Event] = []
    told = list(slow)
    for event in noted:
        if event.from_samples and _computed(event, sampled_ns or {}):
            continue
        if event.kind == "slow" and any(_same(one, event) for one in told if one.kind != "change"):
            continue
        logged.append(event)
        if event.kind != "hang" or event.op is None:
            continue
        for place, one in enumerate(told):
            if one.kind == "hang" and _same(one, event) and _has(one, event.op):
                if event.ended_ns is None and one.end_ns is not None:
                    logged[-1] = replace(event, ended_ns=_end(one, event.op))
                told[place] = _without(one, event.op)
    return logged, [one for one in told if one.kind != "hang" or one.ops]


def slow_hangs(logged: Iterable[Event], now_ns: int) -> list[SlowEvent]:
    """Hangs that agents noted, as slow events of one op: what asks for the reason knows only these."""
    return [
        _slow_hang(one, one.op, one.target, one.ended_ns or max(now_ns, one.began_ns))
        for one in logged
        if one.kind == "hang" and one.op is not None and one.target is not None
    ]


def _slow_hang(event: Event, op: str, target: str, until_ns: int) -> SlowEvent:
    hung = until_ns - event.began_ns
    share = OpShare(
        *(op, None, None, None, None, 1.0, True, 0),
        start_ns=event.began_ns,
        end_ns=until_ns,
        hung_ns=hung,
    )
    lost = event.outcome == UNSEEN
    return SlowEvent(
        host=event.host,
        target=target,
        start_ns=event.began_ns,
        end_ns=None if lost else event.ended_ns,
        seen_until_ns=until_ns,
        peak=None,
        peak_ns=None,
        median=None,
        area_s=0.0,
        recovery_ns=None,
        n=0,
        ops=(share,),
        lost=None,
        unobserved_ns=0,
        kind="hang",
        op=op,
        unknown_since_ns=event.ended_ns if lost else None,
    )


def _without(event: SlowEvent, op: str) -> SlowEvent:
    """A hang without one of its ops: from the first begin of the others on."""
    left = tuple(share for share in event.ops if share.op != op)
    begins = [share.start_ns for share in left if share.start_ns is not None]
    start = min(begins, default=event.start_ns)
    return replace(event, ops=left, op=left[0].op if left else None, start_ns=start)


def _computed(event: Event, sampled_ns: Mapping[TargetRef, int]) -> bool:
    first = sampled_ns.get(TargetRef(event.host, event.target or ""))
    return first is not None and first < (event.ended_ns or event.began_ns)


def _same(one: SlowEvent, event: Event) -> bool:
    place = (one.host, one.target) == (event.host, event.target)
    return place and one.overlaps(event.began_ns, event.ended_ns)


def _has(one: SlowEvent, op: str) -> bool:
    return any(share.op == op for share in one.ops)


def _end(one: SlowEvent, op: str) -> int | None:
    return next(share.end_ns for share in one.ops if share.op == op)
