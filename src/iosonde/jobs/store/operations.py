"""Operations recorded by clients or jobs, as rows of amounts: imported series of many components, day by day.

A component whose metrics have the same steps has one row a step, with their sum; one whose metrics differ in their
steps has a row a metric and step. So a file of eight metrics costs what one costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import duckdb
import numpy as np

from iosonde.engine.connections import connect
from iosonde.engine.parquet import parquet
from iosonde.engine.parts import parts, select, sound_parts
from iosonde.engine.spool import literal
from iosonde.jobs.store.series import METRICS, days_of
from iosonde.model.units import DAY_NS

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Instants, Places


T = TypeVar("T")


class RecordedComponent(NamedTuple):
    """A component with series. ``begin_ns``, ``end_ns``: of its records; ``step_ns``: the usual one."""

    source: str
    system: str
    level: str
    component: str
    begin_ns: int
    end_ns: int
    step_ns: int


class AmountRows(NamedTuple):
    """Rows (R,): ``amount`` in [begin, begin + step]; NaN = unknown. ``series``: id of rows that do not overlap.

    ``who``: place in the components that were asked for. A component has one series, or one a metric.
    """

    who: Places
    series: Places
    begin_ns: Instants
    step_ns: Instants
    amount: Floats


_KEY = "source, system, level, component"


def recorded_components(
    root: Path, levels: Sequence[str], metrics: Sequence[str], begin_ns: int, end_ns: int
) -> list[RecordedComponent]:
    """Components of ``levels`` with amounts of ``metrics`` in a part of [begin, end), sorted."""
    found: dict[tuple[str, ...], RecordedComponent] = {}
    inside = _inside(levels, metrics, begin_ns, end_ns)
    days = list(_days(root, begin_ns, end_ns))
    if not days:
        return []
    with closing(connect(threads=2)) as con:
        for files in days:
            for row in _of_sound(con, files, lambda some: _components(con, some, inside)) or ():
                known = found.get(row[:4])
                found[row[:4]] = row if known is None else _joined(known, row)
    return [found[key] for key in sorted(found)]


def _components(
    con: duckdb.DuckDBPyConnection, files: Sequence[Path], inside: str
) -> list[RecordedComponent]:
    rows = con.execute(
        f"SELECT {_KEY}, min(time_ns), max(time_ns + step_ns), CAST(median(step_ns) AS BIGINT) "
        f"FROM {parquet(files)} WHERE {inside} GROUP BY {_KEY}"
    ).fetchall()
    return [RecordedComponent(*row) for row in rows]


def _joined(one: RecordedComponent, other: RecordedComponent) -> RecordedComponent:
    return one._replace(
        begin_ns=min(one.begin_ns, other.begin_ns),
        end_ns=max(one.end_ns, other.end_ns),
        step_ns=min(one.step_ns, other.step_ns),
    )


def amount_rows(
    root: Path,
    wanted: Sequence[RecordedComponent],
    metrics: Sequence[str],
    begin_ns: int,
    end_ns: int,
) -> Iterator[AmountRows]:
    """Rows of the recorded_components that overlap [begin, end), a day at a time. Warns of damaged files."""
    if not wanted:
        return
    levels = sorted({one.level for one in wanted})
    inside = _inside(levels, metrics, begin_ns, end_ns)
    with closing(connect(threads=2)) as con:
        con.register("named", _table_of(wanted))
        for files in _days(root, begin_ns, end_ns):
            rows = _of_sound(con, files, lambda some: _rows(con, some, inside))
            if rows is not None:
                yield rows


def _of_sound(
    con: duckdb.DuckDBPyConnection, files: Sequence[Path], read: Callable[[Sequence[Path]], T]
) -> T | None:
    """Result of reading the undamaged files; None without any."""
    some = sound_parts(con, files)
    if not some:
        return None
    try:
        return read(some)
    except duckdb.Error:
        # Which of them it is, and that it is left out, comes out when each is read alone.
        whole = [path for path in some if select("count(value) AS n", [path])]
        return read(whole) if whole and len(whole) < len(some) else None


def _rows(con: duckdb.DuckDBPyConnection, files: Sequence[Path], inside: str) -> AmountRows | None:
    source = (
        f"(SELECT who, metric, time_ns, step_ns, value FROM {parquet(files)} "
        f"JOIN named USING ({_KEY}) WHERE {inside})"
    )
    sums = con.execute(
        "SELECT who, time_ns, step_ns, count(*) AS n, "
        "CASE WHEN count(value) = count(*) THEN sum(value) ELSE NULL END AS amount "
        f"FROM {source} GROUP BY who, time_ns, step_ns"
    ).fetchnumpy()
    who = np.ma.getdata(sums["who"]).astype(np.intp)
    if not len(who):
        return None
    size = int(who.max()) + 1
    fewest = np.full(size, np.iinfo(np.int64).max)
    np.minimum.at(fewest, who, np.ma.getdata(sums["n"]))
    every = con.execute(f"SELECT who, count(DISTINCT metric) FROM {source} GROUP BY who").fetchall()
    apart = np.array(sorted(one for one, many in every if fewest[one] < many), dtype=np.intp)
    together = _as_rows(sums, who, who)
    if not len(apart):
        return together
    listed = ", ".join(map(str, apart.tolist()))
    single = con.execute(
        f"SELECT who, metric, time_ns, step_ns, value AS amount FROM {source} WHERE who IN ({listed})"
    ).fetchnumpy()
    owner = np.ma.getdata(single["who"]).astype(np.intp)
    _, metric = np.unique(np.ma.getdata(single["metric"]).astype(str), return_inverse=True)
    detail = _as_rows(single, owner, size + owner * (int(metric.max(initial=0)) + 1) + metric)
    keep = ~np.isin(who, apart)
    both = zip(together, detail, strict=True)
    return AmountRows(*(np.concatenate([one[keep], other]) for one, other in both))


def _as_rows(columns: Any, who: Places, series: Places) -> AmountRows:
    begin, step = (np.ma.getdata(columns[name]).astype(np.int64) for name in ("time_ns", "step_ns"))
    amount = np.ma.filled(np.ma.asarray(columns["amount"]).astype(np.float64), np.nan)
    return AmountRows(who, series, begin, step, amount)


def _table_of(wanted: Sequence[RecordedComponent]) -> dict[str, Any]:
    columns: dict[str, Any] = {
        name: np.array([getattr(one, name) for one in wanted], dtype=object)
        for name in ("source", "system", "level", "component")
    }
    return columns | {"who": np.arange(len(wanted), dtype=np.int64)}


def _inside(levels: Sequence[str], metrics: Sequence[str], begin_ns: int, end_ns: int) -> str:
    return (
        f"level IN ({', '.join(map(literal, levels))}) AND kind = 'delta' AND step_ns > 0 "
        f"AND metric IN ({', '.join(map(literal, metrics))}) "
        f"AND time_ns < {int(end_ns)} AND time_ns + step_ns > {int(begin_ns)}"
    )


def _days(root: Path, begin_ns: int, end_ns: int) -> list[list[Path]]:
    """Files of each day with records. A step belongs to the day in which it starts."""
    by_day: dict[str, list[Path]] = {}
    for path in parts(root, METRICS, *days_of(begin_ns - DAY_NS, end_ns)):
        by_day.setdefault(path.parent.name, []).append(path)
    return [by_day[day] for day in sorted(by_day)]
