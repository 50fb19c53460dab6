"""What happened to each place of a range: slow events, hangs, lasting changes, who saw them, and what comes back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import tzinfo
from typing import NamedTuple

import numpy as np

from iosonde.model.events import LearningSpan, Recurring, SlowEvent, Witnesses
from iosonde.model.frames import Frame, SeriesKey, SlowdownQuery, TargetRef
from iosonde.model.ops import SECOND_NS
from iosonde.model.slowdown import INTERVAL_NS
from iosonde.model.units import DAY_NS
from iosonde.weather.events.changes import (
    LastingChange,
    change_events,
    in_hindsight,
    lasting,
    without_parts,
)
from iosonde.weather.events.events import COLUMNS, slow_events
from iosonde.weather.events.hung import hang_events, without_hangs
from iosonde.weather.events.joining import joined
from iosonde.weather.events.learning import learning_spans
from iosonde.weather.events.log import Event
from iosonde.weather.events.noted import better_begins
from iosonde.weather.events.recurrence import recurrences
from iosonde.weather.events.scope import witnesses
from iosonde.weather.events.search import Searched, search
from iosonde.weather.slowdown.baseline import LearntBaselines, against, learn
from iosonde.weather.store import Store

WEEKS = 8
"""Weeks in which something must come back."""
_WEEK_NS = 7 * DAY_NS
_FRESH_NS = 300 * SECOND_NS
_FRESH_PERIODS = 3
"""An event is still open if the last sample is younger than this."""


class WatchedTarget(NamedTuple):
    """What is reported on: a target as seen from a host, at one rate."""

    host: str
    target: str
    period_ns: int


class Recurrence(NamedTuple):
    """What comes back, and in how much time from the first known interval to the last it was looked for."""

    found: tuple[Recurring, ...]
    looked_ns: int


class Happenings(NamedTuple):
    """Events by start, who saw them, what was not judged; the events of every place; and from when on there are samples.

    ``sampled_ns``: by host and target, as far as operations of the range were looked at.
    """

    slow: list[SlowEvent]
    seen: list[Witnesses]
    learning: list[LearningSpan]
    places: dict[WatchedTarget, list[SlowEvent]]
    sampled_ns: dict[TargetRef, int]


def place_of(key: SeriesKey) -> WatchedTarget:
    """The place of a series."""
    return WatchedTarget(key.host, key.target, key.period_ns)


def happened(
    store: Store, query: SlowdownQuery, now_ns: int, noted: Sequence[Event] = ()
) -> Happenings:
    """Everything that happened to the places of a query in its range.

    ``noted``: what agents logged; where an alarm of theirs began earlier, its begin counts. An event is open only if
    the last sample is recent and the range reaches to ``now_ns``. Raises StoreError.
    """
    which = {"host": query.host, "target": query.target, "ops": query.ops}
    known = learn(store, query.choice, **which, until_ns=query.until_ns)  # type: ignore[arg-type]
    changes = lasting(known.changes, known.baselines)
    known = in_hindsight(known, changes)
    found = search(store, query, known)
    places = {
        place: _events(place, keys, found, changes, noted, query, now_ns)
        for place, keys in _places(found).items()
    }
    _with_changes(places, changes, query, now_ns)
    events = sorted(
        (event for here in places.values() for event in here),
        key=lambda event: (event.start_ns, event.host, event.target),
    )
    spans = learning_spans(known, query.since_ns, query.until_ns)
    sampled: dict[TargetRef, int] = {}
    for key, first_ns in found.first_ns.items():
        ref = TargetRef(key.host, key.target)
        sampled[ref] = min(first_ns, sampled.get(ref, first_ns))
    seen = _seen(store, events, found, known, query)
    return Happenings(events, seen, spans, places, sampled)


def _places(found: Searched) -> dict[WatchedTarget, list[SeriesKey]]:
    places: dict[WatchedTarget, list[SeriesKey]] = {}
    for key in found.series:
        places.setdefault(place_of(key), []).append(key)
    return places


def _events(
    place: WatchedTarget,
    keys: Sequence[SeriesKey],
    found: Searched,
    changes: Sequence[LastingChange],
    noted: Sequence[Event],
    query: SlowdownQuery,
    now_ns: int,
) -> list[SlowEvent]:
    """The slow events and hangs of one place that reach into the range, by start."""
    ref = TargetRef(place.host, place.target)
    slow = [piece for key in keys for piece in found.pieces[key].slow]
    hung = [piece for key in keys for piece in found.pieces[key].hung]
    ops = {key.op: found.series[key].windows for key in keys}
    whole = joined(ref, ops, slow, found.series[keys[0]].rule)
    kept = [event for event in (without_hangs(one, hung) for one in whole) if event is not None]
    kept = without_parts(better_begins(kept, noted), changes)
    events = [*kept, *hang_events(ref, hung)]
    last_ns = max(found.last_ns[key] for key in keys)
    fresh_ns = max(_FRESH_NS, _FRESH_PERIODS * place.period_ns)
    goes_on = last_ns >= now_ns - fresh_ns and (
        query.until_ns is None or query.until_ns >= now_ns - INTERVAL_NS
    )
    inside = [event for event in events if _reaches(event, query)]
    told = inside if goes_on else [_closed(event) for event in inside]
    return sorted(told, key=lambda event: event.start_ns)


def _reaches(event: SlowEvent, query: SlowdownQuery) -> bool:
    since, until = query.since_ns, query.until_ns
    return (since is None or event.seen_until_ns > since) and (
        until is None or event.start_ns < until
    )


def _closed(event: SlowEvent) -> SlowEvent:
    return event if event.end_ns is not None else replace(event, end_ns=event.seen_until_ns)


def _with_changes(
    places: dict[WatchedTarget, list[SlowEvent]],
    changes: Sequence[LastingChange],
    query: SlowdownQuery,
    now_ns: int,
) -> None:
    """Add lasting changes that began or became certain in the range."""
    until = now_ns if query.until_ns is None else min(now_ns, query.until_ns)
    since = query.since_ns
    for place, events in places.items():
        mine = [
            change
            for change in changes
            if place_of(change.key) == place
            and (since is None or change.decided_ns >= since)
            and change.began_ns < until
        ]
        events += change_events(mine, until)
        events.sort(key=lambda event: event.start_ns)


def _seen(
    store: Store,
    events: Sequence[SlowEvent],
    found: Searched,
    known: LearntBaselines,
    query: SlowdownQuery,
) -> list[Witnesses]:
    def past() -> Frame:
        first = min((event.start_ns for event in events), default=0)
        last = max((event.seen_until_ns for event in events), default=0)
        return tens(store, first - 2 * _WEEK_NS, last + INTERVAL_NS, query.target, known)

    return witnesses(events, found, past)


def tens(
    store: Store,
    since_ns: int,
    until_ns: int,
    target: str | None = None,
    known: LearntBaselines | None = None,
) -> Frame:
    """Windows of ten minutes from roll-ups, with what recurs is looked for in. Raises StoreError."""
    windows = store.rolled_windows(
        INTERVAL_NS,
        target=target,
        since_ns=since_ns,
        until_ns=until_ns,
        statistics=("mean_ns",),
        levels=True,
    )
    if len(windows) == 0:
        return windows
    found = against(windows, known or learn(store, until_ns=until_ns))
    whole = windows.with_columns({name: found[name] for name in ("typ", "tail", "lost")})
    return Frame({name: whole[name] for name in (*COLUMNS, "period_ns")})


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
    by_place: dict[WatchedTarget, list[Frame]] = {}
    for key, part in windows.series():
        by_place.setdefault(place_of(key), []).append(windows.take(part))
    return {
        place: _folded(_joined(parts), random, zone)
        for place, parts in by_place.items()
        if query.target in (None, place.target) and query.host in (None, place.host)
    }


def _joined(parts: list[Frame]) -> Frame:
    names = parts[0].keys()
    return Frame({name: np.concatenate([part[name] for part in parts]) for name in names})


def _folded(windows: Frame, random: np.random.Generator, zone: tzinfo | None) -> Recurrence:
    known = windows["start_ns"][~np.isnan(windows["typ"])]
    if len(known) == 0:
        return Recurrence((), 0)
    found = recurrences(windows, slow_events(windows), random, zone)
    return Recurrence(tuple(found), int(known.max() - known.min()) + INTERVAL_NS)
