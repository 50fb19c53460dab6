"""Text tables (CSV with any delimiter, plain or gzip) as columns: text on request, else numbers."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from iosonde.connectors.lines import Warn, bad, read_lines, shown
from iosonde.connectors.tables.records import FirstMustDo, as_wide, names_of, records, surviving
from iosonde.connectors.tables.unparsable_cells import about_number
from iosonde.model.quality import Note

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Ints, Texts


MISSING = frozenset({"", "nan", "na", "n/a", "null", "none", "nil", "-"})
"""Markers of a missing value, in any letter case."""
_LONGEST_MISSING = max(map(len, MISSING))
MOST_COLUMNS = 4096
MOST_VALUES = 50_000_000
"""Most cells held at once (400 MB)."""
_TEXT_CELLS = 7
"""Memory of a text cell, in numbers."""
_CHUNK_ROWS = 4096
_LOOK_ROWS = 10
_MOST_TEXT = 1024
"""Most characters of a text cell; the rest is cut."""


@dataclass
class Columns:
    """A table as stored. Columns of shape (n,); ``line``: line of each row in the file."""

    path: Path
    names: tuple[str, ...]
    numbers: dict[str, Floats]
    """NaN for missing and malformed numbers, infinities and -0.0 (counted in ``notes``)."""
    texts: dict[str, Texts]
    """Requested text columns; missing is ""."""
    line: Ints
    odd: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    """Column -> (row, flag) of cells that were not taken as they are."""
    notes: list[Note] = field(default_factory=list)
    words: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Column with hardly any number -> line and text of its first malformed cell."""

    def __len__(self) -> int:
        return len(self.line)


def read_columns(
    path: Path,
    texts: Collection[str],
    warn: Warn,
    *,
    delimiter: str | None = None,
    text: Path | None = None,
) -> Columns:
    """Read all rows of a table. A first column may lack a name. ``text``: the table as text, if not in ``path``.

    Rows with too few or too many fields and quotes without an end are told of with their line and left
    out. Names that occur twice get ``_2``. Raises InputFileError: unreadable, no header, too many columns.
    """
    warn = FirstMustDo(warn)
    rows = records(surviving(read_lines(text or path, warn), warn), path, warn, delimiter)
    first = next(rows, None)
    warn.has_header = True
    if first is None:
        raise bad(path, 1, "the file is empty", "a line with the names of columns")
    looked = list(islice(rows, _LOOK_ROWS))
    names = names_of(as_wide(first[1], [fields for _, fields in looked]))
    twice = _twice(path, first, names)
    rows = chain(looked, rows)
    if len(names) > MOST_COLUMNS:
        raise bad(
            path, first[0], f"there are {len(names)} columns", f"at most {MOST_COLUMNS} columns"
        )
    wanted = frozenset(texts)
    chunks = [
        _chunk(names, some, wanted)
        for some in _bounded(
            _good(rows, len(names), path, warn), len(names) + _TEXT_CELLS * len(wanted), path, warn
        )
    ]
    found = _joined(path, names, wanted, chunks)
    found.notes += twice
    return found


def _twice(path: Path, header: tuple[int, list[str]], names: tuple[str, ...]) -> list[Note]:
    """Notes on names that the header has several times: the first column has the name."""
    given = Counter(field.lstrip("\ufeff").strip()[:200] for field in header[1])
    return [
        Note(
            "duplicate",
            f"{path}, column {name}, first of {n} with this name in line {header[0]}: the others are "
            + ", ".join(f"{name}_{place}" for place in range(2, n + 1)),
        )
        for name, n in given.items()
        if n > 1 and name in names
    ]


def _good(
    records: Iterator[tuple[int, list[str]]], width: int, path: Path, warn: Warn
) -> Iterator[tuple[int, list[str]]]:
    """Rows as wide as the header; others are reported."""
    for number, fields in records:
        if len(fields) == width:
            yield number, fields
        else:
            warn(bad(path, number, f"{len(fields)} fields", f"{width}, as in the header"))


def _bounded(
    rows: Iterator[tuple[int, list[str]]], width: int, path: Path, warn: Warn
) -> Iterator[list[tuple[int, list[str]]]]:
    """Rows in chunks of bounded size."""
    left = MOST_VALUES // max(1, width)
    while chunk := list(islice(rows, min(_CHUNK_ROWS, left + 1))):
        if len(chunk) > left:
            what = "the table is too long: skipping the rest"
            warn(bad(path, chunk[left][0], what, f"at most {MOST_VALUES} cells"))
            chunk = chunk[:left]
        left -= len(chunk)
        if chunk:
            yield chunk
        if left <= 0:
            return


