"""Reader of rows from the files of the table ``runs``; damaged ones are reported and left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import duckdb

from iosonde.bench.runs.rows import OLDER_NAMES, SCHEMA_VERSION, from_columns, from_line
from iosonde.engine.atomic import is_blank, lately_written
from iosonde.engine.connections import connect
from iosonde.engine.contract import RUN_TYPES
from iosonde.engine.layout.runs import RunFile
from iosonde.engine.left_out import leave_out
from iosonde.engine.lines import BadLines, whole_lines
from iosonde.engine.opener import LINES_BYTES, opened, said
from iosonde.engine.parquet import parquet
from iosonde.engine.sound import sound
from iosonde.model.runs import RunRow

_REMOVE = "moving it out of the store; an imported run can be imported again"
_REPAIR = "'iosonde runs': the other lines count"
_TOGETHER = 64
"""Files read by one query."""


def read_files(
    files: Sequence[RunFile],
) -> Iterator[tuple[RunFile, list[RunRow] | None]]:
    """The rows of each file; None, and a warning, if it is damaged."""
    if not files:
        return
    con = connect(threads=1)
    try:
        for first in range(0, len(files), _TOGETHER):
            some = files[first : first + _TOGETHER]
            paths = [file.path for file in some]
            good = set(sound(con, paths, {}, lambda _: _REMOVE, SCHEMA_VERSION))
            yield from ((file, None) for file in some if file.path not in good)
            some = [file for file in some if file.path in good]
            if not some:
                continue
            try:
                found = _rows_of(con, [file.path for file in some])
                if found.keys() - {str(file.path) for file in some}:
                    raise ValueError("files are called otherwise")
            except (duckdb.Error, ValueError):  # one of them, or gone: each by itself
                for file in some:
                    yield file, _read_parquet(con, file.path)
            else:
                for file in some:
                    yield file, found.get(str(file.path), [])
    finally:
        con.close()


def read_part(path: Path) -> tuple[list[RunRow], int]:
    """Good rows of a part, and the number of malformed lines."""
    rows: list[RunRow] = []
    bad = BadLines(path, _REPAIR, "rows")

    def cut() -> None:
        if not lately_written(path):
            leave_out(path, "ends within a line, which does not count", _REPAIR)

    try:
        with opened(path, LINES_BYTES) as file:
            for number, line in enumerate(whole_lines(file, cut), 1):
                try:
                    rows += [from_line(line)] if line.strip() else []
                except ValueError as error:
                    if not bad.add(number, error):
                        break
    except FileNotFoundError:
        pass
    except OSError as error:
        leave_out(path, said(error))
        bad.count += 1
    if is_blank(path):
        leave_out(path, "is empty", _REMOVE)
    bad.end()
    return rows, bad.count


def _read_parquet(con: duckdb.DuckDBPyConnection, path: Path) -> list[RunRow] | None:
    try:
        return [row for rows in _rows_of(con, [path]).values() for row in rows]
    except (duckdb.Error, ValueError) as error:
        if not path.exists():  # replaced or removed just now
            return []
        text = str(error).splitlines()[0] if str(error) else type(error).__name__
        leave_out(path, f"is no file of runs: {text}", _REMOVE)
        return None


def _rows_of(con: duckdb.DuckDBPyConnection, paths: Sequence[Path]) -> dict[str, list[RunRow]]:
    """Rows by file, of files of one version. Raises duckdb.Error, ValueError."""
    try:
        return _rows_named(con, paths, {})
    except duckdb.BinderException:  # a column that this version has is not there
        for names in OLDER_NAMES.values():
            with suppress(duckdb.BinderException):
                return _rows_named(con, paths, names)
        raise


def _rows_named(
    con: duckdb.DuckDBPyConnection, paths: Sequence[Path], older: Mapping[str, str | None]
) -> dict[str, list[RunRow]]:
    """Rows by file; ``older``: the files' old names of columns. Raises duckdb.Error, ValueError."""
    stored = [(older.get(name, name), kind) for name, kind in RUN_TYPES.items()]
    columns = ", ".join(
        f"NULL::{kind}"
        if name is None
        else f"CASE WHEN isfinite({name}::DOUBLE) THEN {name}::DOUBLE END"
        if kind == "DOUBLE"
        else f"{name}::{kind}"
        for name, kind in stored
    )
    source = parquet(paths, filename=True)
    rows: dict[str, list[RunRow]] = {}
    for *values, name in con.execute(f"SELECT {columns}, filename FROM {source}").fetchall():
        rows.setdefault(name, []).append(from_columns(values))
    return rows
