"""Clock times without a zone to UTC, honest about the hours that occur twice or not at all."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.model.frames import NULL_NS
from iosonde.model.quality import Note
from iosonde.model.units import to_ns

if TYPE_CHECKING:
    from numpy.typing import NDArray

_S = 1_000_000_000


class LocalTimes(NamedTuple):
    """Clock times as instants. Shapes (n,), in the order given."""

    time_ns: NDArray[np.int64]
    """UTC; ``NULL_NS`` where the text is no time."""
    ambiguous: NDArray[np.bool_]
    """The clock showed this twice, or never: it was being changed."""
    naive: bool
    """At least one of them names no zone."""

    def notes(self, zone: tzinfo | None) -> tuple[Note, ...]:
        """What has to be said of numbers that have these times."""
        return zone_notes(self.naive, int(self.ambiguous.sum()), zone)


def zone_name(zone: tzinfo | None) -> str:
    """A zone for people."""
    return "this machine's zone" if zone is None else str(zone)


def zone_notes(naive: bool, ambiguous: int, zone: tzinfo | None) -> tuple[Note, ...]:
    """The notes of clock times: without a zone, and how many of them occur twice or never."""
    notes = []
    if naive:
        notes.append(Note("naive-time", f"clock times read in {zone_name(zone)}"))
    if ambiguous:
        what = f"clock times while the clocks of {zone_name(zone)} were changed"
        notes.append(Note("ambiguous-time", what, ambiguous))
    return tuple(notes)


def local_times(texts: Iterable[object], zone: tzinfo | None) -> LocalTimes:
    """Texts such as ``2018-01-28 00:00:05`` as UTC, in the order in which they were recorded.

    A time that the clock shows twice (autumn) is taken as the first of both, unless that would not lie
    behind the time before it: then it is the second. A time that the clock never shows (spring) is taken
    as if the clock had not been changed. Both are marked. A text that names its zone needs no guess.
    Numbers, blobs, nonsense and years outside 1970 to 2262 give ``NULL_NS``.
    """
    times: list[int] = []
    marks: list[bool] = []
    naive, before = False, NULL_NS
    for text in texts:
        moment = _moment(text)
        if moment is None:
            times.append(NULL_NS)
            marks.append(False)
            continue
        if moment.tzinfo is None:
            naive = True
            time_ns, mark = _resolved(moment, zone, before)
        else:
            time_ns, mark = to_ns(moment), False
        if time_ns != NULL_NS:
            before = time_ns
        times.append(time_ns)
        marks.append(mark)
    return LocalTimes(np.array(times, dtype=np.int64), np.array(marks, dtype=np.bool_), naive)


def _moment(text: object) -> datetime | None:
    """A text as a clock time; None if it is none, or out of what 64 bits of ns hold."""
    if not isinstance(text, str) or len(text) > 40:
        return None
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return moment if 1970 < moment.year < 2262 else None


def _resolved(moment: datetime, zone: tzinfo | None, before: int) -> tuple[int, bool]:
    """UTC of a clock time, and whether it was a choice."""
    first, second = (_utc_ns(moment.replace(fold=fold), zone) for fold in (0, 1))
    if first == second:
        return first, False
    if NULL_NS in (first, second) or first > second:  # the hour that was left out
        return first, True
    return (second if before != NULL_NS and first <= before else first), True


def _utc_ns(moment: datetime, zone: tzinfo | None) -> int:
    """With its fold, as UTC ns; NULL_NS where the machine cannot say."""
    try:
        aware = moment.astimezone(UTC) if zone is None else moment.replace(tzinfo=zone)
        return to_ns(aware.astimezone(UTC))
    except (ValueError, OverflowError, OSError):
        return NULL_NS
