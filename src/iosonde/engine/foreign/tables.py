"""Tables that only the engine reads, Parquet and JSON lines, as text."""

from __future__ import annotations

import gzip
import stat
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import duckdb

from iosonde.engine.connections import connect
from iosonde.engine.foreign.json_lines import LONGEST, Warn, has_objects, keep_good
from iosonde.engine.spool import literal
from iosonde.model.errors import InputFileError
from iosonde.model.unpacked import says_too_much, too_much

_LOOKED = 1 << 16
"""Bytes by which JSON lines are recognised."""


@contextmanager
def as_text(path: Path, warn: Warn | None = None) -> Iterator[Path]:
    """Path of a table as text: a temporary CSV of a Parquet file or of JSON lines (plain or gzip), else ``path``.

    By what the file holds, not by its name. Nested values become text. JSON lines that are none are left out, and
    ``warn`` is told of each. Raises InputFileError: unreadable, or broken.
    """
    source = _source(path)
    if source is None:
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "table.csv"
        try:
            _copy(source, text)
        except duckdb.Error as error:
            good = Path(folder) / "good.json"
            if not _is_json(source) or not _kept(path, good, warn):
                raise _broken(path, error) from error
            try:
                _copy(_json_source(good), text)
            except duckdb.Error as again:
                raise _broken(path, again) from again
        yield text


def _copy(source: str, text: Path) -> None:
    """Write a table as CSV. Raises duckdb.Error."""
    con = connect()
    try:
        con.execute("SET preserve_insertion_order = true")
        con.execute("SET TimeZone = 'UTC'")
        con.execute(f"COPY (FROM {source}) TO {literal(str(text))} (FORMAT csv, HEADER true)")
    finally:
        con.close()


def _kept(path: Path, good: Path, warn: Warn | None) -> int:
    """Number of lines that are JSON objects, copied to ``good``. Raises InputFileError."""
    try:
        return keep_good(path, good, warn)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        what = f"{path}: the gzip data end or break here ({error})"
        raise InputFileError(what, expected="a whole gzip file") from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputFileError(f"cannot read {path}: {reason}", expected="a readable file") from error


def _broken(path: Path, error: duckdb.Error) -> InputFileError:
    what = f"cannot read {path}: {str(error).splitlines()[0]}"
    return InputFileError(what, expected="a whole Parquet file or JSON lines")


def columns_of(path: Path) -> tuple[str, ...]:
    """Names of the columns of a Parquet file or of JSON lines; () for text and unreadable files."""
    try:
        stat_of = path.stat()
    except OSError:
        return ()
    return _columns_of(path, stat_of.st_size, stat_of.st_mtime_ns)


@lru_cache(maxsize=1)
def _columns_of(path: Path, _size: int, _changed_ns: int) -> tuple[str, ...]:
    """Names of columns, kept of the last file: several readers are tried on it."""
    try:
        source = _source(path)
        if source is None:
            return ()
        try:
            return _described(source)
        except duckdb.Error:
            if not _is_json(source):
                return ()
        with tempfile.TemporaryDirectory() as folder:
            good = Path(folder) / "good.json"
            return _described(_json_source(good)) if _kept(path, good, None) else ()
    except (InputFileError, duckdb.Error):
        return ()


def _described(source: str) -> tuple[str, ...]:
    con = connect()
    try:
        return tuple(name for name, *_ in con.execute(f"DESCRIBE FROM {source}").fetchall())
    finally:
        con.close()


def _refuse_too_much(path: Path) -> None:
    """Raise InputFileError if a packed file is implausibly large; it is unpacked once to check."""
    size = path.stat().st_size
    with gzip.open(path) as packed:
        while packed.read(LONGEST):
            if too_much(packed.tell(), size):
                what, expected, hint = says_too_much(path)
                raise InputFileError(what, expected=expected, hint=hint)


def _source(path: Path) -> str | None:
    """Source for the engine; None for a text file."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise InputFileError(f"{path} is no regular file", expected="a file")
        with path.open("rb") as file:
            first = file.read(_LOOKED)
        if first[:2] == b"\x1f\x8b":
            with gzip.open(path) as packed:
                first = packed.read(_LOOKED)
            if has_objects(first):
                _refuse_too_much(path)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return None
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputFileError(f"cannot read {path}: {reason}", expected="a readable file") from error
    if first[:4] == b"PAR1":
        return f"read_parquet({literal(str(path))})"
    if has_objects(first):
        return _json_source(path)
    return None


def _json_source(path: Path) -> str:
    options = f"format = 'newline_delimited', records = true, maximum_object_size = {LONGEST}"
    return f"read_json({literal(str(path))}, {options})"


def _is_json(source: str) -> bool:
    return source.startswith("read_json(")
