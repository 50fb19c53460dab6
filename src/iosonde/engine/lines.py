"""Lines of a file that may still be written, and a checksum in each.

A line that iosonde writes in Python ends with the CRC-32 of what stands before it::

    {"schema_version": 1, ..., "crc32": "1c291ca3"}

Lines without one (of the agent, of earlier versions) are taken as they are.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from typing import Any

MAX_LINE = 1 << 20
"""A longer line is no event."""
_NAME = b'"crc32"'
_SIGNED = re.compile(rb', "crc32": "([0-9a-f]{8})"}\s*')


def whole_lines(file: Any, cut: Callable[[], None] = lambda: None) -> Iterator[bytes]:
    """Lines that have an end, none longer than one byte more than allowed. ``cut``: the last one has none."""
    while line := file.readline(MAX_LINE + 1):
        if len(line) > MAX_LINE:
            yield line
            while line and not line.endswith(b"\n"):
                line = file.readline(MAX_LINE)
        elif line.endswith(b"\n"):
            yield line
        else:
            cut()


def signed(line: str) -> str:
    """A JSON object of a line with its checksum as the last member."""
    body = line.removesuffix("}")
    return f'{body}, "crc32": "{zlib.crc32(body.encode()):08x}"}}'


def verify(line: bytes) -> None:
    """Raise ValueError for a line that is not as it was written."""
    place = line.rfind(_NAME)
    if place < 0:
        return
    found = _SIGNED.fullmatch(line, place - 2) if place >= 2 else None
    if found is None or int(found[1], 16) != zlib.crc32(line[: place - 2]):
        raise ValueError("damaged: it does not match its checksum")
