"""Lines of a text table to records of fields: delimiter, names, quotes, truncation."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from iosonde.connectors.lines import Line, Warn, bad, read_lines
from iosonde.model.errors import InputFileError

DELIMITERS = ",;\t|"
"""In the order of trial; whitespace if none is in the header."""
_MOST_LINES = 20
"""Most lines of one quoted field."""


class FirstMustDo:
    """Raises reported errors until the header is read: without one, no row means anything."""

    def __init__(self, warn: Warn) -> None:
        self._warn = warn
        self.has_header = False

    def __call__(self, error: InputFileError) -> None:
        """Pass the error on once there is a header; raise it before."""
        if not self.has_header:
            raise error
        self._warn(error)


def header_of(path: Path, delimiter: str | None = None) -> tuple[str, ...]:
    """Names in the first line; () for a file without one. Raises InputFileError: unreadable."""
    warn = FirstMustDo(lambda _: None)
    first = next(records(read_lines(path, warn), path, warn, delimiter), None)
    return () if first is None else names_of(first[1])


def delimiter_of(header: str) -> str:
    """Delimiter that splits off most names; " " (any blanks) if no usual one is there."""
    bare = "".join(header.split('"')[::2])
    counts = {mark: bare.count(mark) for mark in DELIMITERS}
    most = max(counts, key=lambda mark: counts[mark])
    return most if counts[most] else " "


def as_wide(header: list[str], rows: list[list[str]]) -> list[str]:
    """The header with a leading blank name if every row has one field more.

    That is a number or name of the row in front, as R writes it, or a delimiter behind the last field.
    """
    if not rows or any(len(fields) != len(header) + 1 for fields in rows):
        return header
    behind = all(not fields[-1].strip() for fields in rows)
    return [*header, ""] if behind else ["", *header]


def names_of(fields: list[str]) -> tuple[str, ...]:
    """Names trimmed, without a byte-order mark, made unique; a missing name becomes its place."""
    seen: Counter[str] = Counter()
    names = []
    for place, raw in enumerate(fields):
        name = raw.lstrip("\ufeff").strip()[:200] or f"column_{place + 1}"
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return tuple(names)


def _fields(text: str, delimiter: str) -> list[str]:
    """Split one record. Raises csv.Error: a quote without an end, or text after it."""
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


def surviving(lines: Iterator[Line], warn: Warn) -> Iterator[Line]:
    """Lines before the place where a file is truncated. Raises InputFileError: there are none."""
    some = False
    try:
        for line in lines:
            some = True
            yield line
    except InputFileError as error:
        if not some:
            raise
        warn(error)


def records(
    lines: Iterator[Line], path: Path, warn: Warn, delimiter: str | None
) -> Iterator[tuple[int, list[str]]]:
    """(line, fields) of every record that is not blank; a quoted field may span lines."""
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
                warn(bad(path, line.number, "a quote does not end", "a second quote behind it"))
                waiting = more
                continue
            text = "\n".join([text, *(one.text for one in more[: end + 1])])
            waiting = more[end + 1 :]
        try:
            yield line.number, _fields(text, delimiter)
        except csv.Error as error:
            warn(bad(path, line.number, f"no row of a table ({error})", "fields and quotes"))
