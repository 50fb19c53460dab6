"""Two-dimensional histograms of samples, counted by the engine."""

from __future__ import annotations

from iosonde.engine.contract import DERIVED, SERIES_KEY

KIND = (
    "CASE outcome WHEN 'ok' THEN 'ok' WHEN 'skipped' THEN 'skipped' "
    "WHEN 'pending' THEN 'pending' ELSE 'failed' END"
)
"""Outcome of an operation, in four words."""
LATENCY = f"CASE WHEN outcome = 'ok' THEN {DERIVED['service_ns']} ELSE {DERIVED['response_ns']} END"
"""Service time (ok), or the waiting time of a user (others)."""


def levels_sql(per_decade: int, by_run: bool) -> str:
    """SQL that counts successful operations on a grid of log latency alone (see ``Store.levels``)."""
    run = "run_id" if by_run else "''"
    service = DERIVED["service_ns"]
    return (
        f"SELECT target, {run} AS run_id, op, "
        f"floor({per_decade} * log10(greatest({service}, 1)))::BIGINT AS level, count(*) AS n "
        f"FROM samples WHERE outcome = 'ok' AND {service} IS NOT NULL GROUP BY ALL ORDER BY ALL"
    )


def sparse_sql(wanted: int, above_ns: int, seed: int, by_run: bool) -> str:
    """SQL that picks about ``wanted`` samples per op, and all slow ones (see ``Store.sparse``)."""
    run = "run_id" if by_run else "''"
    lot = f"hash(due_ns, host, op, run_id, {int(seed)})::DOUBLE / 18446744073709551616.0"
    return (
        f"WITH every AS (SELECT *, {LATENCY} AS took, count(*) OVER (PARTITION BY target, {run}, op) AS of_all "
        "FROM samples WHERE outcome <> 'shed') "
        f"SELECT target, {run} AS run_id, op, of_all, due_ns, outcome, "
        f"{DERIVED['service_ns']} AS service_ns, {DERIVED['response_ns']} AS response_ns FROM every "
        f"WHERE outcome <> 'ok' OR took > {int(above_ns)} OR {lot} < {int(wanted)} / of_all "
        "ORDER BY target, 2, op, due_ns"
    )


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
