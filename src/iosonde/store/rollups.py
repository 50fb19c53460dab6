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
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np

from iosonde.model.errors import DamagedFileWarning
from iosonde.model.frames import NULL_NS, Frame, SeriesKey
from iosonde.store import derive, layout, reader
from iosonde.store.columns import INTERVAL_NS, ROLLUP_COUNTS
from iosonde.store.derive import Intervals
from iosonde.store.histograms import Histograms, joined
from iosonde.store.reader import Scope
from iosonde.store.series import key_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

_HOUR_NS = 3_600_000_000_000
_ATTEMPTS = 10
_WORKERS = 4


@dataclass(frozen=True)
class Rollups:
    """Intervals of ten minutes, sorted by series and start, each once.

    ``series`` and ``id`` (int64, which of ``series``) name the series of a row. ``columns``: int64
    ``start_ns n_due n_seen n_lost sum_ns min_ns max_ns`` (instants and ns; min and max are
    ``NULL_NS`` where nothing ended ok). Histograms are put in order when they are asked for; what
    is worked out row by row may use ``unsorted`` and take ``order`` of the result.
    """

    unsorted: Intervals
    """May have rows that are no interval by themselves: they are not in ``order``."""
    order: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.order)

    @property
    def series(self) -> list[SeriesKey]:
        """Every series there is, sorted."""
        return self.unsorted.series

    @cached_property
    def id(self) -> NDArray[np.int64]:
        """Which of ``series`` each row is of."""
        return self.unsorted.columns["id"][self.order]

    @cached_property
    def columns(self) -> dict[str, NDArray[np.int64]]:
        """start_ns and the numbers of a row."""
        names = ("start_ns", *ROLLUP_COUNTS)
        return {name: self.unsorted.columns[name][self.order] for name in names}

    @cached_property
    def frame(self) -> Frame:
        """host, target, op, period_ns in words, and ``columns``."""
        return Frame(key_columns(self.series, self.id) | self.columns)

    @cached_property
    def differs(self) -> NDArray[np.bool_]:
        """Whether the response latency of some sample of a row is not its service latency."""
        return self.unsorted.differs[self.order]

    @cached_property
    def service(self) -> Histograms:
        """Histograms of service latency, a row each."""
        return self.unsorted.service.take(self.order)

    @cached_property
    def other(self) -> Histograms:
        """Those of response latency where ``differs``, else empty: it is the same as ``service``."""
        return self.unsorted.response.take(self.order)

    @cached_property
    def response(self) -> Histograms:
        """Those of response latency in every row."""
        n = len(self)
        return joined([self.service, self.other]).take(np.arange(n) + n * self.differs)


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
            return _sorted(_parts(con, root, scope, files, response))
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
    return found if rows.all() else _take(found, np.flatnonzero(rows))


def _take(found: Intervals, rows: NDArray[np.int64]) -> Intervals:
    columns = {name: column[rows] for name, column in found.columns.items()}
    histograms = found.service.take(rows), found.response.take(rows)
    return Intervals(found.series, columns, *histograms, found.differs[rows])


def _sorted(parts: Sequence[Intervals]) -> Rollups:
    """All parts in order, with what is there in several files added up."""
    whole = _joined(parts)
    order = np.lexsort((whole.columns["start_ns"], whole.columns["id"]))
    firsts = _firsts(whole.columns["id"][order], whole.columns["start_ns"][order])
    sizes = np.diff(np.append(firsts, len(order)))
    if (sizes <= 1).all():
        return Rollups(whole, order)
    several = _take(whole, order[np.repeat(sizes > 1, sizes)])
    sizes_there = sizes[sizes > 1]
    sums = _merged(several, np.cumsum(sizes_there) - sizes_there)
    rows = order[firsts]
    rows[sizes > 1] = len(order) + np.arange(len(sizes_there))
    return Rollups(_joined([whole, sums]), rows)


def _joined(parts: Sequence[Intervals]) -> Intervals:
    """The intervals of all parts, one after the other; series sorted."""
    series = sorted({key for part in parts for key in part.series})
    place = {key: number for number, key in enumerate(series)}
    moved = [np.array([place[k] for k in part.series], dtype=np.int64) for part in parts]
    ids = [to[part.columns["id"]] for to, part in zip(moved, parts, strict=True)]
    nothing: list[Any] = [np.zeros(0, dtype=np.int64)]
    columns = {
        name: np.concatenate([part.columns[name] for part in parts] or nothing)
        for name in ("start_ns", *ROLLUP_COUNTS)
    }
    return Intervals(
        series,
        columns | {"id": np.concatenate(ids or nothing)},
        joined([part.service for part in parts]),
        joined([part.response for part in parts]),
        np.concatenate([part.differs for part in parts] or [np.zeros(0, dtype=bool)]),
    )


def added_up(found: Rollups, window_ns: int) -> Rollups:
    """Intervals of ``window_ns``, a multiple of ten minutes."""
    if window_ns == INTERVAL_NS or len(found) == 0:
        return found
    whole = _take(found.unsorted, found.order)
    start = whole.columns["start_ns"] // window_ns * window_ns
    whole.columns["start_ns"] = start
    sums = _merged(whole, _firsts(whole.columns["id"], start))
    return Rollups(sums, np.arange(len(sums.differs)))


def _firsts(ids: NDArray[np.int64], start: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where a new interval begins, of rows in order."""
    changed = np.ones(len(ids), dtype=bool)
    changed[1:] = (ids[1:] != ids[:-1]) | (start[1:] != start[:-1])
    return np.flatnonzero(changed)


def _merged(found: Intervals, firsts: NDArray[np.int64]) -> Intervals:
    """Runs of rows added up, each of one series; they begin at ``firsts`` (ascending, from 0)."""
    columns = {name: found.columns[name][firsts] for name in ("id", "start_ns")}
    for name in ROLLUP_COUNTS[:4]:
        columns[name] = np.add.reduceat(found.columns[name], firsts)
    most = np.iinfo(np.int64).max
    least = np.where(found.columns["min_ns"] == NULL_NS, most, found.columns["min_ns"])
    least = np.minimum.reduceat(least, firsts)
    columns["min_ns"] = np.where(least == most, NULL_NS, least)
    columns["max_ns"] = np.maximum.reduceat(found.columns["max_ns"], firsts)
    differs = np.logical_or.reduceat(found.differs, firsts)
    # Of a run with one that differs, the others count with their service latencies.
    n = len(found.differs)
    whole = np.repeat(differs, np.diff(np.append(firsts, n)))
    rows = np.arange(n) + n * found.differs + 2 * n * ~whole
    choices = joined([found.service, found.response, found.service.none()])
    response = choices.take(rows).merged(firsts)
    return Intervals(found.series, columns, found.service.merged(firsts), response, differs)
