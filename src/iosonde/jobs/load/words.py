"""Sentences about a load: contributors of more than half."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from iosonde.jobs.load.course import JobCourse
    from iosonde.jobs.load.history import Column
    from iosonde.jobs.load.view import ColumnLoad, LoadView, TotalBand

NOUNS: dict[Column, tuple[str, str]] = {
    "user": ("user", "users"),
    "account": ("account", "accounts"),
    "name": ("application", "applications"),
    "job": ("job", "jobs"),
    "nodes": ("node group", "node groups"),
}
_MOST_NAMED = 3


def say(view: LoadView) -> str:
    """Sentence about the band if there is one, else about the whole view."""
    if not view.axis.cells:
        return "No node recorded operations in this range."
    if view.band is not None:
        return _say_band(view.band, view.asked.column)
    if view.ops <= 0:
        return "The nodes recorded no operation in this range."
    return f"{_majority(view.half, view.parts, view.asked.column)} of {count(view.ops)} operations."


def say_course(course: JobCourse) -> str:
    """``it made 71% of the 1.24 million operations recorded meanwhile, at most 3,500 operations/s``."""
    if course.ops <= 0:
        return "its nodes recorded no operation while it ran"
    share, everything = percent(course.share), count(course.ops / max(course.share, 1e-300))
    most = f"at most {rate(course.most_per_s)} operations/s"
    return f"it made {share} of the {everything} operations recorded meanwhile, {most}"


def _say_band(band: TotalBand, column: Column) -> str:
    limits = f"{rate(band.low)} to {rate(band.high)} operations/s"
    if not band.seconds:
        return f"The total was never within {limits}."
    time = f"{percent(band.share_of_time)} of the time"
    who = _majority(band.half, band.ranked, column)
    return f"The total was within {limits} in {time}; {who[0].lower()}{who[1:]} of the operations then."


def _majority(half: int | None, ranked: Sequence[ColumnLoad], column: Column) -> str:
    """``User u03 made 62%``, ``3 users made 71% (u03, u07, u11)``."""
    one, many = NOUNS[column]
    if half is None or half > len(ranked):
        share = percent(sum(part.share for part in ranked))
        if half is not None:
            return f"{half:,} {many} made more than half"
        return f"All {many} together made {share}" if ranked else f"No {one} made a part"
    share = percent(sum(part.share for part in ranked[:half]))
    names = ", ".join(part.name or "without a name" for part in ranked[: min(half, _MOST_NAMED)])
    if half == 1:
        who = names if names.startswith(f"{one}-") else f"{one} {names}"  # an alias says what it is
        return f"{who[0].upper()}{who[1:]} made {share}"
    more = f" and {half - _MOST_NAMED} more" if half > _MOST_NAMED else ""
    return f"{half} {many} ({names}{more}) made {share}"


def count(ops: float) -> str:
    """``1.24 million``: three digits."""
    for size, word in ((1e12, " trillion"), (1e9, " billion"), (1e6, " million")):
        if ops >= size:
            return f"{ops / size:.3g}{word}"
    return f"{ops:,.0f}"


def rate(per_s: float) -> str:
    """``3,500``, ``0.25``."""
    return f"{per_s:,.0f}" if per_s >= 10 or per_s == 0 else f"{per_s:.2g}"


def percent(share: float) -> str:
    """``62%``, ``0.3%``."""
    if 0 < share < 0.001:
        return "less than 0.1%"
    if 0.995 <= share < 1:
        return "more than 99%"
    if share < 0.0995 or 0.5 < share < 0.505:  # more than half does not read as half
        return f"{math.ceil(1000 * share) / 10 if share > 0.5 else 100 * share:.1f}%"
    return f"{100 * share:.0f}%"
