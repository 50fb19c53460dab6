"""Lines of a growing file, each with a checksum.

A line that iosonde writes in Python ends with the CRC-32 of what stands before it::

    {"schema_version": 1, ..., "crc32": "1c291ca3"}

Lines without one (of the agent, of earlier versions) are taken as they are.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from iosonde.engine.left_out import leave_out
from iosonde.engine.versions import UPGRADE, WRITTEN

MAX_LINE = 1 << 20
"""Longest line of an event."""
MOST_BAD = 10_000
"""Most malformed lines of a file; reading stops there."""
_TOLD = 5
"""Malformed lines of one file reported one by one."""
_NAME = b'"crc32"'
_SIGNED = re.compile(rb', "crc32": "([0-9a-f]{8})"}\s*')


def whole_lines(file: Any, cut: Callable[[], None] = lambda: None) -> Iterator[bytes]:
    """Complete lines, cut to one byte more than allowed. ``cut``: called for an incomplete last line."""
    while line := file.readline(MAX_LINE + 1):
        if len(line) > MAX_LINE:
            yield line
            while line and not line.endswith(b"\n"):
                line = file.readline(MAX_LINE)
        elif line.endswith(b"\n"):
            yield line
        else:
            cut()


class BadLines:
    """Malformed lines of one file: the first few are reported, the others counted."""

    def __init__(self, path: Path, hint: str, noun: str) -> None:
        self._path, self._hint, self._noun = path, hint, noun
        self._named: set[str] = set()
        self.count = 0

    def add(self, number: int, error: Exception) -> bool:
        """Report a malformed line; True if reading continues after line ``number``."""
        self.count += 1
        what = str(error)
        version = what.startswith(WRITTEN)
        if version and what not in self._named:
            leave_out(self._path, f"has lines {what}", UPGRADE)
        elif not version and self.count <= _TOLD:
            leave_out(self._path, f"line {number}: {what}", self._hint)
        self._named.add(what)
        return self.count < MOST_BAD

    def end(self) -> None:
        """Report the number of unreported lines."""
        more = self.count - _TOLD
        if self.count >= MOST_BAD:
            leave_out(
                self._path,
                f"has over {MOST_BAD} lines that are no {self._noun}: the rest is not read",
                self._hint,
            )
        elif more > 0 and not all(what.startswith(WRITTEN) for what in self._named):
            leave_out(self._path, f"has {more} more lines that are no {self._noun}", self._hint)


def signed(line: str) -> str:
    """A JSON object of a line with its checksum as the last member."""
    body = line.removesuffix("}")
    return f'{body}, "crc32": "{zlib.crc32(body.encode()):08x}"}}'


def verify(line: bytes) -> None:
    """Raise ValueError for a line whose checksum does not match."""
    place = line.rfind(_NAME)
    if place < 0:
        return
    found = _SIGNED.fullmatch(line, place - 2) if place >= 2 else None
    if found is None or int(found[1], 16) != zlib.crc32(line[: place - 2]):
        raise ValueError("damaged: it does not match its checksum")
