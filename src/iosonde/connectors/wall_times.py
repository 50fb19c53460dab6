"""Clock times without a zone, as instants; ambiguous ones are counted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache

from iosonde.model.quality import Note

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - naive on purpose: only differences count
_MICROSECOND = timedelta(microseconds=1)


class WallTimes:
    """Turns naive times of one file into UTC nanoseconds. ``zone`` None: this machine's.

    Where clocks are set back an hour occurs twice: the first of the two counts, unless that would go back
    behind the time before it and the second would not. (``ascending``: in a log, whose rows come one after the
    other, the same time again is the second one too.) Where clocks are set forward an hour does not occur: such
    a time is read as if they had not been. Both are counted as ambiguous.
    """

    def __init__(self, zone: tzinfo | None, *, ascending: bool = False) -> None:
        self._zone, self._ascending = zone, ascending
        self._last_ns: int | None = None
        self._offsets = lru_cache(maxsize=4096)(self._both)
        self.naive = 0
        """Times that had no zone."""
        self.ambiguous = 0

    @property
    def zone_name(self) -> str:
        """Printable name of the zone."""
        if self._zone is None:
            return "this machine's zone"
        return str(self._zone)

    def ns(self, moment: datetime) -> int | None:
        """Nanoseconds since the epoch; None: out of range."""
        try:
            if moment.tzinfo is not None:
                return _naive_ns(moment.astimezone(UTC).replace(tzinfo=None))
            first, second = self._offsets(
                moment.replace(minute=moment.minute // 15 * 15, second=0, microsecond=0)
            )
        except (ValueError, OverflowError, OSError):
            return None
        self.naive += 1
        found = _naive_ns(moment) - first
        if first != second:
            self.ambiguous += 1
            other = _naive_ns(moment) - second
            last = self._last_ns
            if last is not None and (found < last <= other or (found == last and self._ascending)):
                found = other
        self._last_ns = found
        return found

    def anew(self) -> None:
        """Forget the previous time: the next may be earlier."""
        self._last_ns = None

    def notes(self) -> tuple[Note, ...]:
        """Notes on the times read until now."""
        found: list[Note] = []
        if self.naive:
            found.append(
                Note("naive-time", f"times without a zone, read in {self.zone_name}", self.naive)
            )
        if self.ambiguous:
            found.append(Note("ambiguous-time", "at a change of clocks", self.ambiguous))
        return tuple(found)

    def flags(self) -> tuple[str, ...]:
        """The flags of ``notes``."""
        return tuple(note.flag for note in self.notes())

    def _both(self, quarter: datetime) -> tuple[int, int]:
        """UTC offsets, in ns, of the first and of the second occurrence of a quarter of an hour."""
        offsets = []
        for fold in (0, 1):
            there = quarter.replace(fold=fold)
            aware = there.astimezone() if self._zone is None else there.replace(tzinfo=self._zone)
            offset = aware.utcoffset() or timedelta(0)
            offsets.append(offset // _MICROSECOND * 1000)
        return offsets[0], offsets[1]


def _naive_ns(moment: datetime) -> int:
    return (moment.replace(tzinfo=None, fold=0) - _EPOCH) // _MICROSECOND * 1000
