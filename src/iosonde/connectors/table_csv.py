"""Text tables (CSV with any delimiter, plain or gzip) as columns: text where it is asked for, else numbers."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from iosonde.connectors.lines import Line, Tell, bad, read_lines, shown
from iosonde.model.errors import InputFileError
from iosonde.model.quality import Note

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

DELIMITERS = ",;\t|"
"""Tried in this order; whitespace if none of them is in the header."""
MISSING = frozenset({"", "nan", "na", "n/a", "null", "none", "nil", "-"})
"""What stands for a missing value, in any case of letters."""
MOST_COLUMNS = 4096
MOST_VALUES = 50_000_000
"""Cells that are held at once (400 MB)."""
_CHUNK_ROWS = 4096
_MOST_LINES = 20
"""Lines that one quoted field may go over."""
_LOOK_ROWS = 10
_MOST_TEXT = 1024
"""Characters of a text cell; the rest is cut."""


@dataclass
class Columns:
    """A table as it is written. Columns of shape (n,); ``line``: where each row is in the file."""

    path: Path
    names: tuple[str, ...]
    numbers: dict[str, Floats]
    """Missing, and what is no number, is NaN; infinities and -0.0 too (``notes`` tells how many)."""
    texts: dict[str, NDArray[np.object_]]
    """Of the columns that were asked for; missing is ""."""
    line: NDArray[np.int64]
    odd: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    """Column -> (row, flag) of cells that were not taken as they are."""
    notes: list[Note] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.line)


def header_of(path: Path, delimiter: str | None = None) -> tuple[str, ...]:
    """The names in the first line; () for a file without one. Raises InputFileError: unreadable."""
    for line in read_lines(path, lambda _: None):
        if line.text.strip():
            return _names(_fields(line.text, delimiter or delimiter_of(line.text)))
    return ()


def delimiter_of(header: str) -> str:
    """The delimiter that parts most names; " " (any blanks) if none of the usual ones is there."""
    bare = "".join(header.split('"')[::2])
    counts = {mark: bare.count(mark) for mark in DELIMITERS}
    most = max(counts, key=lambda mark: counts[mark])
    return most if counts[most] else " "


def read_columns(
    path: Path,
    texts: Collection[str],
    tell: Tell,
    *,
    delimiter: str | None = None,
) -> Columns:
    """Every row of a table. A first column may lack a name.

    Rows with too few or too many fields and quotes without an end are told of with their line and left
    out. Names that occur twice get ``_2``. Raises InputFileError: unreadable, no header, too many columns.
    """
    records = _records(_surviving(read_lines(path, tell), tell), path, tell, delimiter)
    first = next(records, None)
    if first is None:
        raise bad(path, 1, "the file is empty", "a line with the names of columns")
    looked = list(islice(records, _LOOK_ROWS))
    names = _names(_as_wide(first[1], [fields for _, fields in looked]))
    records = chain(looked, records)
    if len(names) > MOST_COLUMNS:
        raise bad(
            path, first[0], f"there are {len(names)} columns", f"at most {MOST_COLUMNS} columns"
        )
    wanted = frozenset(texts)
    chunks = [
        _chunk(names, rows, wanted)
        for rows in _bounded(_good(records, len(names), path, tell), len(names), path, tell)
    ]
    return _joined(path, names, wanted, chunks)


def _as_wide(header: list[str], rows: list[list[str]]) -> list[str]:
    """The header with a blank name where every row has one field more than it.

    That is a number or name of the row in front, as R writes it, or a delimiter behind the last field.
    """
    if not rows or any(len(fields) != len(header) + 1 for fields in rows):
        return header
    behind = all(not fields[-1].strip() for fields in rows)
    return [*header, ""] if behind else ["", *header]


def _names(fields: list[str]) -> tuple[str, ...]:
    """Trimmed, without a byte-order mark, each once; one without a name gets its place."""
    seen: Counter[str] = Counter()
    names = []
    for place, raw in enumerate(fields):
        name = raw.lstrip("\ufeff").strip()[:200] or f"column_{place + 1}"
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return tuple(names)


def _fields(text: str, delimiter: str) -> list[str]:
    """The fields of one record. Raises csv.Error: a quote without an end, or something behind it."""
    if delimiter == " ":
        return text.split()
    if '"' not in text:
        return text.split(delimiter)
    try:
        return next(csv.reader([text], delimiter=delimiter, strict=True))
    except csv.Error:
        if text.count('"') % 2:
            raise
        return next(csv.reader([text], delimiter=delimiter))


def _surviving(lines: Iterator[Line], tell: Tell) -> Iterator[Line]:
    """The lines before the place where a file breaks off. Raises InputFileError: there are none."""
    some = False
    try:
        for line in lines:
            some = True
            yield line
    except InputFileError as error:
        if not some:
            raise
        tell(error)


def _records(
    lines: Iterator[Line], path: Path, tell: Tell, delimiter: str | None
) -> Iterator[tuple[int, list[str]]]:
    """(line, fields) of every record that is not blank; a quoted field may go over several lines."""
    waiting: list[Line] = []
    while True:
        line = waiting.pop(0) if waiting else next(lines, None)
        if line is None:
            return
        if not line.text.strip():
            continue
        delimiter = delimiter or delimiter_of(line.text)
        text = line.text
        if text.count('"') % 2 and delimiter != " ":
            more = [*waiting, *islice(lines, max(0, _MOST_LINES - len(waiting)))]
            end = next((i for i, one in enumerate(more) if one.text.count('"') % 2), None)
            if end is None:
                tell(bad(path, line.number, "a quote does not end", "a second quote behind it"))
                waiting = more
                continue
            text = "\n".join([text, *(one.text for one in more[: end + 1])])
            waiting = more[end + 1 :]
        try:
            yield line.number, _fields(text, delimiter)
        except csv.Error as error:
            tell(bad(path, line.number, f"no row of a table ({error})", "fields and quotes"))


def _good(
    records: Iterator[tuple[int, list[str]]], width: int, path: Path, tell: Tell
) -> Iterator[tuple[int, list[str]]]:
    """Rows as wide as the header; the others are told of."""
    for number, fields in records:
        if len(fields) == width:
            yield number, fields
        else:
            tell(bad(path, number, f"{len(fields)} fields", f"{width}, as in the header"))


def _bounded(
    rows: Iterator[tuple[int, list[str]]], width: int, path: Path, tell: Tell
) -> Iterator[list[tuple[int, list[str]]]]:
    """Rows in chunks, as many as may be held."""
    left = MOST_VALUES // max(1, width)
    while chunk := list(islice(rows, min(_CHUNK_ROWS, left + 1))):
        if len(chunk) > left:
            what = "the table is too long: the rest is left out"
            tell(bad(path, chunk[left][0], what, f"at most {MOST_VALUES} cells"))
            chunk = chunk[:left]
        left -= len(chunk)
        if chunk:
            yield chunk
        if left <= 0:
            return


@dataclass
class _Chunk:
    line: NDArray[np.int64]
    numbers: dict[str, Floats]
    texts: dict[str, list[str]]
    odd: dict[str, list[tuple[int, str]]]
    samples: dict[str, str]


def _chunk(
    names: tuple[str, ...], rows: list[tuple[int, list[str]]], wanted: frozenset[str]
) -> _Chunk:
    found = _Chunk(np.array([number for number, _ in rows], dtype=np.int64), {}, {}, {}, {})
    for name, cells in zip(names, zip(*(fields for _, fields in rows), strict=True), strict=True):
        if name in wanted:
            found.texts[name] = [_text(cell) for cell in cells]
        values, odd = numbers_of(cells)
        found.numbers[name] = values
        if odd:
            found.odd[name] = odd
            found.samples[name] = cells[odd[0][0]]
    return found


def _text(cell: str) -> str:
    trimmed = cell.strip()[:_MOST_TEXT]
    return "" if trimmed.lower() in MISSING else trimmed


def numbers_of(cells: tuple[str, ...]) -> tuple[Floats, list[tuple[int, str]]]:
    """Cells as numbers, NaN where there is none, and (place, flag) of those that say something else."""
    odd: list[tuple[int, str]] = []
    try:
        values = np.array([float(cell) for cell in cells], dtype=np.float64)
        plain = "_" not in "".join(cells)
    except ValueError:
        plain = False
    if not plain:
        values = np.full(len(cells), np.nan)
        for place, cell in enumerate(cells):
            values[place], good = _number(cell)
            if not good:
                odd.append((place, "not-a-number"))
    infinite, negative = np.isinf(values), (values == 0) & np.signbit(values)
    odd += [(int(place), "not-a-number") for place in np.flatnonzero(infinite)]
    odd += [(int(place), "negative-zero") for place in np.flatnonzero(negative)]
    values[infinite | negative] = np.nan
    return values, odd


def _number(cell: str) -> tuple[float, bool]:
    text = cell.strip()
    if text.lower() in MISSING:
        return math.nan, True
    try:
        return (math.nan, False) if "_" in text else (float(text), True)
    except ValueError:
        return math.nan, False


def _joined(
    path: Path, names: tuple[str, ...], wanted: frozenset[str], chunks: list[_Chunk]
) -> Columns:
    """The chunks as whole columns, with notes; a column that holds mostly words is no column of numbers."""
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
        words = sum(flag == "not-a-number" for _, flag in odd)
        if words and words >= (~np.isnan(values)).sum():
            continue
        out.numbers[name] = values
        if odd and name not in wanted:
            out.odd[name] = odd
            sample = next(chunk.samples[name] for chunk in chunks if name in chunk.samples)
            for flag, n in Counter(flag for _, flag in odd).items():
                where = int(line[next(place for place, one in odd if one == flag)])
                what = f"{path}, column {name}, first in line {where}"
                told = f" (such as {shown(sample)})" if flag == "not-a-number" else ""
                out.notes.append(Note(flag, what + told, n))
    return out
