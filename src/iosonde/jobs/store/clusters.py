"""Names that a record lacks and an earlier one of its job has: the cluster, and the id as users write it.

::

    record without a cluster, one is there that names one     -> it is that job's
    record with a cluster, one is there that names none       -> that one gets the name, and its numbers
    records of two clusters                                   -> two jobs
    record with a raw id alone, 4711_7 is there               -> it keeps that id
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np

from iosonde.engine.contract import JOB_KEY, JOB_ORDER, JOB_TYPES, SCALAR_ORDER, SCALAR_TYPES
from iosonde.engine.parquet import rows_of_table, write_parquet
from iosonde.engine.parts import cannot_write, rows_of
from iosonde.engine.spool import NULL_SQL
from iosonde.model.frames import NULL_NS
from iosonde.model.jobs import Job, KeyAnywhere

_SAME = " AND ".join(f"o.{name} IS NOT DISTINCT FROM n.{name}" for name in JOB_KEY[:4])


def of_clusters(
    con: duckdb.DuckDBPyConnection, root: Path, place: Path, jobs: Sequence[Job]
) -> list[Job]:
    """Jobs of a part as they are to be written, each key once; what is there gets the names that they bring.

    ``place``: of the part below the tables' folders. Raises StoreError.
    """
    path, numbers = (Path(root) / table / place for table in ("jobs", "scalars"))
    stored = _stored(con, path, jobs) if rows_of(con, path) else {}
    names: dict[KeyAnywhere, set[str]] = defaultdict(set)
    for key in ((*one, system) for one, systems in stored.items() for system in systems):
        names[key[:4]].add(key[4])
    for job in jobs:
        names[job.key[:4]].add(job.system)
    only = {key: min(some - {""}) for key, some in names.items() if len(some - {""}) == 1}
    brought = {key: only[key] for key, some in stored.items() if "" in some and key in only}
    try:
        if brought:
            _name(con, path, brought)
        if stored and (brought or _lacks(con, numbers)) and rows_of(con, numbers):
            _name_numbers(con, path, numbers)
    except (OSError, duckdb.Error) as error:
        raise cannot_write(path, error) from error
    named = (replace(job, system=job.system or only.get(job.key[:4], "")) for job in jobs)
    return once(_with_id(job, stored.get(job.key[:4], {})) for job in named)


def once(jobs: Iterable[Job]) -> list[Job]:
    """Records with unique keys: the last of each, with the numbers of all."""
    found: dict[tuple[object, ...], Job] = {}
    for job in jobs:
        known = found.get(job.key)
        found[job.key] = (
            job if known is None else job.with_scalars({**known.scalars, **job.scalars})
        )
    return list(found.values())


def _with_id(job: Job, stored: Mapping[str, str]) -> Job:
    """A record with the id as users write it: its own, or that of the record it replaces."""
    known = stored.get(job.system) or stored.get("", "")
    return job if job.shown_id or not known else replace(job, shown_id=known)


def _stored(
    con: duckdb.DuckDBPyConnection, path: Path, jobs: Sequence[Job]
) -> dict[KeyAnywhere, dict[str, str]]:
    """Of the records of these keys that are there: the id as users write it, by cluster; "" where none is written."""
    con.register("keys", _keys([job.key[:4] for job in jobs]))
    rows = con.execute(
        f"SELECT DISTINCT {', '.join(f'o.{name}' for name in (*JOB_KEY, 'shown_id'))} "
        f"FROM {rows_of_table([path], JOB_TYPES)} o JOIN {_of_keys('keys')} n ON {_SAME}"
    ).fetchall()
    con.unregister("keys")
    found: dict[KeyAnywhere, dict[str, str]] = defaultdict(dict)
    for source, job_id, step, start_ns, system, written in rows:
        found[source, job_id, step, start_ns][system or ""] = written or ""
    return found


def _name(con: duckdb.DuckDBPyConnection, path: Path, names: dict[KeyAnywhere, str]) -> None:
    """Give the records of these keys that name no cluster one."""
    more = {"system": np.array(list(names.values()), dtype=object)}
    con.register("names", {**_keys(names), **more})
    _rewrite(con, path, JOB_TYPES, JOB_ORDER, _of_keys("names", "system"))
    con.unregister("names")


def _name_numbers(con: duckdb.DuckDBPyConnection, path: Path, numbers: Path) -> None:
    """Give numbers that name no cluster that of the only job of their key."""
    key = ", ".join(JOB_KEY[:4])
    only = (
        f"(SELECT {key}, system FROM {rows_of_table([path], JOB_TYPES)} "
        f"QUALIFY count(*) OVER (PARTITION BY {key}) = 1)"
    )
    _rewrite(con, numbers, SCALAR_TYPES, SCALAR_ORDER, only)


def _rewrite(
    con: duckdb.DuckDBPyConnection,
    path: Path,
    types: dict[str, str],
    order: Sequence[str],
    names: str,
) -> None:
    columns = ", ".join(
        "coalesce(nullif(o.system, ''), n.system, o.system, '') AS system"
        if name == "system"
        else f"o.{name}"
        for name in types
    )
    rows = f"{rows_of_table([path], types)} o LEFT JOIN {names} n ON {_SAME}"
    by = ", ".join(f"o.{name}" for name in order)
    write_parquet(con, f"SELECT {columns} FROM {rows} ORDER BY {by}", path)


def _lacks(con: duckdb.DuckDBPyConnection, numbers: Path) -> bool:
    """True for numbers of an earlier version, without a column of clusters."""
    if not numbers.exists():
        return False
    asked = "SELECT count(*) FROM parquet_schema(?) WHERE name = 'system'"
    return con.execute(asked, [str(numbers)]).fetchall() == [(0,)]


def _keys(keys: Collection[KeyAnywhere]) -> dict[str, object]:
    texts = {
        name: np.array([key[place] for key in keys], dtype=object)
        for place, name in enumerate(JOB_KEY[:3])
    }
    begins = [NULL_NS if key[3] is None else key[3] for key in keys]
    return {**texts, "start_ns": np.array(begins, dtype=np.int64)}


def _of_keys(name: str, *more: str) -> str:
    columns = ", ".join((*JOB_KEY[:3], f"nullif(start_ns, {NULL_SQL}) AS start_ns", *more))
    return f"(SELECT {columns} FROM {name})"
