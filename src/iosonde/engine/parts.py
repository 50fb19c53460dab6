"""Tables of imported records: a Parquet file per part, with one row per key, the newest import's.

Importing a file twice changes nothing, a longer version of it adds what is new, and a corrected one corrects:
a part is read, merged with what is new (``engine.merge``), and replaced by rename. Writers wait for each
other (a lock on the table's folder); readers see the part before or after.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from iosonde.engine.atomic import make_folder, permitted
from iosonde.engine.connections import connect
from iosonde.engine.contract import (
    DESCRIBED_TYPES,
    EDGE_KEY,
    EDGE_ORDER,
    EDGE_TYPES,
    JOB_TYPES,
    METRIC_TYPES,
    SCALAR_TYPES,
)
from iosonde.engine.layout.folders import files_in, folders_in
from iosonde.engine.left_out import leave_out
from iosonde.engine.opener import lock_file
from iosonde.engine.parquet import parquet, rows_of_table
from iosonde.engine.sound import is_newer, sound, unsound
from iosonde.model.errors import StoreError

_COLUMNS: dict[str, Mapping[str, str]] = {
    "metrics": METRIC_TYPES,
    "topology": EDGE_TYPES,
    "jobs": JOB_TYPES,
    "scalars": SCALAR_TYPES,
    "described": DESCRIBED_TYPES,
}


_AGAIN = "removing it and importing its files again"


@dataclass(frozen=True)
class StoreTable:
    """A table of ``schema/tables``: its folder, columns with types, key and order."""

    name: str
    types: Mapping[str, str]
    key: Sequence[str]
    order: Sequence[str]


TOPOLOGY = StoreTable("topology", EDGE_TYPES, EDGE_KEY, EDGE_ORDER)


@contextmanager
def writing(root: Path, table: StoreTable) -> Iterator[None]:
    """Lock of the one writer of a table. Raises StoreError."""
    folder = Path(root) / table.name
    try:
        make_folder(folder)
        lock = lock_file(folder / ".lock")
        permitted(folder / ".lock")
    except OSError as error:
        raise cannot_write(folder, error) from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def rows_of(con: duckdb.DuckDBPyConnection, path: Path) -> int | None:
    """Number of rows of a file; None if there is none. A damaged file is set aside and reported."""
    if not path.exists():
        return None
    try:
        what = unsound(con, [path], _columns_of(path)).get(path, "")
        if is_newer(what):
            raise StoreError(f"{path} {what}", expected="the version that wrote it, or a newer one")
        if sound_parts(con, [path]):
            return int(con.execute(f"SELECT count(*) FROM {parquet([path])}").fetchall()[0][0])
    except duckdb.Error as error:
        _leave_out(path, error)
    path.replace(path.with_name(path.name + ".damaged"))
    return None


def sound_parts(con: duckdb.DuckDBPyConnection, files: Sequence[Path]) -> list[Path]:
    """Readable files of one table; the others are left out."""
    if not files:
        return []
    return sound(con, files, _columns_of(files[0]), lambda _: _AGAIN)


def _columns_of(path: Path) -> Mapping[str, str]:
    """Columns of a part's table."""
    folders = (path.parent.name, path.parent.parent.name)
    return next((_COLUMNS[name] for name in folders if name in _COLUMNS), {})


def table_rows(files: Sequence[Path]) -> str:
    """SQL source of the rows of files of one table, with all of its columns."""
    return rows_of_table(files, _columns_of(files[0]) if files else {})


def parts(root: Path, table: StoreTable, first: str = "", last: str = "~") -> list[Path]:
    """The files of partitions named ``<key>=<value>`` with first <= value <= last, sorted."""
    found: list[Path] = []
    for folder in sorted(folders_in(Path(root) / table.name)):
        value = folder.name.partition("=")[2]
        if value and first <= value <= last:
            found += sorted(files_in(folder, ".parquet"))
    return found


def select(
    columns: str,
    files: Sequence[Path],
    where: str = "true",
    *,
    con: duckdb.DuckDBPyConnection | None = None,
) -> list[Any]:
    """Columns (numpy masked arrays) of the rows of files, one dict per readable file.

    A file that is damaged is left out, with a warning; so is one that vanished meanwhile. ``con``: an engine that is
    there already.
    """
    if not files:
        return []
    given, con = con, con or connect(threads=2)
    try:
        con.execute("SET preserve_insertion_order = true")
        return [rows for path in files if (rows := _rows(con, columns, path, where)) is not None]
    finally:
        if given is None:
            con.close()


def select_together(columns: str, files: Sequence[Path], where: str = "true") -> list[Any]:
    """``select`` in one query for all files, as one dict; falls back to single files if one is damaged."""
    with closing(connect(threads=2)) as con:
        con.execute("SET preserve_insertion_order = true")
        try:
            whole = sound_parts(con, files)
            sql = f"SELECT {columns} FROM {table_rows(whole)} WHERE {where}"
            return [con.execute(sql).fetchnumpy()] if whole else []
        except duckdb.Error:
            return select(columns, files, where, con=con)


def _rows(con: duckdb.DuckDBPyConnection, columns: str, path: Path, where: str) -> Any:
    """Rows of one file; None if it is damaged or has vanished."""
    try:
        if sound_parts(con, [path]):
            return con.execute(
                f"SELECT {columns} FROM {table_rows([path])} WHERE {where}"
            ).fetchnumpy()
    except duckdb.Error as error:
        if path.exists():
            _leave_out(path, error)
    return None


def cannot_write(path: Path, error: Exception) -> StoreError:
    """Error for a part that cannot be written."""
    text = str(error)
    known = (one for one in (errno.ENOSPC, errno.EDQUOT, errno.EIO) if os.strerror(one) in text)
    reason = getattr(error, "strerror", None) or next(map(os.strerror, known), "")
    reason = reason or text.splitlines()[0].partition("{")[0]
    return StoreError(
        f"cannot write {path}: {reason}", expected="room and the right to write in the store"
    )


def _leave_out(path: Path, error: Exception) -> None:
    text = str(error).splitlines()[0] if str(error) else type(error).__name__
    leave_out(path, f"is damaged: {text}", _AGAIN)
