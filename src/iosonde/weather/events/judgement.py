"""The verdict of a target in an interval: of its events and of what was not judged, for every door."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from iosonde.model.units import MINUTE_NS
from iosonde.model.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from iosonde.model.events import SlowEvent
    from iosonde.model.frames import SeriesKey, TargetRef
    from iosonde.model.verdicts import Unjudged

_KINDS = (Verdict.PARTLY_SLOW, Verdict.SLOW, Verdict.LOST, Verdict.HUNG)
_MOMENT_NS = 10 * MINUTE_NS
"""Gaps are known to ten minutes: what is left between them is not judged time."""


class Judged(Protocol):
    """Events of a span, what of it was not judged, and the windows of every series that the store knows."""

    @property
    def slow(self) -> Sequence[SlowEvent]:
        """Events."""

    @property
    def not_judged(self) -> Sequence[Unjudged]:
        """Intervals that were not judged."""

    @property
    def windows(self) -> Mapping[SeriesKey, int]:
        """Length of the windows of each series, ns."""


def judgement(
    found: Judged, place: TargetRef, span_ns: tuple[int, int]
) -> tuple[Verdict, list[Unjudged]]:
    """The verdict of a target as one host saw it in [begin, end), and what of that time was not judged.

    The worst event decides; without one the target was as usual where any of the time was judged.
    """
    begin, end = span_ns
    missing = [one for one in found.not_judged if one.host == place.host]
    missing = [one for one in missing if one.target in (None, place.target)]
    here = [one for one in found.slow if (one.host, one.target) == place]
    kinds = [one.kind for one in here if one.kind in _KINDS and one.overlaps(begin, end)]
    if kinds:
        return max(map(Verdict, kinds), key=list(Verdict).index), missing
    if not any((key.host, key.target) == place for key in found.windows):
        return Verdict.NOT_JUDGED, missing
    dark, reached = 0, begin
    blind = [one for one in missing if one.op is None and one.blind and one.target is not None]
    for one in sorted(blind, key=lambda one: one.begin_ns):
        last = end if one.end_ns is None else min(one.end_ns, end)
        dark += max(0, last - max(one.begin_ns, reached))
        reached = max(reached, last)
    judged = end - begin - dark > min(_MOMENT_NS, (end - begin) // 10)
    return (Verdict.USUAL if judged else Verdict.NOT_JUDGED), missing
