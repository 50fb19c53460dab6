"""Events as dashboard annotations: start and end in milliseconds, a sentence, tags."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from iosonde.model.errors import NothingMeasuredError, UsageError
from iosonde.serve.status.query import MILLISECOND_NS
from iosonde.weather.events.noted import slow_hangs
from iosonde.weather.events.slow_words import say_slow_event
from iosonde.weather.events.words import say_event
from iosonde.weather.events.written import as_event

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import tzinfo

    from iosonde.weather.answers import Happened
    from iosonde.weather.events.log import Event


def marked(
    happened: Happened, running: set[str], now_ns: int, zone: tzinfo | None
) -> list[dict[str, Any]]:
    """Annotations of events, by start. ``running``: ongoing runs. An ongoing event has no ``timeEnd``.

    Slow events and hangs have an ``id`` to ask about: ``iosonde why`` knows no other.
    """
    found = [
        _annotation(
            as_event(one).id,
            (one.start_ns, one.end_ns),
            (one.kind, one.host, one.target, one.op),
            say_slow_event(one, now_ns, zone),
        )
        for one in happened.slow
    ]
    for event in happened.logged:
        text = say_event(event, now_ns, running=event.run_id in running, zone=zone)
        place = (event.kind, event.host, event.target, event.op)
        found.append(
            _annotation(_hang_id(event, now_ns), (event.began_ns, event.ended_ns), place, text)
        )
    return sorted(found, key=lambda one: (one["time"], one["text"]))


def _hang_id(event: Event, now_ns: int) -> str | None:
    return next((as_event(one).id for one in slow_hangs([event], now_ns)), None)


def explain_newest(
    marks: list[dict[str, Any]], most: int, why: Callable[[str], dict[str, str]]
) -> None:
    """Add the sentence and evidence of ``why`` to the ``most`` newest marks with an id."""
    for one in [one for one in marks if one["id"] is not None][-most:]:
        # The store may have lost the samples of it meanwhile: its own sentence stays.
        with contextlib.suppress(UsageError, NothingMeasuredError):
            told = why(one["id"])
            one["text"] = f"{told['summary']}\n{told['description']}"
            one["tags"] = [*one["tags"], told["verdict"]]


def _annotation(
    event: str | None,
    span_ns: tuple[int, int | None],
    place: tuple[str, str, str | None, str | None],
    text: str,
) -> dict[str, Any]:
    kind, host, target, op = place
    began, ended = span_ns
    return {
        "id": event,
        "time": began // MILLISECOND_NS,
        "timeEnd": None if ended is None else ended // MILLISECOND_NS,
        "title": f"iosonde: {target or host}",
        "text": text,
        "tags": [word for word in ("iosonde", kind, op) if word],
        "kind": kind,
        "host": host,
        "target": target,
        "op": op,
    }
