"""Consistent view of sealed and live samples: each row once.

A sealer renames the Parquet file of a segment into place before it deletes the spool segment. So
the spool is listed and read first and Parquet listed after it: a segment that vanished meanwhile is
then there as Parquet, and one that is there twice is taken from Parquet::

    list spool -> read spool into memory -> list Parquet -> drop spool rows whose stem has a Parquet
    file that is sound

Rows are never copied out of Parquet: DuckDB scans the files. A file that is damaged is named and left out
(``engine.sound``), also one whose damage shows only when its rows are read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

import duckdb

from iosonde.engine import spool
from iosonde.engine.atomic import is_blank, lately_written
from iosonde.engine.connections import connect
from iosonde.engine.contract import SAMPLE_KEY, SAMPLE_TYPES
from iosonde.engine.layout.dates import utc_date
from iosonde.engine.layout.merged import is_merged
from iosonde.engine.layout.segments import (
    Segment,
    parquet_segments,
    segment_keys,
    sharing,
    spool_segments,
)
from iosonde.engine.left_out import MOVE, leave_out
from iosonde.engine.parquet import parquet
from iosonde.engine.sound import broken, sound
from iosonde.engine.versions import UPGRADE, WRITTEN
from iosonde.model.advice import Advice, Argument
from iosonde.model.errors import DamagedFileError, StoreError
from iosonde.model.frames import SeriesKey
from iosonde.model.names import slug
from iosonde.model.units import HOUR_NS

T = TypeVar("T")

_ATTEMPTS = 10
"""Most attempts: a sealer or an agent may remove files many times while one reader runs."""


@dataclass(frozen=True)
class SampleFilter:
    """Filter of samples. Instants are ns since the epoch, [since, until); None = any."""

    host: str | None = None
    target: str | None = None
    ops: tuple[str, ...] | None = None
    since_ns: int | None = None
    until_ns: int | None = None
    runs: tuple[str, ...] | None = None
    """Run ids; of samples only. Ranks of a run are pooled: the host of a row is then its run."""

    def has(self, key: SeriesKey) -> bool:
        """True if a series passes the filter."""
        return (
            self.host in (None, key.host)
            and self.target in (None, key.target)
            and (self.ops is None or key.op in self.ops)
        )

    @property
    def folder(self) -> str | None:
        """Folder of the only host that the filter allows: other hosts are not scanned; None: any."""
        return None if self.host is None or self.runs is not None else slug(self.host)

    def where(self, instant: str = "due_ns") -> str:
        """The filter as SQL on a table with the time column ``instant``."""
        tests = [
            f"{name} = {spool.literal(value)}"
            for name, value in (("host", self.host), ("target", self.target))
            if value is not None
        ]
        if self.ops is not None:
            tests.append(f"op IN ({', '.join(map(spool.literal, self.ops)) or 'NULL'})")
        if self.runs is not None:
            tests.append(f"run_id IN ({', '.join(map(spool.literal, self.runs)) or 'NULL'})")
        if self.since_ns is not None:
            tests.append(f"{instant} >= {int(self.since_ns)}")
        if self.until_ns is not None:
            tests.append(f"{instant} < {int(self.until_ns)}")
        return " AND ".join(tests) or "true"


class Sources(NamedTuple):
    """Sources of a query: sealed segments, and rows that are in none of them yet."""

    files: list[Path]
    live: list[spool.SpoolRows]


def with_samples(
    root: Path, scope: SampleFilter, ask: Callable[[duckdb.DuckDBPyConnection], T]
) -> T:
    """Result of ``ask`` on a connection with the view ``samples``.

    The view has the columns of samples.toml and the rows of ``scope``. Asked again when a file
    vanishes under it, or turns out to be damaged: that is left out. Raises StoreError.
    """

    def looked(con: duckdb.DuckDBPyConnection, sources: Sources) -> T:
        look_at(con, sources.files, scope)
        return ask(con)

    return with_files(root, scope, looked)


def with_files(
    root: Path, scope: SampleFilter, ask: Callable[[duckdb.DuckDBPyConnection, Sources], T]
) -> T:
    """``with_samples`` for an ``ask`` that gets the sources and opens the files (``look_at``) itself."""
    for attempt in range(_ATTEMPTS):
        con = connect()
        sources = Sources([], [])
        try:
            sources = _attach(con, root, scope)
            return ask(con, sources)
        except duckdb.Error as error:
            if not again(con, sources.files) or attempt + 1 == _ATTEMPTS:
                raise explained(error, root) from error
        finally:
            con.close()
    raise AssertionError("unreachable")


def again(con: duckdb.DuckDBPyConnection, files: Sequence[Path]) -> bool:
    """True if a failed query is worth a retry: a file of samples has vanished, or is now left out."""
    gone = any(not path.exists() for path in files)
    return gone or bool(broken(con, files, SAMPLE_TYPES))


def explained(error: duckdb.Error, root: Path) -> StoreError:
    """The engine's error, for people."""
    text = str(error).splitlines()[0] if str(error) else type(error).__name__
    if isinstance(error, duckdb.OutOfMemoryException):
        return StoreError(
            f"not enough memory to read {root}: {text}",
            hint=Advice("a shorter ", Argument("since")),
        )
    if ".parquet" in text or isinstance(error, (duckdb.IOException, duckdb.InvalidInputException)):
        return DamagedFileError(
            f"a file of {root} cannot be read: {text}",
            expected="Parquet files sealed by iosonde",
            hint="moving the named file out of the store",
        )
    return StoreError(f"cannot read {root}: {text}")


