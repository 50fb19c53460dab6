"""Storage of imported server metrics and topology: blocks in, blocks out.

::

    metrics/date=YYYY-MM-DD/<source system level metric>.parquet    a row a component and step
    topology/date=YYYY-MM-DD/<source system level>.parquet
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from iosonde.engine.connections import connect
from iosonde.engine.contract import (
    METRIC_KEY,
    METRIC_ORDER,
    METRIC_TYPES,
    SCHEMA_VERSION,
)
from iosonde.engine.merge import Merged, merge
from iosonde.engine.parts import TOPOLOGY, StoreTable, parts, select, writing
from iosonde.engine.spool import literal
from iosonde.jobs.store.regrid import SeriesRows, grid_steps, is_long, long_gaps, spread
from iosonde.model.metrics import Edge, MetricBlock
from iosonde.model.names import slug
from iosonde.model.quality import QUALITY, Note
from iosonde.model.units import DAY_NS

if TYPE_CHECKING:
    import duckdb

    from iosonde.model.arrays import Floats, Instants, Places

METRICS = StoreTable("metrics", METRIC_TYPES, METRIC_KEY, METRIC_ORDER)


class SeriesName(NamedTuple):
    """Name of a stored series."""

    source: str
    system: str
    level: str
    metric: str


def write_block(root: Path, block: MetricBlock) -> int:
    """Store a block, day by day; returns the number of new rows. Raises StoreError."""
    return put_block(root, block).new


def put_block(root: Path, block: MetricBlock) -> Merged:
    """As ``write_block``, with the number of changed values."""
    name = slug(f"{block.source} {block.system} {block.level} {block.metric}")
    flags = ",".join(sorted({note.flag for note in block.notes}))
    days = block.time_ns // DAY_NS
    new = changed = 0
    with writing(root, METRICS):
        for day in np.unique(days).tolist():
            rows = np.flatnonzero(days == day)
            path = Path(root) / "metrics" / f"date={_date(day)}" / f"{name}.parquet"
            one = _write_day(path, block, rows, flags)
            new, changed = new + one.new, changed + one.changed
    return Merged(new, changed)


def _write_day(path: Path, block: MetricBlock, rows: Places, flags: str) -> Merged:
    n, width = len(rows), len(block.components)
    order = np.array(sorted(range(width), key=block.components.__getitem__), dtype=np.intp)
    cells = {
        "time_ns": np.repeat(block.time_ns[rows].astype(np.int64, copy=False), width),
        "step_ns": np.repeat(block.step_ns[rows].astype(np.int64, copy=False), width),
        "who": np.tile(np.arange(1, width + 1, dtype=np.int32), n),
        "value": block.value[np.ix_(rows, order)].astype(np.float64, copy=False).ravel(),
    }
    names = ", ".join(literal(block.components[place]) for place in order.tolist())
    fixed = {"source": block.source, "system": block.system, "level": block.level}
    fixed |= {"metric": block.metric, "kind": block.kind, "unit": block.unit}
    constants = ", ".join(f"{literal(value)} AS {key}" for key, value in fixed.items())
    con = connect(threads=2)
    try:
        con.register("cells", cells)
        return merge(
            con,
            METRICS,
            path,
            f"SELECT {SCHEMA_VERSION} AS schema_version, time_ns, step_ns, "
            f"list_extract([{names}], who) AS component, {constants}, "
            # The engine takes NaN of an array for null.
            "CASE WHEN isnan(value) THEN NULL ELSE value END AS value, "
            "CASE WHEN value IS NULL OR isnan(value) THEN 1.0 ELSE 0.0 END AS missing, "
            f"nullif({literal(flags)}, '') AS flags FROM cells",
            value="value",
            ordered=True,
        )
    finally:
        con.close()


def series_names(
    root: Path, since_ns: int | None = None, until_ns: int | None = None
) -> list[SeriesName]:
    """Names of stored series on the days of [since, until), sorted."""
    found: set[SeriesName] = set()
    for columns in select(
        "source, system, level, metric",
        _files(root, METRICS, since_ns, until_ns),
        "true LIMIT 1",
    ):
        found |= {SeriesName(*map(str, row)) for row in zip(*columns.values(), strict=True)}
    return sorted(found)


def read_block(root: Path, name: SeriesName, since_ns: int, until_ns: int) -> MetricBlock | None:
    """All rows of one series that overlap [since, until), as one block; None without any.

    A component that one time has and another has not is missing (NaN) there.
    """
    wanted = slug(" ".join(name))
    files = [p for p in _files(root, METRICS, since_ns - DAY_NS, until_ns) if p.stem == wanted]
    inside = f"time_ns < {int(until_ns)} AND (time_ns + step_ns > {int(since_ns)} OR time_ns >= {int(since_ns)})"
    columns = "time_ns, step_ns, value, component, unit, kind, flags"
    return block_of(name, [_piece(one) for one in select(columns, files, inside)])


class Piece(NamedTuple):
    """Rows (n,) of a series; ``who``: index of each in ``sorts``: (component, unit, kind, flags)."""

    time_ns: Instants
    step_ns: Instants
    value: Floats
    who: Places
    sorts: Sequence[tuple[str, str, str, str]]


def _piece(columns: Any) -> Piece:
    texts = (np.ma.filled(columns[key], "") for key in ("component", "unit", "kind", "flags"))
    codes: dict[tuple[str, str, str, str], int] = {}
    who = [codes.setdefault(sort, len(codes)) for sort in zip(*texts, strict=True)]
    return Piece(*numbers_of(columns), np.array(who, dtype=np.intp), list(codes))


def numbers_of(columns: Any) -> tuple[Instants, Instants, Floats]:
    """Times, steps and values of selected rows; missing is NaN."""
    times, steps = (np.ma.getdata(columns[key]).astype(np.int64) for key in ("time_ns", "step_ns"))
    value: Floats = np.ma.filled(np.ma.asarray(columns["value"]).astype(np.float64), np.nan)
    return times, steps, value


def block_of(name: SeriesName, pieces: Sequence[Piece]) -> MetricBlock | None:
    """Rows of one series as one block; None without rows."""
    pieces = [one for one in pieces if len(one.time_ns)]
    if not pieces:
        return None
    places: dict[str, int] = {}
    whos, flags = [], set()
    for one in pieces:
        there, inverse = np.unique(one.who, return_inverse=True)
        sorts = [one.sorts[code] for code in there.tolist()]
        columns = [places.setdefault(sort[0], len(places)) for sort in sorts]
        whos.append(np.array(columns, dtype=np.intp)[inverse])
        flags |= {word for sort in sorts for word in sort[3].split(",")}
    names = sorted(places)
    column = np.empty(len(names), dtype=np.intp)
    column[[places[component] for component in names]] = np.arange(len(names))
    times, at = np.unique(np.concatenate([one.time_ns for one in pieces]), return_inverse=True)
    value = np.full((len(times), len(names)), np.nan)
    rows = SeriesRows(
        at,
        column[np.concatenate(whos)],
        np.concatenate([one.step_ns for one in pieces]),
        np.concatenate([one.value for one in pieces]),
    )
    value[rows.at, rows.column] = rows.value
    step = grid_steps(times, rows)
    _, unit, kind, _ = pieces[0].sorts[int(pieces[0].who[0])]
    if (long := is_long(rows, step)).any():
        spread(value, times, step, rows.take(long), kind)
        if long_gaps(rows):
            flags.add("estimated")
    return MetricBlock(
        *name,
        unit=unit,
        kind="delta" if kind == "delta" else "gauge",
        components=tuple(names),
        time_ns=times,
        step_ns=step,
        value=value,
        notes=tuple(Note(flag, name.metric) for flag in sorted(flags & QUALITY.keys())),
    )


def write_edges(root: Path, edges: Iterable[Edge]) -> int:
    """Store edges; returns the number of new ones. Raises StoreError."""
    grouped: dict[tuple[int, str], list[Edge]] = {}
    for edge in edges:
        key = (edge.time_ns // DAY_NS, slug(f"{edge.source} {edge.system} {edge.level}"))
        grouped.setdefault(key, []).append(edge)
    new = 0
    with writing(root, TOPOLOGY):
        con = connect(threads=2)
        try:
            for (day, name), some in grouped.items():
                unique = {edge[:5]: edge for edge in some}.values()
                columns = {
                    field: np.array([getattr(edge, field) for edge in unique], dtype=object)
                    for field in Edge._fields
                    if field != "time_ns"
                }
                columns["time_ns"] = np.array([edge.time_ns for edge in unique], dtype=np.int64)
                con.register("edges", columns)
                path = Path(root) / "topology" / f"date={_date(day)}" / f"{name}.parquet"
                sql = f"SELECT {SCHEMA_VERSION} AS schema_version, * FROM edges"
                new += merge(con, TOPOLOGY, path, sql).new
                con.unregister("edges")
        finally:
            con.close()
    return new


def read_edges(
    root: Path, level: str, since_ns: int, until_ns: int, system: str | None = None
) -> list[Edge]:
    """Edges of a level that were seen in [since, until), by time."""
    where = f"level = {literal(level)} AND time_ns >= {int(since_ns)} AND time_ns < {int(until_ns)}"
    if system is not None:
        where += f" AND system = {literal(system)}"
    found = edges_of(_files(root, TOPOLOGY, since_ns, until_ns), where)
    return sorted(found, key=lambda edge: (edge.time_ns, edge.system, edge.child))


def edges_of(
    files: Sequence[Path], where: str, *, con: duckdb.DuckDBPyConnection | None = None
) -> list[Edge]:
    """Edges of files, in their order."""
    found: list[Edge] = []
    for columns in select("source, system, time_ns, level, child, parent", files, where, con=con):
        values: list[list[Any]] = [np.ma.getdata(c).tolist() for c in columns.values()]
        found += [Edge(*row) for row in zip(*values, strict=True)]
    return found


def _files(root: Path, table: StoreTable, since_ns: int | None, until_ns: int | None) -> list[Path]:
    first, last = days_of(since_ns, until_ns)
    return parts(root, table, first, last)


def days_of(since_ns: int | None, until_ns: int | None) -> tuple[str, str]:
    """First and last partition of [since, until]."""
    first = "" if since_ns is None else _date(max(0, since_ns) // DAY_NS)
    return first, "~" if until_ns is None else _date(max(0, until_ns) // DAY_NS)


def _date(day: int) -> str:
    return datetime.fromtimestamp(day * 86_400, UTC).strftime("%Y-%m-%d")
