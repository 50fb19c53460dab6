"""Samples and tables as Parquet, CSV or JSON files for other tools.

Files appear whole or not at all (written beside, then renamed). CSV has a header, JSON is one array
of objects; nulls are empty fields and null. A text of CSV that a spreadsheet would compute (it begins with
``= + - @``, a tab or a line end, and is no number) gets a quote before it.
"""

from __future__ import annotations

import csv
import io
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from iosonde.engine.connections import connect
from iosonde.engine.contract import SAMPLE_TYPES, SERIES_KEY
from iosonde.engine.reader import SampleFilter, with_samples
from iosonde.engine.spool import NULL_SQL, literal
from iosonde.model.advice import Advice, Argument
from iosonde.model.errors import StoreError, UsageError
from iosonde.model.frames import Frame

_BLANK = " \t\r\n\f\v\u00a0\u1680\u2000-\u200f\u2028-\u202f\u205f\u3000\ufeff"
_SIGN = r"=+\-@" + "\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20"
"""First characters of a formula, also in their small and wide forms."""
_FORMULA = re.compile(f"^(?:[\t\r\n]|[{_BLANK}]*[{_SIGN}])")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")

FORMATS: dict[str, str] = {
    "parquet": "FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v2",
    "csv": "FORMAT csv, HEADER true",
    "json": "FORMAT json, ARRAY true",
}


def format_of(path: Path | None, chosen: str | None) -> str:
    """The requested format, else that of the file name's ending, else CSV. Raises UsageError."""
    ending = path.suffix[1:].lower() if path and path.suffix else ""
    name = chosen or ("csv" if path is None else ending)
    if name not in FORMATS:
        raise UsageError(
            f"cannot tell the format of {path}",
            expected=Advice(Argument("format"), " parquet, csv or json"),
        )
    return name


def write_samples(root: Path, scope: SampleFilter, path: Path, format_name: str) -> int:
    """All samples of ``scope``, sorted by series and time; returns how many.

    Needs no memory for them.
    """
    order = ", ".join((*SERIES_KEY, "due_ns"))
    sql = f"SELECT {', '.join(SAMPLE_TYPES)} FROM samples ORDER BY {order}"
    return with_samples(root, scope, lambda con: _copy(con, sql, path, format_name))


def write_frame(frame: Frame, path: Path, format_name: str, whole: Sequence[str] = ()) -> int:
    """Write a frame as a file; returns the number of rows.

    NaN and ``NULL_NS`` become null. Float columns whose name ends in ``_ns`` and is in ``whole``
    become integers.
    """
    con = connect()
    try:
        con.execute("SET preserve_insertion_order = true")
        arrays = {name: np.ascontiguousarray(col) for name, col in frame.columns.items()}
        con.register("frame", arrays)
        columns = ", ".join(_column(name, frame, whole) for name in frame.columns)
        return _copy(con, f"SELECT {columns} FROM frame", path, format_name)
    finally:
        con.close()


def csv_text(rows: Iterable[Mapping[str, Any]], names: Sequence[str]) -> str:
    """Rows as CSV with the header ``names``; other keys are left out, None is empty, a bool is true or false."""
    text = io.StringIO()
    writer = csv.DictWriter(text, names, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _cell(value) for name, value in row.items()})
    return text.getvalue()


def _cell(value: Any) -> Any:
    """A value as a CSV cell."""
    if isinstance(value, bool):
        return str(value).lower()
    return harmless(value) if isinstance(value, str) else value


def harmless(text: str) -> str:
    """Escape a text so that no spreadsheet takes it for a formula."""
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def write_text(text: str, path: Path) -> None:
    """Write a text as a file."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    regular = not path.exists() or path.is_file()
    try:
        (draft if regular else path).write_text(text)
        if regular:
            draft.replace(path)
    except OSError as error:
        raise StoreError(
            f"cannot write {path}: {error.strerror}", expected="a writable place"
        ) from error
    finally:
        draft.unlink(missing_ok=True)


def _column(name: str, frame: Frame, whole: Sequence[str]) -> str:
    kind = frame[name].dtype.kind
    quoted = '"' + name + '"'
    if kind == "f":
        value = f"CASE WHEN isnan({quoted}) THEN NULL ELSE {quoted} END"
        return f"({value})::BIGINT AS {quoted}" if name in whole else f"{value} AS {quoted}"
    if kind == "i":
        return f"nullif({quoted}, {NULL_SQL}) AS {quoted}"
    return quoted


def _harmless(con: duckdb.DuckDBPyConnection, sql: str) -> str:
    """SQL of the same rows with escaped texts."""
    kinds = {str(name): str(kind) for name, kind, *_ in con.execute(f"DESCRIBE {sql}").fetchall()}
    texts = [f'"{name}"' for name, kind in kinds.items() if kind == "VARCHAR"]
    if not texts:
        return sql
    quote = literal("'")
    risky, number = literal(_FORMULA.pattern), literal(_NUMBER.pattern)
    changed = (
        f"CASE WHEN regexp_matches({name}, {risky}) AND NOT regexp_full_match({name}, {number}) "
        f"THEN concat({quote}, {name}) ELSE {name} END AS {name}"
        for name in texts
    )
    return f"SELECT * REPLACE ({', '.join(changed)}) FROM ({sql})"


def _copy(con: duckdb.DuckDBPyConnection, sql: str, path: Path, format_name: str) -> int:
    """COPY to a draft, then rename (devices and pipes are written directly)."""
    regular = not path.exists() or path.is_file()
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}") if regular else path
    try:
        sql = _harmless(con, sql) if format_name == "csv" else sql
        done = con.execute(f"COPY ({sql}) TO {literal(str(draft))} ({FORMATS[format_name]})")
        rows = int((done.fetchone() or (0,))[0])
        if regular:
            draft.replace(path)
        return rows
    except (OSError, duckdb.IOException) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise StoreError(f"cannot write {path}: {reason}", expected="a writable place") from error
    finally:
        if regular:
            draft.unlink(missing_ok=True)
