"""Sentences of a report: events in a range, coverage of the monitoring, and its cost."""

from __future__ import annotations

from datetime import tzinfo
from typing import TYPE_CHECKING

from iosonde.model.ops import SECOND_NS, op_order, op_word
from iosonde.model.units import (
    format_count,
    format_factor,
    format_option,
    format_percent,
    format_seconds,
    format_size,
    format_time,
)
from iosonde.model.verdicts import Reason, Verdict
from iosonde.weather.events.slow_words import say_slow_event
from iosonde.weather.events.unjudged_words import why_not
from iosonde.weather.events.words import LEAST_KNOWN_NS, say_nothing_recurs, say_recurring
from iosonde.weather.report.worst import slow_events, slow_span
from iosonde.weather.slowdown.findings import from_span
from iosonde.weather.slowdown.words import learned_from, say

if TYPE_CHECKING:
    from iosonde.model.events import SlowEvent
    from iosonde.weather.report.report import Report

_WHOLE = 0.9
"""Share of time with samples that counts as complete: the first and last windows are cut."""


def report_words(report: Report, zone: tzinfo | None = None) -> dict[str, str]:
    """Sentences by topic: ``headline watched lost cost``, and ``cache`` if known.

    See also ``change_words`` and ``recurrence_words``.
    """
    words = {
        "headline": _headline(report, zone),
        "watched": _watched(report),
        "lost": _lost(report),
        "cost": _cost(report),
    }
    cache = _cache(report)
    return {**words, "cache": cache} if cache else words


def _headline(report: Report, zone: tzinfo | None) -> str:
    """The worst event and the number of events; the slowest window if there was none."""
    if events := slow_events(report):
        text = _worst(report, events[0], zone)
        if len(events) > 1:
            whole = format_seconds(sum(one.seen_until_ns - one.start_ns for one in events))
            text += f"; the worst of {len(events)} slow stretches, {whole} in all"
        return text
    target = report.place.target
    learned = "" if report.learned_ns is None else f" ({learned_from(report.learned_ns)})"
    if report.verdict is Verdict.NOT_JUDGED:
        learning = any(one.reason is Reason.LEARNING for one in report.not_judged)
        return f"{target}: {why_not(report.not_judged)}; no verdict{' yet' if learning else ''}"
    known = [usual for usual in report.usual if usual.peak is not None]
    if not known:
        return f"{target} was as usual{learned}"
    peak = max(known, key=lambda usual: usual.peak or 0.0)
    slowest = (
        f"the slowest 10 minutes, of {op_word(peak.key.op)}, were at {format_factor(peak.peak)}x"
    )
    return f"{target} was as usual{learned}: {slowest}"


def _worst(report: Report, event: SlowEvent, zone: tzinfo | None) -> str:
    """First sentence of an event, or that of its hardest op, which has an interval."""
    span = slow_span(report, event)
    if span is not None:
        return say(from_span(span, report.until_ns), zone)
    first, _, _ = say_slow_event(event, report.until_ns, zone).partition(". ")
    return first


def _watched(report: Report) -> str:
    length = report.until_ns - report.since_ns
    missing = length - report.known_ns
    text = f"watched for {format_seconds(report.known_ns)} of {format_seconds(length)}"
    text += f", every {format_option(report.place.period_ns)} from {report.place.host}"
    return text + (f"; no data for {format_seconds(missing)}" if missing > 0 else "")


def _lost(report: Report) -> str:
    due = sum(tally.n_due for tally in report.tallies)
    lost = sum(tally.n_lost for tally in report.tallies)
    if due == 0:
        return "this range has window statistics only, without losses"
    text = (
        f"{_share(lost, due)} of {format_count(due)} operations were late, skipped, open or failed"
    )
    worst = max(report.tallies, key=lambda tally: tally.n_lost / max(1, tally.n_due))
    if lost:
        text += f"; most of {op_word(worst.op)}: {_share(worst.n_lost, worst.n_due)}"
    if report.busy_lost:
        text += f"; {format_count(report.busy_lost)} of them while the probing host was busy"
    return text


def change_words(report: Report, zone: tzinfo | None = None) -> list[str]:
    """Lasting changes of the baseline, and the current baseline relative to the first."""
    told = [
        f"the baseline of {op_word(change.key.op)} has been {format_factor(change.factor)}x the earlier one "
        f"since {format_time(change.began_ns, report.until_ns, zone)}"
        for change in sorted(report.changes, key=lambda change: change.began_ns)
    ]
    moved = {op: now for op, now in report.climate.items() if differs(now)}
    told += [
        f"the baseline of {op_word(op)} is {format_factor(now)}x the first one"
        for op, now in sorted(moved.items(), key=lambda item: op_order(item[0]))
    ]
    return told


def differs(factor: float) -> bool:
    """True if a factor is worth mentioning: it does not read 1.0x."""
    return format_factor(factor) != format_factor(1.0)


def recurrence_words(report: Report, reader_zone: str | None = None) -> list[str] | None:
    """Sentences on recurrence, or that data are too short; empty for none, None if not searched."""
    if report.recurrence is None:
        return None
    found, looked = report.recurrence
    if not found and looked < LEAST_KNOWN_NS:
        return [say_nothing_recurs(looked)]
    return [say_recurring(one, reader_zone) for one in found]


def _cost(report: Report) -> str:
    if not report.sampled_ns:
        return f"only window statistics remain, so the cost is unknown; {_limits(report)}"
    begun = sum(tally.n_begun for tally in report.tallies)
    moved = sum(tally.moved_bytes for tally in report.tallies)
    seconds = max(1.0, report.sampled_ns / SECOND_NS)
    text = f"the probe asked for {format_count(begun)} operations ({begun / seconds:.3g} a second)"
    text += f" and moved {format_size(moved)} ({format_size(moved / seconds)} a second)"
    busy = sum(tally.busy_ns for tally in report.tallies) / SECOND_NS
    text += f"; the storage worked on them for {format_percent(busy / seconds)} of the time"
    if report.sampled_ns < _WHOLE * report.known_ns:
        text += f"; raw samples cover {format_seconds(report.sampled_ns)}, the rest has window statistics only"
    return f"{text}; {_limits(report)}"


def _limits(report: Report) -> str:
    budget = {k: v for k, v in (report.budget or {}).items() if v is not None}
    parts = []
    if "bytes_per_s" in budget:
        parts.append(f"{format_size(budget['bytes_per_s'])} a second")
    if "ops_per_s" in budget:
        parts.append(f"{budget['ops_per_s']:g} operations a second")
    if "cpu_ns_per_s" in budget:
        parts.append(f"{budget['cpu_ns_per_s'] / 1e7:.3g}% of a CPU")
    return "probe budget: " + ", ".join(parts) if parts else "no probe budget was set"


def _cache(report: Report) -> str:
    """Share of reads answered by a cache, if observed."""
    parts = [f"{op_word(op)} {format_percent(share)}" for op, share in report.hit_share.items()]
    if parts:
        return "answered by a cache: " + ", ".join(parts)
    reads = next((tally for tally in report.tallies if tally.op == "data_read"), None)
    if reads is None or set(reads.caches) <= {"unknown"}:
        return ""
    whole = sum(reads.caches.values())
    shares = [f"{_share(n, whole)} {name}" for name, n in reads.caches.items()]
    return "reads by what the client's cache could do: " + ", ".join(shares)


def _share(part: int, whole: int) -> str:
    return format_percent(part / whole if whole else 0.0)
