"""Errors for SQLite and HDF5 files that no connector recognised: damaged, or with other contents."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from iosonde.connectors.lustre import hdf5_safe
from iosonde.connectors.lustre.lmt.tables import MAGIC as SQLITE
from iosonde.connectors.lustre.lmt.tables import opened as opened_sqlite
from iosonde.connectors.source import head_of
from iosonde.model.errors import InputFileError
from iosonde.model.text import clean_text

_SHOWN = 6
_WANTED = {
    "SQLite": "LMT's tables, or a table of completed jobs",
    "HDF5": "TOKIO TimeSeries, or an h5lmt file",
}


def container_error(path: Path) -> InputFileError | None:
    """Error that explains an unrecognised SQLite or HDF5 file; None for others and folders. Raises InputFileError."""
    if path.is_dir():
        return None
    first = head_of(path).raw[:100]
    if first.startswith(SQLITE[: len(first)]) and len(first) >= 6:
        return _sqlite(path, first)
    if first.startswith(hdf5_safe.MAGIC[: len(first)]) and len(first) >= 4:
        return _hdf5(path)
    return None


def _sqlite(path: Path, first: bytes) -> InputFileError:
    """Error for a database, from the page count in its header (SQLite, "Database File Format", 1.3)."""
    size = path.stat().st_size
    page = int.from_bytes(first[16:18], "big")
    pages = int.from_bytes(first[28:32], "big")
    whole = (65536 if page == 1 else page) * pages
    if len(first) < 100 or size < whole:
        what = f"{path} is an SQLite database that was cut: {size} of {max(whole, 100)} bytes"
        return InputFileError(what, expected="the whole file")
    try:
        with opened_sqlite(path) as db:
            rows = db.execute("SELECT name FROM sqlite_master WHERE type = 'table' LIMIT 100")
            names = [str(name) for (name,) in rows.fetchall()]
    except (sqlite3.Error, InputFileError, UnicodeError) as error:
        return InputFileError(
            f"{path} is an SQLite database that is broken ({error})", expected="a whole file"
        )
    return _other(path, "SQLite", "tables", names)


def _hdf5(path: Path) -> InputFileError:
    try:
        with hdf5_safe.opened(path) as file:
            names = [str(name) for name in file]
    except InputFileError as error:
        reason = error.what.removeprefix(f"cannot read {path}: ")
        reason = reason.removeprefix("Unable to synchronously open file ").strip("()")
        return InputFileError(
            f"{path} is an HDF5 file that is cut or broken ({reason})", expected="the whole file"
        )
    return _other(path, "HDF5", "groups", names)


def _other(path: Path, kind: str, parts: str, names: list[str]) -> InputFileError:
    told = ", ".join(clean_text(name[:60]) for name in names[:_SHOWN])
    more = ", ..." if len(names) > _SHOWN else ""
    has = f"with the {parts} {told}{more}" if names else f"without {parts}"
    return InputFileError(f"{path} is {kind} {has}", expected=_WANTED[kind])
