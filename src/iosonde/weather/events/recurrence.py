"""What comes back every day or every week: hours of slowdown and events, folded and named."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, tzinfo
from typing import NamedTuple

import numpy as np

from iosonde.model.arrays import Floats, Ints
from iosonde.model.events import Recurring, SlowEvent, WeekSpan
from iosonde.model.frames import Frame, TargetRef
from iosonde.model.units import to_datetime
from iosonde.weather.events import recurrence_test as test
from iosonde.weather.events.events import by_target
from iosonde.weather.events.recurrence_test import RecurrenceTest, WeeklyHours
from iosonde.weather.events.slow_intervals import OpWindows

DAY_H, WEEK_H = 24, 168
HOUR_NS = 3_600_000_000_000
_MONDAY_H = 4 * DAY_H
"""The epoch began on a Thursday; weeks begin on Monday."""
_SURE = 4
"""Three times may be chance with a name."""
_ROUND_MIN = 5


class Hours(NamedTuple):
    """Median slowdown of each observed hour; ``hour`` counts from the epoch, UTC."""

    hour: Ints
    typ: Floats


def recurrences(
    windows: Frame,
    events: Sequence[SlowEvent],
    random: np.random.Generator,
    zone: tzinfo | None = None,
) -> list[Recurring]:
    """What recurs on each target and op, the weekly rhythm only where no daily one is found.

    ``windows`` as for ``slow_events``; ``events`` those found in them. ``zone``: the site's, tried
    beside UTC; the better one is named.
    """
    found = []
    for ref, ops in by_target(windows):
        for op, series in ops.items():
            mine = _events_of(events, ref, op)
            hours = hourly(series)
            for period_h in (DAY_H, WEEK_H):
                best = _best_fold(hours, mine, period_h, random, zone)
                here = [] if best is None else _named(ref, op, best)
                found += here
                if here:
                    break
    return found


def hourly(series: OpWindows) -> Hours:
    """The median typ of the windows of each hour; hours without any are left out."""
    known = ~np.isnan(series.typ)
    hour, typ = series.start_ns[known] // HOUR_NS, series.typ[known]
    order = np.lexsort((typ, hour))
    hour, typ = hour[order], typ[order]
    values, first, n = np.unique(hour, return_index=True, return_counts=True)
    return Hours(values, (typ[first + (n - 1) // 2] + typ[first + n // 2]) / 2)


def _events_of(events: Sequence[SlowEvent], ref: TargetRef, op: str) -> list[tuple[int, int]]:
    """Instants of the closed events that this op was affected by."""
    return [
        (event.start_ns, event.end_ns)
        for event in events
        if (event.host, event.target) == ref
        and event.end_ns is not None
        and any(share.op == op and share.affected for share in event.ops)
    ]


class _Fold(NamedTuple):
    """One fold of one series; ``hours`` on the zone's wall clock, period 0 begins at ``begin_h``."""

    result: RecurrenceTest
    hours: Hours
    begin_h: int
    zone: tzinfo


def _best_fold(
    hours: Hours,
    events: Sequence[tuple[int, int]],
    period_h: int,
    random: np.random.Generator,
    zone: tzinfo | None,
) -> _Fold | None:
    """What recurs with one period, in the zone in which it shows best; None if nothing does."""
    zones: list[tzinfo] = [UTC] if zone is None or zone is UTC else [UTC, zone]
    tried = []
    for place in zones:
        local = Hours(hours.hour + _offset_h(hours.hour * HOUR_NS, place), hours.typ)
        result, begin_h = _tested(local, events, period_h, random, place)
        if result.found:
            tried.append(_Fold(result, local, begin_h, place))
    return max(tried, key=lambda one: _evidence(one.result), default=None)


