"""Jobs with known performance, found without reading others.

::

    keys, span -> months that may hold them -> rows of jobs that begin there    (engine)
    of these, by the same months and begins: which have a performance           (engine)
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.engine.connections import connect
from iosonde.engine.contract import JOB_KEY
from iosonde.engine.parts import parts, select
from iosonde.engine.spool import literal
from iosonde.jobs.store.jobs import (
    JOB_COLUMNS,
    JOBS,
    PERFORMANCES,
    SCALARS,
    by_begin,
    jobs_of,
    month_of,
    unnamed_key,
)
from iosonde.jobs.store.metric_descriptions import read_described, tables_of_performance
from iosonde.model.jobs import Job, JobKey, KeyAnywhere
from iosonde.model.names import slug

if TYPE_CHECKING:
    import duckdb


class JobSelection(NamedTuple):
    """Jobs of some keys, and all that ran in the span (ns, both ends included); both None: every job.

    Keys are without clusters: an earlier record may have named that of one that names none.
    """

    keys: Collection[KeyAnywhere] | None
    span_ns: tuple[int, int] | None

    def has(self, job: Job) -> bool:
        """True if a job is selected."""
        if self.keys is None and self.span_ns is None:
            return True
        if self.keys is not None and job.key[:4] in self.keys:
            return True
        if self.span_ns is None or job.start_ns is None:
            return False
        return job.start_ns < self.span_ns[1] and (job.end_ns or job.start_ns) >= self.span_ns[0]


def measured_jobs(
    root: Path,
    *,
    keys: Collection[JobKey] | None = None,
    span_ns: tuple[int, int] | None = None,
) -> list[Job]:
    """Jobs with a performance (whose value may be missing), by begin, without their numbers.

    It is one of ``PERFORMANCES``, or their source is a table with a column for one (``metric_descriptions``).
    Those of ``keys``, and all that ran in the span; both None: every job.
    """
    asked = JobSelection(None if keys is None else frozenset(key[:4] for key in keys), span_ns)
    wanted = _of_parts(asked)
    tables = frozenset(tables_of_performance(read_described(root), PERFORMANCES))
    found: list[Job] = []
    con = connect(threads=2)
    try:
        for path in parts(root, JOBS):
            where = _where(path, asked, wanted)
            if where is None:
                continue
            for columns in select(", ".join(JOB_COLUMNS), [path], where, con=con):
                some = [job for job in jobs_of(columns) if asked.has(job)]
                found += _measured(con, root, path, some, tables)
    finally:
        con.close()
    return by_begin(found)


def _of_parts(asked: JobSelection) -> dict[tuple[str, str], list[KeyAnywhere]]:
    """Keys by the part that holds them."""
    found: dict[tuple[str, str], list[KeyAnywhere]] = {}
    for key in asked.keys or ():
        found.setdefault((f"month={month_of(key[3])}", slug(key[0])), []).append(key)
    return found


def _where(
    path: Path, asked: JobSelection, wanted: dict[tuple[str, str], list[KeyAnywhere]]
) -> str | None:
    """SQL that holds for all selected rows of a part, and few others; None: it has none."""
    if asked.keys is None and asked.span_ns is None:
        return "true"
    tests = []
    keys = wanted.get((path.parent.name, path.stem), [])
    begins = [key[3] for key in keys if key[3] is not None]
    if begins:
        tests.append(f"start_ns BETWEEN {min(begins)} AND {max(begins)}")
    if len(begins) < len(keys):
        tests.append("start_ns IS NULL")
    if asked.span_ns is not None:
        since, until = asked.span_ns
        if path.parent.name <= f"month={month_of(until)}":
            end = "coalesce(nullif(end_ns, 0), start_ns)"
            tests.append(f"(start_ns < {int(until)} AND {end} >= {int(since)})")
    return " OR ".join(tests) or None


def _measured(
    con: duckdb.DuckDBPyConnection, root: Path, path: Path, jobs: list[Job], tables: frozenset[str]
) -> list[Job]:
    """Jobs of a part with a known performance."""
    scalars = Path(root) / SCALARS.name / path.parent.name / path.name
    if not jobs or not scalars.exists():
        return []
    begins = [job.start_ns for job in jobs if job.start_ns is not None]
    between = f"start_ns BETWEEN {min(begins)} AND {max(begins)}" if begins else "false"
    if len(begins) < len(jobs):
        between = f"({between} OR start_ns IS NULL)"
    where = f"metric IN ({', '.join(map(literal, PERFORMANCES))}) AND {between}"
    known: set[tuple[object, ...]] = set()
    for columns in select(", ".join(JOB_KEY), [scalars], where, con=con):
        values = (np.ma.asarray(columns[name]).tolist() for name in JOB_KEY)
        known.update((*key, system or "") for *key, system in zip(*values, strict=True))
    return [job for job in jobs if job.source in tables or known & {job.key, unnamed_key(job)}]
