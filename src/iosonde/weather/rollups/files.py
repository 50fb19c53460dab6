"""Roll-up files: one Parquet file per sealed segment, which appears by rename.

::

    scalars, quantiles     a list of 18 an interval: what windows of ten minutes need
    histograms             two lists each, bucket and count: what everything else needs

Only what is asked for is read. A list takes half the room that 18 columns take: a segment of one
target has few rows, and every column has a footer. A file of layout 1 has no quantiles: they follow
from its histograms, within 1%.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np

from iosonde.engine.contract import QUANTILE_COLUMNS, ROLLUP_COUNTS, ROLLUP_TYPES, SERIES_KEY
from iosonde.engine.order_statistics import in_table_order
from iosonde.engine.ordering import key_columns
from iosonde.engine.parquet import PARQUET, names, parquet, write_parquet
from iosonde.engine.spool import NULL_SQL
from iosonde.weather.rollups.derive import numbered, whole
from iosonde.weather.rollups.histograms import SummedHistograms
from iosonde.weather.rollups.intervals import IntervalParts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from iosonde.model.arrays import Ints

SCHEMA_VERSION = 2
_PARQUET = f"{PARQUET}, COMPRESSION_LEVEL 9, DICTIONARY_SIZE_LIMIT 0"
"""Parquet options without a dictionary, which costs more than it saves for few targets."""
_LISTS = ("service", "response")


@dataclass(frozen=True)
class IntervalColumns:
    """Columns to read beside the counts."""

    quantiles: tuple[str, ...] = ()
    """Names out of ``QUANTILE_COLUMNS``."""
    service: bool = True
    response: bool = True


def write(
    con: duckdb.DuckDBPyConnection, found: IntervalParts, path: Path, stems: Sequence[str] = ()
) -> None:
    """Write intervals atomically as a file; ``stems``: of several segments.

    Raises OSError, duckdb.Error.
    """
    try:
        con.register(
            "scalars",
            key_columns(found.series, found.columns["id"])
            | found.columns
            | {"place": np.arange(len(found.differs)), "differs": found.differs},
        )
        for name in _LISTS:
            con.register(f"{name}_flat", _flat(getattr(found, name)))
        joins = " ".join(
            f"LEFT JOIN (SELECT place, list(bucket ORDER BY bucket) AS {name}_bucket, "
            f"list(count ORDER BY bucket) AS {name}_count FROM {name}_flat GROUP BY place) "
            "USING (place)"
            for name in _LISTS
        )
        sql = f"SELECT {_columns()} FROM scalars {joins} ORDER BY target, op, start_ns, host, period_ns"
        write_parquet(con, sql, path, _PARQUET, stems=stems, version=SCHEMA_VERSION)
    finally:
        for name in ("scalars", *(f"{name}_flat" for name in _LISTS)):
            with contextlib.suppress(duckdb.Error):
                con.unregister(name)


def _flat(histograms: SummedHistograms) -> dict[str, Any]:
    place = np.repeat(np.arange(len(histograms)), np.diff(histograms.offsets))
    return {"place": place, "bucket": histograms.bucket, "count": histograms.count}


def _columns() -> str:
    """SQL of a roll-up file's columns."""
    ends = (f"CASE WHEN NOT isnan({name}) THEN {name}::BIGINT END" for name in QUANTILE_COLUMNS)
    made = {"schema_version": f"{SCHEMA_VERSION}", "quantiles_ns": f"[{', '.join(ends)}]"}
    made |= {name: f"nullif({name}, {NULL_SQL})" for name in ("min_ns", "max_ns")}
    made |= {
        f"response_{part}": f"CASE WHEN differs THEN coalesce(response_{part}, []) END"
        for part in ("bucket", "count")
    }
    made |= {f"service_{part}": f"coalesce(service_{part}, [])" for part in ("bucket", "count")}
    return ", ".join(
        f"({made.get(name, name)})::{kind} AS {name}" for name, kind in ROLLUP_TYPES.items()
    )


def of_layout_1(con: duckdb.DuckDBPyConnection, paths: Sequence[Path]) -> set[Path]:
    """Files without quantiles. Raises duckdb.Error."""
    sql = f"SELECT DISTINCT file_name FROM parquet_schema({names(paths)}) WHERE name = "
    newer = con.execute(f"{sql}'quantiles_ns'").fetchall()
    return set(paths) - {Path(name) for (name,) in newer}


