"""Events as dashboard annotations: start and end in milliseconds, a sentence, tags."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from iosonde.model.errors import NothingMeasuredError, UsageError
from iosonde.serve.status.query import MILLISECOND_NS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from iosonde.weather.events.answers import EventMark


def annotated(marks: Sequence[EventMark]) -> list[dict[str, Any]]:
    """Annotations of events, by start. An ongoing event has no ``timeEnd``.

    Slow events and hangs have an ``id`` to ask about: ``iosonde why`` knows no other.
    """
    return sorted(map(_annotation, marks), key=lambda one: (one["time"], one["text"]))


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


def _annotation(mark: EventMark) -> dict[str, Any]:
    return {
        "id": mark.id,
        "time": mark.start_ns // MILLISECOND_NS,
        "timeEnd": None if mark.end_ns is None else mark.end_ns // MILLISECOND_NS,
        "title": f"iosonde: {mark.target or mark.host}",
        "text": mark.sentence,
        "tags": [word for word in ("iosonde", mark.kind, mark.op) if word],
        "kind": mark.kind,
        "host": mark.host,
        "target": mark.target,
        "op": mark.op,
    }
