"""What happened to each place of a range: slow events, minute by minute, and what comes back."""

from __future__ import annotations

from dataclasses import replace
from datetime import tzinfo
from typing import NamedTuple

import numpy as np

from iosonde.model.events import Recurring, SlowEvent, Witnesses
from iosonde.model.frames import Frame, SeriesKey, SlowdownQuery
from iosonde.model.ops import SECOND_NS
from iosonde.model.slowdown import INTERVAL_NS
from iosonde.model.units import DAY_NS
from iosonde.weather.events.events import COLUMNS, slow_events
from iosonde.weather.events.recurrence import recurrences
from iosonde.weather.events.scope import scopes
from iosonde.weather.events.slow_intervals import Rule
from iosonde.weather.slowdown.baseline import against, learn
from iosonde.weather.slowdown.slowdown import analyse
from iosonde.weather.store import Store

MINUTE_NS = 60 * SECOND_NS
OF_INTERVALS = Rule(hot_windows=2, quiet_windows=2, merged_windows=1, hot_lost=0.1)
"""Of windows of ten minutes two are enough; few operations in each, so that two failed ones are no event."""
FEWEST = 20
"""Operations that a window of a minute must hold: with fewer it knows no typical one."""


WEEKS = 8
"""Weeks in which something must come back."""
_WEEK_NS = 7 * DAY_NS
_LEAST_HOSTS = 3
"""Hosts that must watch a target before one of them can be told from the storage."""


class WatchedTarget(NamedTuple):
    """What is reported on: a target as seen from a host, at one rate."""

    host: str
    target: str
    period_ns: int


class Recurrence(NamedTuple):
    """What comes back, and in how much time from the first known interval to the last it was looked for."""

    found: tuple[Recurring, ...]
    looked_ns: int


def place_of(key: SeriesKey) -> WatchedTarget:
    """The place of a series."""
    return WatchedTarget(key.host, key.target, key.period_ns)


def events_of(
    store: Store, query: SlowdownQuery, ten_minutes: Frame, now_ns: int
) -> dict[WatchedTarget, list[SlowEvent]]:
    """The slow events of every place of the range, by start.

    From windows of a minute where these hold ``FEWEST`` operations, else from ``ten_minutes``
    (what ``analyse`` gives for them). One that is open at the end of a range which is over ends
    there. Raises StoreError.
    """
    whole = _by_place(for_events(ten_minutes))
    minutes: dict[WatchedTarget, list[Frame]] = {}
    if any(_dense(place) for place in whole):
        asked = replace(query, window_ns=MINUTE_NS, statistic="typ")
        minutes = _by_place(for_events(analyse(store, asked).windows))
    over = query.until_ns is not None and query.until_ns < now_ns - INTERVAL_NS
    found = {}
    for place, parts in whole.items():
        if _dense(place):
            events = slow_events(_joined(minutes.get(place, parts)))
        else:
            events = slow_events(_joined(parts), OF_INTERVALS)
        found[place] = [_closed(event) if over else event for event in events]
    return found


def happened(
    store: Store, query: SlowdownQuery, now_ns: int
) -> tuple[list[SlowEvent], list[Witnesses]]:
    """Slow events of the range by start, and who saw them where several hosts watch a target.

    The events are those of ``events_of``. Raises StoreError.
    """
    ten_minutes = analyse(store, replace(query, window_ns=INTERVAL_NS, statistic="typ")).windows
    found = events_of(store, query, ten_minutes, now_ns)
    events = sorted(
        (event for here in found.values() for event in here),
        key=lambda event: (event.start_ns, event.host, event.target),
    )
    shared = [e for e in events if e.ops and _hosts(ten_minutes, e.target) >= _LEAST_HOSTS]
    spans = sorted({(e.target, e.ops[0].op, e.start_ns, e.seen_until_ns) for e in shared})
    return events, scopes(for_events(ten_minutes), spans) if spans else []


def for_events(windows: Frame) -> Frame:
    """Windows that ``analyse`` judged, as events are found in: of those of a busy host nothing is known."""
    if len(windows) == 0:
        return windows
    # While the baseline learns, the median stands in for the typical operation.
    typ = np.where(np.isnan(windows["typ"]), windows["slowdown"], windows["typ"])
    columns = {name: windows[name] for name in (*COLUMNS, "period_ns")}
    return Frame({**columns, "typ": np.where(windows["host_busy"], np.nan, typ)})


def tens(store: Store, since_ns: int, until_ns: int) -> Frame:
    """Windows of ten minutes from roll-ups, with what recurs is looked for in. Raises StoreError."""
    windows = store.rolled_windows(
        INTERVAL_NS, since_ns=since_ns, until_ns=until_ns, statistics=("mean_ns",), levels=True
    )
    if len(windows) == 0:
        return windows
    found = against(windows, learn(store, until_ns=until_ns))
    whole = windows.with_columns({name: found[name] for name in ("typ", "tail", "lost")})
    return Frame({name: whole[name] for name in (*COLUMNS, "period_ns")})


def _hosts(windows: Frame, target: str) -> int:
    return len(np.unique(windows["host"][windows["target"] == target].astype(str)))


def _by_place(windows: Frame) -> dict[WatchedTarget, list[Frame]]:
    rows: dict[WatchedTarget, list[Frame]] = {}
    for key, part in windows.series():
        rows.setdefault(place_of(key), []).append(windows.take(part))
    return rows


def _dense(place: WatchedTarget) -> bool:
    return place.period_ns * FEWEST <= MINUTE_NS


def _closed(event: SlowEvent) -> SlowEvent:
    return event if event.end_ns is not None else replace(event, end_ns=event.seen_until_ns)


def _joined(parts: list[Frame]) -> Frame:
    names = parts[0].keys()
    return Frame({name: np.concatenate([part[name] for part in parts]) for name in names})


def recurrence_of(
    store: Store,
    query: SlowdownQuery,
    random: np.random.Generator,
    zone: tzinfo | None = None,
) -> dict[WatchedTarget, Recurrence]:
    """What came back at every place in the eight weeks before the end of the range, from roll-ups.

    Folded in UTC and in ``zone``. ``query.since_ns`` does not matter: a week alone knows no weeks.
    Raises StoreError.
    """
    until = query.until_ns
    if until is None:
        raise ValueError("what came back needs an end of the range")
    windows = tens(store, until - WEEKS * _WEEK_NS, until)
    return {
        place: _folded(_joined(parts), random, zone)
        for place, parts in _by_place(windows).items()
        if query.target in (None, place.target) and query.host in (None, place.host)
    }


def _folded(windows: Frame, random: np.random.Generator, zone: tzinfo | None) -> Recurrence:
    known = windows["start_ns"][~np.isnan(windows["typ"])]
    if len(known) == 0:
        return Recurrence((), 0)
    found = recurrences(windows, slow_events(windows), random, zone)
    return Recurrence(tuple(found), int(known.max() - known.min()) + INTERVAL_NS)
