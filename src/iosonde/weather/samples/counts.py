"""SQL counts of requested and failed operations."""

from __future__ import annotations

from iosonde.engine.contract import DERIVED, SERIES_KEY
from iosonde.weather.lateness import with_held_up

_MOVING = "('data_read', 'data_write', 'md_create', 'md_read')"
"""Operations that transfer their ``size_bytes``."""
CACHES = ("direct", "buffered", "evicted", "cached", "unknown")


def tally_sql() -> str:
    """SQL that counts the view ``samples`` by series (see ``Store.tally``).

    Counted by outcome and cache first: a filter is then asked once a group, not once a row.
    """
    key = ", ".join(SERIES_KEY)
    groups = (
        f"SELECT {key}, outcome, cache, count(*) AS n, count(began_ns) AS n_begun, "
        f"count(*) FILTER (held_up) AS n_held_up, sum(size_bytes) AS size_bytes, "
        f"sum({DERIVED['service_ns']}) AS busy_ns FROM {with_held_up()} GROUP BY {key}, outcome, cache"
    )
    lost = "CASE outcome WHEN 'shed' THEN 0 WHEN 'ok' THEN n_held_up ELSE n END"
    sums = {
        "n_due": "sum(n) FILTER (outcome <> 'shed')",
        "n_lost": f"sum({lost})",
        "n_begun": "sum(n_begun)",
        "moved_bytes": f"sum(size_bytes) FILTER (outcome = 'ok' AND op IN {_MOVING})",
        "busy_ns": "sum(busy_ns)",
        **{name: f"sum(n) FILTER (outcome = 'ok' AND cache = '{name}')" for name in CACHES},
    }
    columns = ", ".join(f"coalesce({sum_}, 0)::BIGINT AS {name}" for name, sum_ in sums.items())
    return f"SELECT {key}, {columns} FROM ({groups}) GROUP BY {key} ORDER BY {key}"
