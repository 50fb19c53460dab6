"""Readability of a store's Parquet files: each is checked once, and again only when it has changed.

::

    open: a file?  ->  magic, footer, checksum of all bytes  ->  version, columns and types of its table
    (engine.opener)         (``engine.checksum``)                  (footers of all files in one question)

What is not sound is named (``engine.left_out``) and does not count; a file that vanishes meanwhile is the reader's to
notice. The memory is of this process: who asks twice reads the bytes once.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import duckdb

from iosonde.engine import checksum, opener
from iosonde.engine.contract import SCHEMA_VERSION, later
from iosonde.engine.left_out import MOVE, Identity, identity, leave_out
from iosonde.engine.parquet import names, parquet
from iosonde.engine.versions import UPGRADE, WRITTEN, newer

_MOST = 200_000
_WORKERS = 4
_NEWER = f"was {WRITTEN}"
_FEW = 4
"""Number of files too few for threads."""

Columns = Mapping[str, str]
"""Columns of a table, with the engine's types."""


class _Known(NamedTuple):
    identity: Identity
    wrong: str
    """Defect; "" for a sound file."""


_lock = threading.Lock()
_known: dict[tuple[str, tuple[str, ...]], _Known] = {}


def sound(
    con: duckdb.DuckDBPyConnection,
    paths: Sequence[Path],
    columns: Columns,
    hint: Callable[[Path], str] = lambda _: MOVE,
    version: int = SCHEMA_VERSION,
) -> list[Path]:
    """Those of ``paths`` that are Parquet files with ``columns``, in their order; the others are left out.

    ``version``: the newest layout of the table that is read.
    """
    wrong = unsound(con, paths, columns, version)
    for path, what in wrong.items():
        leave_out(path, what, UPGRADE if is_newer(what) else hint(path))
    return [path for path in paths if path not in wrong]


def broken(con: duckdb.DuckDBPyConnection, paths: Sequence[Path], columns: Columns) -> list[Path]:
    """Those of ``paths`` whose columns cannot be read to their end; they count as unsound from now on.

    For files without a checksum, after a question about all of them has failed.
    """
    every = ", ".join(f"max(hash({name}))" for name in columns) or "count(*)"
    found = []
    for path in paths:
        seen = identity(path)
        try:
            con.execute(f"SELECT {every} FROM {parquet([path])}").fetchall()
        except duckdb.Error as error:
            if seen is not None:
                _remember(path, columns, _Known(seen, f"is damaged: {_said(error, path)}"))
                found.append(path)
    return found


def is_newer(what: str) -> bool:
    """True if the defect of a file is that a newer version wrote it."""
    return what.startswith(_NEWER)


def unsound(
    con: duckdb.DuckDBPyConnection,
    paths: Sequence[Path],
    columns: Columns,
    version: int = SCHEMA_VERSION,
) -> dict[Path, str]:
    """Defect of each of ``paths`` that is not sound, without a report."""
    kind = tuple(columns)
    wrong: dict[Path, str] = {}
    new: dict[Path, Identity] = {}
    for path in paths:
        seen = identity(path)
        known = _known.get((str(path), kind))
        if seen is None:
            if what := _absent(path):
                wrong[path] = what
            continue
        if known is None or known.identity != seen:
            new[path] = seen
        elif known.wrong:
            wrong[path] = known.wrong
    if new:
        told = _looked_at(con, list(new), columns, version)
        for path, what in told.items():
            _remember(path, columns, _Known(new[path], what))
        wrong |= {path: what for path, what in told.items() if what}
    return wrong


def _remember(path: Path, columns: Columns, known: _Known) -> None:
    with _lock:
        if len(_known) >= _MOST:
            _known.clear()
        _known[str(path), tuple(columns)] = known


def _absent(path: Path) -> str:
    """Reason why a listed name is no file; "" if it has vanished: the reader lists again."""
    try:
        opener.check(path, opener.TABLE_BYTES)
    except FileNotFoundError:
        return ""
    except OSError as error:
        return opener.said(error)
    return ""


