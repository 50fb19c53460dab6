"""Jobs of a store as a table for analysis.

::

    jobs whose performance is known, numbered by begin        (engine)
    of one job: those of its file systems                     (engine)
    part by part: their numbers -> row, column, value         (engine)  -> a column a metric
    what their sources say of these                                     -> what a metric means

A job and its numbers lie in parts of one name, so memory is what the table takes and one part of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import duckdb
import numpy as np

from iosonde.connectors.scheduler.job_ids import cluster_of, told_apart
from iosonde.engine.connections import connect
from iosonde.engine.contract import JOB_KEY
from iosonde.engine.parts import parts, sound_parts, table_rows
from iosonde.engine.reader import explained
from iosonde.engine.spool import literal
from iosonde.jobs.store.jobs import JOBS, PERFORMANCES, SCALARS, month_of
from iosonde.jobs.store.metric_descriptions import (
    Described,
    read_described,
    tables_of_performance,
)
from iosonde.jobs.store.scheduler_facts import STORED_LABELS, add_scheduled, with_scheduler_facts
from iosonde.model.frames import NULL_NS
from iosonde.model.jobs import SIZES, JobTable

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats

_TEXTS = ("job_id", "step", "app", "mode", "direction", "file_system")
_FACTS = (*STORED_LABELS, *SIZES)
_MOTIF = "concat_ws(' ', nullif(app, ''), nullif(mode, ''), nullif(direction, ''))"
_OF_CLUSTER = "(coalesce(system, '') IN ('', cluster) OR cluster = '')"
_TOGETHER_BYTES = 32 << 20
"""Size of number parts read at once: more threads serve a query, and memory stays bounded."""
_KEY = f"hash({', '.join(JOB_KEY[:4])})"
"""64 bits instead of four columns, three of them texts: a million runs collide once in 40 million stores.

