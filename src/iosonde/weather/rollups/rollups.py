"""Roll-ups: every series in histograms of ten minutes, which can be added up without loss.

::

    rollups/date=<day>/host=<host>/<stem>.parquet   beside samples/, one for each sealed segment
        sealed, not rolled up    scanned once, and kept (in memory only if the store cannot be written)
        in the spool             rolled up in memory
        raw samples dropped      the roll-up stays, and is all there is

So a question about months costs what the days that are new since the last one cost. Where quantiles
are asked for and no histograms, those of intervals that need them (two files share one, or an older
file has no quantiles) are read afterwards. A file that cannot be read is told of and left out; if its
samples are still there it is made again.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import numpy as np

from iosonde.engine import reader
from iosonde.engine.checksum import stems_of
from iosonde.engine.connections import connect
from iosonde.engine.contract import INTERVAL_NS, QUANTILE_COLUMNS, SAMPLE_TYPES
from iosonde.engine.layout.dates import utc_date
from iosonde.engine.layout.merged import is_merged
from iosonde.engine.layout.segments import (
    Segment,
    rollup_path,
    sealed_path,
    segment_keys,
)
from iosonde.engine.reader import SampleFilter
from iosonde.engine.sound import broken
from iosonde.model.units import HOUR_NS
from iosonde.weather.rollups import derive
from iosonde.weather.rollups.files import IntervalColumns, of_layout_1, read, write
from iosonde.weather.rollups.intervals import (
    IntervalParts,
    Rollups,
    in_order,
    inexact_starts,
    most_known,
    take,
)
from iosonde.weather.rollups.readable import chosen, is_of_newer, sound_kept, tell_damaged

if TYPE_CHECKING:
    from iosonde.model.arrays import Ints

_ATTEMPTS = 10
_WORKERS = 4


@dataclass(frozen=True)
class _Source:
    """Kept roll-ups, and the columns to read."""

    root: Path
    paths: Sequence[Path]
    scope: SampleFilter
    wanted: IntervalColumns
    starts: Ints | None = None
    """Start times to read; ascending."""

    def read(
        self, con: duckdb.DuckDBPyConnection, paths: Sequence[Path], *, layout_1: bool = False
    ) -> IntervalParts:
        """Read intervals of some of the files. Raises duckdb.Error."""
        where = self.scope.where("start_ns")
        return read(con, paths, where, self.wanted, starts=self.starts, layout_1=layout_1)

    def inside(self, found: IntervalParts) -> IntervalParts:
        """Recomputed intervals within the scope."""
        found = _inside(found, self.scope)
        if self.starts is None:
            return found
        return take(found, np.flatnonzero(np.isin(found.columns["start_ns"], self.starts)))


def rollups(root: Path, scope: SampleFilter, wanted: IntervalColumns | None = None) -> Rollups:
    """Intervals of ``scope`` that start in [since, until), since rounded down to ten minutes.

    Makes and keeps the roll-ups of sealed segments that have none yet. What is not ``wanted``
    (default: histograms, no quantiles) may be missing, which is quicker. Files that are damaged are
    left out. Raises StoreError.
    """
    root = Path(root)
    wanted = wanted or IntervalColumns()
    if scope.since_ns is not None:
        scope = replace(scope, since_ns=scope.since_ns // INTERVAL_NS * INTERVAL_NS)
    for attempt in range(_ATTEMPTS):
        con = connect(threads=_workers())
        files: list[Path] = []
        try:
            return in_order(_parts(con, root, scope, files, wanted))
        except duckdb.Error as error:
            gone = any(not path.exists() for path in files)
            again = gone or broken(con, [p for p in files if _of_samples(p)], SAMPLE_TYPES)
            if not again or attempt + 1 == _ATTEMPTS:
                raise reader.explained(error, root) from error
        finally:
            con.close()
    raise AssertionError("unreachable")


def roll_up(con: duckdb.DuckDBPyConnection, root: Path, sealed: Path) -> IntervalParts:
    """Roll up one sealed segment and store it if possible. Raises duckdb.Error."""
    reader.look_at_files(con, [sealed])
    found = derive.derived(con)
    with contextlib.suppress(OSError, duckdb.Error):
        # Full or read-only stores: what is not kept is made again by the next reader.
        covered = stems_of(sealed) if is_merged(sealed.stem) else ()
        path = rollup_path(root, sealed)
        if not is_of_newer(con, path):
            write(con, found, path, covered)
    return found


def rolled_up(con: duckdb.DuckDBPyConnection, root: Path, sealed: Sequence[Path]) -> IntervalParts:
    """Roll up sealed segments that may share rows; a single one is stored. Raises duckdb.Error."""
    if len(sealed) == 1:
        return roll_up(con, root, sealed[0])
    reader.look_at_files(con, sealed)
    return derive.derived(con)


def combined(con: duckdb.DuckDBPyConnection, root: Path, kept: Sequence[Segment]) -> IntervalParts:
    """Merge roll-ups that share rows, each interval from the most complete. Raises duckdb.Error."""
    everything = IntervalColumns(QUANTILE_COLUMNS)
    return _rivals(con, _Source(root, [], SampleFilter(), everything), kept, [])


def _parts(
    con: duckdb.DuckDBPyConnection,
    root: Path,
    scope: SampleFilter,
    files: list[Path],
    wanted: IntervalColumns,
) -> list[IntervalParts]:
    """All parts: kept, computed now, and live; ``files`` collects the files read."""
    live = reader.live_rows(root, scope)
    since = None if scope.since_ns is None else utc_date(scope.since_ns - HOUR_NS)
    kept = sound_kept(con, root, since, scope.folder)
    choice = chosen(con, root, (since, scope.folder), kept)
    groups = [*choice.new, *(group for _, made in choice.rivals for group in made)]
    read = [*choice.kept, *(one for those, _ in choice.rivals for one in those)]
    files += [one.path for group in groups for one in group] + [one.path for one in read]
    parts = [_inside(found, scope) for found in _made(root, choice.new)]
    source = _Source(root, [], scope, wanted)
    parts += [_rivals(con, source, *those) for those in choice.rivals]
    known = segment_keys([*read, *(one for group in groups for one in group)])
    rows = [rows for key, rows in live.items() if key not in known]
    if rows:
        reader.look_at_rows(con, rows, scope)
        parts.append(derive.derived(con))
    source = replace(source, paths=[one.path for one in choice.kept])
    return parts + _whole(con, parts, source)


def _rivals(
    con: duckdb.DuckDBPyConnection,
    source: _Source,
    kept: Sequence[Segment],
    made: Sequence[Sequence[Segment]],
) -> IntervalParts:
    """Merge roll-ups that share rows with others, each interval from the most complete."""
    parts = [_inside(found, source.scope) for found in _made(source.root, made)]
    alone = replace(source, wanted=replace(source.wanted, service=True))
    return most_known(parts + [p for s in kept for p in _kept(con, replace(alone, paths=[s.path]))])


def _of_samples(path: Path) -> bool:
    """True for a file of samples, False for one of roll-ups."""
    return path.parents[2].name == "samples"


def _made(root: Path, groups: Sequence[Sequence[Segment]]) -> list[IntervalParts]:
    """Roll-ups of sealed segments, computed several at a time: each is too small for several threads.

    Of files that share rows one in memory: once they are merged, that is kept.
    """
    if not groups:
        return []

    def make(some: Sequence[Sequence[Segment]]) -> list[IntervalParts]:
        with contextlib.closing(connect(threads=1)) as con:
            return [rolled_up(con, root, [one.path for one in group]) for group in some]

    workers = min(_workers(), len(groups))
    with ThreadPoolExecutor(workers) as pool:
        shares = pool.map(make, [groups[number::workers] for number in range(workers)])
        return [found for share in shares for found in share]


def _whole(
    con: duckdb.DuckDBPyConnection, others: Sequence[IntervalParts], source: _Source
) -> list[IntervalParts]:
    """Kept intervals, with histograms for those whose quantiles are not exact."""
    kept = _kept(con, source)
    if source.wanted.service or not source.wanted.quantiles or not kept:
        return kept
    starts = inexact_starts([*others, *kept])
    if len(starts) == 0:
        return kept
    rest = [take(part, np.flatnonzero(~np.isin(part.columns["start_ns"], starts))) for part in kept]
    more = replace(source, starts=starts, wanted=replace(source.wanted, service=True))
    return rest + _kept(con, more)


def _kept(con: duckdb.DuckDBPyConnection, source: _Source) -> list[IntervalParts]:
    """Kept intervals; damaged files are recomputed or left out."""
    if not source.paths:
        return []
    try:
        return [source.read(con, source.paths)]
    except duckdb.Error:
        if not all(path.exists() for path in source.paths):
            raise
    with contextlib.suppress(duckdb.Error):
        old = of_layout_1(con, source.paths) if source.wanted.quantiles else set()
        if old:
            return _of_two_layouts(con, source, old)
    parts = []
    for path in source.paths:
        try:
            old = of_layout_1(con, [path]) if source.wanted.quantiles else set()
            parts += _of_two_layouts(con, replace(source, paths=[path]), old)
        except duckdb.Error as error:
            parts += _again(con, source, path, error)
    return parts


def _of_two_layouts(
    con: duckdb.DuckDBPyConnection, source: _Source, old: set[Path]
) -> list[IntervalParts]:
    """Intervals of files, the ``old`` ones without quantiles. Raises duckdb.Error."""
    shares = (
        [path for path in source.paths if (path in old) == is_old] for is_old in (False, True)
    )
    return [
        source.read(con, share, layout_1=is_old)
        for share, is_old in zip(shares, (False, True), strict=True)
        if share
    ]


def _again(
    con: duckdb.DuckDBPyConnection, source: _Source, path: Path, error: duckdb.Error
) -> list[IntervalParts]:
    """Damaged roll-up recomputed from its samples, if they exist."""
    reason = str(error).splitlines()[0]
    if not tell_damaged(source.root, path, f"cannot be read ({reason})"):
        return []
    samples = [Segment("", path.stem, sealed_path(source.root, path))]
    return [
        source.inside(roll_up(con, source.root, segment.path))
        for segment in reader.sound_segments(con, samples)
    ]


def _workers() -> int:
    return min(os.cpu_count() or 1, _WORKERS)


def _inside(found: IntervalParts, scope: SampleFilter) -> IntervalParts:
    """Intervals within the scope."""
    wanted = np.array([scope.has(key) for key in found.series], dtype=bool)
    start = found.columns["start_ns"]
    rows = wanted[found.columns["id"]]
    if scope.since_ns is not None:
        rows &= start >= scope.since_ns
    if scope.until_ns is not None:
        rows &= start < scope.until_ns
    return found if rows.all() else take(found, np.flatnonzero(rows))
