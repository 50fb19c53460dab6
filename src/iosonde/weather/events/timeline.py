"""What happened to each place of a range: slow events, hangs, lasting changes, and who saw them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from iosonde.model.events import SlowEvent, Witnesses
from iosonde.model.frames import Frame, SeriesKey, SlowdownQuery, TargetRef
from iosonde.model.ops import SECOND_NS
from iosonde.model.slowdown import INTERVAL_NS
from iosonde.model.units import DAY_NS
from iosonde.model.verdicts import Unjudged
from iosonde.weather.events.changes import (
    LastingChange,
    change_events,
    in_hindsight,
    lasting,
    without_parts,
)
from iosonde.weather.events.events import WatchedTarget, place_of
from iosonde.weather.events.history import tens
from iosonde.weather.events.hung import hang_events, without_hangs
from iosonde.weather.events.joining import joined
from iosonde.weather.events.log import Event, read_events
from iosonde.weather.events.noted import better_begins
from iosonde.weather.events.pieces.search import SearchedSeries, search
from iosonde.weather.events.running import with_verdict
from iosonde.weather.events.scope import LOOK_BACK_NS, witnesses
from iosonde.weather.events.unjudged import unjudged
from iosonde.weather.slowdown.baseline import LearntBaselines
from iosonde.weather.slowdown.slowdown import learned
from iosonde.weather.store import Store

_FRESH_NS = 300 * SECOND_NS
_FURTHER_NS = DAY_NS
"""How far beyond a range an event is followed."""
_FRESH_PERIODS = 3
"""An event is still open if the last sample is younger than this."""


class Happenings(NamedTuple):
    """Events by start, who saw them, what was not judged; and the events of every place.

    ``sampled_ns``: from when on there are samples, by host and target, as far as the range was looked at.
    ``windows``: length of the windows that every series is judged in, ns.
    """

    slow: list[SlowEvent]
    seen: list[Witnesses]
    not_judged: list[Unjudged]
    places: dict[WatchedTarget, list[SlowEvent]]
    sampled_ns: dict[TargetRef, int]
    windows: Mapping[SeriesKey, int]


def happened(
    store: Store,
    query: SlowdownQuery,
    now_ns: int,
    noted: Sequence[Event] | None = None,
    known: LearntBaselines | None = None,
) -> Happenings:
    """Everything that happened to the places of a query in its range.

    ``noted``: what agents logged (None: all that the store has); where an alarm of theirs began earlier, its begin
    counts. The range cuts what is told, not an event: it has its begin, end and factor whatever the range. One is open
    only if its probe runs and the last sample is recent. ``known``: what is usual, if at hand. Raises StoreError.
    """
    noted = read_events(store.root) if noted is None else noted
    known = known or learned(store, query)
    changes = lasting(known.changes, known.baselines)
    known = in_hindsight(known, changes)
    found = search(store, query, known)
    if (later_ns := _cut_at(found, query.until_ns, now_ns)) is not None:
        more = replace(query, until_ns=later_ns)
        # The end of the range cuts what is shown, not when an event ended.
        whole = happened(store, more, now_ns, noted)
        return _reaching(whole, query, unjudged(store.root, query, now_ns, known, found))
    asked = _Asked(query, now_ns, noted, changes, store.states())
    places = {place: _events(place, keys, found, asked) for place, keys in _places(found).items()}
    events = sorted(
        (event for here in places.values() for event in here),
        key=lambda event: (event.start_ns, event.host, event.target),
    )
    not_judged = unjudged(store.root, query, now_ns, known, found)
    sampled: dict[TargetRef, int] = {}
    for key, one in found.series.items():
        if one.first_ns is not None:
            ref = TargetRef(key.host, key.target)
            sampled[ref] = min(one.first_ns, sampled.get(ref, one.first_ns))
    seen = _seen(store, events, found, known, query)
    return Happenings(events, seen, not_judged, places, sampled, found.windows)


def _places(found: SearchedSeries) -> dict[WatchedTarget, list[SeriesKey]]:
    places: dict[WatchedTarget, list[SeriesKey]] = {}
    for key in found.series:
        places.setdefault(place_of(key), []).append(key)
    return places


class _Asked(NamedTuple):
    """What an event of a place depends on beside its pieces."""

    query: SlowdownQuery
    now_ns: int
    noted: Sequence[Event]
    changes: Sequence[LastingChange]
    states: Sequence[Mapping[str, Any]]

    def state(self, place: WatchedTarget) -> Mapping[str, Any] | None:
        """The state of the probe of a place, running or not."""
        mine = (one for one in self.states if one["written_ns"] is not None)
        found = (one for one in mine if (one["host"], one["target"]) == place[:2])
        return max(found, key=lambda one: int(one["written_ns"]), default=None)


def _events(
    place: WatchedTarget, keys: Sequence[SeriesKey], found: SearchedSeries, asked: _Asked
) -> list[SlowEvent]:
    """The events of one place that reach into the range, by start."""
    ref = TargetRef(place.host, place.target)
    slow = [piece for key in keys for piece in found.series[key].slow]
    hung = [piece for key in keys for piece in found.series[key].hung]
    ops = {key.op: found.series[key].windows for key in keys}
    rule = found.series[keys[0]].rule
    whole = [without_hangs(one, hung, rule) for one in joined(ref, ops, slow, rule)]
    kept = [event for event in whole if event is not None]
    kept = without_parts(better_begins(kept, asked.noted), asked.changes)
    events = [*kept, *hang_events(ref, hung)]
    last_ns = max(found.series[key].last_ns or 0 for key in keys)
    fresh_ns = max(_FRESH_NS, _FRESH_PERIODS * place.period_ns)
    until = asked.query.until_ns
    current = until is None or until >= asked.now_ns - INTERVAL_NS
    state = asked.state(place)
    running = state is not None and state["running"]
    over = state is not None and not running and state["written_ns"] >= last_ns - fresh_ns
    goes_on = current and not over and last_ns >= asked.now_ns - fresh_ns
    if state is not None and running and goes_on and state["period_ns"] == place.period_ns:
        events = with_verdict(events, state, last_ns, asked.now_ns)
    inside = [event for event in events if _reaches(event, asked.query)]
    told = inside if goes_on else [_unknown(event) for event in inside]
    told = [*told, *_lasting_of(place, asked)]
    told = [replace(event, period_ns=place.period_ns) for event in told]
    return sorted(told, key=lambda event: event.start_ns)


def _cut_at(found: SearchedSeries, until_ns: int | None, now_ns: int) -> int | None:
    """Until when to look where something goes on at the end of a range that is over; None: nothing does."""
    if until_ns is None or until_ns >= now_ns - INTERVAL_NS:
        return None
    near_ns = until_ns - 2 * INTERVAL_NS
    goes_on = any(
        piece.end_ns >= near_ns for one in found.series.values() for piece in (*one.slow, *one.hung)
    )
    return min(now_ns, until_ns + _FURTHER_NS) if goes_on else None


def _reaching(whole: Happenings, query: SlowdownQuery, not_judged: list[Unjudged]) -> Happenings:
    """What of a longer range reaches into that of a query."""
    inside = partial(_reaches, query=query)
    places = {place: list(filter(inside, events)) for place, events in whole.places.items()}
    end = query.until_ns
    seen = [one for one in whole.seen if end is None or one.start_ns < end]
    slow = list(filter(inside, whole.slow))
    return whole._replace(slow=slow, seen=seen, not_judged=not_judged, places=places)


def _reaches(event: SlowEvent, query: SlowdownQuery) -> bool:
    since, until = query.since_ns, query.until_ns
    return (since is None or event.seen_until_ns > since) and (
        until is None or event.start_ns < until
    )


def _unknown(event: SlowEvent) -> SlowEvent:
    """An event that went on when its probe stopped: nobody knows its end."""
    return (
        event if event.end_ns is not None else replace(event, unknown_since_ns=event.seen_until_ns)
    )


def _lasting_of(place: WatchedTarget, asked: _Asked) -> list[SlowEvent]:
    """Lasting changes of a place that began or became certain in the range."""
    since, until = asked.query.since_ns, asked.query.until_ns
    end = asked.now_ns if until is None else min(asked.now_ns, until)
    mine = [
        change
        for change in asked.changes
        if place_of(change.key) == place
        and (since is None or change.decided_ns >= since)
        and change.began_ns < end
    ]
    return change_events(mine, end)


def _seen(
    store: Store,
    events: Sequence[SlowEvent],
    found: SearchedSeries,
    known: LearntBaselines,
    query: SlowdownQuery,
) -> list[Witnesses]:
    def past() -> Frame:
        first = min((event.start_ns for event in events), default=0)
        last = max((event.seen_until_ns for event in events), default=0)
        return tens(store, first - LOOK_BACK_NS, last + INTERVAL_NS, query.target, known)

    return witnesses(events, found, past)
