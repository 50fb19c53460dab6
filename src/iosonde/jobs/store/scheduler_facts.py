"""What a scheduler says of a run that another tool recorded: user, account, name, nodes, ranks, state.

::

    a run, e.g. of Darshan -> records of the same job id that ran at that time    (engine)
    the job as a whole before its steps, the nearest in time before others -> the first that says a fact

A job id comes back: after a requeue, after years, on another cluster. A record counts only if it ran while the run
did (clocks may be ``_SLACK_NS`` apart) and if neither names another cluster. What the run says itself stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.engine.contract import JOB_KEY
from iosonde.engine.parquet import parquet
from iosonde.model.jobs import LABELS, SIZES

if TYPE_CHECKING:
    import duckdb

_SLACK_NS = 60_000_000_000
_HELPERS = "('batch', 'extern', 'interactive')"
"""Steps of Slurm's own that say nothing about the size of a job."""
_OF_JOB = ("node_names", "nodes")


def with_scheduler_facts(con: duckdb.DuckDBPyConnection, table: str, jobs: Sequence[Path]) -> None:
    """Fill ``LABELS`` and ``SIZES`` of a table of runs that has ``JOB_KEY``, ``end_ns``, ``system`` and ``row``.

    ``jobs``: parts of the table jobs. A size of several steps is the largest.
    """
    key = " AND ".join(f"j.{name} IS NOT DISTINCT FROM r.{name}" for name in JOB_KEY)
    con.execute(
        f"CREATE TEMP TABLE beside AS SELECT row, j.step, {_facts('j')}, {_order()} AS place "
        f"FROM {table} r JOIN {parquet(jobs)} j ON j.job_id = r.job_id "
        f"WHERE r.job_id <> '' AND {_meanwhile()} AND (j.system = '' OR r.system = '' OR j.system = r.system) "
        f"AND j.source <> r.source AND NOT EXISTS (SELECT 1 FROM {table} r WHERE {key})"
    )
    con.execute(
        f"CREATE TEMP TABLE facts AS SELECT row, {', '.join(map(_first, (*LABELS, 'nodes')))}, "
        f"max(ranks) FILTER (step NOT IN {_HELPERS}) AS ranks FROM beside GROUP BY row"
    )
    for name in (*LABELS, *SIZES):
        con.execute(
            f'UPDATE {table} SET "{name}" = facts."{name}" FROM facts WHERE facts.row = {table}.row '
            f'AND {_unsaid(name, table)} AND facts."{name}" IS NOT NULL'
        )


def _unsaid(name: str, table: str) -> str:
    """Whether a run does not say a fact; the number of a user is less than the name."""
    if name == "user":
        return f"regexp_full_match({table}.\"{name}\", '[0-9]*')"
    return (
        f"nullif({table}.\"{name}\", '') IS NULL" if name in LABELS else f"{table}.{name} IS NULL"
    )


def _facts(table: str) -> str:
    return ", ".join(f'{table}."{name}"' for name in (*LABELS, *SIZES))


def _first(name: str) -> str:
    """The fact of the first record that says it."""
    value = f"nullif(\"{name}\", '')" if name in LABELS else name
    asked = f" FILTER (step NOT IN {_HELPERS})" if name in _OF_JOB else ""
    return f'arg_min({value}, place){asked} AS "{name}"'


def _meanwhile() -> str:
    return (
        f"j.start_ns <= coalesce(r.end_ns, r.start_ns) + {_SLACK_NS} "
        f"AND (j.end_ns IS NULL OR j.end_ns >= r.start_ns - {_SLACK_NS})"
    )


def _order() -> str:
    """The job before its steps, then what is nearest in time, then what began last."""
    apart = (
        "greatest(0, j.start_ns - r.start_ns, r.start_ns - coalesce(j.end_ns, r.start_ns))"
        " // 1000000000"
    )
    return f"((j.step <> '')::BIGINT * 100000 + least(99999, {apart})) * 10000000000 - j.start_ns // 1000000000"
