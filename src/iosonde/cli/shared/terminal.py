"""Safe terminal output, at one place: names in a store may hold any characters.

Control characters are shown (ESC as ``␛``), those that turn the direction of text become ``?``; only line ends,
tabs and, on a terminal, our own colours pass. (Where names stand, ``one_line`` lets none of these pass.)
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from iosonde.cli.shared.fitting import LEAST_COLUMNS, columns, fitted_text
from iosonde.model.text import shown_letter

_COLOURED = re.compile(r"(\x1b\[(?:[0-5]|[39][0-7]|38;5;\d{1,3})(?:;[0-5])?m)")
"""Escape sequences of colour, bold, dim; not those that hide text."""
_KEPT = "\n\t"


def safe(text: str, *, coloured: bool = False) -> str:
    """``text`` without characters that a terminal interprets; ``coloured``: our colours stay."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    parts = _COLOURED.split(text) if coloured else [text]
    return "".join(part if place % 2 else _cleaned(part) for place, part in enumerate(parts))


def one_line(text: str) -> str:
    """``text`` for a cell or a sentence: also line ends, tabs and colours are made visible."""
    if text.isprintable():
        return text
    return "".join(shown_letter(c) if _obeyed(c) else c for c in text)


def _cleaned(text: str) -> str:
    return "".join(c if c in _KEPT or not _obeyed(c) else shown_letter(c) for c in text)


def _obeyed(letter: str) -> bool:
    """True for controls, formats (direction, width zero), lone surrogates, line separators; not for blanks."""
    kind = unicodedata.category(letter)
    return kind[0] == "C" or kind in ("Zl", "Zp")


class SafeStream:
    """A text stream that prints safely; all else is the stream's own."""

    def __init__(self, stream: TextIO) -> None:
        self.raw = stream
        self._at_begin = True
        """Of a line: only what begins one is wrapped."""

    def write(self, text: str) -> int:
        """Print a text."""
        terminal = self.raw.isatty()
        printed = safe(text, coloured=terminal)
        if terminal and self._at_begin and len(printed) >= LEAST_COLUMNS:
            printed = fitted_text(printed, columns())
        self._at_begin = printed.endswith("\n") if printed else self._at_begin
        self.raw.write(printed)
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Print texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.raw, name)


@contextmanager
def safe_output() -> Iterator[None]:
    """Make stdout and stderr print safely."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (SafeStream(raw(stream)) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def raw(stream: Any) -> Any:
    """The unfiltered stream: for a screen that moves the cursor and cleans its text itself."""
    return stream.raw if isinstance(stream, SafeStream) else stream
