"""What a figure is asked: kind, range, phases. The question is the same from the terminal and the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from iosonde.model.frames import SlowdownQuery
from iosonde.model.ops import SECOND_NS
from iosonde.model.phases import Phase

KINDS = ("points", "hosts", "phases", "statistics", "timeline", "slowdown", "bursts")
_HOUR = 3600 * SECOND_NS
SPANS_NS = {
    "points": 600 * SECOND_NS,
    "hosts": _HOUR,
    "phases": _HOUR,
    "statistics": 30 * 24 * _HOUR,
    "timeline": 30 * 24 * _HOUR,
    "slowdown": 30 * 24 * _HOUR,
    "bursts": 24 * _HOUR,
}
"""How far a figure looks back unless told."""
_AIR = 0.04
"""Share of the phases' length that is shown before and after them."""


@dataclass(frozen=True)
class Asked:
    """A figure's question. ``query`` has a range: neither end is None.

    ``expected`` is what phases are compared with (``analysis.phases``), ``windows_ns`` the lengths
    of the slowdown figure, ``short_ns`` that of the bursts' windows (None: what their density allows).
    """

    kind: str
    query: SlowdownQuery
    phases: tuple[Phase, ...] = ()
    expected: str = "usual"
    windows_ns: tuple[int, ...] = (600 * SECOND_NS, 4 * _HOUR)
    short_ns: int | None = None


def default_range(
    kind: str, since_ns: int | None, until_ns: int | None, now_ns: int, phases: Sequence[Phase] = ()
) -> tuple[int, int]:
    """[since, until) of a figure: as asked, else around its phases, else as far back as is usual."""
    if phases:
        first, last = min(p.start_ns for p in phases), max(p.end_ns for p in phases)
        air = int((last - first) * _AIR)
        since_ns = first - air if since_ns is None else since_ns
        until_ns = last + air if until_ns is None else until_ns
    until = now_ns if until_ns is None else until_ns
    since = until - SPANS_NS[kind] if since_ns is None else since_ns
    return since, until