The key's fifth column, the cluster, is compared: numbers of earlier versions lack it.
"""


def read_table(
    root: Path,
    since_ns: int | None = None,
    until_ns: int | None = None,
    *,
    metrics: Collection[str] | None = None,
    scheduled: bool = False,
    job_id: str | None = None,
) -> JobTable:
    """All jobs with known performance, with all their numbers, by start (None: any time).

    That is one of ``PERFORMANCES``; of a table that has a column for one, or describes one, all rows count.
    What runs do not say of their user, nodes, ranks ... comes from the scheduler's records of the same job and time.
    ``scheduled``: also jobs of which only a scheduler's record is there, once each, not begun ones left out.
    ``job_id``: only jobs of the file systems on which this one ran, with the same columns; all where it is not known.
    ``metrics``: only these, and only their flags. A number with a flag is in ``flags``. Columns are in the order of
    their sources, then by name; ``abouts`` has what sources say themselves, of a metric of several the last by name.
    Raises StoreError.
    """
    first = "" if since_ns is None else month_of(since_ns)
    last = "~" if until_ns is None else month_of(until_ns)
    jobs, scalars = (parts(root, table, first, last) for table in (JOBS, SCALARS))
    inside = "start_ns IS NOT NULL"
    inside += "" if since_ns is None else f" AND start_ns >= {int(since_ns)}"
    inside += "" if until_ns is None else f" AND start_ns < {int(until_ns)}"
    wanted = "true" if metrics is None else f"metric IN ({_listed(sorted(metrics)) or 'NULL'})"
    said = read_described(root)
    tables = tables_of_performance(said, PERFORMANCES)
    with closing(connect(threads=2)) as con:
        jobs, scalars = sound_parts(con, jobs), sound_parts(con, scalars)
        if not jobs or not (scalars or scheduled):
            return _empty(str(root))
        try:
            _pick(con, jobs, scalars, _Asked(inside, tables, job_id))
            with_scheduler_facts(con, "picked", jobs, "sources")
            if scheduled:
                add_scheduled(con, "picked", jobs, inside)
            table = _table_of(con, scalars, wanted, str(root))
            if job_id is not None and scalars:
                table = _as_wide(con, table, scalars)
            rows = con.execute("SELECT source FROM sources UNION SELECT source FROM picked")
            sources = {str(source) for (source,) in rows.fetchall()}
        except duckdb.Error as error:
            raise explained(error, root) from error
    of_these = [one for one in said if one.source in sources]
    return _described(table, [one for one in of_these if metrics is None or one.metric in metrics])


def _described(table: JobTable, said: Sequence[Described]) -> JobTable:
    """The table with descriptions of its metrics; a metric without values is a column too, as in its source."""
    names = dict.fromkeys(one.metric for one in said)
    unknown = np.full(len(table), np.nan)
    columns = {name: table.metrics.get(name, unknown) for name in names}
    return replace(
        table,
        metrics={**columns, **table.metrics},
        abouts={one.metric: one.about for one in said if one.about is not None},
    )


def _listed(texts: Sequence[str]) -> str:
    return ", ".join(map(literal, texts))


class _Asked(NamedTuple):
    """Filter of runs. ``inside``: SQL of their start; ``tables``: sources whose rows all count."""

    inside: str
    tables: Sequence[str]
    job_id: str | None


def _pick(
    con: duckdb.DuckDBPyConnection, jobs: Sequence[Path], scalars: Sequence[Path], asked: _Asked
) -> None:
    """Create the table ``picked``: jobs with a performance and those of ``tables``, each with its row number.

    ``measured``: keys of those of all file systems; ``sources``: where they are from.
    """
    columns = ", ".join((*_TEXTS, *_FACTS, "source", "start_ns", "end_ns"))
    measured = (
        f"SELECT {_KEY} AS key, source, system FROM {table_rows(scalars)} WHERE metric IN ({_listed(PERFORMANCES)}) "
        f"AND value IS NOT NULL AND {asked.inside} UNION ALL "
        if scalars
        else ""
    )
    con.execute(
        f"CREATE TEMP TABLE measured AS {measured}SELECT {_KEY} AS key, source, system FROM {table_rows(jobs)} "
        f"WHERE source IN ({_listed(asked.tables) or 'NULL'}) AND {asked.inside}"
    )
    con.execute("CREATE TEMP TABLE sources AS SELECT DISTINCT source FROM measured")
    con.execute(
        f"CREATE TEMP TABLE picked AS SELECT {columns}, (row_number() OVER "
        f"(ORDER BY start_ns, job_id, step, source, system) - 1)::INTEGER AS row FROM {table_rows(jobs)} AS j "
        f"WHERE {_places(con, jobs, asked.job_id)} AND {_measured('j')}"
    )


def _key(row: str) -> str:
    return f"hash({', '.join(f'{row}.{name}' for name in JOB_KEY[:4])})"


def _measured(row: str) -> str:
    """SQL: a row of a table is of a job of ``measured``."""
    return (
        f"EXISTS (SELECT 1 FROM measured m WHERE m.key = {_key(row)} "
        f"AND (coalesce(m.system, '') IN ('', {row}.system) OR coalesce({row}.system, '') = ''))"
    )


def _places(con: duckdb.DuckDBPyConnection, jobs: Sequence[Path], job_id: str | None) -> str:
    """SQL of the file systems of a job; of all if unknown."""
    if job_id is None:
        return "true"
    some = ", ".join(map(literal, {job_id, cluster_of(job_id)[0]}))
    rows = con.execute(
        f"SELECT DISTINCT file_system FROM {table_rows(jobs)} AS j "
        f"WHERE job_id IN (SELECT job_id FROM {table_rows(jobs)} WHERE job_id IN ({some}) "
        f"OR shown_id IN ({some})) AND {_measured('j')}"
    ).fetchall()
    return f"file_system IN ({_listed([str(name) for (name,) in rows])})" if rows else "true"


def _as_wide(con: duckdb.DuckDBPyConnection, table: JobTable, scalars: Sequence[Path]) -> JobTable:
    """The table widened by columns with values only for runs on other file systems."""
    named = {str(name) for (name,) in con.execute("SELECT metric FROM names").fetchall()}
    lacks = sorted(named - table.metrics.keys())
    if not lacks:
        return table
    rows = con.execute(
        f"SELECT DISTINCT metric FROM {table_rows(scalars)} AS s WHERE isfinite(value) "
        f"AND metric IN ({_listed(lacks)}) AND {_measured('s')}"
    ).fetchall()
    unknown = np.full(len(table), np.nan)
    metrics = {**table.metrics, **{str(name): unknown for (name,) in rows}}
    return replace(table, metrics={name: metrics[name] for name in sorted(metrics)})


def _table_of(
    con: duckdb.DuckDBPyConnection, scalars: Sequence[Path], wanted: str, source: str
) -> JobTable:
    columns = con.execute(f"SELECT *, {_MOTIF} AS motif FROM picked ORDER BY row").fetchnumpy()
    text = {name: np.ma.filled(columns[name], "").astype(object) for name in (*_TEXTS, "motif")}
    facts = {name: np.ma.filled(columns[name], "").astype(object) for name in STORED_LABELS}
    # People write a task as 4711_7; that the scheduler calls it 4718 stands beside it.
    written = facts.pop("shown_id")
    ids = np.where(written == "", text["job_id"], written)
    names = np.array([*told_apart(ids.tolist(), facts["system"].tolist()), ""], dtype=object)[:-1]
    facts["raw_id"] = np.where(names == text["job_id"], "", text["job_id"]).astype(object)
    sizes = {name: np.ma.filled(columns[name].astype(np.float64), np.nan) for name in SIZES}
    n = len(columns["row"])
    metrics, flags = _numbers(con, scalars, wanted, n) if scalars else ({}, {})
    return JobTable(
        job_id=names,
        step=text["step"],
        start_ns=np.ma.filled(columns["start_ns"], NULL_NS).astype(np.int64),
        end_ns=np.ma.filled(columns["end_ns"], NULL_NS).astype(np.int64),
        file_system=text["file_system"],
        motif=text["motif"],
        metrics=metrics,
        flags=flags,
        source=source,
        labels={name: column for name, column in facts.items() if (column != "").any()},
        sizes={name: column for name, column in sizes.items() if np.isfinite(column).any()},
    )


def _numbers(
    con: duckdb.DuckDBPyConnection, scalars: Sequence[Path], wanted: str, n: int
) -> tuple[dict[str, Floats], dict[tuple[int, str], tuple[str, ...]]]:
    """Columns of metrics with any finite value, by name, and flags by row and metric."""
    con.execute(
        "CREATE TEMP TABLE names AS SELECT metric, (row_number() OVER (ORDER BY metric) - 1)::INTEGER "
        f"AS code FROM (SELECT DISTINCT metric FROM {table_rows(scalars)} WHERE {wanted})"
    )
    names = con.execute("SELECT metric FROM names ORDER BY code").fetchall()
    con.execute(
        f"CREATE TEMP TABLE runs AS SELECT {_KEY} AS key, system AS cluster, row FROM picked"
    )
    grid = np.full((len(names), n), np.nan)
    for paths in _batches(scalars):
        cells = con.execute(
            f"SELECT code::BIGINT * {n} + row AS place, value FROM {_with_key(paths)} "
            f"JOIN runs USING (key) JOIN names USING (metric) WHERE value IS NOT NULL AND {wanted} AND {_OF_CLUSTER}"
        ).fetchnumpy()
        np.put(grid, np.ma.getdata(cells["place"]), np.ma.getdata(cells["value"]))
    flagged = con.execute(
        f"SELECT row, metric, flags FROM {_with_key(scalars)} "
        f"JOIN runs USING (key) WHERE flags IS NOT NULL AND {wanted} AND {_OF_CLUSTER}"
    ).fetchall()
    metrics = {
        str(name): column
        for (name,), column in zip(names, grid, strict=True)
        if np.isfinite(column).any()
    }
    return metrics, {(int(row), str(name)): tuple(told.split(",")) for row, name, told in flagged}


def _with_key(scalars: Sequence[Path]) -> str:
    return f"(SELECT *, {_KEY} AS key FROM {table_rows(scalars)})"


def _batches(files: Sequence[Path]) -> Iterator[list[Path]]:
    """Files in batches of about ``_TOGETHER_BYTES``."""
    batch: list[Path] = []
    held = 0
    for path in files:
        batch.append(path)
        with suppress(FileNotFoundError):  # the engine will say so
            held += path.stat().st_size
        if held >= _TOGETHER_BYTES:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch


def _empty(source: str) -> JobTable:
    none, instants = np.empty(0, dtype=object), np.empty(0, dtype=np.int64)
    return JobTable(none, none, instants, instants, none, none, {}, source=source)
