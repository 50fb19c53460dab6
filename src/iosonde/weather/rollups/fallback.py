"""Fallback to roll-ups for periods with dropped raw samples.

::

    roll-ups whose segment is neither sealed nor in the spool -> where samples may be missing
    windows of a multiple of ten minutes: whichever knows more rows, the table as it is or roll-ups

So a window of which a part was dropped counts whole. Kept windows know no levels (see
``weather.rollups.kept_windows``): theirs come from roll-ups that know as many rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np

from iosonde.engine.connections import connect
from iosonde.engine.contract import INTERVAL_NS, LEVEL_COLUMNS, WINDOW_KEY
from iosonde.engine.layout.segments import (
    Segment,
    parquet_segments,
    rollup_segments,
    segment_keys,
    spool_segments,
)
from iosonde.engine.left_out import leave_out
from iosonde.engine.order_statistics import NO_LEVEL
from iosonde.engine.parquet import parquet
from iosonde.engine.reader import SampleFilter
from iosonde.model.frames import Frame, SeriesKey
from iosonde.weather.rollups.kept_windows import better, joined, places
from iosonde.weather.rollups.readable import sound_rollups
from iosonde.weather.rollups.rollups import rollups
from iosonde.weather.rollups.windows import rolled_windows, wanted

if TYPE_CHECKING:
    from numpy.typing import NDArray


def dropped(root: Path, folder: str | None = None) -> list[Segment]:
    """Roll-ups of segments without samples, of a host's folder or of all."""
    kept = rollup_segments(root, host=folder)
    there = {(segment.host, segment.stem) for segment in spool_segments(root)}
    there |= segment_keys(parquet_segments(root, host=folder))
    gone = [segment for segment in kept if not segment_keys([segment]) <= there]
    if not gone:
        return []
    with closing(connect(threads=1)) as con:
        return sound_rollups(con, root, gone)


def dropped_targets(root: Path) -> set[tuple[str, str]]:
    """Every (host, target) of them. Unreadable files are reported and left out."""
    found: set[tuple[str, str]] = set()
    paths = [segment.path for segment in dropped(root)]
    if not paths:
        return found
    con = connect()
    try:
        return _targets(con, paths)
    except duckdb.Error:
        for path in paths:
            try:
                found |= _targets(con, [path])
            except duckdb.Error as error:
                leave_out(path, f"cannot be read: {str(error).splitlines()[0]}")
        return found
    finally:
        con.close()


def _targets(con: duckdb.DuckDBPyConnection, paths: Sequence[Path]) -> set[tuple[str, str]]:
    sql = f"SELECT DISTINCT host, target FROM {parquet(paths)}"
    return {(host, target) for host, target in con.execute(sql).fetchall()}


def with_dropped(root: Path, scope: SampleFilter, window_ns: int, table: Frame) -> Frame:
    """A window table of ``scope``, completed by roll-ups in the columns that it has."""
    if window_ns % INTERVAL_NS:
        return table
    segments = dropped(root, scope.folder)
    if not segments:
        return table
    scope = _narrowed(scope, _reach([segment.path for segment in segments]), window_ns)
    levels = LEVEL_COLUMNS[0] in table
    names = [name for name in table.columns if name not in (*WINDOW_KEY, *LEVEL_COLUMNS)]
    found = rollups(root, scope, wanted(window_ns, names, levels))
    rolled = rolled_windows(found, window_ns, names, levels=levels)
    missing = {name: np.full(len(rolled), np.nan) for name in names if name not in rolled}
    rolled = rolled.with_columns(missing)
    return _together(table, Frame({name: rolled[name] for name in table.columns}))


def _reach(paths: Sequence[Path]) -> tuple[int, int] | None:
    """Start of the first and the last interval of files; None if not all are readable."""
    sql = f"SELECT min(start_ns), max(start_ns) FROM {parquet(paths)}"
    con = connect()
    try:
        first, last = con.execute(sql).fetchall()[0]
    except duckdb.Error:
        return None
    finally:
        con.close()
    return None if first is None else (first, last)


def _narrowed(scope: SampleFilter, reach: tuple[int, int] | None, window_ns: int) -> SampleFilter:
    """Part of a scope in the windows that intervals reach."""
    if reach is None:
        return scope
    since, until = reach[0] // window_ns * window_ns, (reach[1] // window_ns + 1) * window_ns
    return replace(
        scope,
        since_ns=since if scope.since_ns is None else max(since, scope.since_ns),
        until_ns=until if scope.until_ns is None else min(until, scope.until_ns),
    )


def _together(table: Frame, rolled: Frame) -> Frame:
    """Union of both tables, each window once."""
    parts: dict[SeriesKey, Frame] = {key: table.take(rows) for key, rows in table.series()}
    for key, rows in rolled.series():
        windows = rolled.take(rows)
        before = parts.get(key)
        parts[key] = (
            windows if before is None else better("start_ns", _levelled(before, windows), windows)
        )
    return joined([parts[key] for key in sorted(parts)]) if parts else table


def _levelled(table: Frame, rolled: Frame) -> Frame:
    """Windows of one series, with missing levels filled from roll-ups of equal counts."""
    if LEVEL_COLUMNS[0] not in table:
        return table
    place, there = places(table["start_ns"], rolled["start_ns"])
    fill = there & (table["n_lost"] == NO_LEVEL) & (rolled["n_due"][place] == table["n_due"])
    if not fill.any():
        return table

    def column(name: str) -> NDArray[Any]:
        values = table[name].copy()
        values[fill] = rolled[name][place[fill]]
        return values

    return table.with_columns({name: column(name) for name in LEVEL_COLUMNS})
