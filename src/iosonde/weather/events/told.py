"""Events of a span, each told once: those that samples show beside those that agents logged."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from iosonde.model.frames import SlowdownQuery
from iosonde.weather.events.log import read_events
from iosonde.weather.events.noted import told_once
from iosonde.weather.events.timeline import happened
from iosonde.weather.events.written import write_found
from iosonde.weather.store import Store

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from iosonde.model.events import SlowEvent, Witnesses
    from iosonde.model.frames import SeriesKey
    from iosonde.model.verdicts import Unjudged
    from iosonde.weather.events.log import Event, EventLog


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


def told_events(
    root: Path,
    log: EventLog,
    span_ns: tuple[int | None, int | None],
    now_ns: int,
    *,
    targets: Collection[str] = (),
    agent_only: bool = False,
    write_back: bool = False,
) -> Happened:
    """Events of ``targets`` (none: of all). ``agent_only``: only those that agents logged.

    ``write_back``: events that are over are written to the store, for readers that do not compute. Raises StoreError.
    """
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
    logged, slow = told_once(noted, slow, found.sampled_ns)
    return Happened(slow, seen, logged, not_judged, found.windows)
