"""The mail of a digest: plain text of 72 columns, and nothing in it that was not seen."""

from __future__ import annotations

import textwrap
from datetime import tzinfo
from typing import TYPE_CHECKING

from iosonde.model.ops import op_word
from iosonde.model.units import format_factor, format_seconds, to_datetime
from iosonde.model.verdicts import Verdict
from iosonde.weather.events.slow_words import say_slow_event
from iosonde.weather.events.unjudged_words import say_not_judged, why_not
from iosonde.weather.events.words import say_all_recurring

if TYPE_CHECKING:
    from iosonde.weather.digest.digest import Digest, Episode, TargetDigest, Week

COLUMNS = 72
_MOST = 5
"""Stretches of a target that are told one by one."""
_MOST_HOSTS = 4


def subject(found: Digest, zone: tzinfo | None = None) -> str:
    """``storage 16 Nov to 23 Nov: /work slow for 1h10m, 2 other targets as usual``."""
    first, last = (f"{to_datetime(ns, zone):%-d %b}" for ns in (found.since_ns, found.until_ns))
    head = f"storage {first} to {last}"
    if not found.targets:
        return f"{head}: nothing was watched"
    slow = [one for one in found.targets if one.week.stretches]
    dark = sum(one.week.verdict is Verdict.NOT_JUDGED for one in found.targets)
    if dark == len(found.targets):
        return f"{head}: nothing was judged on {_targets(dark)}"
    if not slow:
        part = " in what was judged" if any(one.week.not_judged for one in found.targets) else ""
        judged = f"{head}: nothing was slow{part} on {_targets(len(found.targets) - dark)}"
        return judged + (f", {dark} not judged" if dark else "")
    worst = slow[0]
    text = f"{head}: {worst.target} slow for {format_seconds(worst.week.slow_ns)}"
    return text + (f", {_targets(len(slow) - 1)} more" if len(slow) > 1 else "")


def body(found: Digest, zone: tzinfo | None = None) -> str:
    """The text, lines of at most 72 columns; a word that is longer stays whole."""
    zone_name = to_datetime(found.until_ns, zone).strftime("%Z")
    first, last = (f"{to_datetime(ns, zone):%a %Y-%m-%d %H:%M}" for ns in _span(found))
    lines = _wrapped(f"Storage from {first} to {last} ({zone_name}), as iosonde saw it.")
    if not found.targets:
        lines += ["", *_wrapped("No probe measured anything in this week.")]
    for one in found.targets:
        lines += ["", one.target, *_target(one, found.until_ns, zone)]
    lines += [
        "",
        *_wrapped("Slow: slow, losing operations or hanging. 'iosonde events' has all of it."),
    ]
    return "\n".join(lines) + "\n"


def _span(found: Digest) -> tuple[int, int]:
    return found.since_ns, found.until_ns


def _target(one: TargetDigest, until_ns: int, zone: tzinfo | None) -> list[str]:
    lines = _wrapped(f"{_how_long(one.week)}. {_before(one.before)}.", "  ")
    costly = sorted(one.week.stretches, key=lambda s: s.start_ns - s.end_ns)[:_MOST]
    for stretch in sorted(costly, key=lambda s: s.start_ns):
        lines += _wrapped(_stretch(stretch, one.week, zone), "  * ", "    ")
    more = len(one.week.stretches) - len(costly)
    if more:
        lines += _wrapped(f"{more} shorter one{'s' if more > 1 else ''}", "  * ")
    if one.week.ops:
        worst = (f"{op_word(op)} {format_factor(value)}x" for op, value in one.week.ops[:3])
        lines += _wrapped(f"Worst operations: {', '.join(worst)}.", "  ")
    for text in say_all_recurring(one.recurring):
        lines += _wrapped(f"Comes back: {text}.", "  ")
    if one.week.verdict is not Verdict.NOT_JUDGED:
        for text in say_not_judged(one.week.not_judged, until_ns, zone):
            lines += _wrapped(f"{text[:1].upper()}{text[1:]}.", "  ")
    return lines + _wrapped(f"{_watched(one.week)}.", "  ")


def _how_long(week: Week) -> str:
    n = len(week.stretches)
    if n:
        return f"Slow for {format_seconds(week.slow_ns)} in {n} stretch{'es' if n > 1 else ''}"
    if week.verdict is Verdict.NOT_JUDGED:
        return f"Not judged: {why_not(week.not_judged)}"
    return "Nothing was slow in what was judged" if week.not_judged else "Nothing was slow"


def _before(week: Week) -> str:
    if not week.known_ns:
        return "The week before was not watched"
    known = format_seconds(week.known_ns)
    if not week.stretches:
        if week.verdict is Verdict.NOT_JUDGED:
            return f"The week before was not judged: {why_not(week.not_judged)}"
        return f"The week before nothing was slow in the {known} that were watched"
    n = len(week.stretches)
    slow = f"{format_seconds(week.slow_ns)} in {n} stretch{'es' if n > 1 else ''}"
    return f"The week before: {slow}, watched for {known}"


def _stretch(stretch: Episode, week: Week, zone: tzinfo | None) -> str:
    began = f"{to_datetime(stretch.start_ns, zone):%a %H:%M}"
    lasted = format_seconds(stretch.end_ns - stretch.start_ns)
    said, _, _ = say_slow_event(stretch.worst, stretch.end_ns, zone).partition(". ")
    seen = f"{len(stretch.hosts)} of {len(week.hosts)} hosts" if len(week.hosts) > 1 else "1 host"
    return f"{began}, {lasted}: {said}; reported by {_names(stretch.hosts)} ({seen})"


def _watched(week: Week) -> str:
    return f"Watched for {format_seconds(week.known_ns)} from {_names(week.hosts)}"


def _names(hosts: tuple[str, ...]) -> str:
    more = len(hosts) - _MOST_HOSTS
    return ", ".join(hosts[:_MOST_HOSTS]) + (f" and {more} more" if more > 0 else "")


def _targets(n: int) -> str:
    return "1 target" if n == 1 else f"{n} targets"


def _wrapped(text: str, first: str = "", others: str | None = None) -> list[str]:
    later = first if others is None else others
    return textwrap.wrap(
        text,
        COLUMNS,
        initial_indent=first,
        subsequent_indent=later,
        break_long_words=False,
        break_on_hyphens=False,
    )
