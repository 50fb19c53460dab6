"""Clock times without a zone to UTC, with marks for hours that occur twice or not at all."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.connectors.wall_times import WallTimes
from iosonde.model.frames import NULL_NS
from iosonde.model.quality import Note

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags, Ints


class LocalTimes(NamedTuple):
    """Clock times as instants. Shapes (n,), in the order given."""

    time_ns: Ints
    """UTC; ``NULL_NS`` for malformed text."""
    ambiguous: Flags
    """True for clock times that occur twice or never around a clock change."""
    naive: bool
    """True if at least one text names no zone."""

    def notes(self, zone: tzinfo | None) -> tuple[Note, ...]:
        """Notes for numbers with these times."""
        return zone_notes(self.naive, int(self.ambiguous.sum()), zone)


def zone_name(zone: tzinfo | None) -> str:
    """Printable name of a zone."""
    return "this machine's zone" if zone is None else str(zone)


def zone_notes(naive: bool, ambiguous: int, zone: tzinfo | None) -> tuple[Note, ...]:
    """Notes on clock times: without a zone, and the number that occur twice or never."""
    notes = []
    if naive:
        notes.append(Note("naive-time", f"clock times read in {zone_name(zone)}"))
    if ambiguous:
        what = f"clock times while the clocks of {zone_name(zone)} were changed"
        notes.append(Note("ambiguous-time", what, ambiguous))
    return tuple(notes)


def local_times(texts: Iterable[object], zone: tzinfo | None) -> LocalTimes:
    """Texts such as ``2018-01-28 00:00:05`` as UTC, in recording order.

    A time that the clock shows twice (autumn) is taken as the first of both, unless that would not lie
    behind the time before it: then it is the second. A time that the clock never shows (spring) is taken
    as if the clock had not been changed. Both are marked. A text that names its zone needs no guess.
    Numbers, blobs, nonsense and years outside 1970 to 2262 give ``NULL_NS``.
    """
    clock = WallTimes(zone, ascending=True)
    times: list[int] = []
    marks: list[bool] = []
    for text in texts:
        moment, before = _moment(text), clock.ambiguous
        found = None if moment is None else clock.ns(moment)
        times.append(NULL_NS if found is None else found)
        marks.append(clock.ambiguous > before)
    naive = clock.naive > 0
    return LocalTimes(np.array(times, dtype=np.int64), np.array(marks, dtype=np.bool_), naive)


def _moment(text: object) -> datetime | None:
    """Parse a clock time; None if malformed, or beyond 64 bits of ns."""
    if not isinstance(text, str) or len(text) > 40:
        return None
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return moment if 1970 < moment.year < 2262 else None