def _attach(con: duckdb.DuckDBPyConnection, root: Path, scope: SampleFilter) -> Sources:
    """Create the view ``live`` of the rows that complement the Parquet files."""
    live = live_rows(root, scope)
    since = None if scope.since_ns is None else utc_date(scope.since_ns - HOUR_NS)
    sealed = sound_sealed(con, root, since, scope.folder)
    for key in segment_keys(sealed):
        live.pop(key, None)
    make_live(con, list(live.values()))
    return Sources([segment.path for segment in sealed], list(live.values()))


def sound_sealed(
    con: duckdb.DuckDBPyConnection, root: Path, since: str | None, folder: str | None
) -> list[Segment]:
    """Readable sealed segments that count; an unreadable merge is replaced by its parts."""
    bad: set[Path] = set()
    while True:
        listed = parquet_segments(root, since, folder, bad)
        found = sound_segments(con, listed)
        lost = {one.path for one in listed if is_merged(one.stem)} - {one.path for one in found}
        if not lost:
            return found
        bad |= lost


def sound_segments(con: duckdb.DuckDBPyConnection, sealed: Sequence[Segment]) -> list[Segment]:
    """Readable sealed segments; the others are left out."""
    files = set(sound(con, [segment.path for segment in sealed], SAMPLE_TYPES))
    return [segment for segment in sealed if segment.path in files]


def live_rows(root: Path, scope: SampleFilter) -> dict[tuple[str, str], spool.SpoolRows]:
    """Rows of the spool that may match ``scope``, by host folder and stem."""
    return {
        (segment.host, segment.stem): rows
        for segment in spool_segments(root)
        if scope.folder in (None, segment.host)
        and not _too_old(segment.path, scope.since_ns)
        and (rows := _rows(segment.path))
    }


def make_live(con: duckdb.DuckDBPyConnection, parts: Sequence[spool.SpoolRows]) -> None:
    """Create the view ``live``."""
    rows = spool.concatenate(parts)
    if rows is not None:
        con.register("live_codes", rows.columns)
    sql = spool.select("live_codes", rows) if rows else _no_rows()
    con.execute(f"CREATE OR REPLACE TEMP VIEW live AS {sql}")


def look_at_files(con: duckdb.DuckDBPyConnection, paths: Sequence[Path]) -> None:
    """Create the view ``samples`` of some sealed segments."""
    make_live(con, [])
    look_at(con, paths, SampleFilter())


