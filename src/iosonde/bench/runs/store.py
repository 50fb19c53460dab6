"""Storage of benchmark runs: finished ones in Parquet, those in flight as lines of each process.

::

    runs/<slug run_id>.<process>.part.jsonl      appended while the run goes on, one RunRow a line
    runs/date=YYYY-MM-DD/<slug run_id>.parquet   all rows of a run, when it has ended, by rename

A run that died is its parts: what they hold is read, and none of it counts as complete. A last line without an
end was cut and is left out; any other line that is no row is named in a warning and left out. ``finish`` renames
the Parquet file into place before it removes the parts, so a reader sees each row once, whenever it looks:
a row of a part is left out where the Parquet file has one of its key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypedDict, Unpack

import duckdb
import numpy as np

from iosonde.bench.runs.files import read_files, read_part
from iosonde.bench.runs.rows import SCHEMA_VERSION, frame_of, to_line
from iosonde.engine.atomic import make_folder, permitted, sync
from iosonde.engine.connections import connect
from iosonde.engine.contract import RUN_ORDER, RUN_TYPES
from iosonde.engine.layout.runs import part_path, run_files, run_parts, run_path
from iosonde.engine.parquet import write_parquet
from iosonde.engine.spool import NULL_SQL
from iosonde.model.errors import StoreError
from iosonde.model.names import slug
from iosonde.model.runs import RunRow, run_order
from iosonde.model.units import DAY_NS


class StoredRun(NamedTuple):
    """A run with all its rows, in ``run_order``."""

    run_id: str
    rows: tuple[RunRow, ...]
    first_ns: int
    """Start of the first phase; without one in the rows, the date of the file (or its modification)."""
    finished: bool
    """True if the run has been written whole."""


class WhichRuns(TypedDict, total=False):
    """Filter of runs and of their rows. Missing or None matches all."""

    run_id: str | None
    target: str | None
    source: str | None
    since_ns: int | None
    until_ns: int | None


def append_part(root: Path, run_id: str, process: int | str, rows: Iterable[RunRow]) -> Path:
    """Append rows of a run in flight, by one of its processes; durable on return.

    Raises StoreError.
    """
    text = b"".join(to_line(row) for row in rows)
    path = part_path(Path(root), run_id, process)
    try:
        make_folder(path.parent)
        with path.open("a+b") as file:
            end = file.seek(0, 2)
            if end:
                file.seek(end - 1)
                # A line that a kill cut stays a line of its own.
                text = text if file.read(1) == b"\n" else b"\n" + text
            file.write(text)
        permitted(path)
        sync(path)
    except OSError as error:
        raise _cannot_write(path, error) from error
    return path


def finish(root: Path, run_id: str, now_ns: int | None = None) -> Path | None:
    """Merge a run's parts and earlier rows into one Parquet file, then remove the parts.

    None when there is nothing of it. ``now_ns``: the date of a run that does not say when it began (default:
    when its last part was written). A part with lines that are no rows is kept as ``*.jsonl.damaged``.
    Raises StoreError.
    """
    root = Path(root)
    parts = [part for part in run_parts(root) if part.run == slug(run_id)]
    read = [(part.path, *read_part(part.path)) for part in parts]
    fresh = [row for _, rows, _ in read for row in rows if row.run_id == run_id]
    rows = {row.key: row for row in [*_stored(root, run_id), *fresh]}
    if not rows:
        return None
    if now_ns is None:
        now_ns = max((_mtime_ns(part.path) for part in parts), default=0)
    path = write(root, list(rows.values()), now_ns)
    for part, _, bad in read:
        with suppress(FileNotFoundError):
            if bad:
                part.replace(part.with_name(part.name + ".damaged"))
            else:
                part.unlink()
    return path


def write(root: Path, rows: Sequence[RunRow], now_ns: int) -> Path:
    """Write a whole run, replacing an earlier version. Raises StoreError, ValueError."""
    root = Path(root)
    run_ids = {row.run_id for row in rows}
    if len(run_ids) != 1:
        raise ValueError(f"rows of {len(run_ids)} runs, expected one")
    (run_id,) = run_ids
    began = [row.began_ns for row in rows if row.began_ns is not None]
    path = run_path(root, run_id, min(began, default=now_ns))
    before = [file.path for file in run_files(root) if file.run == slug(run_id)]
    try:
        _write_parquet(sorted(rows, key=run_order), path)
        for older in before:
            if older != path:
                older.unlink(missing_ok=True)
    except (OSError, duckdb.Error) as error:
        raise _cannot_write(path, error) from error
    return path


def read_runs(root: Path, **which: Unpack[WhichRuns]) -> list[StoredRun]:
    """Runs with a matching row, oldest first; with a target, only its rows.

    A run is of [since, until) if its first phase began in it. Files that are damaged are named in a
    warning and left out. Raises StoreError.
    """
    found = []
    since_ns, until_ns = which.get("since_ns"), which.get("until_ns")
    for run in _every_run(Path(root), which.get("run_id")):
        rows = tuple(
            row
            for row in run.rows
            if which.get("target") in (None, row.target)
            and which.get("source") in (None, row.source)
            and which.get("run_id") in (None, row.run_id)
        )
        inside = (since_ns is None or run.first_ns >= since_ns) and (
            until_ns is None or run.first_ns < until_ns
        )
        if rows and inside:
            found.append(run._replace(rows=rows))
    return sorted(found, key=lambda run: (run.first_ns, run.run_id))


def read(root: Path, **which: Unpack[WhichRuns]) -> list[RunRow]:
    """The rows of ``read_runs``, run by run."""
    return [row for run in read_runs(root, **which) for row in run.rows]


def run_ids(root: Path) -> list[str]:
    """Ids of all runs, oldest first. Raises StoreError."""
    return [run.run_id for run in read_runs(root)]


def _every_run(root: Path, run_id: str | None) -> Iterator[StoredRun]:
    """Yield all runs. Parts are listed and read before Parquet files: see ``engine.reader``."""
    wanted = None if run_id is None else slug(run_id)
    parts: dict[str, list[RunRow]] = {}
    written: dict[str, int] = {}
    for part in run_parts(root):
        if wanted in (None, part.run):
            for row in read_part(part.path)[0]:
                parts.setdefault(row.run_id, []).append(replace(row, complete=False))
                written[row.run_id] = max(written.get(row.run_id, 0), _mtime_ns(part.path))
    files = [file for file in run_files(root) if wanted in (None, file.run)]
    whole: dict[str, tuple[dict[tuple[object, ...], RunRow], int]] = {}
    for file, rows_of_file in read_files(files):
        for row in rows_of_file or ():
            whole.setdefault(row.run_id, ({}, _midnight(file.date)))[0][row.key] = row
    for name in {**whole, **parts}:
        rows, day = whole.get(name, ({}, written.get(name, 0)))
        every = {row.key: row for row in parts.get(name, [])} | rows
        began = [row.began_ns for row in every.values() if row.began_ns is not None]
        ordered = tuple(sorted(every.values(), key=run_order))
        yield StoredRun(name, ordered, min(began, default=day), len(every) == len(rows))


def _stored(root: Path, run_id: str) -> list[RunRow]:
    """Rows of a finished run; a malformed file is set aside as ``*.damaged``."""
    found = []
    files = [file for file in run_files(root) if file.run == slug(run_id)]
    for file, rows in read_files(files):
        if rows is None:
            with suppress(FileNotFoundError):
                file.path.replace(file.path.with_name(file.path.name + ".damaged"))
        found += [row for row in rows or () if row.run_id == run_id]
    return found


def _write_parquet(rows: Sequence[RunRow], path: Path) -> None:
    frame = frame_of(rows)
    columns = ", ".join(_as_sql(name, kind) for name, kind in RUN_TYPES.items())
    order = ", ".join(f"{name} NULLS FIRST" for name in RUN_ORDER)
    with closing(connect(threads=1)) as con:
        con.register("rows", {n: np.ascontiguousarray(c) for n, c in frame.columns.items()})
        write_parquet(
            con, f"SELECT {columns} FROM rows ORDER BY {order}", path, version=SCHEMA_VERSION
        )


def _as_sql(name: str, kind: str) -> str:
    """SQL of a column of ``frame_of`` with its type and its nulls."""
    if kind == "DOUBLE":
        return f"CASE WHEN isnan({name}) THEN NULL ELSE {name} END AS {name}"
    if kind in ("BIGINT", "INTEGER"):
        return f"nullif({name}, {NULL_SQL})::{kind} AS {name}"
    return f"{name}::{kind} AS {name}"


def _midnight(date: str) -> int:
    try:
        return int(np.datetime64(date, "D").astype(np.int64)) * DAY_NS
    except ValueError:  # the 31st of February
        return 0


def _mtime_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _cannot_write(path: Path, error: Exception) -> StoreError:
    reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
    return StoreError(
        f"cannot write {path}: {reason}", expected="room and the right to write in the store"
    )
