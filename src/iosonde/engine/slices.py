"""Split of a long range of samples into slices of time, so that memory stays bounded.

::

    footers of the Parquet files -> from when to when each reaches, how many rows it has
    cut where about ``SLICE_ROWS`` rows are together, down to a multiple of ``cut_ns``
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import duckdb

from iosonde.engine.parquet import names
from iosonde.engine.reader import SampleFilter

SLICE_ROWS = 2_000_000
"""Rows of a slice: about 150 MiB in memory; more at once is not quicker."""
_SMALL_BYTES = 32 << 20
"""Total size of Parquet files that make one slice: no footer is read for it."""


class _Reach(NamedTuple):
    """Time range of a file's rows, from its footer."""

    first_ns: int
    last_ns: int
    rows: int
    path: Path


class Slice(NamedTuple):
    """A part of a scope, and the Parquet files that may have rows of it."""

    scope: SampleFilter
    files: Sequence[Path]


def slices(
    con: duckdb.DuckDBPyConnection, files: Sequence[Path], scope: SampleFilter, cut_ns: int
) -> list[Slice]:
    """``scope`` in consecutive slices that start at multiples of ``cut_ns``. Raises duckdb.Error."""
    if sum(map(_size, files)) <= _SMALL_BYTES:
        return [Slice(scope, files)]
    reaches = _reaches(con, files)
    return [Slice(part, _reaching(reaches, part)) for part in _parts(reaches, scope, cut_ns)]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0  # dropped meanwhile: the engine will say so, and we ask again


def _reaches(con: duckdb.DuckDBPyConnection, files: Sequence[Path]) -> list[_Reach]:
    """Files in the order of their first sample; one without statistics may have any range."""
    rows = con.execute(
        "SELECT coalesce(min(stats_min_value::BIGINT), 0), "
        "coalesce(max(stats_max_value::BIGINT), 9223372036854775807), "
        "sum(row_group_num_rows)::BIGINT, file_name "
        f"FROM parquet_metadata({names(files)}) WHERE path_in_schema = 'due_ns' GROUP BY file_name"
    ).fetchall()
    return sorted(_Reach(first, last, n, Path(name)) for first, last, n, name in rows)


def _parts(reaches: Sequence[_Reach], scope: SampleFilter, cut_ns: int) -> list[SampleFilter]:
    """``scope`` cut into slices."""
    edges: list[int] = []
    rows = 0
    for reach in reaches:
        cut = reach.first_ns // cut_ns * cut_ns
        inside = scope.since_ns is None or cut > scope.since_ns
        inside &= scope.until_ns is None or cut < scope.until_ns
        if rows >= SLICE_ROWS and inside and (not edges or cut > edges[-1]):
            edges.append(cut)
            rows = 0
        rows += reach.rows
    begins, ends = [scope.since_ns, *edges], [*edges, scope.until_ns]
    return [
        replace(scope, since_ns=begin, until_ns=end)
        for begin, end in zip(begins, ends, strict=True)
    ]


def _reaching(reaches: Sequence[_Reach], part: SampleFilter) -> list[Path]:
    """Files that may have rows of ``part``."""
    return [
        reach.path
        for reach in reaches
        if (part.until_ns is None or reach.first_ns < part.until_ns)
        and (part.since_ns is None or reach.last_ns >= part.since_ns)
    ]
