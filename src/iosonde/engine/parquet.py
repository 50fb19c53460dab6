"""Parquet files as the engine reads and writes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import duckdb

from iosonde.engine import checksum
from iosonde.engine.atomic import draft_of, permitted, sync
from iosonde.engine.contract import SCHEMA_VERSION, later
from iosonde.engine.spool import literal

_PATTERN, _LITERAL = re.compile(r"[*?[]"), r"[\g<0>]"
"""Characters of a glob pattern; in brackets a character is literal."""
PARQUET = "FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v2"


def parquet(paths: Sequence[Path], *, filename: bool = False) -> str:
    """SQL source of the rows of files; ``filename``: with a column of file names."""
    more = ", filename = true" if filename else ""
    return f"read_parquet({names(paths)}, hive_partitioning = false{more})"


def rows_of_table(paths: Sequence[Path], columns: Mapping[str, str]) -> str:
    """SQL source of the rows of a table's files; a column that came later is null where a file lacks it."""
    lacking = [f"NULL::{columns[name]} AS {name}" for name in later(columns)]
    if not lacking:
        return parquet(paths)
    rows = f"read_parquet({names(paths)}, hive_partitioning = false, union_by_name = true)"
    return f"(SELECT * FROM {rows} UNION ALL BY NAME SELECT {', '.join(lacking)} WHERE false)"


def names(paths: Sequence[Path]) -> str:
    """SQL list of files, with glob characters escaped."""
    return f"[{', '.join(literal(_PATTERN.sub(_LITERAL, str(path))) for path in paths)}]"


def write_parquet(
    con: duckdb.DuckDBPyConnection,
    select: str,
    path: Path,
    options: str = PARQUET,
    still: Callable[[], bool] = lambda: True,
    *,
    stems: Sequence[str] = (),
    version: int = SCHEMA_VERSION,
) -> int | None:
    """Write the rows of a SELECT atomically, with a checksum; returns their number.

    None, and no file, if ``still`` says at the end that it is not wanted any more. ``stems``: segments whose rows these
    are, if they are of several. ``version``: of the table's layout. Raises OSError, duckdb.Error.
    """
    draft = draft_of(path)
    named = f", {checksum.stems_entry(stems)}" if stems else ""
    try:
        done = con.execute(
            f"COPY ({select}) TO {literal(str(draft))} "
            f"({options}, USE_TMP_FILE false, "
            f"KV_METADATA {{schema_version: '{version}', {checksum.PLACEHOLDERS}{named}}})"
        ).fetchone()
        checksum.sign(draft)
        permitted(draft)
        sync(draft)
        if not still():
            return None
        draft.replace(path)
        sync(path.parent)
        return int(done[0]) if done else 0
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
