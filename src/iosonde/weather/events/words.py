"""Sentences about what agents noted, and about what recurs.

The tone of ``weather.slowdown.words``: one line without a full stop.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING, Any, NamedTuple

from iosonde.model.ops import SLOW_AT, op_word
from iosonde.model.units import DAY_NS, format_factor, format_seconds, format_time

if TYPE_CHECKING:
    from iosonde.model.events import Recurring
    from iosonde.weather.events.log import Event

_DAYS = (
    "Mondays",
    "Tuesdays",
    "Wednesdays",
    "Thursdays",
    "Fridays",
    "Saturdays",
    "Sundays",
)


def say_recurring(found: Recurring, reader_zone: str | None = None) -> str:
    """``reads of /home are 3.0x slower on Saturdays 02:00-05:30: 8 of 8 weeks``.

    The zone of the times is named unless it is the reader's.
    """
    factor = "" if found.slowdown is None else f"{format_factor(found.slowdown)}x "
    text = f"{op_word(found.op)} of {found.target} are {factor}slower {span_words(found)}"
    if found.zone != reader_zone:
        text += f" ({found.zone})"
    unit = "weeks" if found.period_h == 168 else "days"
    text += f": {found.seen} of {found.of} {unit}"
    return text if found.sure else f"{text}, too few to be sure"


def say_all_recurring(found: Sequence[Recurring], reader_zone: str | None = None) -> list[str]:
    """A sentence each; what several hosts saw alike is said once, with the middle of their factors."""
    alike: dict[tuple[object, ...], list[Recurring]] = {}
    for one in found:
        key = (one.target, one.op, one.span, one.zone, one.seen, one.of, one.sure)
        alike.setdefault(key, []).append(one)
    several = len({one.host for one in found}) > 1
    lines = []
    for group in alike.values():
        group.sort(key=lambda one: one.slowdown or 0.0)
        text = say_recurring(group[len(group) // 2], reader_zone)
        hosts = _join(sorted(one.host for one in group))
        lines.append(f"{text} (seen from {hosts})" if several else text)
    return lines


LEAST_KNOWN_NS = 3 * DAY_NS
"""What was seen on fewer days does not come back every day."""


def say_nothing_recurs(looked_ns: int) -> str:
    """That nothing was found, in how much time; or that this is too short to say so."""
    if looked_ns == 0:
        return "not enough history to find daily patterns"
    known = format_seconds(looked_ns)
    if looked_ns < LEAST_KNOWN_NS:
        return f"{known} of history are too short to find daily patterns"
    return f"no daily or weekly pattern in {known}"


def span_words(found: Recurring) -> str:
    """``on Saturdays 02:00-05:30``, ``from Saturdays 02:00 to Sundays 08:00``, ``daily 02:00-04:00``."""
    span = found.span
    if span.end_min - span.start_min >= found.period_h * 60:
        return "at all hours"
    start, end = _clock(span.start_min), _clock(span.end_min)
    if span.weekday is None:
        return f"daily {start}-{end}"
    first = _DAYS[span.weekday]
    last = _DAYS[(span.weekday + max(0, span.end_min - 1) // 1_440) % 7]
    if first == last and span.end_min <= 1_440:
        return f"on {first} {start}-{end}"
    return f"from {first} {start} to {last} {end}"


def _clock(minutes: int) -> str:
    """The time of day; midnight at the end of a day is 24:00."""
    if minutes > 0 and minutes % 1_440 == 0:
        return "24:00"
    return f"{minutes % 1_440 // 60:02d}:{minutes % 60:02d}"


def _join(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


class EventWords(NamedTuple):
    """An event in the words of a table."""

    what: str
    lasted: str
    ended: str
    evidence: str


def event_words(event: Event, now_ns: int, *, running: bool) -> EventWords:
    """What happened, how long it lasted, how it ended and what speaks for it.

    ``running``: the probe that saw it still runs, so an open event is still going on.
    """
    if event.ended_ns is not None:
        lasted = format_seconds(max(0, event.ended_ns - event.began_ns))
        ended = _ended(event)
    elif running:
        lasted, ended = format_seconds(max(0, now_ns - event.began_ns)), "still"
    else:
        known = format_seconds(max(0, event.written_ns - event.began_ns))
        lasted, ended = f"over {known}", "unknown (the probe ended first)"
    return EventWords(_what(event), lasted, ended, _evidence(event))


def say_event(event: Event, now_ns: int, *, running: bool, zone: tzinfo | None = None) -> str:
    """The sentence of an event."""
    words = event_words(event, now_ns, running=running)
    since = format_time(event.began_ns, now_ns, zone, seconds=True)
    text = f"{words.what} from {since} on, for {words.lasted}; "
    if event.ended_ns is None:
        text += "still open" if running else "the probe ended before it did"
    else:
        text += f"it ended: {words.ended}"
    return f"{text} ({words.evidence})" if words.evidence else text


_HAPPENED = {
    "hang": "hung",
    "slow": "were slow",
    "partly_slow": "were partly slow",
    "lost": "were late or missing",
}


def _what(event: Event) -> str:
    if event.kind == "store_full":
        return f"the store on {event.host} had no room"
    target = event.target or "the store"
    if event.kind == "unreachable":
        return f"{target} could not be reached"
    kind = "lost" if event.kind == "slow" and _by_loss(event.evidence) else event.kind
    verb = _HAPPENED.get(kind, kind)
    return f"{op_word(event.op)} on {target} {verb}" if event.op else f"{target}: {verb}"


def _ended(event: Event) -> str:
    if event.from_samples:
        return "over" if event.outcome is None else "unknown (the probe ended first)"
    if event.outcome in (None, "ok"):
        return "well"
    if event.outcome == "lost":
        return "nobody saw how"
    return f"with {event.outcome}"


def _evidence(event: Event) -> str:
    """One line: where the thread waited, in which state, how often it was tried."""
    found = event.evidence
    parts = []
    if "wchan" in found or "state" in found:
        wchan = found.get("wchan")
        parts.append(f"waiting in {wchan}" if wchan else f"in state {found['state']}")
    if event.attempts is not None and event.attempts > 1:
        parts.append(f"{event.attempts} attempts")
    if event.peak is not None:
        parts.append(f"at worst {format_factor(event.peak)}x")
    if "cause" in found:
        parts.append(_alarm(found))
    if found.get("kernel"):
        parts.append(f"the kernel said: {found['kernel'][-1]}")
    return ", ".join(parts)


def _alarm(found: dict[str, Any]) -> str:
    """How slow it became, and which detector saw it first."""
    seen = f"alarm by {found['cause']}"
    if found["cause"] == "cache":
        return f"fewer came from a cache ({seen})"
    if _by_loss(found):
        return f"late, missing or failed, none of the others slow ({seen})"
    typ, tail = format_factor(found.get("peak")), format_factor(found.get("peak_tail"))
    return f"at worst {typ}x, the slowest twentieth {tail}x ({seen})"


def _by_loss(found: dict[str, Any]) -> bool:
    """Whether an alarm was about operations that were lost while those that came back were as quick as ever."""
    slow = max(found.get("peak") or 1.0, found.get("peak_tail") or 1.0) >= SLOW_AT
    return found.get("cause") == "lost" and not slow
