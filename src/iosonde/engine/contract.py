"""Columns of the tables, as ``schema/tables/*.toml`` has them (a test compares the two)."""

from __future__ import annotations

from collections.abc import Collection

SCHEMA_VERSION = 1

SAMPLE_TYPES: dict[str, str] = {
    "schema_version": "UTINYINT",
    "due_ns": "BIGINT",
    "began_ns": "BIGINT",
    "ended_ns": "BIGINT",
    "host": "VARCHAR",
    "target": "VARCHAR",
    "op": "VARCHAR",
    "period_ns": "BIGINT",
    "size_bytes": "INTEGER",
    "offset_bytes": "BIGINT",
    "outcome": "VARCHAR",
    "cache": "VARCHAR",
    "control_runq_ns": "BIGINT",
    "seed": "UBIGINT",
    "run_id": "VARCHAR",
}
"""DuckDB types, in file order."""

SAMPLE_ORDER = ("target", "op", "due_ns")
"""Sort order of a Parquet file: equal neighbours make it small, and time ranges prunable."""
SAMPLE_KEY = ("host", "target", "op", "due_ns", "run_id")
SERIES_KEY = ("host", "target", "op", "period_ns")

DERIVED: dict[str, str] = {
    "service_ns": "(ended_ns - began_ns)",
    "response_ns": "(ended_ns - due_ns)",
}
"""Latencies that follow from a sample, as SQL."""

LATE = "(began_ns - due_ns > period_ns // 10)"
"""SQL: the operation started late, because of an earlier operation (``held_up``) or else of the probing host."""
LOST = "(outcome <> 'shed' AND (outcome <> 'ok' OR held_up))"
"""SQL: delayed by an earlier one, skipped, timed out, failed or pending: not in time for a user. Needs the column
``held_up`` (``weather.lateness``), as the two below."""
RESPONSE = (
    "(CASE WHEN outcome IN ('skipped', 'timeout') OR (outcome = 'ok' AND held_up) "
    "THEN ended_ns - due_ns WHEN outcome = 'ok' THEN ended_ns - began_ns END)"
)
"""SQL: waiting time of a user: response time of operations that were held up or came to nothing with a known
end, else service time; null without either.
"""

FATE = (
    "(CASE WHEN outcome = 'ok' THEN CASE WHEN held_up THEN 1 ELSE 0 END WHEN outcome = 'shed' THEN 4 "
    "WHEN outcome IN ('skipped', 'timeout') AND ended_ns IS NOT NULL THEN 2 ELSE 3 END)"
)
"""SQL: outcome of an operation: 0 done, 1 done and held up, 2 came to nothing with a known end, 3 with an unknown
end, 4 not requested. Those of 1 to 3 are ``LOST``; ``RESPONSE`` is service time of 0, response of 1 and 2.
"""

QUANTILES: dict[str, float] = {
    "q25": 0.25,
    "q50": 0.50,
    "q75": 0.75,
    "q90": 0.90,
    "q95": 0.95,
    "q99": 0.99,
}
WINDOW_COLUMNS: tuple[str, ...] = (
    *SERIES_KEY,
    *("start_ns", "window_ns", "n_due", "n_seen", "mean_ns", "min_ns"),
    *(f"{name}_ns" for name in QUANTILES),
    "max_ns",
    *(f"{name}_{end}_ns" for name in QUANTILES for end in ("lower", "upper")),
    *("response_q99_ns", "runq_q50_ns", "late_q50_ns"),
)
WINDOW_KEY = (*SERIES_KEY, "start_ns", "window_ns", "n_due", "n_seen")
"""Columns of every window table; the others are statistics and may be left out."""
LEVEL_COLUMNS = ("levels_ns", "response_ns", "n_response", "n_lost", "n_late", "n_missed")
"""Level columns, which a window table has on request."""
HOST_COLUMNS = ("n_late", "n_missed")
"""Columns that only raw samples give: operations that the probing host alone started late, and never."""

INTERVAL_NS = 600_000_000_000
"""Length of a roll-up: ten minutes of one series."""
QUANTILE_COLUMNS = tuple(
    f"{name}{end}_ns" for name in QUANTILES for end in ("_lower", "", "_upper")
)
"""Order of the quantiles in a roll-up."""
ROLLUP_COUNTS = ("n_due", "n_seen", "n_lost", "sum_ns", "min_ns", "max_ns")
ROLLUP_TYPES: dict[str, str] = {
    "schema_version": "UTINYINT",
    **{name: SAMPLE_TYPES[name] for name in SERIES_KEY},
    "start_ns": "BIGINT",
    "n_due": "UINTEGER",
    "n_seen": "UINTEGER",
    "n_lost": "UINTEGER",
    "sum_ns": "BIGINT",
    "min_ns": "BIGINT",
    "max_ns": "BIGINT",
    "quantiles_ns": "BIGINT[]",
    "service_bucket": "USMALLINT[]",
    "service_count": "UINTEGER[]",
    "response_bucket": "USMALLINT[]",
    "response_count": "UINTEGER[]",
}
"""DuckDB types, in file order."""

