"""Lines of a file that may still be written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

MAX_LINE = 1 << 20
"""A longer line is no event."""


def whole_lines(file: Any) -> Iterator[bytes]:
    """Lines that have an end, none longer than one byte more than allowed."""
    while line := file.readline(MAX_LINE + 1):
        if len(line) > MAX_LINE:
            yield line
            while line and not line.endswith(b"\n"):
                line = file.readline(MAX_LINE)
        elif line.endswith(b"\n"):
            yield line
