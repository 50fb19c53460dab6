"""Events from samples as rows of the table of events, and written back to the store.

::

    events/<host>/<YYYY-MM>.jsonl          appended by the agent
    events/<host>/found-<YYYY-MM>.jsonl    replaced by whoever computes: closed events, a line each, id from place, kind, begin
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from iosonde.engine import layout
from iosonde.engine.files import write_text
from iosonde.model.errors import StoreError
from iosonde.model.events import SlowEvent
from iosonde.model.names import slug
from iosonde.weather.events.log import SAMPLES, SCHEMA_VERSION, Event, read_lines

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
        ended_ns=slow.end_ns,
        written_ns=slow.seen_until_ns,
        outcome=None,
        attempts=None,
        from_samples=True,
        peak=slow.peak,
        median=slow.median,
        lost=slow.lost,
        evidence=asdict(slow),
    )


def write_found(
    root: Path,
    slow: Sequence[SlowEvent],
    looked: Iterable[tuple[str, str]],
    span_ns: tuple[int | None, int | None],
    now_ns: int,
) -> int:
    """Make the store's files say of [since, until) of ``looked`` (host, target) what was computed; returns new lines.

    Only closed events are written. What a file said of the range before is replaced; a file that says the same is not
    touched, one that cannot be written is left as it is.
    """
    places = set(looked)
    settled = [
        as_event(event)
        for event in slow
        if event.end_ns is not None and event.end_ns <= now_ns - _SETTLED_NS
    ]
    months: dict[tuple[str, str], list[Event]] = {}
    for event in settled:
        if (event.host, event.target) in places:
            months.setdefault((event.host, layout.utc_month(event.began_ns)), []).append(event)
    for file in layout.event_files(root):
        if file.path.name.startswith(layout.FOUND_EVENTS):
            months.setdefault((file.host, file.month), [])
    count = 0
    for (host, month), events in months.items():
        path = root / "events" / slug(host) / f"{layout.FOUND_EVENTS}{month}.jsonl"
        count += _replace(path, events, places, span_ns)
    return count


def _replace(
    path: Path,
    events: Sequence[Event],
    places: set[tuple[str, str]],
    span_ns: tuple[int | None, int | None],
) -> int:
    before = [(event, line.decode().rstrip("\n")) for event, line in read_lines(path)]
    kept = [
        (event, line)
        for event, line in before
        if (event.host, event.target or "") not in places or not _lies_in(event, span_ns)
    ]
    after = {event.id: (event, line) for event, line in kept}
    after |= {event.id: (event, _line(event)) for event in events}
    ordered = sorted(after.values(), key=lambda pair: (pair[0].began_ns, pair[0].id))
    if [line for _, line in ordered] == [line for _, line in before]:
        return 0
    text = "".join(f"{line}\n" for _, line in ordered)
    with suppress(OSError, StoreError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(text, path)
        return len(after.keys() - {event.id for event, _ in before})
    return 0


def _lies_in(event: Event, span_ns: tuple[int | None, int | None]) -> bool:
    since, until = span_ns
    return (since is None or (event.ended_ns or event.began_ns) > since) and (
        until is None or event.began_ns < until
    )


def _line(event: Event) -> str:
    """An event as a line of a file, with the columns of events.toml."""
    raw: dict[str, Any] = {"schema_version": SCHEMA_VERSION, **asdict(event)}
    evidence, _ = raw.pop("evidence"), raw.pop("from_samples")
    return json.dumps({**raw, "evidence": evidence, "source": SAMPLES})
