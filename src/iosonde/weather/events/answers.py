"""Answers about events and what recurs: ``iosonde events``, annotations of dashboards, ``.events()`` of notebooks."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

from iosonde.engine.left_out import with_left_out
from iosonde.engine.states import read_states
from iosonde.model.answer import TableBlock
from iosonde.model.errors import UsageError
from iosonde.model.units import format_time
from iosonde.weather.peers.answers import PeersAnswer
from iosonde.weather.peers.answers import peers as slow_beside

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import tzinfo
    from pathlib import Path

    from iosonde.model.answer import Block
    from iosonde.model.events import Recurring
    from iosonde.model.frames import Frame
    from iosonde.weather.events.log import EventLog
    from iosonde.weather.events.told import Happened

    Span = tuple[int | None, int | None]
    """Begin and end in ns, None = open."""

_HEAD = ("began", "lasted", "what", "seen from", "ended", "evidence")


class EventMark(NamedTuple):
    """An event with its sentence. ``end_ns`` None: it goes on, or nobody saw its end.

    ``id``: None where ``iosonde why`` knows nothing to say of it. ``peak``, ``median`` (slowdowns), ``lost`` (share)
    and ``n`` are of ``op``, None where only an agent's log tells of it.
    """

    id: str | None
    kind: str
    host: str
    target: str | None
    op: str | None
    start_ns: int
    end_ns: int | None
    peak: float | None
    median: float | None
    lost: float | None
    n: int | None
    sentence: str


class EventsAnswer(NamedTuple):
    """Events of a span, who saw them, what was not judged, and parts slow beside their peers.

    ``log`` tells which agents still run. Instants in ``zone`` (None: the system's).
    """

    root: Path
    log: EventLog
    found: Happened
    peers: PeersAnswer
    now_ns: int
    zone: tzinfo | None = None

    @property
    def is_empty(self) -> bool:
        """True without any event, log entry or state: the store may have no samples."""
        return not (self.log.events or self.found.slow or self.log.states)

    def shown(self) -> list[Block]:
        """A table of events, oldest first; sentences about what was not judged and about peers."""
        missing = [f"{line}." for line in self.not_judged()]
        if not self.found.logged and not self.found.slow:
            none = "No events in what was judged." if missing else "No events."
            return [none, *missing, *self.peers.shown()]
        return [TableBlock(_HEAD, self._rows(), left=6), *missing, *self.peers.shown()]

    def _rows(self) -> list[tuple[str, ...]]:
        from iosonde.weather.events.slow_words import say_seen, slow_end, slow_words
        from iosonde.weather.events.words import event_words

        now_ns, zone, running = self.now_ns, self.zone, self.log.running
        rows: list[tuple[int, tuple[str, ...]]] = []
        for event in self.found.logged:
            words = event_words(event, now_ns, running=event.run_id in running)
            cells = (words.lasted, words.what, event.host, words.ended, words.evidence)
            rows.append((event.began_ns, cells))
        for one in self.found.slow:
            rows.append((one.start_ns, (*slow_words(one), one.host, *slow_end(one, now_ns, zone))))
        rows += [(seen.start_ns, ("", say_seen(seen), "", "", "")) for seen in self.found.seen]
        rows.sort(key=lambda row: row[0])
        return [
            (format_time(began_ns, now_ns, zone, seconds=True), *cells) for began_ns, cells in rows
        ]

    def data(self) -> dict[str, Any]:
        """Events with their fields and sentences, stacks of waiting threads included."""
        from iosonde.weather.events.log import SCHEMA_VERSION
        from iosonde.weather.events.slow_words import say_seen, say_slow_event
        from iosonde.weather.events.unjudged_words import say_unjudged
        from iosonde.weather.events.words import say_event
        from iosonde.weather.events.written import as_event

        at, running, found = (self.now_ns, self.zone), self.log.running, self.found
        document = {
            "schema_version": SCHEMA_VERSION,
            "events": [
                asdict(one)
                | {"sentence": say_event(one, at[0], running=one.run_id in running, zone=at[1])}
                for one in found.logged
            ],
            "slow": [
                {"id": as_event(one).id, **asdict(one), "sentence": say_slow_event(one, *at)}
                for one in found.slow
            ],
            "seen": [asdict(one) | {"sentence": say_seen(one)} for one in found.seen],
            "not_judged": [
                asdict(one) | {"sentence": say_unjudged(one, *at)} for one in found.not_judged
            ],
            "peers": self.peers.data(),
        }
        return with_left_out(document, self.root)

    def table(self) -> Frame:
        """A row an event, with the columns of events.toml."""
        from iosonde.weather.events.log import events_frame
        from iosonde.weather.events.written import as_event

        return events_frame([*self.found.logged, *map(as_event, self.found.slow)])

    def marks(self) -> list[EventMark]:
        """Events by start."""
        from iosonde.weather.events.noted import slow_hangs
        from iosonde.weather.events.slow_words import say_slow_event
        from iosonde.weather.events.words import say_event
        from iosonde.weather.events.written import as_event

        now_ns, running = self.now_ns, self.log.running
        marks = []
        for slow in self.found.slow:
            span, numbers = (slow.start_ns, slow.end_ns), (slow.peak, slow.median, slow.lost)
            said = say_slow_event(slow, now_ns, self.zone)
            place = (as_event(slow).id, slow.kind, slow.host, slow.target, slow.op)
            marks.append(EventMark(*place, *span, *numbers, slow.n, said))
        for one in self.found.logged:
            known = next((as_event(hang).id for hang in slow_hangs([one], now_ns)), None)
            said = say_event(one, now_ns, running=one.run_id in running, zone=self.zone)
            span, unknown = (one.began_ns, one.ended_ns), (None, None, None, None)
            where = (one.kind, one.host, one.target, one.op)
            marks.append(EventMark(known, *where, *span, *unknown, said))
        return sorted(marks, key=lambda mark: mark.start_ns)

    def witnesses(self) -> list[str]:
        """Sentences about who saw what, where several hosts watch a target."""
        from iosonde.weather.events.slow_words import say_seen

        return [say_seen(one) for one in self.found.seen]

    def not_judged(self) -> list[str]:
        """Sentences about intervals that were not judged, one a reason."""
        from iosonde.weather.events.unjudged_words import say_not_judged

        return say_not_judged(self.found.not_judged, self.now_ns, self.zone)


class RecurringAnswer(NamedTuple):
    """Recurring events. ``places``: number of places examined; ``looked_ns``: the longest time examined."""

    root: Path
    found: list[Recurring]
    places: int
    looked_ns: int
    seed: int

    def shown(self) -> list[Block]:
        """A sentence each; what several hosts saw alike once."""
        from iosonde.weather.events.words import say_all_recurring, say_nothing_recurs

        return [*(say_all_recurring(self.found) or [say_nothing_recurs(self.looked_ns)])]

    def data(self) -> dict[str, Any]:
        """Every recurring event with its numbers and its sentence."""
        from iosonde.weather.events.words import say_recurring

        found = [asdict(one) | {"sentence": say_recurring(one)} for one in self.found]
        return with_left_out({"seed": self.seed, "recurring": found}, self.root)

    def table(self) -> Frame:
        """Raise UsageError: there are no columns for this."""
        raise UsageError("what recurs is a table or JSON", hint="--format json")


def event_log(root: Path, span_ns: Span, now_ns: int | None = None) -> EventLog:
    """Events that agents logged; ``now_ns`` tells which of them still run. Raises StoreError."""
    from iosonde.weather.events.log import EventLog, read_events

    return EventLog(read_states(root), read_events(root, *span_ns), now_ns)


def events(
    root: Path,
    log: EventLog,
    span_ns: Span,
    now_ns: int,
    *,
    targets: Collection[str] = (),
    host: str | None = None,
    zone: tzinfo | None = None,
    agent_only: bool = False,
    write_back: bool = False,
) -> EventsAnswer:
    """Events of ``targets`` (none: of all) as seen from ``host``. ``agent_only``: only those that agents logged.

    ``write_back``: events that are over are written to the store, for readers that do not compute. Raises StoreError.
    """
    from iosonde.weather.events.told import told_events

    found = told_events(
        root, log, span_ns, now_ns, targets=targets, agent_only=agent_only, write_back=write_back
    )
    peers = PeersAnswer((), now_ns, zone)
    if not agent_only:
        peers = slow_beside(root, span_ns, now_ns, targets, windows=found.windows, zone=zone)
    if host is not None:
        found = found._replace(
            slow=[one for one in found.slow if one.host == host],
            logged=[one for one in found.logged if one.host == host],
            not_judged=[one for one in found.not_judged if one.host == host],
        )
        peers = peers._replace(found=[one for one in peers.found if one.key.host == host])
    return EventsAnswer(root, log, found, peers, now_ns, zone)


def recurring(
    root: Path, until_ns: int, seed: int, zone: tzinfo | None, targets: Collection[str] = ()
) -> RecurringAnswer:
    """Recurring events in the eight weeks before ``until_ns``. ``seed``: of the permutations. Raises StoreError."""
    import numpy as np

    from iosonde.model.frames import SlowdownQuery
    from iosonde.weather.events.history import recurrence_of
    from iosonde.weather.store import Store

    random = np.random.default_rng(seed)
    of_place = recurrence_of(Store(root), SlowdownQuery(until_ns=until_ns), random, zone)
    places = [one for place, one in of_place.items() if not targets or place.target in targets]
    found = [one for place in places for one in place.found]
    looked_ns = max((place.looked_ns for place in places), default=0)
    return RecurringAnswer(root, found, len(places), looked_ns, seed)
