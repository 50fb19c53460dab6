"""Events from samples as rows of the table of events, and written back to the store.

::

    events/<host>/<YYYY-MM>.jsonl          appended by the agent
    events/<host>/found-<YYYY-MM>.jsonl    replaced by whoever computes: what is over, a line each
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from iosonde.engine.atomic import make_folder, permitted
from iosonde.engine.files import write_text
from iosonde.engine.layout.dates import utc_month
from iosonde.engine.layout.months import FOUND_EVENTS, event_files
from iosonde.engine.lines import signed
from iosonde.model.errors import StoreError
from iosonde.model.events import SlowEvent
from iosonde.model.frames import TargetRef
from iosonde.model.names import slug
from iosonde.weather.events.log import SAMPLES, SCHEMA_VERSION, UNSEEN, Event, read_lines

_SETTLED_NS = 600_000_000_000
"""An event that ended so long ago changes no more."""


def as_event(slow: SlowEvent) -> Event:
    """A slow event as a row of the table of events."""
    return Event(
        id=f"{slow.host}:{slow.target}:{slow.kind}-{slow.start_ns}",
        kind=slow.kind,
        host=slow.host,
        target=slow.target,
        op=slow.op,
        began_ns=slow.start_ns,
        ended_ns=_last_known_ns(slow),
        written_ns=slow.seen_until_ns,
        outcome=None if slow.unknown_since_ns is None else UNSEEN,
        attempts=None,
        from_samples=True,
        peak=slow.peak,
        median=slow.median,
        lost=slow.lost,
        evidence=asdict(slow),
    )


def _last_known_ns(slow: SlowEvent) -> int | None:
    """Its end, or since when nothing is known of it."""
    return slow.unknown_since_ns if slow.end_ns is None else slow.end_ns


def write_found(
    root: Path,
    slow: Sequence[SlowEvent],
    sampled_ns: Mapping[TargetRef, int],
    span_ns: tuple[int | None, int | None],
    now_ns: int,
) -> int:
    """Make the files of a store say of [since, until) what was computed; returns how many lines are new.

    Only events that are over are written. ``sampled_ns``: from when on each host and target has samples; what was
    written of the time before stays. A file that says the same is not touched, one that cannot be written stays as it
    is.
    """
    since, until = span_ns
    over_ns = min(now_ns, now_ns if until is None else until) - _SETTLED_NS
    months: dict[tuple[str, str], list[Event]] = {
        (file.host, file.month): []
        for file in event_files(root)
        if file.path.name.startswith(FOUND_EVENTS)
    }
    for event in slow:
        end_ns = _last_known_ns(event)
        if end_ns is not None and end_ns <= over_ns:
            place = slug(event.host), utc_month(event.start_ns)
            months.setdefault(place, []).append(as_event(event))

    def computed(event: Event) -> bool:
        first = sampled_ns.get(TargetRef(event.host, event.target or ""))
        end = event.ended_ns or event.began_ns
        return first is not None and first < end <= over_ns and (since is None or end > since)

    return sum(
        _replace(root / "events" / host / f"{FOUND_EVENTS}{month}.jsonl", events, computed)
        for (host, month), events in months.items()
    )


def _replace(path: Path, events: Sequence[Event], computed: Callable[[Event], bool]) -> int:
    """Write ``events`` in place of what ``computed`` says was computed anew."""
    before = [(event, line.decode().rstrip("\n")) for event, line in read_lines(path)]
    after = {event.id: (event, line) for event, line in before if not computed(event)}
    after |= {event.id: (event, _line(event)) for event in events}
    ordered = sorted(after.values(), key=lambda pair: (pair[0].began_ns, pair[0].id))
    if [line for _, line in ordered] == [line for _, line in before]:
        return 0
    with suppress(OSError, StoreError):
        make_folder(path.parent)
        write_text("".join(f"{line}\n" for _, line in ordered), path)
        permitted(path)
        return len(after.keys() - {event.id for event, _ in before})
    return 0


def _line(event: Event) -> str:
    """An event as a line of a file, with the columns of events.toml."""
    raw: dict[str, Any] = {"schema_version": SCHEMA_VERSION, **asdict(event)}
    evidence, _ = raw.pop("evidence"), raw.pop("from_samples")
    return signed(json.dumps({**raw, "evidence": evidence, "source": SAMPLES}))