def _named(ref: TargetRef, op: str, fold: _Fold) -> list[Recurring]:
    """The phases of a fold that came back in most of the periods that were observed."""
    named = []
    result = fold.result
    for phase in result.phases:
        seen, of, slowdown = _counted(fold, phase)
        if of >= 3 and seen >= test.OFTEN * of:
            named.append(
                Recurring(
                    host=ref.host,
                    target=ref.target,
                    op=op,
                    period_h=result.period_h,
                    span=_span(phase, result.period_h),
                    zone=_zone_name(fold.zone),
                    seen=seen,
                    of=of,
                    slowdown=slowdown,
                    p_omnibus=result.p_omnibus,
                    p_occupancy=result.p_occupancy,
                    p_events=result.p_events,
                    sure=seen >= _SURE,
                )
            )
    return named


def _tested(
    local: Hours,
    events: Sequence[tuple[int, int]],
    period_h: int,
    random: np.random.Generator,
    zone: tzinfo,
) -> tuple[RecurrenceTest, int]:
    """The tests of one fold, and the hour at which its first period begins."""
    if len(local.hour) == 0:
        return RecurrenceTest(period_h, 0, 1.0, 1.0, 1.0, ()), 0
    origin = _MONDAY_H if period_h == WEEK_H else 0
    begin_h = int((local.hour[0] - origin) // period_h * period_h + origin)
    folded = test.fold(local.hour, local.typ, period_h, origin)
    instants = np.array(events, dtype=np.int64).reshape(-1, 2)
    shift = _offset_h(instants[:, 0], zone)[:, None]
    spans = instants / HOUR_NS + shift - begin_h
    return test.recurrence(folded, spans, random), begin_h


def _evidence(result: RecurrenceTest) -> tuple[float, float]:
    """Small p values first, then phases that are met often."""
    best = min(result.p_omnibus, result.p_occupancy, result.p_events)
    return -best, max(phase.share for phase in result.phases)


def _offset_h(instants_ns: Ints, zone: tzinfo) -> Ints:
    """Whole hours that a zone's wall clock is ahead of UTC; asked once a day at most."""
    if zone is UTC or len(instants_ns) == 0:
        return np.zeros(len(instants_ns), dtype=np.int64)
    hours, where = np.unique(instants_ns // HOUR_NS, return_inverse=True)
    ahead = []
    for hour in hours.tolist():
        offset = to_datetime(hour * HOUR_NS, zone).utcoffset()
        ahead.append(0 if offset is None else round(offset.total_seconds() / 3_600))
    return np.array(ahead, dtype=np.int64)[where]


def _counted(fold: _Fold, phase: WeeklyHours) -> tuple[int, int, float | None]:
    """Periods in which the phase was slow, periods in which it was observed, and how slow."""
    first, last = int(np.floor(phase.start_h)), int(np.ceil(phase.end_h))
    hours = range(first, max(last, first + 1))
    values = dict(zip(fold.hours.hour.tolist(), fold.hours.typ.tolist(), strict=True))
    period_h, end_h = fold.result.period_h, int(fold.hours.hour[-1]) + 1
    seen, of = 0, 0
    slow: list[float] = []
    for begin in range(fold.begin_h - period_h, end_h, period_h):
        inside = [values[begin + hour] for hour in hours if begin + hour in values]
        if 2 * len(inside) < len(hours):
            continue
        of += 1
        if np.median(inside) > test.SLOW_TYP:
            seen += 1
            slow += inside
    return seen, of, float(np.median(slow)) if slow else None


def _span(phase: WeeklyHours, period_h: int) -> WeekSpan:
    start = round(phase.start_h * 60 / _ROUND_MIN) * _ROUND_MIN
    end = round(phase.end_h * 60 / _ROUND_MIN) * _ROUND_MIN
    day = start // 1_440
    weekday = day % 7 if period_h == WEEK_H else None
    return WeekSpan(weekday, start - day * 1_440, end - day * 1_440)


def _zone_name(zone: tzinfo) -> str:
    return str(getattr(zone, "key", None) or zone.tzname(None) or zone)
