"""Ranking of a report's events and spans by time lost for users."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.model.ops import SECOND_NS

if TYPE_CHECKING:
    from iosonde.model.events import SlowEvent
    from iosonde.model.frames import SlowSpan
    from iosonde.weather.report.report import Report

_TAIL_SHARE = 0.05
"""Share of the slowest operations."""


def slow_events(report: Report) -> list[SlowEvent]:
    """Events with slow, lost or hung operations; the costliest first."""
    found = [event for event in report.events if event.kind != "change"]
    return sorted(found, key=lambda event: -lost_time_s(event))


def slow_span(report: Report, event: SlowEvent) -> SlowSpan | None:
    """Span of the hardest op of an event, with its interval."""
    begins = {share.start_ns for share in event.ops if share.op == event.op}
    for span in report.spans:
        if not span.host_busy and span.key.op == event.op and span.start_ns in begins:
            return span
    return None


def lost_time_s(event: SlowEvent) -> float:
    """Seconds lost by continuously running operations, over all ops of an event."""
    length_s = (event.seen_until_ns - event.start_ns) / SECOND_NS
    if event.kind == "hang":
        return sum((share.hung_ns or 0) / SECOND_NS for share in event.ops)
    if event.kind == "lost":
        return length_s * (event.lost or 0.0)
    if event.kind == "partly_slow":
        tail = max((share.tail or 1.0 for share in event.ops), default=1.0)
        return length_s * _TAIL_SHARE * max(0.0, tail - 1.0)
    return event.area_s