def look_at_distinct(con: duckdb.DuckDBPyConnection, paths: Sequence[Path]) -> None:
    """Create the view ``samples`` of some sealed segments, without duplicate rows."""
    make_live(con, [])
    columns = ", ".join(SAMPLE_TYPES)
    con.execute(
        f"CREATE OR REPLACE TEMP VIEW every_row AS SELECT DISTINCT {columns} FROM {parquet(paths)}"
    )
    _hide_beaten(con, SampleFilter())


def look_at_rows(
    con: duckdb.DuckDBPyConnection, rows: Sequence[spool.SpoolRows], scope: SampleFilter
) -> None:
    """Create the view ``samples`` of rows of the spool."""
    make_live(con, rows)
    look_at(con, [], scope)


def look_at(con: duckdb.DuckDBPyConnection, files: Sequence[Path], scope: SampleFilter) -> None:
    """Replace the view ``samples`` by that of ``files`` and live rows."""
    con.execute(f"CREATE OR REPLACE TEMP VIEW every_row AS {rows_once(files)}FROM live")
    _hide_beaten(con, scope)


def rows_once(files: Sequence[Path]) -> str:
    """SQL of the rows of files: a segment's row in two merged files counts once."""
    columns, several = ", ".join(SAMPLE_TYPES), sharing(files)
    shares = (
        ("", [path for path in files if path not in several]),
        ("DISTINCT ", [path for path in files if path in several]),
    )
    return "".join(
        f"SELECT {once}{columns} FROM {parquet(paths)} UNION ALL "
        for once, paths in shares
        if paths
    )


def _rows(path: Path) -> spool.SpoolRows | None:
    """Good rows of a segment; one without a readable header is reported and left out."""
    try:
        read = spool.read(path)
    except StoreError as error:
        what = error.what.removeprefix(f"{path}: ")
        hint = UPGRADE if what.startswith(WRITTEN) else MOVE
        leave_out(path, what, hint)
        return None
    if read is None:
        if is_blank(path):
            leave_out(path, "is empty")
        return None
    if read.torn and not lately_written(path):
        leave_out(path, f"ends early ({read.torn}): {len(read.rows)} rows before that count")
    return read.rows


def _too_old(path: Path, since_ns: int | None) -> bool:
    """True if the last append to a segment was well before the requested time."""
    try:
        return since_ns is not None and path.stat().st_mtime_ns < since_ns - HOUR_NS
    except FileNotFoundError:
        return not path.is_symlink()
    except OSError:
        return False


def _no_rows() -> str:
    columns = ", ".join(f"NULL::{kind} AS {name}" for name, kind in SAMPLE_TYPES.items())
    return f"SELECT {columns} WHERE false"


def _hide_beaten(con: duckdb.DuckDBPyConnection, scope: SampleFilter) -> None:
    """Create the view ``samples`` without pending rows that have a final row of the same key."""
    key = ", ".join(SAMPLE_KEY)
    where = scope.where()
    con.execute(
        f"CREATE OR REPLACE TEMP TABLE open_ops AS SELECT {key} FROM every_row "
        f"WHERE outcome = 'pending' AND {where}"
    )
    kept = where
    if con.execute("SELECT 1 FROM open_ops LIMIT 1").fetchone():
        con.execute(
            f"CREATE OR REPLACE TEMP TABLE beaten AS SELECT DISTINCT {key} FROM every_row SEMI JOIN open_ops "
            f"USING ({key}) WHERE outcome <> 'pending' AND {where}"
        )
        kept += f" AND NOT (outcome = 'pending' AND ({key}) IN (SELECT ({key}) FROM beaten))"
    pooled = "" if scope.runs is None else " REPLACE (run_id AS host)"
    con.execute(
        f"CREATE OR REPLACE TEMP VIEW samples AS SELECT *{pooled} FROM every_row WHERE {kept}"
    )
