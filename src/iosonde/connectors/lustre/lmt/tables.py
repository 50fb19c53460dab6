"""LMT's tables of names and times in a SQLite file opened read-only."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np

from iosonde.connectors.local_time import local_times, zone_notes
from iosonde.connectors.lustre.names import system_of
from iosonde.model.errors import InputFileError
from iosonde.model.frames import NULL_NS
from iosonde.model.quality import Note

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

    from iosonde.connectors.source import Warn
    from iosonde.model.arrays import Flags, Ints

MAGIC = b"SQLite format 3\x00"
_MOST_NAMES = 100_000
_MOST_TIMES = 7_000_000
"""A year of samples every 5 s."""


def opened(path: Path) -> closing[sqlite3.Connection]:
    """Open a database without writing to it or loading extensions. Raises InputFileError."""
    uri = f"file:{quote(os.fsencode(path.resolve()))}?mode=ro&immutable=1"
    try:
        db = sqlite3.connect(uri, uri=True, isolation_level=None)
        db.text_factory = lambda raw: raw.decode("utf-8", "replace")
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1 << 20)
        db.execute("PRAGMA trusted_schema = OFF")
        db.execute("PRAGMA cell_size_check = ON")
    except sqlite3.Error as error:
        raise broken(path, error) from error
    return closing(db)


def broken(path: Path, error: sqlite3.Error) -> InputFileError:
    """SQLite's error as an InputFileError."""
    what = f"cannot read {path}: {error}"
    return InputFileError(what, expected="a whole SQLite file with LMT's tables")


def columns_of(db: sqlite3.Connection) -> dict[str, frozenset[str]]:
    """Real tables (no views, no virtual ones) in upper case -> their columns in upper case."""
    rows = db.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE%' LIMIT 1000"
    ).fetchall()
    found = {}
    for (name,) in rows:
        if isinstance(name, str) and name.replace("_", "").isalnum():
            info = db.execute(f'PRAGMA table_info("{name}")').fetchall()
            found[name.upper()] = frozenset(str(column[1]).upper() for column in info)
    return found


@dataclass(frozen=True)
class Times:
    """Sample times, sorted and unique. Shapes (T,)."""

    ids: Ints
    time_ns: Ints
    ambiguous: Flags
    naive: bool
    zone: tzinfo | None
    late: int
    """Rows with a larger id than a later time."""
    twice: int
    """Rows that repeat an instant; they were left out."""

    def notes(self, rows: slice) -> tuple[Note, ...]:
        """Notes for numbers of these rows."""
        notes = list(zone_notes(self.naive, int(self.ambiguous[rows].sum()), self.zone))
        if self.late:
            notes.append(Note("out-of-order", "rows of TIMESTAMP_INFO", self.late))
        if self.twice:
            notes.append(Note("duplicate", "instants in TIMESTAMP_INFO", self.twice))
        return tuple(notes)


def times_of(db: sqlite3.Connection, zone: tzinfo | None, path: Path, warn: Warn) -> Times:
    """TIMESTAMP_INFO, sorted. Rows without a time are reported and left out."""
    rows = db.execute(
        "SELECT TS_ID, TIMESTAMP FROM TIMESTAMP_INFO WHERE typeof(TS_ID) = 'integer' "
        "ORDER BY TS_ID LIMIT ?",
        (_MOST_TIMES,),
    ).fetchall()
    if len(rows) == _MOST_TIMES:
        what = f"{path}, TIMESTAMP_INFO: only its first {_MOST_TIMES} rows were read"
        warn(InputFileError(what, expected="less than a year of samples every 5 s in one file"))
    ids = np.array([row[0] for row in rows], dtype=np.int64)
    local = local_times((row[1] for row in rows), zone)
    good = local.time_ns != NULL_NS
    if not good.all():
        first = rows[int(np.argmin(good))]
        what = f"{path}, TIMESTAMP_INFO: {int((~good).sum())} rows have no time, first TS_ID {first[0]}"
        warn(InputFileError(what, expected="a time such as 2018-01-28 00:00:05"))
    ids, instants, ambiguous = ids[good], local.time_ns[good], local.ambiguous[good]
    late = int((np.diff(instants) < 0).sum())
    order = np.argsort(instants, kind="stable")
    ids, instants, ambiguous = ids[order], instants[order], ambiguous[order]
    fresh = np.diff(instants, prepend=NULL_NS) != 0
    return Times(
        ids[fresh], instants[fresh], ambiguous[fresh], local.naive, zone, late, int((~fresh).sum())
    )


def parts_of(
    db: sqlite3.Connection, tables: dict[str, frozenset[str]], table: str, key: str, name: str
) -> dict[int, tuple[str, str]]:
    """Id -> (file system, name) from an ``*_INFO`` table; the first row of an id counts.

    The file system is what the name says, else the one FILESYSTEM_ID points to, else the only one there is.
    """
    if not {key, name} <= tables.get(table, frozenset()):
        return {}
    systems = dict(_pairs(db, tables, "FILESYSTEM_INFO", "FILESYSTEM_ID", "FILESYSTEM_NAME"))
    owner = {}
    if "FILESYSTEM_ID" in tables[table]:
        owner = dict(_pairs(db, tables, table, key, "FILESYSTEM_ID"))
    only = next(iter(systems.values())) if len(systems) == 1 else ""
    found: dict[int, tuple[str, str]] = {}
    for ident, text in _pairs(db, tables, table, key, name):
        if isinstance(ident, int) and isinstance(text, str) and text and ident not in found:
            said = systems.get(owner.get(ident)) or only
            found[ident] = (system_of(text) or (said if isinstance(said, str) else ""), text[:128])
    return found


def _pairs(
    db: sqlite3.Connection, tables: dict[str, frozenset[str]], table: str, key: str, value: str
) -> Iterator[tuple[object, object]]:
    """Rows of two columns of a table; none if a column is missing."""
    if not {key, value} <= tables.get(table, frozenset()):
        return iter(())
    sql = f"SELECT {key}, {value} FROM {table} LIMIT {_MOST_NAMES}"
    return iter(db.execute(sql).fetchall())
