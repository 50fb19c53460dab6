"""An event by its id: one computed from samples, or one that an agent wrote into its log."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from iosonde.model.errors import NothingMeasuredError, UsageError
from iosonde.weather.events.log import Event, read_events
from iosonde.weather.events.written import as_event

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from iosonde.model.events import SlowEvent

_COMPUTED = re.compile(r"(.+:.+)-(\d{18,19})")
_NOTED = re.compile(r"[0-9a-f]{16}-\d+")
"""Run of an agent and a number within it."""
_NUMBERED = re.compile(r".+-\d+")
_NEAR_NS = 60_000_000_000
"""A computed event may begin so much earlier or later once more samples are there."""
_EXPECTED = "an id as 'iosonde events --format json' prints it"
_OTHERWISE = "a target's name for its last event, or --at TIME"


def is_event_id(root: Path, text: str) -> bool:
    """Whether a word is an event's id, not a target's name. Raises StoreError."""
    if _COMPUTED.fullmatch(text) or _NOTED.fullmatch(text):
        return True
    if not _NUMBERED.fullmatch(text):
        return False
    return any(event.id == text for event in read_events(root))


def named_event(root: Path, text: str) -> Event:
    """Find the event of an id: of a computed one only begin and kind are known, which its id has.

    Raises UsageError (no id), NothingMeasuredError (no such event), StoreError.
    """
    if match := _COMPUTED.fullmatch(text):
        begin, kind = int(match[2]), match[1].rpartition(":")[2]
        unknown = (None, None, begin, None, begin, None, None)
        return Event(text, kind, "", *unknown, from_samples=True)
    if not _NUMBERED.fullmatch(text):
        raise UsageError(f"{text} is no event's id", expected=_EXPECTED)
    noted = next((event for event in read_events(root) if event.id == text), None)
    if noted is None:
        raise _no_such(text)
    if noted.target is None:
        raise UsageError(
            f"event {text} is about the store, not about a target",
            expected="an event of a target",
            hint="'iosonde events --format json' has the target of each",
        )
    return replace(noted, from_samples=False)


def pick(events: Iterable[SlowEvent], named: Event) -> SlowEvent:
    """The slow event that an id names; of an agent's event the one that covers it. Raises NothingMeasuredError."""
    if named.from_samples:
        same = [
            one
            for one in events
            if as_event(one).id.rpartition("-")[0] == named.id.rpartition("-")[0]
            and abs(one.start_ns - named.began_ns) <= _NEAR_NS
        ]
        if not same:
            raise _no_such(named.id)
        return min(same, key=lambda one: abs(one.start_ns - named.began_ns))
    there = [
        one
        for one in events
        if (one.host, one.target) == (named.host, named.target)
        and one.kind != "change"
        and one.overlaps(named.began_ns, named.ended_ns)
    ]
    if not there:
        raise NothingMeasuredError(
            f"samples show nothing slow on {named.target} during the event {named.id}",
            expected="samples of that time",
            hint=_OTHERWISE,
        )
    return max(there, key=lambda one: _likeness(one, named))


def _likeness(one: SlowEvent, named: Event) -> tuple[bool, bool, int]:
    """Same kind, same operation, nearest begin."""
    has = any(share.op == named.op for share in one.ops)
    return one.kind == named.kind, has, -abs(one.start_ns - named.began_ns)


def _no_such(text: str) -> NothingMeasuredError:
    """Nobody knows an event of this id."""
    return NothingMeasuredError(
        f"there is no event {text}",
        expected=_EXPECTED,
        hint=_OTHERWISE,
    )
