"""Tables with one row per operation, from any tool or ``iosonde export samples``.

::

    time,op,latency_us,outcome
    2026-03-26T07:00:00Z,read,5120,ok
    2026-03-26T07:00:01Z,write,,ENOSPC

Columns are recognised by their names (``header``). A row that is none is told of with its line, and the others count.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from iosonde.connectors.lines import Warn, read_lines, shown
from iosonde.connectors.samples.cells import (
    LONGEST_MISSING,
    MISSING,
    Instants,
    name_of,
    op_of,
    outcome_of,
    scaled,
    span_of,
)
from iosonde.connectors.samples.header import SampleColumns, columns_of, lacking
from iosonde.connectors.tables.records import FirstMustDo, names_of, records, surviving
from iosonde.connectors.wall_times import WallTimes
from iosonde.model.errors import InputFileError
from iosonde.model.frames import NULL_NS, Frame

if TYPE_CHECKING:
    from iosonde.model.arrays import Column

CHUNK_ROWS = 1 << 16
NEVER_BEGAN = ("skipped", "shed")
"""Outcomes of operations that were due and did not start."""
CACHES = ("direct", "buffered", "evicted", "cached", "unknown")
_NEWEST_SCHEMA = 1
_INSTANT_WORDS = {"began": "time", "due": "due time", "ended": "end"}
_MOST_WORDS = 10_000
_KNOWN_BY_ROWS = 16
_INSTANTS = ("due_ns", "began_ns", "ended_ns")
_NUMBERS = ("period_ns", "size_bytes", "offset_bytes", "control_runq_ns", "seed")
_TEXTS = ("host", "target", "op", "outcome", "cache", "run_id")
_COLUMNS = ("due_given", *_INSTANTS, *_NUMBERS, *_TEXTS)
_DTYPES: dict[str, type] = {
    "due_given": np.bool_,
    "seed": np.uint64,
    **dict.fromkeys(_TEXTS, object),
}
_Row = tuple[int | str, ...]


@dataclass
class TableDefaults:
    """Values that a table does not contain."""

    host: str
    target: str
    run_id: str
    size_bytes: int
    """Bytes of a metadata operation; a data operation moved 0 = unknown."""


@dataclass
class SampleTable:
    """A table of samples. ``columns`` and ``clock`` are set while its rows are read."""

    path: Path
    """Path named in messages."""
    defaults: TableDefaults
    clock: WallTimes
    started_ns: int | None = None
    text: Path | None = None
    """The table as text, if ``path`` is not text; messages then number rows instead of lines."""
    columns: SampleColumns = field(default_factory=lambda: columns_of(()))
    known_by: str = ""
    """Digest of its name and first rows."""
    missing: int = 0
    """Rows without a latency (``NA`` or nothing), of which nothing says how they ended: left out."""

    def chunks(self, warn: Warn) -> Iterator[Frame]:
        """Yield rows in their order, at most ``CHUNK_ROWS`` at a time.

        Columns as in the table samples, without ``schema_version``: instants and numbers int64 (``NULL_NS`` = null;
        ``period_ns`` null = not said), ``seed`` uint64, texts objects; and bool ``due_given``. ``due_ns`` is
        ``began_ns`` where the table has none. Raises InputFileError: unreadable, or no such table.
        """
        first = FirstMustDo(warn)
        lines = surviving(read_lines(self.text or self.path, first), first)
        found = records(lines, self.path, first, None)
        header = next(found, None)
        first.has_header = True
        names = names_of(header[1]) if header else ()
        self.columns = columns_of(names)
        if self.columns.missing:
            raise lacking(self.path, self.columns)
        parse = _RowParser(self).row
        rows: list[_Row] = []
        digest, hashed = hashlib.sha256(os.fsencode(self.path.name)), 0
        for number, fields in found:
            try:
                if len(fields) != len(names):
                    raise ValueError(
                        f"{len(fields)} fields; expected {len(names)}, as in the header"
                    )
                row = parse(fields)
                if row is None:
                    self.missing += 1
                    continue
                rows.append(row)
                if hashed < _KNOWN_BY_ROWS:
                    digest.update(repr(fields).encode())
                    hashed += 1
                    self.known_by = digest.hexdigest()[:16]
            except ValueError as error:
                where = f"line {number}" if self.text is None else f"row {number - 1}"
                warn(InputFileError(f"{self.path}, {where}: {error}"))
            if len(rows) >= CHUNK_ROWS:
                yield _frame(rows)
                rows = []
        if rows:
            yield _frame(rows)


class _RowParser:
    """Fields of a row to values in the order of ``_frame``. Repeated words are parsed once."""

    def __init__(self, table: SampleTable) -> None:
        self._roles = table.columns.roles
        self._instants = Instants(table.clock, table.started_ns)
        self._defaults = table.defaults
        self._words: dict[tuple[str, str], str] = {}

    def row(self, fields: list[str]) -> _Row | None:
        """Parse a row; None: what it measured is missing. Raises ValueError."""
        if (version := self._cell(fields, "schema_version")) not in ("", str(_NEWEST_SCHEMA)):
            raise ValueError(f"schema_version is {shown(version)}; expected {_NEWEST_SCHEMA}")
        outcome = self._word(fields, "outcome", outcome_of, "ok")
        op = self._word(fields, "op", op_of, "")
        size = self._number(fields, "size_bytes", 2**31)
        default = 0 if op.startswith("data") else self._defaults.size_bytes
        offset = self._number(fields, "offset_bytes", 2**63)
        times = self._times(fields, outcome)
        if times is None:
            return None
        return (
            *times,
            self._span(fields, "period"),
            default if size is None else size,
            NULL_NS if offset is None else offset,
            self._span(fields, "control_runq"),
            self._number(fields, "seed", 2**64) or 0,
            self._name(fields, "host", self._defaults.host),
            self._name(fields, "target", self._defaults.target),
            op,
            outcome,
            self._word(fields, "cache", _cache_of, "unknown"),
            self._name(fields, "run_id", self._defaults.run_id),
        )

    def _times(self, fields: list[str], outcome: str) -> tuple[int, ...] | None:
        """True if the row has a due time; due, began and ended. None: how long it took is missing."""
        due, began, ended = (self._instant(fields, role) for role in ("due", "began", "ended"))
        given = due is not None
        if began is None and (due is None or outcome == "ok"):
            raise ValueError("there is no time; expected when the operation began")
        if due is None:
            due = began
            began = None if outcome in NEVER_BEGAN else began
        took = self._span(fields, "latency")
        if ended is None and took != NULL_NS and began is not None:
            ended = began + took
        if ended is None and outcome == "ok":
            if not self._cell(fields, "outcome"):
                return None
            raise ValueError("there is no latency; expected one, or an outcome that is not ok")
        if ended is not None and began is not None and ended < began:
            raise ValueError("the operation ends before it begins; expected a later end")
        if outcome == "ok" and ended == began:
            raise ValueError("the latency is 0; expected more: nothing takes no time")
        whens = (NULL_NS if ns is None else ns for ns in (due, began, ended))
        return given, *whens

    def _cell(self, fields: list[str], role: str) -> str:
        column = self._roles.get(role)
        if column is None:
            return ""
        text = fields[column.place].strip()
        return "" if len(text) <= LONGEST_MISSING and text.lower() in MISSING else text

    def _instant(self, fields: list[str], role: str) -> int | None:
        text = self._cell(fields, role)
        return (
            self._instants.ns(text, self._roles[role].unit, _INSTANT_WORDS[role]) if text else None
        )

    def _span(self, fields: list[str], role: str) -> int:
        text = self._cell(fields, role)
        return span_of(text, self._roles[role].unit or 1, role) if text else NULL_NS

    def _number(self, fields: list[str], role: str, below: int) -> int | None:
        text = self._cell(fields, role)
        if not text:
            return None
        value = scaled(text, 1, role)
        if not 0 <= value < below:
            raise ValueError(f"the {role} is {shown(text)}; expected 0 to {below - 1}")
        return value

    def _name(self, fields: list[str], role: str, default: str) -> str:
        return self._word(fields, role, lambda text: name_of(text, role), default)

    def _word(self, fields: list[str], role: str, read: Callable[[str], str], default: str) -> str:
        text = self._cell(fields, role)
        if not text and default:
            return default
        known = self._words.get((role, text))
        if known is None:
            known = read(text)
            if len(self._words) < _MOST_WORDS:
                self._words[role, text] = known
        return known


def _cache_of(text: str) -> str:
    if text.lower() not in CACHES:
        raise ValueError(f"the cache is {shown(text)}; expected one of {', '.join(CACHES)}")
    return text.lower()


def _frame(rows: list[_Row]) -> Frame:
    columns: dict[str, Column] = {}
    for name, values in zip(_COLUMNS, zip(*rows, strict=True), strict=True):
        columns[name] = np.array(values, dtype=_DTYPES.get(name, np.int64))
    return Frame(columns)
