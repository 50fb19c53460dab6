"""Roll-ups: every series in histograms of ten minutes, which can be added up without loss.

::

    rollups/date=<day>/host=<host>/<stem>.parquet   beside samples/, one for each sealed segment
        sealed, not rolled up    scanned once, and kept (in memory only if the store cannot be written)
        in the spool             rolled up in memory
        raw samples dropped      the roll-up stays, and is all there is

So a question about months costs what the days that are new since the last one cost. A file that
cannot be read is told of and left out; if its samples are still there it is made again.
"""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np

from iosonde.model.errors import DamagedFileWarning
from iosonde.store import derive, layout, reader
from iosonde.store.columns import INTERVAL_NS
from iosonde.store.intervals import Intervals, Rollups, in_order, take
from iosonde.store.reader import Scope

_HOUR_NS = 3_600_000_000_000
_ATTEMPTS = 10
_WORKERS = 4


def rollups(root: Path, scope: Scope, *, response: bool = True) -> Rollups:
    """The intervals of ``scope`` that begin in [since, until), since widened down to ten minutes.

    Makes and keeps the roll-ups of sealed segments that have none yet. Without ``response`` those
    histograms may be empty, which is quicker. Raises DamagedFileError (a sealed segment is not
    one), StoreError.
    """
    root = Path(root)
    if scope.since_ns is not None:
        scope = replace(scope, since_ns=scope.since_ns // INTERVAL_NS * INTERVAL_NS)
    for attempt in range(_ATTEMPTS):
        con = reader.connect()
        files: list[Path] = []
        try:
            return in_order(_parts(con, root, scope, files, response))
        except duckdb.Error as error:
            if all(path.exists() for path in files) or attempt + 1 == _ATTEMPTS:
                raise reader.explained(error, root) from error
        finally:
            con.close()
    raise AssertionError("unreachable")


def roll_up(con: duckdb.DuckDBPyConnection, root: Path, sealed: Path) -> Intervals:
    """Roll up one sealed segment and keep it, if the store can be written. Raises duckdb.Error."""
    reader.look_at_file(con, sealed)
    found = derive.derived(con)
    try:
        derive.write(con, found, layout.rollup_path(root, sealed))
    except (OSError, duckdb.Error):
        if not sealed.exists():
            raise
        # A full or read-only store: what is not kept is made again by the next reader.
    return found


def _parts(
    con: duckdb.DuckDBPyConnection, root: Path, scope: Scope, files: list[Path], response: bool
) -> list[Intervals]:
    """All there is: kept, made now, and live; ``files`` gets what is read."""
    live = reader.live_rows(root, scope)
    since = None if scope.since_ns is None else layout.utc_date(scope.since_ns - _HOUR_NS)
    sealed = layout.parquet_segments(root, since)
    kept = layout.rollup_segments(root, since)
    files += [segment.path for segment in (*sealed, *kept)]
    known = {(segment.host, segment.stem) for segment in kept}
    new = [segment.path for segment in sealed if (segment.host, segment.stem) not in known]
    parts = [_inside(found, scope) for found in _made(root, new)]
    parts += _kept(con, root, [segment.path for segment in kept], scope, response)
    known |= {(segment.host, segment.stem) for segment in sealed}
    rows = [rows for key, rows in live.items() if key not in known]
    if rows:
        reader.look_at_rows(con, rows, scope)
        parts.append(derive.derived(con))
    return parts


def _made(root: Path, sealed: Sequence[Path]) -> list[Intervals]:
    """Roll-ups of sealed segments, made several at a time: each is too small for several threads."""
    if not sealed:
        return []

    def make(paths: Sequence[Path]) -> list[Intervals]:
        with contextlib.closing(reader.connect(threads=1)) as con:
            return [roll_up(con, root, path) for path in paths]

    workers = min(os.cpu_count() or 1, _WORKERS, len(sealed))
    with ThreadPoolExecutor(workers) as pool:
        shares = pool.map(make, [sealed[number::workers] for number in range(workers)])
        return [found for share in shares for found in share]


def _kept(
    con: duckdb.DuckDBPyConnection,
    root: Path,
    paths: Sequence[Path],
    scope: Scope,
    response: bool,
) -> list[Intervals]:
    """What was kept; files that are damaged are made again or left out."""
    if not paths:
        return []
    where = scope.where("start_ns")
    try:
        return [derive.read(con, paths, where, response=response)]
    except duckdb.Error:
        if not all(path.exists() for path in paths):
            raise
    parts = []
    for path in paths:
        try:
            parts.append(derive.read(con, [path], where, response=response))
        except duckdb.Error as error:
            parts += _again(con, root, path, scope, error)
    return parts


def _again(
    con: duckdb.DuckDBPyConnection, root: Path, path: Path, scope: Scope, error: duckdb.Error
) -> list[Intervals]:
    """A damaged roll-up, from its samples if they are there."""
    samples = root / "samples" / path.relative_to(root / "rollups")
    there = samples.exists()
    fate = "made again from its samples" if there else "left out: its samples are gone"
    reason = str(error).splitlines()[0]
    warnings.warn(f"{path} cannot be read ({reason}): {fate}", DamagedFileWarning, stacklevel=2)
    return [_inside(roll_up(con, root, samples), scope)] if there else []


def _inside(found: Intervals, scope: Scope) -> Intervals:
    """Those of the scope."""
    wanted = np.array([scope.has(key) for key in found.series], dtype=bool)
    start = found.columns["start_ns"]
    rows = wanted[found.columns["id"]]
    if scope.since_ns is not None:
        rows &= start >= scope.since_ns
    if scope.until_ns is not None:
        rows &= start < scope.until_ns
    return found if rows.all() else take(found, np.flatnonzero(rows))