RUN_TYPES: dict[str, str] = {
    "schema_version": "UTINYINT",
    **dict.fromkeys(("run_id", "source", "instrument", "host", "target"), "VARCHAR"),
    **dict.fromkeys(("backend", "pattern", "phase"), "VARCHAR"),
    "repetition": "INTEGER",
    "waiting_factor": "DOUBLE",
    "measurement": "INTEGER",
    "op": "VARCHAR",
    "rank": "INTEGER",
    "ranks": "INTEGER",
    **dict.fromkeys(("began_ns", "duration_ns", "ops", "failed", "bytes"), "BIGINT"),
    **dict.fromkeys(("rate_per_s", "stonewall_per_s", "corrected_per_s", "balance"), "DOUBLE"),
    **dict.fromkeys(("op_time_ns", "wait_time_ns", "cpu_time_ns"), "BIGINT"),
    **dict.fromkeys(("min_ns", "mean_ns", "q25_ns", "q50_ns"), "DOUBLE"),
    **dict.fromkeys(("q75_ns", "q90_ns", "q99_ns", "max_ns"), "DOUBLE"),
    "outcomes": "VARCHAR",
    "complete": "BOOLEAN",
    **dict.fromkeys(("sustained_bytes_per_s", "first_bytes_per_s", "last_bytes_per_s"), "DOUBLE"),
    "parameters": "VARCHAR",
    "machine": "VARCHAR",
}
"""DuckDB types, in file order."""
RUN_KEY = ("run_id", "phase", "repetition", "waiting_factor", "measurement", "op", "rank")
RUN_ORDER = ("run_id", "began_ns", "phase", "repetition", "waiting_factor", "op", "rank")

TRANSFER_TYPES: dict[str, str] = {
    "run_id": "VARCHAR",
    "repetition": "INTEGER",
    "direction": "VARCHAR",
    "rank": "INTEGER",
    **dict.fromkeys(("host", "file", "targets"), "VARCHAR"),
    **dict.fromkeys(("bytes", "open_begin_ns", "open_end_ns"), "BIGINT"),
    **dict.fromkeys(("transfer_begin_ns", "transfer_end_ns"), "BIGINT"),
    **dict.fromkeys(("close_begin_ns", "close_end_ns"), "BIGINT"),
    "position": "DOUBLE",
    "layout": "VARCHAR",
}
"""DuckDB types, in file order."""
RATE_TYPES: dict[str, str] = {
    "run_id": "VARCHAR",
    "repetition": "INTEGER",
    "direction": "VARCHAR",
    "rank": "INTEGER",
    **dict.fromkeys(("begin_ns", "bytes"), "BIGINT"),
}

METRIC_TYPES: dict[str, str] = {
    "schema_version": "UTINYINT",
    **dict.fromkeys(("time_ns", "step_ns"), "BIGINT"),
    **dict.fromkeys(("source", "system", "level", "component", "metric", "kind"), "VARCHAR"),
    "value": "DOUBLE",
    "unit": "VARCHAR",
    "missing": "DOUBLE",
    "flags": "VARCHAR",
}
METRIC_KEY = ("source", "system", "level", "metric", "component", "time_ns")
METRIC_ORDER = ("time_ns", "component")
EDGE_TYPES: dict[str, str] = {
    "schema_version": "UTINYINT",
    "time_ns": "BIGINT",
    **dict.fromkeys(("source", "system", "level", "child", "parent"), "VARCHAR"),
}
EDGE_KEY = ("source", "system", "level", "child", "time_ns")
EDGE_ORDER = ("time_ns", "level", "child")
JOB_TYPES: dict[str, str] = {
    "schema_version": "UTINYINT",
    **dict.fromkeys(("source", "job_id", "step", "system", "user", "account"), "VARCHAR"),
    **dict.fromkeys(("name", "app", "api", "mode", "direction", "file_system"), "VARCHAR"),
    "nodes": "BIGINT",
    "node_names": "VARCHAR",
    **dict.fromkeys(("ranks", "start_ns", "end_ns"), "BIGINT"),
    "state": "VARCHAR",
    "shown_id": "VARCHAR",
}
JOB_KEY = ("source", "job_id", "step", "start_ns", "system")
JOB_ORDER = ("start_ns", "job_id", "step")
SCALAR_TYPES: dict[str, str] = {
    "schema_version": "UTINYINT",
    **dict.fromkeys(("source", "job_id", "step"), "VARCHAR"),
    "start_ns": "BIGINT",
    "metric": "VARCHAR",
    "value": "DOUBLE",
    **dict.fromkeys(("unit", "origin"), "VARCHAR"),
    "n": "BIGINT",
    "missing": "DOUBLE",
    "age_ns": "BIGINT",
    "flags": "VARCHAR",
    "system": "VARCHAR",
}
SCALAR_KEY = (*JOB_KEY, "metric")
SCALAR_ORDER = ("start_ns", "job_id", "step", "metric")
DESCRIBED_TYPES: dict[str, str] = {
    "schema_version": "UTINYINT",
    **dict.fromkeys(("source", "metric"), "VARCHAR"),
    "place": "BIGINT",
    **dict.fromkeys(("unit", "label", "good", "role", "grouped"), "VARCHAR"),
}
DESCRIBED_KEY = ("source", "metric")
DESCRIBED_ORDER = ("source", "metric")
_LATER = {"shown_id": "node_names", "system": "origin"}
"""Columns of later versions, each with one that only its table has."""


def later(columns: Collection[str]) -> list[str]:
    """Columns of a table that files of earlier versions lack: null there."""
    return [name for name, own in _LATER.items() if name in columns and own in columns]
