"""Lasting changes of what is usual, as events, and the events that were part of one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from iosonde.model.events import OpShare, SlowEvent
from iosonde.model.frames import EpochChange, SeriesKey
from iosonde.model.ops import op_order
from iosonde.model.slowdown import Baseline
from iosonde.model.units import DAY_NS
from iosonde.weather.events.slow_intervals import RULE
from iosonde.weather.slowdown.baseline import LearntBaselines

_SAME_NS = DAY_NS
"""Changes of ops of one target that began within a day of each other are one event."""
_EARLY_NS = 3_600_000_000_000
"""Events that began so long before a change may be its beginning."""


class LastingChange(NamedTuple):
    """A change of one series, and when it was certain."""

    key: SeriesKey
    began_ns: int
    decided_ns: int
    factor: float


def lasting(
    changes: Iterable[EpochChange], baselines: Mapping[SeriesKey, Baseline]
) -> list[LastingChange]:
    """Changes with the instant from which on another level was expected."""
    return [
        LastingChange(change.key, change.began_ns, _decided(change, baselines), change.factor)
        for change in changes
    ]


def _decided(change: EpochChange, baselines: Mapping[SeriesKey, Baseline]) -> int:
    baseline = baselines.get(change.key)
    if baseline is None:
        return change.began_ns
    later = np.flatnonzero(baseline.epoch >= change.epoch)
    return int(baseline.from_ns[later[0]]) if len(later) else change.began_ns


def in_hindsight(known: LearntBaselines, changes: Sequence[LastingChange]) -> LearntBaselines:
    """Baselines that expect the level of each lasting change from its begin on.

    What was slow against the old level alone, until the change was certain, is the change and no event of its own.
    """
    baselines = dict(known.baselines)
    for change in changes:
        baselines[change.key] = _expecting(baselines[change.key], change)
    return replace(known, baselines=baselines)


def _expecting(baseline: Baseline, change: LastingChange) -> Baseline:
    """``baseline`` without the versions between a change and its decision, whose version is moved to the begin."""
    first = int(np.searchsorted(baseline.from_ns, change.decided_ns))
    if change.decided_ns <= change.began_ns or first == len(baseline.from_ns):
        return baseline
    rows = np.flatnonzero(
        (baseline.from_ns < change.began_ns) | (baseline.from_ns >= change.decided_ns)
    )
    from_ns = baseline.from_ns[rows].copy()
    from_ns[rows == first] = change.began_ns
    columns = {
        name: getattr(baseline, name)[rows] for name in ("numbers", "stage", "epoch", "climate")
    }
    return replace(baseline, from_ns=from_ns, **columns)


def change_events(changes: Sequence[LastingChange], until_ns: int) -> list[SlowEvent]:
    """An event for each change; ops of one target and rate that changed together are one."""
    groups: list[list[LastingChange]] = []
    for change in sorted(changes, key=lambda one: (_place(one.key), one.began_ns)):
        last = groups[-1] if groups else None
        same = last is not None and _place(last[0].key) == _place(change.key)
        if last is not None and same and change.began_ns - last[0].began_ns <= _SAME_NS:
            last.append(change)
        else:
            groups.append([change])
    return [_event(group, until_ns) for group in groups]


def _place(key: SeriesKey) -> tuple[str, str, int]:
    return key.host, key.target, key.period_ns


def _event(group: Sequence[LastingChange], until_ns: int) -> SlowEvent:
    ranked = sorted(group, key=lambda one: (-abs(np.log(one.factor)), op_order(one.key.op)))
    worst, key = ranked[0], ranked[0].key
    start = min(one.began_ns for one in group)
    shares = [
        OpShare(
            one.key.op, one.factor, None, None, None, 1.0, one.factor >= 1, 0, start_ns=one.began_ns
        )
        for one in ranked
    ]
    return SlowEvent(
        host=key.host,
        target=key.target,
        start_ns=start,
        end_ns=None,
        seen_until_ns=max(start, until_ns),
        peak=None,
        peak_ns=None,
        median=worst.factor,
        area_s=0.0,
        recovery_ns=None,
        n=0,
        ops=tuple(shares),
        lost=None,
        unobserved_ns=0,
        kind="change",
        op=key.op,
    )


def without_parts(events: Sequence[SlowEvent], changes: Sequence[LastingChange]) -> list[SlowEvent]:
    """Events without those that a lasting change explains.

    They begin at most an hour before it, since its begin is known to about an hour, or until it was certain, and none
    of their ops would be slow against the new level.
    """
    return [event for event in events if not _is_part(event, changes)]


def _is_part(event: SlowEvent, changes: Sequence[LastingChange]) -> bool:
    factors = {
        change.key.op: change.factor
        for change in changes
        if (change.key.host, change.key.target) == (event.host, event.target)
        and change.began_ns - _EARLY_NS <= event.start_ns < change.decided_ns
    }
    own = [share for share in event.ops if share.start_ns is not None]
    return bool(own) and all(_explained(share, factors.get(share.op)) for share in own)


def _explained(share: OpShare, factor: float | None) -> bool:
    if factor is None or (share.lost or 0.0) >= RULE.hot_lost:
        return False
    typ, tail = share.median or 0.0, share.tail or 0.0
    return typ < RULE.hot_typ * factor and tail < RULE.hot_tail * factor
