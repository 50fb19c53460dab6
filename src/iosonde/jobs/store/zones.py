"""Records whose clock times were read in another zone before: those that are there go, or every job is there twice.

::

    records with times without a zone -> records there of the same id, length and cluster, some hours apart
    all by as much, summer time aside, and none at the same instant -> those there were read in another zone
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import duckdb
import numpy as np

from iosonde.engine.connections import connect
from iosonde.engine.contract import JOB_KEY
from iosonde.engine.parquet import rows_of_table, write_parquet
from iosonde.engine.parts import StoreTable, cannot_write, parts, rows_of, writing
from iosonde.engine.spool import NULL_SQL
from iosonde.jobs.store.jobs import JOBS, SCALARS, month_of
from iosonde.model.frames import NULL_NS
from iosonde.model.jobs import Job
from iosonde.model.names import slug
from iosonde.model.units import about_length

_QUARTER_NS = 15 * 60 * 1_000_000_000
_HOUR_NS = 4 * _QUARTER_NS
_MOST_APART_NS = 26 * _HOUR_NS
"""From UTC-12 to UTC+14."""
_TEXTS = JOB_KEY[:3]


def drop_other_zone(root: Path, jobs: Sequence[Job]) -> str:
    """Remove what an earlier import read of these records in another zone; returns the remark on it, "" if nothing.

    Only records whose scalars are flagged ``naive-time`` count. Raises StoreError.
    """
    naive = [
        job
        for job in jobs
        if job.start_ns is not None and any("naive-time" in s.flags for s in job.scalars.values())
    ]
    if not naive:
        return ""
    with writing(root, JOBS), closing(connect(threads=2)) as con:
        con.register("read", _columns(naive))
        begins = [job.start_ns for job in naive if job.start_ns is not None]
        first, last = (
            month_of(one) for one in (min(begins) - _MOST_APART_NS, max(begins) + _MOST_APART_NS)
        )
        names = {f"{slug(job.source)}.parquet" for job in naive}
        paths = [path for path in parts(root, JOBS, first, last) if path.name in names]
        paths = [path for path in paths if rows_of(con, path)]
        try:
            by = _apart(con, paths) if paths else []
            if not by:
                return ""
            gone = sum(_drop(con, root, path, by) for path in paths)
        except (OSError, duckdb.Error) as error:
            raise cannot_write(Path(root) / JOBS.name, error) from error
    apart = about_length(abs(by[0]))
    return (
        f"{gone} jobs were there with times {apart} apart, read in another zone: these replace them"
    )


def _apart(con: duckdb.DuckDBPyConnection, paths: Sequence[Path]) -> list[int]:
    """Differences to the records that are there (ns), one or two an hour apart; [] if these say no other zone."""
    once = (
        "(SELECT * FROM read QUALIFY count(*) OVER (PARTITION BY source, job_id, step, system) = 1)"
    )
    rows = con.execute(
        f"SELECT DISTINCT o.start_ns - n.start_ns FROM {rows_of_table(paths, JOBS.types)} o JOIN {once} n "
        f"ON {_SAME} WHERE o.end_ns - o.start_ns = nullif(n.end_ns, {NULL_SQL}) - n.start_ns "
        f"AND abs(o.start_ns - n.start_ns) <= {_MOST_APART_NS}"
    ).fetchall()
    found = sorted(int(one) for (one,) in rows)
    if 0 in found or any(one % _QUARTER_NS for one in found) or len(found) > 2:
        return []
    return found if len(found) < 2 or found[1] - found[0] == _HOUR_NS else []


def _drop(con: duckdb.DuckDBPyConnection, root: Path, path: Path, by: Sequence[int]) -> int:
    """Remove the records of a part that lie so far from what is read, and their numbers; returns how many."""
    apart = f"o.start_ns - n.start_ns IN ({', '.join(map(str, by))})"
    same = f"EXISTS (SELECT 1 FROM read n WHERE {_SAME} AND {apart})"
    before = rows_of(con, path) or 0
    numbers = Path(root) / SCALARS.name / path.parent.name / path.name
    for table, file in ((SCALARS, numbers), (JOBS, path)):
        if rows_of(con, file):
            _keep(con, table, file, f"NOT {same}")
    return before - (rows_of(con, path) or 0)


def _keep(con: duckdb.DuckDBPyConnection, table: StoreTable, path: Path, where: str) -> None:
    rows = rows_of_table([path], table.types)
    columns, order = (
        ", ".join(f"o.{name}" for name in names) for names in (table.types, table.order)
    )
    write_parquet(con, f"SELECT {columns} FROM {rows} o WHERE {where} ORDER BY {order}", path)


_SAME = (
    " AND ".join(f"o.{name} = n.{name}" for name in _TEXTS)
    + " AND (n.system = '' OR coalesce(o.system, '') IN ('', n.system))"
)


def _columns(jobs: Sequence[Job]) -> dict[str, object]:
    texts = {
        name: np.array([getattr(job, name) for job in jobs], dtype=object)
        for name in (*_TEXTS, "system")
    }
    ends = [NULL_NS if job.end_ns is None else job.end_ns for job in jobs]
    begins = [job.start_ns or 0 for job in jobs]
    return {
        **texts,
        "start_ns": np.array(begins, dtype=np.int64),
        "end_ns": np.array(ends, dtype=np.int64),
    }
