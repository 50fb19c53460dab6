"""Samples summed up by ten minutes: what a roll-up is, from the rows or from a file.

::

    samples -> groups (series, interval): counts, lists of latencies -> histograms
    one sealed segment -> one Parquet file, by rename; histograms as two lists, bucket and count

Where the response latency of every row is its service latency, which is the rule, the response
lists are null.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np

from iosonde.model.frames import SeriesKey
from iosonde.store.columns import (
    DERIVED,
    INTERVAL_NS,
    LOST,
    RESPONSE,
    ROLLUP_COUNTS,
    ROLLUP_TYPES,
    SERIES_KEY,
)
from iosonde.store.drafts import draft_of, sync
from iosonde.store.histograms import Histograms
from iosonde.store.intervals import Intervals
from iosonde.store.picks import Ragged, in_table_order, lengths_of, lists_of, values_of
from iosonde.store.series import key_columns
from iosonde.store.spool import NULL_SQL, literal

if TYPE_CHECKING:
    from numpy.typing import NDArray

SCHEMA_VERSION = 1
_SERVICE = f"CASE WHEN outcome = 'ok' THEN {DERIVED['service_ns']} END"


def derived(con: duckdb.DuckDBPyConnection) -> Intervals:
    """The intervals of the view ``samples``, each in one part."""
    key = ", ".join(SERIES_KEY)
    con.execute(
        "CREATE OR REPLACE TEMP TABLE groups AS "
        f"SELECT *, CASE WHEN differs THEN r END AS response FROM (SELECT {key}, "
        f"due_ns // {INTERVAL_NS} * {INTERVAL_NS} AS start_ns, "
        "count(*) FILTER (outcome <> 'shed') AS n_due, count(service) AS n_seen, "
        f"count(*) FILTER ({LOST}) AS n_lost, coalesce(sum(service), 0)::BIGINT AS sum_ns, "
        f"coalesce(min(service), {NULL_SQL}) AS min_ns, "
        f"coalesce(max(service), {NULL_SQL}) AS max_ns, "
        "bool_or(service IS DISTINCT FROM response) AS differs, "
        "list(service) FILTER (service IS NOT NULL) AS s, "
        "list(response) FILTER (response IS NOT NULL) AS r "
        f"FROM (SELECT *, {_SERVICE} AS service, {RESPONSE} AS response FROM samples) GROUP BY ALL)"
    )
    return _fetched(con, "groups", _of_lists(con))


def _of_lists(con: duckdb.DuckDBPyConnection) -> tuple[Histograms, Histograms]:
    service, response = (Histograms.of(lists_of(con, "groups", name)) for name in ("s", "response"))
    return service, response


def _fetched(
    con: duckdb.DuckDBPyConnection, source: str, histograms: tuple[Histograms, Histograms]
) -> Intervals:
    """Rows of ``source`` in its order, with their histograms."""
    names = ", ".join((*SERIES_KEY, "start_ns", *ROLLUP_COUNTS, "differs"))
    rows = in_table_order(con, f"SELECT {names} FROM {source}")
    series, ids = _numbered(rows)
    columns = {
        name: np.ma.getdata(rows[name]).astype(np.int64) for name in ("start_ns", *ROLLUP_COUNTS)
    }
    differs = np.ma.getdata(rows["differs"]).astype(bool)
    return Intervals(series, {"id": ids} | columns, *histograms, differs)


def _numbered(rows: dict[str, Any]) -> tuple[list[SeriesKey], NDArray[np.int64]]:
    """The series that occur, and for each row which it is of; rows of one lie side by side mostly."""
    words = [np.ma.getdata(rows[name]) for name in SERIES_KEY]
    changed = np.ones(len(words[0]), dtype=bool)
    if len(changed):
        changed[1:] = np.any([word[1:] != word[:-1] for word in words], axis=0)
    place: dict[SeriesKey, int] = {}
    keys = zip(*(word[changed].tolist() for word in words), strict=True)
    ids = np.array([place.setdefault(SeriesKey(*key), len(place)) for key in keys], dtype=np.int64)
    return list(place), ids[np.cumsum(changed) - 1]


def write(con: duckdb.DuckDBPyConnection, found: Intervals, path: Path) -> None:
    """Intervals as a file that appears whole or not at all. Raises OSError, duckdb.Error."""
    draft = draft_of(path)
    lists = ("service", "response")
    try:
        con.register(
            "scalars",
            key_columns(found.series, found.columns["id"])
            | found.columns
            | {"place": np.arange(len(found.differs)), "differs": found.differs},
        )
        for name in lists:
            con.register(f"{name}_flat", _flat(getattr(found, name)))
        joins = " ".join(
            f"LEFT JOIN (SELECT place, list(bucket ORDER BY bucket) AS {name}_bucket, "
            f"list(count ORDER BY bucket) AS {name}_count FROM {name}_flat GROUP BY place) "
            "USING (place)"
            for name in lists
        )
        con.execute(
            f"COPY (SELECT {_columns()} FROM scalars {joins} ORDER BY target, op, start_ns, host, "
            f"period_ns) TO {literal(str(draft))} (FORMAT parquet, COMPRESSION zstd, "
            f"PARQUET_VERSION v2, KV_METADATA {{schema_version: '{SCHEMA_VERSION}'}})"
        )
        sync(draft)
        draft.replace(path)
        sync(path.parent)
    finally:
        for name in ("scalars", *(f"{name}_flat" for name in lists)):
            with contextlib.suppress(duckdb.Error):
                con.unregister(name)
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)


def _flat(histograms: Histograms) -> dict[str, Any]:
    place = np.repeat(np.arange(len(histograms)), np.diff(histograms.offsets))
    return {"place": place, "bucket": histograms.bucket, "count": histograms.count}


def _columns() -> str:
    """SQL of a roll-up file's columns."""
    made = {"schema_version": f"{SCHEMA_VERSION}"}
    made |= {name: f"nullif({name}, {NULL_SQL})" for name in ("min_ns", "max_ns")}
    made |= {
        f"response_{part}": f"CASE WHEN differs THEN coalesce(response_{part}, []) END"
        for part in ("bucket", "count")
    }
    made |= {f"service_{part}": f"coalesce(service_{part}, [])" for part in ("bucket", "count")}
    return ", ".join(
        f"({made.get(name, name)})::{kind} AS {name}" for name, kind in ROLLUP_TYPES.items()
    )


