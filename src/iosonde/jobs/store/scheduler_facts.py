"""Scheduler's facts for runs that another tool recorded: user, account, name, nodes, ranks, state.

::

    a run, e.g. of Darshan -> records of the same job id that ran at that time    (engine)
    the job as a whole before its steps, the nearest in time before others -> the first that says a fact

A job id comes back: after a requeue, after years, on another cluster. A record counts only if it ran while the run
did (clocks may be ``_SLACK_NS`` apart) and if neither names another cluster; none counts where the run names none and
records of two clusters fit. What the run says itself stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.engine.parts import table_rows
from iosonde.model.jobs import LABELS, SIZES

if TYPE_CHECKING:
    import duckdb

STORED_LABELS = (*(name for name in LABELS if name != "raw_id"), "shown_id")
"""Texts of a record that another record of the run may say."""
_SLACK_NS = 60_000_000_000
_HELPERS = "('batch', 'extern', 'interactive')"
"""Slurm's own steps, irrelevant to the size of a job."""
_SCHEDULED = "(j.state <> '' OR j.nodes IS NOT NULL OR j.node_names <> '')"
"""Marks of a scheduler's record: a state or nodes, which counters of servers and logs of programs lack."""
_OF_JOB = ("node_names", "nodes")


def with_scheduler_facts(
    con: duckdb.DuckDBPyConnection, table: str, jobs: Sequence[Path], own: str
) -> None:
    """Fill ``STORED_LABELS`` and ``SIZES`` of runs, a table with ``job_id source start_ns end_ns`` and ``row``.

    ``jobs``: parts of the table jobs; ``own``: a table of sources whose records say nothing of others' runs. A size
    of several steps is the largest.
    """
    con.execute(
        f"CREATE TEMP TABLE facts AS SELECT row, {', '.join(map(_first, (*STORED_LABELS, 'nodes')))}, "
        f"max(ranks) FILTER (step NOT IN {_HELPERS}) AS ranks FROM ("
        f"SELECT r.row, j.step, {_facts('j')}, {_order()} AS place "
        f"FROM {table} r JOIN {table_rows(jobs)} j ON j.job_id = r.job_id "
        f"WHERE r.job_id <> '' AND {_SCHEDULED} AND {_meanwhile()} "
        "AND (j.system = '' OR r.system = '' OR j.system = r.system) "
        f"AND j.source NOT IN (SELECT source FROM {own})) "
        "GROUP BY row HAVING count(DISTINCT nullif(system, '')) <= 1"
    )
    filled = ", ".join(f'{_filled(name)} AS "{name}"' for name in (*STORED_LABELS, *SIZES))
    rest = ", ".join(f'"{name}"' for name in (*STORED_LABELS, *SIZES))
    con.execute(
        f"CREATE TEMP TABLE filled AS SELECT r.* EXCLUDE ({rest}), {filled} "
        f"FROM {table} r LEFT JOIN facts f ON f.row = r.row"
    )
    _replace(con, table, "filled")


def add_scheduled(
    con: duckdb.DuckDBPyConnection, table: str, jobs: Sequence[Path], inside: str
) -> None:
    """Add scheduler jobs without a run in the table at their time; renumber rows by start.

    A record that says a state or nodes is a scheduler's. What several sources say of one run is one row. ``inside``:
    SQL of the rows that count.
    """
    fullest = "node_names = '', end_ns IS NULL, \"user\" = '', source"
    con.execute(
        f"CREATE TEMP TABLE whole AS SELECT * FROM {table_rows(jobs)} WHERE step = '' AND {inside} "
        f"AND {_SCHEDULED.replace('j.', '')} AND state <> 'PENDING' QUALIFY "
        f"row_number() OVER (PARTITION BY job_id, start_ns, system ORDER BY {fullest}) = 1"
    )
    con.execute(
        f"CREATE TEMP TABLE tasks AS SELECT job_id, system, start_ns, ranks FROM {table_rows(jobs)} "
        f"WHERE step <> '' AND ranks > 0 AND step NOT IN {_HELPERS}"
    )
    con.execute(
        "UPDATE whole SET ranks = most FROM (SELECT w.job_id, w.start_ns, w.system, max(t.ranks) AS most "
        "FROM whole w JOIN tasks t ON t.job_id = w.job_id AND t.system = w.system AND t.start_ns >= w.start_ns "
        f"- {_SLACK_NS} AND t.start_ns <= coalesce(w.end_ns, t.start_ns) GROUP BY ALL) m WHERE whole.ranks IS NULL "
        "AND m.job_id = whole.job_id AND m.start_ns = whole.start_ns AND m.system = whole.system"
    )
    known = con.execute(f"SELECT * FROM {table} LIMIT 0").description or []
    columns = [str(one[0]) for one in known if one[0] != "row"]
    names = ", ".join(f'"{name}"' for name in columns)
    con.execute(
        f"CREATE TEMP TABLE numbered AS SELECT {names}, (row_number() OVER "
        f"(ORDER BY start_ns, job_id, step, source) - 1)::INTEGER AS row FROM (SELECT {names} FROM {table} "
        f"UNION ALL SELECT {names} FROM whole j WHERE NOT EXISTS (SELECT 1 FROM {table} r "
        f"WHERE r.job_id = j.job_id AND {_meanwhile()} AND (r.system IN ('', j.system) OR j.system = '')))"
    )
    _replace(con, table, "numbered")


def _replace(con: duckdb.DuckDBPyConnection, table: str, new: str) -> None:
    con.execute(f"DROP TABLE {table}")
    con.execute(f"ALTER TABLE {new} RENAME TO {table}")


def _filled(name: str) -> str:
    """SQL of the run's value, else the scheduler's; for a user a name is preferred to a number."""
    if name not in STORED_LABELS:
        return f"coalesce(r.{name}, f.{name})"
    own = f"nullif(r.\"{name}\", '')"
    if name == "user":
        own = f"nullif(regexp_replace(r.\"{name}\", '^[0-9]+$', ''), '')"
    return f'coalesce({own}, f."{name}", r."{name}")'


def _facts(table: str) -> str:
    return ", ".join(f'{table}."{name}"' for name in (*STORED_LABELS, *SIZES))


def _first(name: str) -> str:
    """SQL of the fact from the first record that has it."""
    value = f"nullif(\"{name}\", '')" if name in STORED_LABELS else name
    asked = f" FILTER (step NOT IN {_HELPERS})" if name in _OF_JOB else ""
    return f'arg_min({value}, place){asked} AS "{name}"'


def _meanwhile() -> str:
    return (
        f"j.start_ns <= coalesce(r.end_ns, r.start_ns) + {_SLACK_NS} "
        f"AND (j.end_ns IS NULL OR j.end_ns >= r.start_ns - {_SLACK_NS})"
    )


def _order() -> str:
    """SQL order: the job before its steps, then the nearest in time, then the last started."""
    apart = (
        "greatest(0, j.start_ns - r.start_ns, r.start_ns - coalesce(j.end_ns, r.start_ns))"
        " // 1000000000"
    )
    return f"((j.step <> '')::BIGINT * 100000 + least(99999, {apart})) * 10000000000 - j.start_ns // 1000000000"