def read(
    con: duckdb.DuckDBPyConnection,
    paths: Sequence[Path],
    where: str,
    wanted: IntervalColumns,
    *,
    starts: Ints | None = None,
    layout_1: bool = False,
) -> IntervalParts:
    """Read the ``wanted`` columns of the intervals in files for which ``where`` holds.

    ``starts``: only those that begin then; ascending. Files of ``layout_1`` have to be told apart
    where quantiles are wanted. Raises duckdb.Error, also when a histogram does not hold as many
    latencies as it should.
    """
    known = len(wanted.quantiles) > 0 and not layout_1
    _attach(con, paths, where, wanted, starts)
    rows = in_table_order(con, _scalars(wanted.quantiles if known else (), wanted.response))
    series, ids = numbered(rows)
    columns: dict[str, Any] = {name: whole(rows[name]) for name in ("start_ns", *ROLLUP_COUNTS)}
    n = len(ids)
    nothing = np.full(n, np.nan)
    columns |= {name: np.ma.getdata(rows[name]) if known else nothing for name in wanted.quantiles}
    service = _service(con, columns["n_seen"]) if wanted.service else _none(n)
    response = _response(con, whole(rows["lengths"])) if wanted.response else _none(n)
    differs, exact = (
        np.ma.getdata(rows[name]).astype(bool) if name in rows else np.zeros(n, dtype=bool)
        for name in ("differs", "exact")
    )
    return IntervalParts(series, {"id": ids} | columns, service, response, differs, exact)


def _attach(
    con: duckdb.DuckDBPyConnection,
    paths: Sequence[Path],
    where: str,
    wanted: IntervalColumns,
    starts: Ints | None,
) -> None:
    """Create the view ``rolled``, which several queries read in one order.

    So nothing in it may become a join, whose order is the engine's choice; that with ``starts`` is
    done once, into a table.
    """
    con.execute("SET disabled_optimizers = 'in_clause'")
    unasked = [] if wanted.response else ["response_bucket", "response_count"]
    unasked += [] if wanted.service else ["service_bucket", "service_count"]
    columns = f"* EXCLUDE ({', '.join(unasked)})" if unasked else "*"
    sql = f"SELECT {columns} FROM {parquet(paths)}"
    if starts is not None:
        con.register("starts", {"start_ns": starts})
        sql = f"{sql} SEMI JOIN starts USING (start_ns) WHERE {where}"
        sql += f" AND start_ns BETWEEN {starts[0]} AND {starts[-1]}"
        con.execute(f"CREATE OR REPLACE TEMP TABLE some_rolled AS {sql}")
        con.unregister("starts")
        sql, where = "SELECT * FROM some_rolled", "true"
    con.execute(f"CREATE OR REPLACE TEMP VIEW rolled AS {sql} WHERE {where}")


def _scalars(quantiles: Sequence[str], differs: bool) -> str:
    """SQL of all scalar columns."""
    keys = ", ".join(SERIES_KEY)
    columns = [keys, f"hash({keys}) AS series", "start_ns", *ROLLUP_COUNTS[:4]]
    columns += [f"coalesce({name}, {NULL_SQL}) AS {name}" for name in ROLLUP_COUNTS[4:]]
    if differs:
        columns.append("response_bucket IS NOT NULL AS differs")
        columns.append("coalesce(len(response_bucket), 0) AS lengths")
    places = {name: place for place, name in enumerate(QUANTILE_COLUMNS, 1)}
    columns += [
        f"coalesce(quantiles_ns[{places[name]}]::DOUBLE, 'nan') AS {name}" for name in quantiles
    ]
    columns += ["quantiles_ns IS NOT NULL AS exact"] if quantiles else []
    return f"SELECT {', '.join(columns)} FROM rolled"


def _none(rows: int) -> SummedHistograms:
    """Empty histograms, ``rows`` of them."""
    offsets = np.zeros(rows + 1, dtype=np.int64)
    return SummedHistograms(offsets, np.zeros(0, dtype=np.uint16), np.zeros(0, dtype=np.uint32))


def _service(con: duckdb.DuckDBPyConnection, n_seen: Ints) -> SummedHistograms:
    try:
        return SummedHistograms.of_totals(n_seen, *_unnested(con, "service"))
    except ValueError as error:
        raise duckdb.InvalidInputException(str(error)) from error


def _response(con: duckdb.DuckDBPyConnection, lengths: Ints) -> SummedHistograms:
    bucket, count = _unnested(con, "response")
    if len(bucket) != lengths.sum():
        raise duckdb.InvalidInputException("a histogram has fewer buckets than counts")
    return SummedHistograms(np.concatenate(([0], np.cumsum(lengths))), bucket, count)


def _unnested(con: duckdb.DuckDBPyConnection, name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Buckets and counts of all rows concatenated; the shorter list is padded with nulls."""
    parts = (("bucket", np.uint16), ("count", np.uint32))
    lists = ", ".join(f"unnest({name}_{part}) AS {part}" for part, _ in parts)
    found = in_table_order(con, f"SELECT {lists} FROM rolled")
    if any(np.ma.is_masked(column) for column in found.values()):
        raise duckdb.InvalidInputException("a histogram has fewer counts than buckets")
    bucket, count = (np.ma.getdata(found[part]).astype(kind, copy=False) for part, kind in parts)
    return bucket, count