def read(
    con: duckdb.DuckDBPyConnection, paths: Sequence[Path], where: str, *, response: bool = True
) -> Intervals:
    """The intervals in files for which ``where`` holds; without ``response`` those stay empty.

    Raises duckdb.Error, also when a histogram does not hold as many latencies as it should.
    """
    names = ", ".join(literal(str(path)) for path in paths)
    con.execute(
        "CREATE OR REPLACE TEMP VIEW rolled AS SELECT * REPLACE ("
        f"coalesce(min_ns, {NULL_SQL}) AS min_ns, coalesce(max_ns, {NULL_SQL}) AS max_ns), "
        "response_bucket IS NOT NULL AS differs "
        f"FROM read_parquet([{names}], hive_partitioning = false) WHERE {where}"
    )
    nothing = Histograms.of(Ragged.of(np.zeros(0, dtype=np.int64), np.zeros(0)))
    found = _fetched(con, "rolled", (nothing, nothing))
    try:
        service = Histograms.of_totals(found.columns["n_seen"], *_unnested(con, "service"))
    except ValueError as error:
        raise duckdb.InvalidInputException(str(error)) from error
    return replace(found, service=service, response=_responses(con) if response else service.none())


def _responses(con: duckdb.DuckDBPyConnection) -> Histograms:
    lengths = lengths_of(con, "rolled", "response_bucket")
    bucket, count = _unnested(con, "response")
    if not len(bucket) == len(count) == lengths.sum():
        raise duckdb.InvalidInputException("a histogram has fewer counts than buckets")
    return Histograms(np.concatenate(([0], np.cumsum(lengths))), bucket, count)


def _unnested(con: duckdb.DuckDBPyConnection, name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    parts = (("bucket", np.uint16), ("count", np.uint32))
    bucket, count = (
        values_of(con, "rolled", f"{name}_{part}").astype(kind, copy=False) for part, kind in parts
    )
    return bucket, count
