"""Boxes of whole series in SQL: exact quartiles, whiskers, and all outliers, single or counted."""

from __future__ import annotations

from typing import Any

import numpy as np

from iosonde.engine.contract import DERIVED, SERIES_KEY
from iosonde.engine.order_statistics import floats
from iosonde.engine.query import Query
from iosonde.engine.reader import SampleFilter
from iosonde.model.frames import Frame

MANY = 2_000
"""Number of outliers of a series from which on they are counted on a grid ..."""
PER_DECADE = 24
"""... of this many levels a decade."""

_SERVICE = f"greatest({DERIVED['service_ns']}, 1)::DOUBLE"


def boxes_query(scope: SampleFilter, reach: float, least: int) -> Query[tuple[Frame, Frame]]:
    """Query for boxes of the samples of ``scope``, and their outliers (see ``Store.boxes``)."""
    key = ", ".join(SERIES_KEY)
    few = f"n < {least}"
    quartiles = ", ".join(
        f"CASE WHEN NOT {few} THEN q[{i}] END AS {name}"
        for i, name in enumerate(("q25_ns", "q50_ns", "q75_ns"), 1)
    )
    placed = (
        f"(SELECT {key}, {_SERVICE} AS v, below, above "
        f"FROM samples JOIN fences USING ({key}) WHERE outcome = 'ok')"
    )
    level = f"pow(10, (floor({PER_DECADE} * log10(v)) + 0.5) / {PER_DECADE})"
    beyond = f"FROM {placed} JOIN many USING ({key}) WHERE NOT v BETWEEN below AND above"
    return Query(
        (
            f"SELECT {key}, n_due, n, {quartiles}, low AS low_ns, high AS high_ns "
            f"FROM fences LEFT JOIN whiskers USING ({key}) ORDER BY {key}",
            f"SELECT {key}, v AS latency_ns, 1 AS n {beyond} AND NOT counted UNION ALL "
            f"SELECT {key}, {level} AS latency_ns, count(*) AS n {beyond} AND counted GROUP BY ALL "
            f"ORDER BY {key}, latency_ns",
        ),
        _frames,
        scope,
        tables={
            "quartiles": f"SELECT {key}, "
            "count(*) FILTER (outcome <> 'shed') AS n_due, count(*) FILTER (outcome = 'ok') AS n, "
            f"quantile_disc({_SERVICE}, [0.25, 0.5, 0.75]) FILTER (outcome = 'ok') AS q "
            "FROM samples GROUP BY ALL",
            "fences": f"SELECT *, CASE WHEN {few} THEN 'inf'::DOUBLE "
            f"ELSE q[1] / pow(q[3] / q[1], {reach}) END AS below, CASE WHEN {few} THEN '-inf'::DOUBLE "
            f"ELSE q[3] * pow(q[3] / q[1], {reach}) END AS above FROM quartiles",
            "whiskers": f"SELECT {key}, min(v) AS low, max(v) AS high "
            f"FROM {placed} WHERE v BETWEEN below AND above GROUP BY ALL",
            "many": f"SELECT {key}, count(*) > {MANY} AS counted "
            f"FROM {placed} WHERE NOT v BETWEEN below AND above GROUP BY ALL",
        },
    )


def _frames(boxes: dict[str, Any], outside: dict[str, Any]) -> tuple[Frame, Frame]:
    return _frame(boxes), _frame(outside)


def _frame(columns: dict[str, Any]) -> Frame:
    """Fetched columns; latencies are float64 with NaN for null."""
    latencies = [name for name in columns if name.endswith("_ns") and name != "period_ns"]
    return Frame(
        {
            name: floats(column) if name in latencies else np.ma.getdata(column)
            for name, column in columns.items()
        }
    )
