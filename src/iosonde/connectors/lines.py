"""Lines of foreign text files, plain or packed, of bounded length and with their numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, tzinfo
from pathlib import Path
from typing import IO, NamedTuple

from iosonde.connectors.compressed import BROKEN, opened, packing_of
from iosonde.model.errors import InputFileError
from iosonde.model.runs import RunRow, too_large
from iosonde.model.text import clean_text
from iosonde.model.units import to_ns

_OFTEN = 20_000
"""Lines between two progress reports."""
MOST_BYTES = 1 << 20
"""Longest line; longer ones are reported and left out. (One line lists a character for every rank.)"""
MOST_BLANK = 2_000_000
"""Most consecutive blank lines; reading stops there."""
NUMBER = r"\d{1,20}(?:\.\d{0,20})?(?:[eE][+-]?\d{1,4})?"
"""A number as C's printf writes it, without nan and inf."""
MOST_S = 1e9
"""Longest plausible duration in seconds."""
_SURROGATES = re.compile("[\ud800-\udfff]")

Warn = Callable[[InputFileError], None]
"""Callback for malformed lines; reading continues after them."""


class FileDefaults(NamedTuple):
    """Values that a file does not contain."""

    run: str
    host: str = "import"
    target: str | None = None
    """None: the file's own, else the run's name."""
    started_ns: int | None = None
    """Start of the (first) run in the file; None: the file's own."""
    zone: tzinfo | None = None
    """Zone of the file's clock times; None: this machine's."""


class Line(NamedTuple):
    """A line without its end. ``ended`` is False if the file ends within it."""

    number: int
    text: str
    ended: bool


def read_lines(
    path: Path, warn: Warn, progress: Callable[[int, int], None] | None = None
) -> Iterator[Line]:
    """Yield every line of a file. Raises InputFileError (unreadable, a pipe, damaged packed data).

    ``progress`` gets how many bytes of a plain file were read, of how many, now and then.
    """
    number = 0
    try:
        size = path.stat().st_size if progress is not None else 0
        with opened(path) as file:
            plain = not packing_of(path)
            for line in lines_of(file, path, warn):
                number = line.number
                if progress is not None and plain and number % _OFTEN == 0:
                    progress(min(file.tell(), size), size)
                yield line
    except BROKEN as error:
        kind = packing_of(path)
        what = f"the {kind} data end or break here ({error})"
        raise bad(path, number + 1, what, f"a whole {kind} file") from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputFileError(f"cannot read {path}: {reason}", expected="a readable file") from error


def lines_of(file: IO[bytes], place: Path, warn: Warn) -> Iterator[Line]:
    """Yield every line of an open file; too long ones are reported and left out.

    Raises InputFileError: more than ``MOST_BLANK`` blank lines.
    """
    number = blank = 0
    while piece := file.readline(MOST_BYTES + 1):
        number += 1
        blank = blank + 1 if len(piece) <= 2 and piece.isspace() else 0
        if blank > MOST_BLANK:
            raise bad(place, number, f"more than {MOST_BLANK} blank lines", "records")
        if len(piece) > MOST_BYTES:
            warn(bad(place, number, "the line is too long", f"at most {MOST_BYTES} bytes"))
            while piece and not piece.endswith(b"\n"):
                piece = file.readline(MOST_BYTES)
            continue
        text = piece.decode("utf-8-sig" if number == 1 else "utf-8", "replace")
        yield Line(number, text.rstrip("\r\n"), text.endswith("\n"))


def storable(text: str) -> str:
    """Text that UTF-8 can encode: lone surrogates (of JSON, of names in other encodings) are replaced."""
    return text if text.isascii() else _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", text)


def file_name(path: Path) -> str:
    """Name of a file, fit to be stored."""
    return storable(path.name)


def bad(path: Path, number: int, what: str, expected: str) -> InputFileError:
    """Error about a line, with its number."""
    return InputFileError(f"{path}, line {number}: {what}", expected=expected)


def possible(rows: Iterable[RunRow], path: Path, number: int, warn: Warn) -> list[RunRow]:
    """Rows that the table of runs can hold; others are reported."""
    good = []
    for row in rows:
        name = too_large(row)
        if name is None:
            good.append(row)
        else:
            warn(bad(path, number, f"{name} of {row.phase} is too large", "a possible number"))
    return good


def shown(text: str | None) -> str:
    """Foreign text as printable text."""
    if text is None:
        return "missing"
    cut = clean_text(text[:40])
    return repr(cut) + ("..." if len(text) > 40 else "")


def local_ns(text: str, form: str, zone: tzinfo | None) -> int | None:
    """A clock time without a zone as ns since the epoch; None if malformed."""
    try:
        moment = datetime.strptime(text.strip(), form)  # noqa: DTZ007 - its zone is given apart
        moment = moment.astimezone() if zone is None else moment.replace(tzinfo=zone)
        return to_ns(moment)
    except (ValueError, OverflowError, OSError):
        return None
