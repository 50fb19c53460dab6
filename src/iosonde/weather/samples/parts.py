"""Parquet files of imported samples: one per day and host, so that queries by date find every row.

::

    samples/date=<UTC date of due_ns>/host=<host>/<stem>.parquet           the first day
    samples/date=<UTC date of due_ns>/host=<host>/<stem>-<date>.parquet    every later day

Ten minutes never lie in two days, so the roll-up of each file is complete. A stem is the same file of another tool:
a longer version of it takes the place of what is there, with the roll-ups of that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import duckdb

from iosonde.engine.contract import SAMPLE_ORDER
from iosonde.engine.layout.dates import utc_date
from iosonde.engine.layout.segments import parquet_path, parquet_segments, rollup_path
from iosonde.engine.parquet import parquet, write_parquet
from iosonde.model.errors import StoreError
from iosonde.model.names import slug
from iosonde.model.units import DAY_NS

_DATE = re.compile(r"-\d{4}-\d\d-\d\d$")


class ForeignRows(NamedTuple):
    """Samples of one host. ``sql`` selects them from the connection's tables."""

    host: str
    stem: str
    """Stem of their file names: the digest of the other tool's file."""
    sql: str


class PartsWritten(NamedTuple):
    """Result of writing rows: files, numbers of new rows, and of those already stored."""

    files: list[Path]
    rows: int
    known_rows: int


def imported_files(root: Path) -> dict[str, list[Path]]:
    """Files of earlier imports by stem, with later days under that of the first. Raises StoreError."""
    found: dict[str, list[Path]] = {}
    for segment in parquet_segments(root):
        if segment.stem.startswith("import-"):
            found.setdefault(segment.stem, []).append(segment.path)
    for stem in [stem for stem in found if _DATE.sub("", stem) != stem]:
        first = _DATE.sub("", stem)
        if first in found:
            found[first] += found.pop(stem)
    return found


def put_parts(
    con: duckdb.DuckDBPyConnection, root: Path, rows: ForeignRows, older: Sequence[Path]
) -> PartsWritten:
    """Write samples, a file per day. Raises StoreError.

    ``older``: what is in the store of the same file. If that holds as many rows, nothing is written, but what lies in
    one file of several days is parted.
    """
    with writing(root):
        days = _days(con, f"FROM ({rows.sql})")
        count = sum(days.values())
        if count_rows(con, older) < count:
            files = _write(con, root, rows, list(days))
            remove(root, older, files)
            return PartsWritten(files, count, 0)
        for path in older:
            source = f"FROM {parquet([path])}"
            if len(_days(con, source)) > 1:
                of_host = path.parent.name.removeprefix("host=")
                part = write_days(con, root, ForeignRows(of_host, path.stem, f"SELECT * {source}"))
                remove(root, [path], part)
        return PartsWritten([], 0, count)


@contextmanager
def writing(root: Path) -> Iterator[None]:
    """Convert errors of the engine and the disk to StoreError."""
    try:
        yield
    except (OSError, duckdb.Error) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise StoreError(
            f"cannot write samples in {root}: {reason}",
            expected="room and the right to write in the store",
        ) from error


def write_days(con: duckdb.DuckDBPyConnection, root: Path, rows: ForeignRows) -> list[Path]:
    """Write a file per day; returns the files. Raises OSError, duckdb.Error."""
    return _write(con, root, rows, list(_days(con, f"FROM ({rows.sql})")))


def _write(
    con: duckdb.DuckDBPyConnection, root: Path, rows: ForeignRows, days: Sequence[int]
) -> list[Path]:
    files = []
    # The first day last: it may take the place of a file of all days, which is read until then.
    for day in reversed(days):
        begin_ns = day * DAY_NS
        stem = rows.stem if day == days[0] else f"{rows.stem}-{utc_date(begin_ns)}"
        path = parquet_path(root, slug(rows.host), stem, begin_ns)
        of_day = f"SELECT * FROM ({rows.sql}) WHERE due_ns // {DAY_NS} = {day}"
        write_parquet(con, f"{of_day} ORDER BY {', '.join(SAMPLE_ORDER)}", path)
        _drop(root, path)
        files.append(path)
    return files[::-1]


def _days(con: duckdb.DuckDBPyConnection, source: str) -> dict[int, int]:
    """Number of rows per UTC day, as days since the epoch, ascending."""
    sql = f"SELECT due_ns // {DAY_NS}, count(*) {source} GROUP BY 1 ORDER BY 1"
    return dict(con.execute(sql).fetchall())


def count_rows(con: duckdb.DuckDBPyConnection, paths: Sequence[Path]) -> int:
    """Total number of rows of some files. Raises duckdb.Error."""
    if not paths:
        return 0
    return int((con.execute(f"SELECT count(*) FROM {parquet(paths)}").fetchone() or (0,))[0])


def remove(root: Path, paths: Sequence[Path], but: Sequence[Path]) -> None:
    """Remove files and their roll-ups. Raises OSError."""
    for path in paths:
        if path not in but:
            path.unlink(missing_ok=True)
            _drop(root, path)


def _drop(root: Path, path: Path) -> None:
    """Remove the roll-up of a file's old content; the next reader recomputes it."""
    rollup_path(root, path).unlink(missing_ok=True)
