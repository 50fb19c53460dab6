"""Storage of jobs and their numbers: records in, records out.

::

    jobs/month=YYYY-MM/<source>.parquet        a row a run of an application
    scalars/month=YYYY-MM/<source>.parquet     a row a number; month=unknown where nothing says when
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from iosonde.connectors.scheduler.job_ids import told_apart
from iosonde.engine.connections import connect
from iosonde.engine.contract import (
    JOB_KEY,
    JOB_ORDER,
    JOB_TYPES,
    SCALAR_KEY,
    SCALAR_ORDER,
    SCALAR_TYPES,
    SCHEMA_VERSION,
)
from iosonde.engine.merge import merge
from iosonde.engine.parts import StoreTable, parts, select_together, writing
from iosonde.engine.spool import NULL_SQL, literal
from iosonde.jobs.store.clusters import of_clusters
from iosonde.model.frames import NULL_NS
from iosonde.model.jobs import Job, Scalar
from iosonde.model.names import slug

JOBS = StoreTable("jobs", JOB_TYPES, JOB_KEY, JOB_ORDER)
SCALARS = StoreTable("scalars", SCALAR_TYPES, SCALAR_KEY, SCALAR_ORDER)
PERFORMANCES = ("performance_bytes_per_s", "performance_ops_per_s")
"""Performance metrics: a job with one of them can be explained."""
_UNKNOWN = "unknown"
_NO_NUMBER = ("schema_version", *SCALAR_KEY)
_TEXTS = ("source", "job_id", "step", "system", "user", "account", "name", "app", "api", "mode")
_NUMBERS = ("nodes", "ranks", "start_ns", "end_ns")
JOB_COLUMNS = tuple(name for name in JOB_TYPES if name != "schema_version")
"""Input columns of ``jobs_of``."""


def write_jobs(root: Path, jobs: Iterable[Job]) -> int:
    """Store jobs and their scalars; returns the number of new jobs. Raises StoreError."""
    new = 0
    with writing(root, JOBS), closing(connect(threads=2)) as con:
        for place, some in _by_part(jobs).items():
            settled = of_clusters(con, root, place, some)
            new += _put(con, JOBS, Path(root) / "jobs" / place, _job_columns(settled))
            _put_scalars(con, root, place, settled)
    return new


def write_scalars(root: Path, jobs: Iterable[Job]) -> None:
    """Store scalars of existing jobs. Raises StoreError."""
    with writing(root, JOBS), closing(connect(threads=2)) as con:
        for place, some in _by_part(jobs).items():
            _put_scalars(con, root, place, of_clusters(con, root, place, some))


def _by_part(jobs: Iterable[Job]) -> dict[Path, list[Job]]:
    """Jobs by part below the tables' folders."""
    grouped: dict[tuple[str, str], list[Job]] = defaultdict(list)
    for job in jobs:
        grouped[month_of(job.start_ns), slug(job.source)].append(job)
    return {
        Path(f"month={month}") / f"{source}.parquet": some
        for (month, source), some in grouped.items()
    }


def _put_scalars(
    con: duckdb.DuckDBPyConnection, root: Path, place: Path, jobs: Sequence[Job]
) -> None:
    rows = _scalar_columns(jobs)
    if len(rows["job_id"]):
        _put(con, SCALARS, Path(root) / "scalars" / place, rows)


def _put(
    con: duckdb.DuckDBPyConnection, table: StoreTable, path: Path, columns: dict[str, Any]
) -> int:
    con.register("rows", columns)
    null = {name for name, kind in table.types.items() if kind in ("BIGINT", "DOUBLE")}
    names = ", ".join(
        _nullable(name, table.types[name]) if name in null else name for name in columns
    )
    put = merge(con, table, path, f"SELECT {SCHEMA_VERSION} AS schema_version, {names} FROM rows")
    con.unregister("rows")
    return put.new


def _nullable(name: str, kind: str) -> str:
    if kind == "BIGINT":
        return f"nullif({name}, {NULL_SQL}) AS {name}"
    return f"CASE WHEN isnan({name}) THEN NULL ELSE {name} END AS {name}"


def _job_columns(jobs: Sequence[Job]) -> dict[str, Any]:
    columns: dict[str, Any] = {
        name: np.array([getattr(job, name) for job in jobs], dtype=object)
        for name in (*_TEXTS, "direction", "file_system", "state")
    }
    for name in _NUMBERS:
        columns[name] = _integers([getattr(job, name) for job in jobs])
    columns["shown_id"] = np.array([job.shown_id or None for job in jobs], dtype=object)
    columns["node_names"] = np.array([",".join(job.node_names) for job in jobs], dtype=object)
    return columns


def _scalar_columns(jobs: Sequence[Job]) -> dict[str, Any]:
    rows = [(job, metric, scalar) for job in jobs for metric, scalar in job.scalars.items()]
    texts = {
        "source": [job.source for job, _, _ in rows],
        "job_id": [job.job_id for job, _, _ in rows],
        "step": [job.step for job, _, _ in rows],
        "system": [job.system for job, _, _ in rows],
        "metric": [metric for _, metric, _ in rows],
        "unit": [scalar.unit for _, _, scalar in rows],
        "origin": [scalar.source for _, _, scalar in rows],
        "flags": [",".join(scalar.flags) or None for _, _, scalar in rows],
    }
    columns: dict[str, Any] = {key: np.array(some, dtype=object) for key, some in texts.items()}
    columns["start_ns"] = _integers([job.start_ns for job, _, _ in rows])
    columns["n"] = _integers([scalar.n for _, _, scalar in rows])
    columns["age_ns"] = _integers([scalar.age_ns for _, _, scalar in rows])
    columns["value"] = _floats([scalar.value for _, _, scalar in rows])
    columns["missing"] = _floats([scalar.missing for _, _, scalar in rows])
    return columns


