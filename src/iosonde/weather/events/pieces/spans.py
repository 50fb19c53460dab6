"""Stretches of a range that are judged by themselves: whole UTC days, and eighths of the one that goes on.

::

    day | day | day | 00-03 | 03-06 | 06-09 | 09-09:40
    kept                                    anew, every time
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from iosonde.model.slowdown import INTERVAL_NS
from iosonde.model.units import DAY_NS

PART_NS = DAY_NS // 8
"""Length of a part of the day that goes on: each is judged with an hour before it."""


class Span(NamedTuple):
    """[begin, end), UTC."""

    begin_ns: int
    end_ns: int

    @property
    def is_day(self) -> bool:
        """Whether it is a whole day."""
        return self.end_ns - self.begin_ns == DAY_NS


def spans(first_ns: int, until_ns: int) -> Iterator[tuple[Span, bool]]:
    """Spans from the midnight ``first_ns`` on that begin before ``until_ns``, and whether each is over.

    A part of a day is over an interval later: what began in it may still end.
    """
    for day in range(first_ns, until_ns, DAY_NS):
        if day + DAY_NS <= until_ns:
            yield Span(day, day + DAY_NS), True
            continue
        for begin in range(day, until_ns, PART_NS):
            end = begin + PART_NS
            yield Span(begin, end), end + INTERVAL_NS <= until_ns


def in_a_row(found: Sequence[Span]) -> Iterator[list[Span]]:
    """Spans that touch, together."""
    row: list[Span] = []
    for span in found:
        if row and span.begin_ns != row[-1].end_ns:
            yield row
            row = []
        row.append(span)
    if row:
        yield row
