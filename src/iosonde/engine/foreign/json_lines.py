"""Partly malformed JSON lines: the good ones are copied to a file, the others reported by line."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import IO, cast

from iosonde.model.errors import InputFileError
from iosonde.model.text import clean_text

Warn = Callable[[InputFileError], None]
LONGEST = 1 << 20
"""Bytes of one JSON object."""
_BOM = b"\xef\xbb\xbf"
_LINES = 8
"""Lines after a malformed first one by which JSON lines are recognised."""


def has_objects(begin: bytes) -> bool:
    """True for the start of JSON lines: the first line is an object, or others begin with ``{`` as it does, or half
    of the lines after it are objects.

    A file may have lost the head of its first line. One object over many lines is no table.
    """
    first, _, rest = begin.removeprefix(_BOM).lstrip().partition(b"\n")
    lines = [line for line in rest.split(b"\n")[:_LINES] if line.strip()]
    if first[:1] == b"{" and (not lines or _wrong(first) is None):
        return True
    if first[:1] == b"{" and any(line[:1] == b"{" for line in lines):
        return True
    objects = sum(line.lstrip()[:1] == b"{" and _wrong(line) is None for line in lines)
    return objects > 0 and 2 * objects >= len(lines)


def keep_good(path: Path, good: Path, warn: Warn | None) -> int:
    """Copy lines of a file (plain or gzip) that are objects; returns their number. ``warn`` gets the others."""
    kept = number = 0
    with _opened(path) as lines, good.open("wb") as out:
        while line := lines.readline(LONGEST + 1):
            number += 1
            line = line.removeprefix(_BOM) if number == 1 else line
            whole = line
            while len(whole) > LONGEST and whole and not whole.endswith(b"\n"):
                whole = lines.readline(LONGEST)
            why = "the line is too long" if len(line) > LONGEST else _wrong(line)
            if why is None:
                out.write(line.rstrip(b"\r\n") + b"\n")
                kept += 1
            elif why and warn is not None:
                warn(InputFileError(f"{path}, line {number}: {why}", expected="a JSON object"))
    return kept


def _opened(path: Path) -> IO[bytes]:
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return cast("IO[bytes]", gzip.open(path)) if packed else path.open("rb")


def _wrong(line: bytes) -> str | None:
    """Defect of a line; "" for an empty one, None for an object."""
    text = line.strip()
    if not text:
        return ""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = str(error).partition(": line ")[0]
        return f"no JSON ({clean_text(reason)})"
    return None if isinstance(found, dict) else "no JSON object"