def _integers(values: Sequence[int | None]) -> Any:
    return np.array([NULL_NS if value is None else value for value in values], dtype=np.int64)


def _floats(values: Sequence[float | None]) -> Any:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def read_jobs(
    root: Path,
    *,
    job_id: str | None = None,
    job_ids: Collection[str] | None = None,
    source: str | None = None,
    overlapping: tuple[int, int] | None = None,
    scalars: bool = True,
) -> list[Job]:
    """Jobs by start, with their scalars. ``overlapping``: that ran in [begin, end) (ns); jobs without an end run on."""
    tests = [
        f"{name} = {literal(value)}"
        for name, value in (("job_id", job_id), ("source", source))
        if value is not None
    ]
    if job_ids is not None:
        tests.append(f"job_id IN ({', '.join(map(literal, sorted(job_ids))) or 'NULL'})")
    where = " AND ".join(tests) or "true"
    ran = where
    if overlapping is not None:
        begin, end = overlapping
        ran += f" AND start_ns < {int(end)} AND (end_ns IS NULL OR end_ns > {int(begin)})"
    jobs = [
        job
        for columns in select_together(", ".join(JOB_COLUMNS), parts(root, JOBS), ran)
        for job in jobs_of(columns)
    ]
    if scalars and jobs:
        known = _scalars(root, where, [job.start_ns for job in jobs])
        jobs = [
            job.with_scalars(known.get(job.key) or known.get(unnamed_key(job), {})) for job in jobs
        ]
    return by_begin(jobs)


def jobs_of(columns: Mapping[str, Any]) -> Iterator[Job]:
    """Rows with ``JOB_COLUMNS`` as jobs, without their numbers."""
    texts = (np.ma.asarray(columns[name]).tolist() for name in JOB_COLUMNS)
    for row in zip(*texts, strict=True):
        values = dict(zip(JOB_COLUMNS, row, strict=True))
        values["shown_id"] = values["shown_id"] or ""
        values["node_names"] = tuple(n for n in values["node_names"].split(",") if n)
        yield Job(**values)


def by_begin(jobs: Iterable[Job]) -> list[Job]:
    """Jobs in the order of start; unknown starts first."""
    return sorted(jobs, key=lambda job: (job.start_ns or 0, job.job_id, job.step, job.source))


def job_ids(root: Path) -> list[str]:
    """All distinct ids as users write them, in no order."""
    written: list[str] = []
    clusters: list[str] = []
    for columns in select_together(
        "DISTINCT coalesce(shown_id, job_id) AS id, system", parts(root, JOBS), "job_id <> ''"
    ):
        written += map(str, columns["id"].tolist())
        clusters += map(str, columns["system"].tolist())
    return list({*written, *told_apart(written, clusters)})


def job_sources(root: Path) -> tuple[str, ...]:
    """All sources of the jobs of a store, sorted."""
    found: set[str] = set()
    for columns in select_together("DISTINCT source", parts(root, JOBS)):
        found |= {str(name) for name in np.ma.getdata(columns["source"]).tolist()}
    return tuple(sorted(found))


def _scalars(
    root: Path, where: str, begins: Sequence[int | None]
) -> dict[tuple[object, ...], dict[str, Scalar]]:
    """Numbers of jobs by key, of those that started at ``begins``: rows are sorted by that."""
    found: dict[tuple[object, ...], dict[str, Scalar]] = {}
    known = [begin for begin in begins if begin is not None]
    tests = [f"start_ns BETWEEN {min(known)} AND {max(known)}"] if known else []
    tests += ["start_ns IS NULL"] if len(known) < len(begins) else []
    where = f"({where}) AND ({' OR '.join(tests)})"
    first, last = (month_of(end(known)) if len(known) == len(begins) else "" for end in (min, max))
    files = parts(root, SCALARS, first, last or "~")
    names = [*SCALAR_KEY, *(name for name in SCALAR_TYPES if name not in _NO_NUMBER)]
    for columns in select_together(", ".join(names), files, where):
        values = (np.ma.asarray(columns[name]).tolist() for name in names)
        for *key, metric, value, unit, origin, n, missing, age, flags in zip(*values, strict=True):
            words = tuple(flags.split(",")) if flags else ()
            scalar = Scalar(value, unit, origin, n, missing, age, words)
            found.setdefault((*key[:-1], key[-1] or ""), {})[metric] = scalar
    return found


def unnamed_key(job: Job) -> tuple[object, ...]:
    """Key of its numbers where they name no cluster, as in files of earlier versions."""
    return (*job.key[:4], "")


def month_of(start_ns: int | None) -> str:
    """Partition of a job by its start."""
    if start_ns is None:
        return _UNKNOWN
    return datetime.fromtimestamp(start_ns // 1_000_000_000, UTC).strftime("%Y-%m")
