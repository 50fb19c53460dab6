"""Two-dimensional histograms of samples, counted by the engine."""

from __future__ import annotations

from iosonde.store.columns import DERIVED, SERIES_KEY

KIND = (
    "CASE outcome WHEN 'ok' THEN 'ok' WHEN 'skipped' THEN 'skipped' "
    "WHEN 'pending' THEN 'pending' ELSE 'failed' END"
)
"""What became of an operation, in four words."""
LATENCY = f"CASE WHEN outcome = 'ok' THEN {DERIVED['service_ns']} ELSE {DERIVED['felt_ns']} END"
"""How long it took (ok), or how long a user waited for nothing."""


def cells_sql(bin_ns: int, per_decade: int) -> str:
    """SQL that counts the view ``samples`` on a grid (see ``Store.cells``)."""
    key = ", ".join(SERIES_KEY)
    level = f"floor({per_decade} * log10(greatest({LATENCY}, 1)))"
    return (
        f"SELECT {key}, due_ns // {bin_ns} * {bin_ns} AS start_ns, {bin_ns} AS bin_ns, "
        f"{KIND} AS kind, "
        f"CASE WHEN {LATENCY} IS NOT NULL THEN {level} END AS level, count(*) AS n "
        "FROM samples WHERE outcome <> 'shed' GROUP BY ALL ORDER BY ALL"
    )
