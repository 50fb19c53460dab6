"""Answers about probed storage, one function each, for the command line, the page and notebooks.

A door parses what people write, calls one of these and renders what it gets. Light imports only: ``iosonde now`` and
``iosonde check`` run through here, so analysis modules load when they are called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from iosonde.engine.states import read_states
<<<<<<< HEAD
from iosonde.model.advice import Advice, Argument
from iosonde.model.errors import NothingMeasuredError
from iosonde.model.units import DAY_NS
=======
from iosonde.weather.slowdown.findings import Finding, from_states
>>>>>>> h2

if TYPE_CHECKING:
    from datetime import tzinfo
    from pathlib import Path

<<<<<<< HEAD
    from iosonde.weather.bursts.bursts import RunBursts
    from iosonde.weather.compare.compare import Compared
    from iosonde.weather.compare.words import OpComparison
    from iosonde.weather.ping.watched import Watched
    from iosonde.weather.samples.periods import Part
    from iosonde.weather.selectors import Defaults, StoreNames
=======
    from iosonde.drawing.sheet import Sheet
    from iosonde.model.events import Recurring, SlowEvent, Witnesses
    from iosonde.model.frames import SeriesKey, SlowdownQuery, SlowdownResult
    from iosonde.model.verdicts import Unjudged
    from iosonde.weather.events.log import Event, EventLog
    from iosonde.weather.peers.peers import PeerFinding
>>>>>>> h2
    from iosonde.weather.store import Store

    Span = tuple[int | None, int | None]
    """Begin and end in ns, None = open."""


<<<<<<< HEAD
class Comparison(NamedTuple):
    """Two sides, and a verdict per operation."""

    compared: Compared
    verdicts: list[OpComparison]


def watched(root: Path, path: str, host: str, now_ns: int) -> Watched:
    """Known state of the file system of ``path``. A store that hangs, or is none, gives nothing."""
    from iosonde.host.child import ask
    from iosonde.host.mounts import mount_table
    from iosonde.weather.ping.watched import watched as of_states

    states = ask(lambda note: note.found(states=read_states(root)), _STORE_S).facts.get(
        "states", []
    )
    return of_states(states, mount_table(), path, host, now_ns)


def compare(
    store: Store,
    names: tuple[str, str],
    defaults: Defaults,
    now_ns: int,
    *,
    ops: tuple[str, ...] | None = None,
    margin: float,
    zone: tzinfo | None = None,
) -> Comparison:
    """Compare B with A, both as people write them; ``defaults``: values that they leave open.

    Raises UsageError (a side that is none, or both the same), NothingMeasuredError, StoreError.
    """
    from dataclasses import replace

    from iosonde.weather.compare.compare import compare as compare_sides
    from iosonde.weather.compare.words import judge
    from iosonde.weather.selectors import select, sides

    known = _known(store)
    if defaults.target is not None:
        target = select(f"target:{defaults.target}", known, now_ns).target
        defaults = replace(defaults, target=target)
    a, b = (select(name, known, now_ns, zone) for name in names)
    found = compare_sides(store, *sides(a, b, defaults, known), ops=ops)
    return Comparison(found, judge(found, margin))


def bursts(
    store: Store,
    name: str | None,
    span_ns: Span,
    now_ns: int,
    *,
    ops: tuple[str, ...] | None = None,
    window_ns: int | None = None,
) -> list[RunBursts]:
    """Bursts of every run of a target, run, host or period as people write it.

    ``name``: also how several run ids begin; None: all of the span, of the last day where it is open on both ends.
    Raises UsageError (``name`` is none), NothingMeasuredError, StoreError.
    """
    from dataclasses import replace

    from iosonde.weather.bursts.bursts import bursts as bursts_of

    parts = [replace(part, ops=ops) for part in _parts(_known(store), name, span_ns, now_ns)]
    return [run for part in parts for run in bursts_of(store, part, window_ns)]


def _parts(known: StoreNames, name: str | None, span_ns: Span, now_ns: int) -> list[Part]:
    from dataclasses import replace

    from iosonde.weather.samples.periods import Part
    from iosonde.weather.selectors import select_all

    since, until = span_ns
    if name is None:
        begin = now_ns - DAY_NS if since is None and until is None else since
        return [Part(since_ns=begin, until_ns=until)]
    parts = select_all(name, known, now_ns)
    if parts[0].since_ns is None:
        return [replace(part, since_ns=since, until_ns=until) for part in parts]
    return parts


def _known(store: Store) -> StoreNames:
    """Names of targets, hosts and runs of a store. Raises NothingMeasuredError: it has no samples."""
    from iosonde.weather.samples.periods import runs
    from iosonde.weather.selectors import known_names

    every = runs(store.root)
    if not every:
        hint = Advice(Argument("store", "DIR"))
        raise NothingMeasuredError(f"there are no samples in {store.root}", hint=hint)
    return known_names(every, read_states(store.root))
=======
class Happened(NamedTuple):
    """Slow events of a span, their observers, and logged events that no slow event covers.

    ``not_judged``: intervals of the span that were not judged, with the reason of each. ``windows``: length of the
    windows that every series is judged in, ns.
    """

    slow: list[SlowEvent]
    seen: list[Witnesses]
    logged: list[Event]
    not_judged: list[Unjudged]
    windows: Mapping[SeriesKey, int] = {}


class Recurrences(NamedTuple):
    """Recurring events. ``places``: number of places examined; ``looked_ns``: the longest time examined."""

    found: list[Recurring]
    places: int
    looked_ns: int


def now(states: Sequence[dict[str, Any]], now_ns: int) -> list[Finding]:
    """Verdict of every live state, in their order; servers of one target are judged side by side."""
    return from_states(states, now_ns)


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
    agent_only: bool = False,
    write_back: bool = False,
) -> Happened:
    """Events of ``targets`` (none: of all). ``agent_only``: only those that agents logged.

    ``write_back``: events that are over are written to the store, for readers that do not compute. Raises StoreError.
    """
    from iosonde.model.frames import SlowdownQuery
    from iosonde.weather.events.log import read_events
    from iosonde.weather.events.noted import told_once
    from iosonde.weather.events.timeline import happened
    from iosonde.weather.events.written import write_found
    from iosonde.weather.store import Store

    noted = [event for event in log.events if not targets or event.target in targets]
    if agent_only:
        return Happened([], [], [one for one in noted if not one.from_samples], [], {})
    only = next(iter(targets)) if len(targets) == 1 else None
    query = SlowdownQuery(target=only, since_ns=span_ns[0], until_ns=span_ns[1])
    # Every event that agents logged, so that a begin does not depend on the range.
    found = happened(Store(root), query, now_ns, [*read_events(root), *log.events])
    slow = [one for one in found.slow if not targets or one.target in targets]
    seen = [one for one in found.seen if not targets or one.target in targets]
    about = {None, *targets}
    not_judged = [one for one in found.not_judged if not targets or one.target in about]
    if write_back:
        write_found(root, found.slow, found.sampled_ns, span_ns, now_ns)
    logged, told = told_once(noted, slow, found.sampled_ns)
    return Happened(told, seen, logged, not_judged, found.windows)


def peers(
    root: Path,
    span_ns: Span,
    now_ns: int,
    targets: Collection[str] = (),
    happened: Happened | None = None,
) -> list[PeerFinding]:
    """Parts of ``targets`` (none: of all) that are slow beside parts like them, the slowest first.

    A span without a begin has the last ``PEER_SPAN_NS``. ``happened``: of the same targets, if it is at hand.
    Raises StoreError.
    """
    from iosonde.weather.peers.peers import PEER_SPAN_NS, against_peers
    from iosonde.weather.store import Store

    until = now_ns if span_ns[1] is None else span_ns[1]
    since = until - PEER_SPAN_NS if span_ns[0] is None else span_ns[0]
    series = None if targets or happened is None else happened.windows
    found = against_peers(Store(root), since, until, series)
    return [one for one in found if not targets or one.key.target in targets]


def recurring(
    root: Path, until_ns: int, seed: int, zone: tzinfo | None, targets: Collection[str] = ()
) -> Recurrences:
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
    return Recurrences(found, len(places), looked_ns)


def report(
    store: Store, query: SlowdownQuery, now_ns: int, zone: tzinfo | None = None
) -> str | None:
    """A span of targets on one HTML page, times in ``zone``; None: there are no samples. Raises StoreError."""
    from iosonde.weather.report.page import report_page

    log = event_log(store.root, (query.since_ns, query.until_ns), now_ns)
    return report_page(store, query, log, now_ns, zone)


def digest(store: Store, until_ns: int, seed: int, zone: tzinfo | None = None) -> tuple[str, str]:
    """Subject and text of a mail about the seven days before ``until_ns``, times in ``zone``. Raises StoreError.

    ``seed``: of the permutations in tests of what comes back.
    """
    import numpy as np

    from iosonde.weather.digest.digest import WEEK_NS
    from iosonde.weather.digest.digest import digest as digest_of
    from iosonde.weather.digest.words import body, subject

    log = event_log(store.root, (until_ns - 2 * WEEK_NS, until_ns))
    found = digest_of(store, until_ns, zone, np.random.default_rng(seed), log.events)
    return subject(found, zone), body(found, zone)


def slowdown(store: Store, query: SlowdownQuery, now_ns: int) -> SlowdownResult:
    """Windows, usual latencies and slow spans; no windows without samples.

    Spans are those of ``events``, whatever the range; of another baseline than the guarded one, and of windows shorter
    than a minute, those of these windows. Raises UsageError, StoreError.
    """
    from iosonde.weather.events.stretches import with_stretches

    return with_stretches(store, query, now_ns)


def slowdown_figures(
    store: Store, result: SlowdownResult, load: tuple[int, int] | None = None
) -> list[Sheet]:
    """A figure per target, host and rate, with single operations behind the windows.

    ``load``: when a known load ran (ns); what is usual is then held at its value before it. Raises StoreError.
    """
    from iosonde.weather.samples_to_draw import scatter
    from iosonde.weather.slowdown.figure import slowdown_figure
    from iosonde.weather.slowdown.load_effect import held

    if load is not None:
        result = held(store, result, load[0])
    return slowdown_figure(result, scatter(store, result), load)
>>>>>>> h2
