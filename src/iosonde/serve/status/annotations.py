"""Events as dashboards mark them: begin and end in milliseconds, a sentence, tags."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from iosonde.serve.status.query import MILLISECOND_NS
from iosonde.weather.events.slow_words import say_slow_event
from iosonde.weather.events.words import say_event

if TYPE_CHECKING:
    from datetime import tzinfo

    from iosonde.weather.answers import Happened


def marked(
    happened: Happened, running: set[str], now_ns: int, zone: tzinfo | None
) -> list[dict[str, Any]]:
    """One an event, by beginning. ``running``: runs that go on. An event that lasts has no ``timeEnd``."""
    found = [
        _annotation(
            (one.start_ns, one.end_ns),
            (one.kind, one.host, one.target, one.op),
            say_slow_event(one, now_ns, zone),
        )
        for one in happened.slow
    ]
    for event in happened.logged:
        text = say_event(event, now_ns, running=event.run_id in running, zone=zone)
        place = (event.kind, event.host, event.target, event.op)
        found.append(_annotation((event.began_ns, event.ended_ns), place, text))
    return sorted(found, key=lambda one: (one["time"], one["text"]))


def _annotation(
    span_ns: tuple[int, int | None], place: tuple[str, str, str | None, str | None], text: str
) -> dict[str, Any]:
    kind, host, target, op = place
    began, ended = span_ns
    return {
        "time": began // MILLISECOND_NS,
        "timeEnd": None if ended is None else ended // MILLISECOND_NS,
        "title": f"iosonde: {target or host}",
        "text": text,
        "tags": [word for word in ("iosonde", kind, op) if word],
        "kind": kind,
        "host": host,
        "target": target,
    }
