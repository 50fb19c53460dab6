"""Computation of roll-ups: samples summed up by ten minutes.

::

    samples -> groups (series, interval): counts, list of service times      (engine)
    lists sorted once -> sum, least, most, quantiles at their ranks, histogram

The response time of most rows is their service time. So only those rows are listed for which
it is not, and their buckets are moved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np

from iosonde import _core
from iosonde.engine.contract import (
    DERIVED,
    INTERVAL_NS,
    LOST,
    QUANTILES,
    RESPONSE,
    SERIES_KEY,
)
from iosonde.engine.order_statistics import Ragged, in_table_order, values_of
from iosonde.model.frames import NULL_NS, SeriesKey
from iosonde.weather.lateness import with_held_up
from iosonde.weather.rollups.histograms import SummedHistograms
from iosonde.weather.rollups.intervals import IntervalParts

if TYPE_CHECKING:
    from iosonde.model.arrays import Ints, Places

_LISTS = ("s", "without", "instead")
_SERVICE = f"CASE WHEN outcome = 'ok' THEN {DERIVED['service_ns']} END"


def derived(con: duckdb.DuckDBPyConnection) -> IntervalParts:
    """Intervals of the view ``samples``, each in one part, with all columns."""
    key = ", ".join(SERIES_KEY)
    con.execute(
        f"CREATE OR REPLACE TEMP TABLE groups AS SELECT {key}, "
        f"due_ns // {INTERVAL_NS} * {INTERVAL_NS} AS start_ns, "
        "count(*) FILTER (outcome <> 'shed') AS n_due, "
        f"count(*) FILTER ({LOST}) AS n_lost, "
        "list(service) FILTER (service IS NOT NULL) AS s, "
        "list(service) FILTER (differs AND service IS NOT NULL) AS without, "
        "list(response) FILTER (differs AND response IS NOT NULL) AS instead "
        "FROM (SELECT *, service IS DISTINCT FROM response AS differs "
        f"FROM (SELECT *, {_SERVICE} AS service, {RESPONSE} AS response FROM {with_held_up()})) GROUP BY ALL"
    )
    lengths = ", ".join(f"coalesce(len({name}), 0) AS {name}" for name in _LISTS)
    rows = in_table_order(
        con, f"SELECT {key}, hash({key}) AS series, start_ns, n_due, n_lost, {lengths} FROM groups"
    )
    s, without, instead = (Ragged.of(values_of(con, "groups", n), whole(rows[n])) for n in _LISTS)
    lists = s.each_sorted()
    series, ids = numbered(rows)
    counts = {name: whole(rows[name]) for name in ("start_ns", "n_due", "n_lost")}
    differs = np.diff(without.offsets) + np.diff(instead.offsets) > 0
    service = SummedHistograms.of(lists)
    response = _response(service, without, instead, np.flatnonzero(differs))
    columns = {"id": ids} | counts | _statistics(lists)
    return IntervalParts(series, columns, service, response, differs, np.ones_like(differs))


def numbered(rows: dict[str, Any]) -> tuple[list[SeriesKey], Ints]:
    """Distinct series, and the index of each row's; ``series`` is a hash of its key."""
    _, first, ids = np.unique(whole(rows["series"]), return_index=True, return_inverse=True)
    words = (np.ma.getdata(rows[name])[first].tolist() for name in SERIES_KEY)
    return [SeriesKey(*key) for key in zip(*words, strict=True)], ids


def whole(column: Any) -> Ints:
    """A fetched column without nulls as int64."""
    found: Ints = np.ma.getdata(column).astype(np.int64, copy=False)
    return found


def _statistics(lists: Ragged) -> dict[str, Any]:
    """n_seen, sum, minimum and maximum, and quantiles, of sorted lists."""
    n = np.diff(lists.offsets)
    ends, there = lists.at(np.stack((np.minimum(n, 1), n), axis=1))
    ends = np.where(there, ends, NULL_NS)
    columns = {"n_seen": n, "sum_ns": lists.sums(), "min_ns": ends[:, 0], "max_ns": ends[:, 1]}
    sizes, which = np.unique(n, return_inverse=True)
    for name, q in QUANTILES.items():
        ranks = [_core.quantile_ranks(size, q) or (0, 0, 0) for size in sizes.tolist()]
        found, there = lists.at(np.array(ranks, dtype=np.int64).reshape(-1, 3)[which])
        values = np.where(there, found, np.nan)
        for place, end in enumerate(("_lower", "", "_upper")):
            columns[f"{name}{end}_ns"] = values[:, place]
    return columns


def _response(
    service: SummedHistograms, without: Ragged, instead: Ragged, differ: Places
) -> SummedHistograms:
    """Histograms of response time of the rows that ``differ``; the others stay empty."""
    changes = (Ragged(lists.values, _edges(lists, differ)) for lists in (without, instead))
    found = service.take(differ).replaced(*changes)
    lengths = np.zeros(len(service), dtype=np.int64)
    lengths[differ] = np.diff(found.offsets)
    return SummedHistograms(np.concatenate(([0], np.cumsum(lengths))), found.bucket, found.count)


def _edges(lists: Ragged, rows: Places) -> Ints:
    """Offsets of the lists of some rows; those of the others are empty."""
    return np.append(lists.offsets[rows], len(lists.values))
