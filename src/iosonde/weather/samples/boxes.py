"""Boxes of whole series in SQL: exact quartiles, whiskers, and every outlier, drawn or counted."""

from __future__ import annotations

import duckdb
import numpy as np

from iosonde.engine.contract import DERIVED, SERIES_KEY
from iosonde.engine.order_statistics import floats
from iosonde.model.frames import Frame

MANY = 2_000
"""Outliers of a series from which on they are counted on a grid ..."""
PER_DECADE = 24
"""... of this many levels a decade."""

_SERVICE = f"greatest({DERIVED['service_ns']}, 1)::DOUBLE"


def box_tables(con: duckdb.DuckDBPyConnection, reach: float, least: int) -> tuple[Frame, Frame]:
    """Boxes of the view ``samples``, and what lies outside them (see ``Store.boxes``)."""
    key = ", ".join(SERIES_KEY)
    con.execute(
        f"CREATE TEMP TABLE quartiles AS SELECT {key}, "
        "count(*) FILTER (outcome <> 'shed') AS n_due, count(*) FILTER (outcome = 'ok') AS n, "
        f"quantile_disc({_SERVICE}, [0.25, 0.5, 0.75]) FILTER (outcome = 'ok') AS q "
        "FROM samples GROUP BY ALL"
    )
    few = f"n < {least}"
    con.execute(
        f"CREATE TEMP TABLE fences AS SELECT *, CASE WHEN {few} THEN 'inf'::DOUBLE "
        f"ELSE q[1] / pow(q[3] / q[1], {reach}) END AS below, CASE WHEN {few} THEN '-inf'::DOUBLE "
        f"ELSE q[3] * pow(q[3] / q[1], {reach}) END AS above FROM quartiles"
    )
    con.execute(
        f"CREATE TEMP VIEW placed AS SELECT {key}, {_SERVICE} AS v, below, above "
        f"FROM samples JOIN fences USING ({key}) WHERE outcome = 'ok'"
    )
    con.execute(
        f"CREATE TEMP TABLE whiskers AS SELECT {key}, min(v) AS low, max(v) AS high "
        "FROM placed WHERE v BETWEEN below AND above GROUP BY ALL"
    )
    boxes = con.execute(
        f"SELECT {key}, n_due, n, "
        + ", ".join(
            f"CASE WHEN NOT {few} THEN q[{i}] END AS {name}"
            for i, name in enumerate(("q25_ns", "q50_ns", "q75_ns"), 1)
        )
        + f", low AS low_ns, high AS high_ns FROM fences LEFT JOIN whiskers USING ({key}) "
        f"ORDER BY {key}"
    ).fetchnumpy()
    return _frame(boxes), _outside(con, key)


def _outside(con: duckdb.DuckDBPyConnection, key: str) -> Frame:
    """Every sample beyond a whisker: by itself, or counted at the middle of its level."""
    con.execute(
        f"CREATE TEMP TABLE many AS SELECT {key}, count(*) > {MANY} AS counted "
        "FROM placed WHERE NOT v BETWEEN below AND above GROUP BY ALL"
    )
    level = f"pow(10, (floor({PER_DECADE} * log10(v)) + 0.5) / {PER_DECADE})"
    beyond = f"FROM placed JOIN many USING ({key}) WHERE NOT v BETWEEN below AND above"
    rows = con.execute(
        f"SELECT {key}, v AS latency_ns, 1 AS n {beyond} AND NOT counted UNION ALL "
        f"SELECT {key}, {level} AS latency_ns, count(*) AS n {beyond} AND counted GROUP BY ALL "
        f"ORDER BY {key}, latency_ns"
    ).fetchnumpy()
    return _frame(rows)


def _frame(columns: dict[str, np.ndarray]) -> Frame:
    """Fetched columns; latencies are float64 with NaN for null."""
    latencies = [name for name in columns if name.endswith("_ns") and name != "period_ns"]
    return Frame(
        {
            name: floats(column) if name in latencies else np.ma.getdata(column)
            for name, column in columns.items()
        }
    )