def _looked_at(
    con: duckdb.DuckDBPyConnection, paths: Sequence[Path], columns: Columns, version: int
) -> dict[Path, str]:
    """Defect of each file, "" for none; a vanished file is not in it."""
    if len(paths) <= _FEW:
        told = [_bytes_wrong(path) for path in paths]
    else:
        with ThreadPoolExecutor(min(_WORKERS, os.cpu_count() or 1)) as pool:
            told = list(pool.map(_bytes_wrong, paths))
    found = {path: what for path, what in zip(paths, told, strict=True) if what is not None}
    whole = [path for path, what in found.items() if not what]
    return found | _columns_wrong(con, whole, columns, version)


def _bytes_wrong(path: Path) -> str | None:
    """Defect of a file's bytes; None if it has vanished."""
    try:
        return checksum.wrong(path)
    except FileNotFoundError:
        return None
    except IsADirectoryError:
        return "is a folder, not a file"
    except OSError as error:
        return opener.said(error)


def _columns_wrong(
    con: duckdb.DuckDBPyConnection, paths: Sequence[Path], columns: Columns, version: int
) -> dict[Path, str]:
    """Files with other columns than ``columns``, or a footer that the engine does not understand."""
    if not paths:
        return {}
    try:
        return _by_footer(con, paths, columns, version)
    except duckdb.Error as error:
        if len(paths) == 1:
            path = paths[0]
            return {path: f"is damaged: {_said(error, path)}"} if path.exists() else {}
    found: dict[Path, str] = {}
    for path in paths:
        found |= _columns_wrong(con, [path], columns, version)
    return found


def _by_footer(
    con: duckdb.DuckDBPyConnection, paths: Sequence[Path], columns: Columns, version: int
) -> dict[Path, str]:
    """Defects by the types in footers; equal footers are checked once."""
    sql = (
        "SELECT file_name, string_agg(concat_ws(' ', name, type, converted_type, logical_type, "
        "num_children), ',' ORDER BY place) FROM (SELECT *, row_number() OVER () AS place "
        f"FROM parquet_schema({names(paths)})) GROUP BY file_name"
    )
    kinds: dict[str, list[Path]] = {}
    for name, kind in con.execute(sql).fetchall():
        kinds.setdefault(kind, []).append(Path(name))
    found: dict[Path, str] = {}
    for alike in kinds.values():
        told = con.execute(f"DESCRIBE SELECT * FROM {parquet(alike[:1])}").fetchall()
        types = {str(name): str(kind) for name, kind, *_ in told}
        what = _difference(types, columns)
        if what:
            found |= dict.fromkeys(alike, what)
        found |= _newer(con, alike, types, version)
    return found


def _newer(
    con: duckdb.DuckDBPyConnection, alike: Sequence[Path], types: Columns, version: int
) -> dict[Path, str]:
    """Files of a newer layout, by a signed footer or else by the column ``schema_version``."""
    said = {path: checksum.version_of(path) for path in alike}
    found = {path: most for path, most in said.items() if most is not None}
    found |= _unsigned_versions(con, [path for path in alike if said[path] is None], types)
    return {path: f"was {newer(most, version)}" for path, most in found.items() if most > version}


def _unsigned_versions(
    con: duckdb.DuckDBPyConnection, alike: Sequence[Path], types: Columns
) -> dict[Path, int]:
    """Layout versions of unsigned files of equal columns, as far as known."""
    kind = types.get("schema_version")
    if not alike:
        return {}
    if kind is None:
        sql = (
            "SELECT file_name, max(try_cast(decode(value) AS BIGINT)) FROM parquet_kv_metadata("
            f"{names(alike)}) WHERE decode(key) = 'schema_version' GROUP BY file_name"
        )
    elif kind.endswith(("INT", "INTEGER")):
        sql = f"SELECT filename, max(schema_version) FROM {parquet(alike, filename=True)} GROUP BY filename"
    else:
        return {}
    return {Path(name): most for name, most in con.execute(sql).fetchall() if most is not None}


def _difference(types: Columns, columns: Columns) -> str:
    missing = [name for name in columns if name not in types and name not in later(columns)]
    if missing:
        return f"is of another table: it has no column {missing[0]}"
    for name, kind in columns.items():
        if types.get(name, kind) != kind:
            return f"is of another table: its column {name} is {types[name]}, expected {kind}"
    return ""


def _said(error: duckdb.Error, path: Path) -> str:
    """The engine's message on a file, without its name."""
    text = str(error).splitlines()[0] if str(error) else type(error).__name__
    return text.replace(f"'{path}'", "it").replace(str(path), "it")
