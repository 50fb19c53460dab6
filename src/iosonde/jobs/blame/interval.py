"""What is asked: a slow event, an instant or an interval; of which target."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from iosonde.model.errors import NothingMeasuredError, UsageError
from iosonde.model.units import DAY_NS, HOUR_NS
from iosonde.model.verdicts import Verdict
from iosonde.weather.events.answers import event_log
from iosonde.weather.events.judgement import judgement
from iosonde.weather.events.named import is_event_id, named_event, pick
from iosonde.weather.events.noted import slow_hangs
from iosonde.weather.events.told import told_events
from iosonde.weather.events.unjudged_words import why_not
from iosonde.weather.events.written import as_event
from iosonde.weather.store import Store

if TYPE_CHECKING:
    from iosonde.model.events import SlowEvent

Grouping = Literal["job", "user", "account", "name", "node"]
LOOK_BACK_NS = 7 * DAY_NS
"""How far back the last event of a target is looked for."""
NEAR_NS = HOUR_NS // 4
"""Of an instant without an event so much before and after it counts."""
_KINDS = ("slow", "partly_slow", "lost", "hang")


class BlameQuestion(NamedTuple):
    """``what``: a target's name or an event's id; None: any target. Instants in ns; ``band`` in operations per second.

    ``systems``: file systems or exports whose records count, as records name them; None: all.
    """

    what: str | None = None
    at_ns: int | None = None
    since_ns: int | None = None
    until_ns: int | None = None
    by: Grouping = "job"
    band: tuple[float, float] | None = None
    systems: tuple[str, ...] | None = None
    per_job: bool = True


class BlamedSpan(NamedTuple):
    """[begin, end), and what is known of it: ``event`` None: an interval that somebody named."""

    begin_ns: int
    end_ns: int
    target: str | None
    event: SlowEvent | None

    @property
    def event_id(self) -> str | None:
        """As ``iosonde events`` has it."""
        return None if self.event is None else as_event(self.event).id


def span_of(root: Path, question: BlameQuestion, now_ns: int) -> BlamedSpan:
    """The interval that a question is about. Raises UsageError, NothingMeasuredError, StoreError."""
    targets = sorted({ref.target for ref in Store(root).targets()})
    target = question.what if question.what in targets else None
    named = question.what if question.what and target is None else None
    if named is not None and not is_event_id(root, named):
        listed = ", ".join(targets[:8]) or "none: no probe has run"
        raise UsageError(
            f"{named} is no target and no event's id",
            expected=f"one of {listed}" if targets else "a target with a probe's samples",
            hint="'iosonde events --format json' for ids, or --since and --until alone",
        )
    if question.since_ns is not None:
        end = now_ns if question.until_ns is None else question.until_ns
        if question.since_ns >= end:
            raise UsageError("the interval ends before it begins", hint="--since before --until")
        only = targets[0] if target is None and len(targets) == 1 else target
        return BlamedSpan(question.since_ns, end, only, None)
    if question.until_ns is not None:
        raise UsageError("--until without --since", hint="--since TIME --until TIME, or --at TIME")
    if question.at_ns is not None:
        return _at(root, target, targets, question.at_ns, now_ns)
    if named is not None:
        return _of_id(root, named, now_ns)
    if not targets:
        raise NothingMeasuredError(
            "no probe's samples are in the store, so no slow event is known",
            expected="an interval: who did most in it needs no probe",
            hint="--since -1h, or 'iosonde probe DIR'",
        )
    found = _events(root, target, (now_ns - LOOK_BACK_NS, now_ns), now_ns)
    if not found:
        raise NothingMeasuredError(
            _nothing_slow(root, target, now_ns),
            expected="an event, or an interval",
            hint="--since -1h: who did most in it",
        )
    return _of_event(found[-1], now_ns)


def _nothing_slow(root: Path, target: str | None, now_ns: int) -> str:
    """That there was no event, as far as anything was judged."""
    span = (now_ns - LOOK_BACK_NS, now_ns)
    wanted = () if target is None else (target,)
    found = told_events(root, event_log(root, span), span, now_ns, targets=wanted)
    refs = [ref for ref in Store(root).targets() if target in (None, ref.target)]
    judged = [judgement(found, ref, span)[0] for ref in refs]
    if all(verdict is Verdict.NOT_JUDGED for verdict in judged):
        where = "" if target is None else f" on {target}"
        return f"nothing was judged{where} in the last 7 days: {why_not(found.not_judged)}"
    what = f"{target} was not slow" if target else "no target was slow"
    part = " in what was judged" if found.not_judged else ""
    return f"{what}{part} of the last 7 days" if part else f"{what} in the last 7 days"


def last_events(root: Path, span: BlamedSpan, now_ns: int, most: int) -> list[BlamedSpan]:
    """Events of the target before the span's, at most so many, the latest first. Raises StoreError."""
    begin = (span.begin_ns - 4 * LOOK_BACK_NS, span.begin_ns)
    found = [one for one in _events(root, span.target, begin, now_ns) if one != span.event]
    earlier = [one for one in found if one.start_ns < span.begin_ns]
    return [_of_event(one, now_ns) for one in reversed(earlier[-most:])]


def _events(
    root: Path, target: str | None, span_ns: tuple[int, int], now_ns: int
) -> list[SlowEvent]:
    """Slow events of a span and hangs that agents noted, by begin."""
    log = event_log(root, span_ns)
    wanted = () if target is None else (target,)
    found = told_events(root, log, span_ns, now_ns, targets=wanted)
    slow = [*found.slow, *slow_hangs(found.logged, now_ns)]
    return sorted((one for one in slow if one.kind in _KINDS), key=lambda one: one.start_ns)


def _of_event(event: SlowEvent, now_ns: int) -> BlamedSpan:
    end = event.end_ns or min(now_ns, max(event.seen_until_ns, event.start_ns + 1))
    return BlamedSpan(event.start_ns, end, event.target, event)


def _at(root: Path, target: str | None, targets: list[str], at_ns: int, now_ns: int) -> BlamedSpan:
    if at_ns > now_ns:
        raise UsageError("--at is in the future", expected="a time until now")
    found = []
    if targets:
        span = (at_ns - DAY_NS, min(now_ns, at_ns + DAY_NS))
        found = [
            one for one in _events(root, target, span, now_ns) if one.overlaps(at_ns, at_ns + 1)
        ]
    if found:
        return _of_event(max(found, key=lambda one: one.peak or 0.0), now_ns)
    only = targets[0] if target is None and len(targets) == 1 else target
    return BlamedSpan(at_ns - NEAR_NS, min(now_ns, at_ns + NEAR_NS), only, None)


def _of_id(root: Path, text: str, now_ns: int) -> BlamedSpan:
    """The event of an id, an agent's too: it may lie a minute from where the id has it."""
    named = named_event(root, text)
    begin = named.began_ns
    span = (begin - 12 * HOUR_NS, min(now_ns, begin + DAY_NS))
    return _of_event(
        pick(_events(root, None, span, now_ns) if begin < now_ns else (), named), now_ns
    )
