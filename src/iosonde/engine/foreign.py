"""Tables that the engine reads and text readers do not: Parquet and JSON lines, as text."""

from __future__ import annotations

import gzip
import stat
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from iosonde.engine.reader import connect
from iosonde.engine.spool import literal
from iosonde.model.errors import InputFileError
from iosonde.model.unpacked import says_too_much, too_much

_LONGEST = 1 << 20
"""Bytes of one JSON object."""


@contextmanager
def as_text(path: Path) -> Iterator[Path]:
    """Where a table is as text: a temporary CSV of a Parquet file or of JSON lines (plain or gzip), else ``path``.

    By what the file holds, not by its name. Nested values become text. Raises InputFileError: unreadable, or broken.
    """
    source = _source(path)
    if source is None:
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "table.csv"
        con = connect()
        try:
            con.execute("SET preserve_insertion_order = true")
            con.execute("SET TimeZone = 'UTC'")
            con.execute(f"COPY (FROM {source}) TO {literal(str(text))} (FORMAT csv, HEADER true)")
        except duckdb.Error as error:
            what = str(error).splitlines()[0]
            raise InputFileError(
                f"cannot read {path}: {what}", expected="a whole Parquet file or JSON lines"
            ) from error
        finally:
            con.close()
        yield text


def columns_of(path: Path) -> tuple[str, ...]:
    """Names of the columns of a Parquet file or of JSON lines; () of what is text or cannot be read."""
    try:
        source = _source(path)
        if source is None:
            return ()
        con = connect()
        try:
            return tuple(name for name, *_ in con.execute(f"DESCRIBE FROM {source}").fetchall())
        finally:
            con.close()
    except (InputFileError, duckdb.Error):
        return ()


def _refuse_too_much(path: Path) -> None:
    """Raise InputFileError if a packed file holds more than records do; it is unpacked once for that."""
    size = path.stat().st_size
    with gzip.open(path) as packed:
        while packed.read(_LONGEST):
            if too_much(packed.tell(), size):
                what, expected, hint = says_too_much(path)
                raise InputFileError(what, expected=expected, hint=hint)


def _source(path: Path) -> str | None:
    """What the engine is to read; None for what is text already."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise InputFileError(f"{path} is no regular file", expected="a file")
        with path.open("rb") as file:
            first = file.read(512)
        if first[:2] == b"\x1f\x8b":
            with gzip.open(path) as packed:
                first = packed.read(512)
            if first.lstrip()[:1] == b"{":
                _refuse_too_much(path)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return None
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputFileError(f"cannot read {path}: {reason}", expected="a readable file") from error
    if first[:4] == b"PAR1":
        return f"read_parquet({literal(str(path))})"
    if first.lstrip()[:1] == b"{":
        options = f"format = 'newline_delimited', maximum_object_size = {_LONGEST}"
        return f"read_json({literal(str(path))}, {options})"
    return None
