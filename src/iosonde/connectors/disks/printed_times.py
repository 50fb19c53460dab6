"""Times that ``iostat -t`` prints: ISO 8601, or date and time of the locale.

::

    2026-11-28T13:32:25+0100                   S_TIME_FORMAT=ISO
    11/28/26 13:32:25                          C
    11/28/2026 01:32:25 PM                     en_US
    28/11/26 13:32:25, 28.11.2026 13:32:25     en_GB, de_DE

Of dates with slashes, a number over 12 anywhere in the file tells which is the day; without any, the month is first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from iosonde.model.errors import InputFileError

_DATE = r"(\d{1,4})([./\-年])\s?(\d{1,2})[./\-月]\s?(\d{1,4})日?\.?"
_TIME = r"(\d{1,2})[:.時时](\d\d)[:.分](\d\d)秒?"
_STAMP = re.compile(
    rf"{_DATE}[T\s]\s*{_TIME}(?:\s*([AaPp])\.?[Mm]\.?)?(?:\s*([+-]\d\d:?\d\d|Z))?", re.ASCII
)
_MOST_LENGTH = 48


class Stamp(NamedTuple):
    """A printed time, before it is known whether its day or its month is first."""

    first: int
    second: int
    third: int
    mark: str
    """Separator of the date."""
    clock: tuple[int, int, int]
    half: str
    """a, p or ""."""
    zone: str

    @property
    def day_first(self) -> bool | None:
        """Whether the day is before the month; None: either may be."""
        if self.first > 31:
            return False
        if self.mark != "/":
            return True
        if self.half or self.second > 12:
            return False
        return True if self.first > 12 else None

    def moment(self, day_first: bool) -> datetime | None:
        """The clock time, aware where it has a zone; None: there is none such."""
        if self.first > 31:
            year, month, day = self.first, self.second, self.third
        else:
            day, month = (self.first, self.second) if day_first else (self.second, self.first)
            year = self.third + (2000 if self.third < 100 else 0)
        hour, minute, second = self.clock
        if self.half:
            if not 1 <= hour <= 12:
                return None
            hour = hour % 12 + (12 if self.half == "p" else 0)
        text = f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{self.zone}"
        with suppress(ValueError):
            return datetime.fromisoformat(text)
        return None


def stamp(text: str) -> Stamp | None:
    """Parse a line that is only a time."""
    text = text.strip()
    if len(text) > _MOST_LENGTH or not text[:1].isdigit():
        return None
    match = _STAMP.fullmatch(text)
    if match is None:
        return None
    first, mark, second, third, hour, minute, second_of, half, zone = match.groups()
    clock = (int(hour), int(minute), int(second_of))
    return Stamp(int(first), int(second), int(third), mark, clock, (half or "").lower(), zone or "")


class DayOrder:
    """Whether dates of a file have the day first. ``texts``: of the file, read only where a date alone is unclear."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = texts
        self.guessed = False
        """True if no date of the file told: the month was taken as the first."""

    def of(self, one: Stamp) -> bool:
        """Whether the day of a time is before its month."""
        known = one.day_first
        return self._of_file if known is None else known

    @cached_property
    def _of_file(self) -> bool:
        with suppress(InputFileError):
            for text in self._texts:
                found = stamp(text)
                if found is not None and found.mark == "/" and found.day_first is not None:
                    return found.day_first
        self.guessed = True
        return False