@dataclass
class _Chunk:
    line: Ints
    numbers: dict[str, Floats]
    texts: dict[str, list[str]]
    odd: dict[str, list[tuple[int, str]]]
    samples: dict[str, str]
    words: dict[str, int]
    """Cells that are no numbers at all."""


def _chunk(
    names: tuple[str, ...], rows: list[tuple[int, list[str]]], wanted: frozenset[str]
) -> _Chunk:
    found = _Chunk(np.array([number for number, _ in rows], dtype=np.int64), {}, {}, {}, {}, {})
    for name, cells in zip(names, zip(*(fields for _, fields in rows), strict=True), strict=True):
        if name in wanted:
            different = set(cells)
            if len(different) > len(cells) // 2:
                found.texts[name] = list(map(_text, cells))
            else:
                known = {cell: sys.intern(_text(cell)) for cell in different}
                found.texts[name] = [known[cell] for cell in cells]
        values, odd = numbers_of(cells)
        found.numbers[name] = values
        if odd:
            found.odd[name] = odd
            if text := next((cells[place] for place, flag in odd if flag == "not-a-number"), ""):
                found.samples[name] = text
            odd_cells = Counter(cells[place] for place, _ in odd)
            found.words[name] = sum(n for cell, n in odd_cells.items() if not _number(cell)[1])
    return found


def _text(cell: str) -> str:
    trimmed = cell.strip()[:_MOST_TEXT]
    if len(trimmed) > _LONGEST_MISSING:
        return trimmed
    return "" if trimmed.lower() in MISSING else trimmed


def numbers_of(cells: tuple[str, ...]) -> tuple[Floats, list[tuple[int, str]]]:
    """Cells as numbers, NaN if missing, and (place, flag) of odd ones."""
    odd: list[tuple[int, str]] = []
    values = _plain(cells)
    if values is None:
        known = {cell: _number(cell) for cell in set(cells)}
        read = [known[cell] for cell in cells]
        values = np.array([value for value, _ in read], dtype=np.float64)
        odd = [(place, "not-a-number") for place, (_, good) in enumerate(read) if not good]
    infinite, negative = np.isinf(values), (values == 0) & np.signbit(values)
    odd += [(int(place), "not-a-number") for place in np.flatnonzero(infinite)]
    odd += [(int(place), "negative-zero") for place in np.flatnonzero(negative)]
    values[infinite | negative] = np.nan
    return values, sorted(odd)


def _plain(cells: tuple[str, ...]) -> Floats | None:
    """Cells as numbers if each is a number or empty; None otherwise."""
    if "_" in "".join(cells):  # a number to Python, not to us
        return None
    try:
        return np.fromiter(map(float, [cell or "nan" for cell in cells]), np.float64, len(cells))
    except ValueError:
        return None


def _number(cell: str) -> tuple[float, bool]:
    text = cell.strip()
    if text.lower() in MISSING:
        return math.nan, True
    try:
        return (math.nan, False) if "_" in text else (float(text), True)
    except ValueError:
        return math.nan, False


def _looking(cell: str) -> str:
    looks = about_number(cell).looks if not _number(cell)[1] else ""
    return shown(cell) + (f": {looks}" if looks else "")


def _joined(
    path: Path, names: tuple[str, ...], wanted: frozenset[str], chunks: list[_Chunk]
) -> Columns:
    """Concatenate chunks to columns, with notes; a column of mostly words is no column of numbers."""
    line = np.concatenate([np.zeros(0, dtype=np.int64), *(chunk.line for chunk in chunks)])
    out = Columns(path, names, {}, {}, line)
    for name in names:
        values = np.concatenate([np.zeros(0), *(chunk.numbers[name] for chunk in chunks)])
        begin, odd = 0, []
        for chunk in chunks:
            odd += [(begin + place, flag) for place, flag in chunk.odd.get(name, ())]
            begin += len(chunk.line)
        if name in wanted:
            cells = [cell for chunk in chunks for cell in chunk.texts[name]]
            out.texts[name] = np.array(cells, dtype=object)
        words = sum(chunk.words.get(name, 0) for chunk in chunks)
        sample = next((c.samples[name] for c in chunks if name in c.samples), "")
        if words > (~np.isnan(values)).sum():
            first = next((place for place, flag in odd if flag == "not-a-number"), 0)
            out.words[name] = (int(line[first]), sample)
            continue
        out.numbers[name] = values
        if odd and name not in wanted:
            out.odd[name] = odd
            for flag, n in Counter(flag for _, flag in odd).items():
                where = int(line[next(place for place, one in odd if one == flag)])
                what = f"{path}, column {name}, first in line {where}"
                told = f" (such as {_looking(sample)})" if flag == "not-a-number" else ""
                out.notes.append(Note(flag, what + told, n))
    return out
