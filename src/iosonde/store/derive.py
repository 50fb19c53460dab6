"""Samples summed up by ten minutes: what a roll-up is, from the rows or from a file.

::

    samples -> groups (series, interval): counts, lists of latencies -> histograms
    one sealed segment -> one Parquet file, by rename; histograms as two lists, bucket and count

Where the response latency of every row is its service latency, which is the rule, the response
lists are null.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
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
from iosonde.store.histograms import Histograms
from iosonde.store.picks import lists_of
from iosonde.store.series import key_columns
from iosonde.store.spool import NULL_SQL, literal

if TYPE_CHECKING:
    from numpy.typing import NDArray

SCHEMA_VERSION = 1
_SERVICE = f"CASE WHEN outcome = 'ok' THEN {DERIVED['service_ns']} END"


@dataclass(frozen=True)
class Intervals:
    """Intervals in no order, each of a series once or in several parts.

    ``columns``: int64 ``id`` (which of ``series``), ``start_ns`` and ``ROLLUP_COUNTS`` (min_ns and
    max_ns are ``NULL_NS`` where nothing ended ok). ``response`` has an empty row where ``differs``
    is false: it is then the same as ``service``.
    """

    series: list[SeriesKey]
    columns: dict[str, NDArray[np.int64]]
    service: Histograms
    response: Histograms
    differs: NDArray[np.bool_]


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
    con.execute("SET preserve_insertion_order = true")
    key = ", ".join(SERIES_KEY)
    rows = con.execute(
        f"SELECT {key}, start_ns, {', '.join(ROLLUP_COUNTS)}, differs FROM {source}"
    ).fetchnumpy()
    con.execute("SET preserve_insertion_order = false")
    series, ids = _numbered(rows)
    columns = {
        name: np.ma.getdata(rows[name]).astype(np.int64) for name in ("start_ns", *ROLLUP_COUNTS)
    }
    differs = np.ma.getdata(rows["differs"]).astype(bool)
    return Intervals(series, {"id": ids} | columns, *histograms, differs)


def _numbered(rows: dict[str, Any]) -> tuple[list[SeriesKey], NDArray[np.int64]]:
    """The series that occur, and for each row which it is of."""
    place: dict[SeriesKey, int] = {}
    words = [np.ma.getdata(rows[name]).tolist() for name in SERIES_KEY]
    ids = [place.setdefault(SeriesKey(*key), len(place)) for key in zip(*words, strict=True)]
    return list(place), np.array(ids, dtype=np.int64)


def write(con: duckdb.DuckDBPyConnection, found: Intervals, path: Path) -> None:
    """Intervals as a file that appears whole or not at all. Raises OSError, duckdb.Error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.stem}.{secrets.token_hex(8)}.parquet")
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


def read(con: duckdb.DuckDBPyConnection, paths: Sequence[Path], where: str) -> Intervals:
    """The intervals in files for which ``where`` holds. Raises duckdb.Error."""
    names = ", ".join(literal(str(path)) for path in paths)
    con.execute(
        "CREATE OR REPLACE TEMP VIEW rolled AS SELECT * REPLACE ("
        f"coalesce(min_ns, {NULL_SQL}) AS min_ns, coalesce(max_ns, {NULL_SQL}) AS max_ns), "
        "response_bucket IS NOT NULL AS differs "
        f"FROM read_parquet([{names}], hive_partitioning = false) WHERE {where}"
    )
    return _fetched(con, "rolled", (_stored(con, "service"), _stored(con, "response")))


def _stored(con: duckdb.DuckDBPyConnection, name: str) -> Histograms:
    buckets, counts = (lists_of(con, "rolled", f"{name}_{part}") for part in ("bucket", "count"))
    if not np.array_equal(buckets.offsets, counts.offsets):
        raise duckdb.InvalidInputException(f"{name}_bucket and {name}_count differ in length")
    return Histograms(
        buckets.offsets, buckets.values.astype(np.uint16), counts.values.astype(np.uint32)
    )


def sync(path: Path) -> None:
    """Wait until a file or folder is on the device."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
