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
from iosonde.engine.contract import INTERVAL_NS, ROLLUP_TYPES, SAMPLE_TYPES
from iosonde.engine.layout.dates import utc_date
from iosonde.engine.layout.merged import is_merged
from iosonde.engine.layout.segments import (
    Segment,
    parquet_segments,
    rollup_path,
    rollup_segments,
    sealed_path,
    segment_keys,
)
from iosonde.engine.left_out import leave_out
from iosonde.engine.reader import SampleFilter
from iosonde.engine.sound import broken, is_newer, unsound
from iosonde.engine.versions import UPGRADE
from iosonde.model.units import HOUR_NS
from iosonde.weather.rollups import derive
from iosonde.weather.rollups.files import (
    SCHEMA_VERSION,
    IntervalColumns,
    of_layout_1,
    read,
    write,
)
from iosonde.weather.rollups.intervals import IntervalParts, Rollups, in_order, inexact_starts, take

if TYPE_CHECKING:
    from iosonde.model.arrays import Ints

_ATTEMPTS = 10
_WORKERS = 4
_WRITABLE = "nothing, or a store that can be written"
_BACKUP = "moving it out of the store; a copy from a backup brings it back"
_COLUMNS = {name: kind for name, kind in ROLLUP_TYPES.items() if name != "quantiles_ns"}
"""Files of layout 1 have no quantiles."""


@dataclass(frozen=True)
class _Source:
    """Kept roll-ups, and what is read of them."""

    root: Path
    paths: Sequence[Path]
    scope: SampleFilter
    wanted: IntervalColumns
    starts: Ints | None = None
    """Only intervals that begin then; ascending."""

    def read(
        self, con: duckdb.DuckDBPyConnection, paths: Sequence[Path], *, layout_1: bool = False
    ) -> IntervalParts:
        """What some of the files hold. Raises duckdb.Error."""
        where = self.scope.where("start_ns")
        return read(con, paths, where, self.wanted, starts=self.starts, layout_1=layout_1)

    def inside(self, found: IntervalParts) -> IntervalParts:
        """Those of what was made again."""
        found = _inside(found, self.scope)
        if self.starts is None:
            return found
        return take(found, np.flatnonzero(np.isin(found.columns["start_ns"], self.starts)))


def rollups(root: Path, scope: SampleFilter, wanted: IntervalColumns | None = None) -> Rollups:
    """The intervals of ``scope`` that begin in [since, until), since widened down to ten minutes.

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
    """Roll up one sealed segment and keep it, if the store can be written. Raises duckdb.Error."""
    reader.look_at_file(con, sealed)
    found = derive.derived(con)
    with contextlib.suppress(OSError, duckdb.Error):
        # Full or read-only stores: what is not kept is made again by the next reader.
        covered, path = (
            stems_of(sealed) if is_merged(sealed.stem) else (),
            rollup_path(root, sealed),
        )
        if not is_newer(unsound(con, [path], _COLUMNS, SCHEMA_VERSION).get(path, "")):
            write(con, found, path, covered)
    return found


def _parts(
    con: duckdb.DuckDBPyConnection,
    root: Path,
    scope: SampleFilter,
    files: list[Path],
    wanted: IntervalColumns,
) -> list[IntervalParts]:
    """All there is: kept, made now, and live; ``files`` gets what is read."""
    live = reader.live_rows(root, scope)
    since = None if scope.since_ns is None else utc_date(scope.since_ns - HOUR_NS)
    sealed = parquet_segments(root, since, scope.folder)
    kept = sound_rollups(con, root, rollup_segments(root, since, scope.folder))
    known = segment_keys(kept)
    new = reader.sound_segments(con, [s for s in sealed if not segment_keys([s]) <= known])
    anew = segment_keys(
        new
    )  # of a merged file, though some of its parts have roll-ups of their own
    kept = [segment for segment in kept if not segment_keys([segment]) <= anew]
    files += [segment.path for segment in (*new, *kept)]
    parts = [_inside(found, scope) for found in _made(root, [segment.path for segment in new])]
    known |= anew
    rows = [rows for key, rows in live.items() if key not in known]
    if rows:
        reader.look_at_rows(con, rows, scope)
        parts.append(derive.derived(con))
    return parts + _whole(con, parts, _Source(root, [s.path for s in kept], scope, wanted))


def _of_samples(path: Path) -> bool:
    """Whether a file of samples, not one of roll-ups."""
    return path.parents[2].name == "samples"


def sound_rollups(
    con: duckdb.DuckDBPyConnection, root: Path, kept: Sequence[Segment]
) -> list[Segment]:
    """Roll-ups that can be read; the others are made again from their samples, or left out."""
    wrong = unsound(con, [segment.path for segment in kept], _COLUMNS, SCHEMA_VERSION)
    for path, what in wrong.items():
        if is_newer(what):
            leave_out(path, what, UPGRADE, "left out; its samples count where they are there")
        else:
            _tell(root, path, what)
    return [segment for segment in kept if segment.path not in wrong]


def _tell(root: Path, path: Path, what: str) -> bool:
    """Name a damaged roll-up; whether its samples are there."""
    if sealed_path(root, path).exists():
        leave_out(path, what, _WRITABLE, "made again from its samples")
        return True
    leave_out(path, what, _BACKUP, "left out, its samples are gone")
    return False


def _made(root: Path, sealed: Sequence[Path]) -> list[IntervalParts]:
    """Roll-ups of sealed segments, made several at a time: each is too small for several threads."""
    if not sealed:
        return []

    def make(paths: Sequence[Path]) -> list[IntervalParts]:
        with contextlib.closing(connect(threads=1)) as con:
            return [roll_up(con, root, path) for path in paths]

    workers = min(_workers(), len(sealed))
    with ThreadPoolExecutor(workers) as pool:
        shares = pool.map(make, [sealed[number::workers] for number in range(workers)])
        return [found for share in shares for found in share]


def _whole(
    con: duckdb.DuckDBPyConnection, others: Sequence[IntervalParts], source: _Source
) -> list[IntervalParts]:
    """What was kept, with histograms where quantiles cannot do without them."""
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
    """What was kept; files that are damaged are made again or left out."""
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
    """Files of which the ``old`` ones have no quantiles. Raises duckdb.Error."""
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
    """A damaged roll-up, from its samples if they are there."""
    reason = str(error).splitlines()[0]
    if not _tell(source.root, path, f"cannot be read ({reason})"):
        return []
    samples = [Segment("", path.stem, sealed_path(source.root, path))]
    return [
        source.inside(roll_up(con, source.root, segment.path))
        for segment in reader.sound_segments(con, samples)
    ]


def _workers() -> int:
    return min(os.cpu_count() or 1, _WORKERS)


def _inside(found: IntervalParts, scope: SampleFilter) -> IntervalParts:
    """Those of the scope."""
    wanted = np.array([scope.has(key) for key in found.series], dtype=bool)
    start = found.columns["start_ns"]
    rows = wanted[found.columns["id"]]
    if scope.since_ns is not None:
        rows &= start >= scope.since_ns
    if scope.until_ns is not None:
        rows &= start < scope.until_ns
    return found if rows.all() else take(found, np.flatnonzero(rows))
