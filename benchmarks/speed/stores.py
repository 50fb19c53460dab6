"""Stores of many hosts, days and targets, written as sealing leaves them.

Service times are lognormal with a Pareto tail, a million draws in turns; one operation in a thousand is late, skipped
or failed. One target of one host in ten is four times slower for an hour every third day.
"""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import duckdb

from iosonde.engine.contract import SAMPLE_TYPES
from iosonde.engine.layout.segments import parquet_path
from iosonde.engine.parquet import write_parquet
from iosonde.model.ops import OPS
from iosonde.model.units import DAY_NS, HOUR_NS

START_NS = 1_782_864_000 * 1_000_000_000
"""2026-07-01 00:00 UTC."""
_MEDIANS_US = {
    "data_read": 5000,
    "data_write": 4000,
    "md_create": 1000,
    "md_stat": 40,
    "md_read": 400,
    "md_delete": 600,
}
_DRAWS = 1 << 20
"""Operations whose noise is drawn; every file of a host begins somewhere else in them."""
_DRAW = """
CREATE TABLE draws AS SELECT 100000 + (late * 50000)::BIGINT + CASE WHEN fate < 4e-4 THEN 2e8 ELSE 0 END AS late_ns,
    (far * 1024)::BIGINT AS offset_mb,
    CASE WHEN fate > 0.9997 THEN 'skipped' WHEN fate > 0.9994 THEN 'EIO' ELSE 'ok' END AS outcome,
    CASE WHEN w < 0.1 THEN (x * 1e6)::BIGINT ELSE (x * 3000)::BIGINT END AS runq,
    exp(0.4 * sqrt(-2 * ln(1 - u)) * cos(6.283185307 * v))
        * CASE WHEN w < 0.005 THEN 1 / sqrt(0.02 + 0.98 * x) ELSE 1 END AS factor
FROM (
    SELECT random() AS u, random() AS v, random() AS w, random() AS x, random() AS late, random() AS far,
        random() AS fate
    FROM range({draws})
)
"""
_SLOTS = """
CREATE TABLE slots AS SELECT target, op, median_ns, tick * {period} + place * ({period} // 6) AS since_ns
FROM range({ticks}) AS ticks(tick), targets, ops ORDER BY target, op, since_ns
"""
_SQL = """
SELECT target, op, {begin} + since_ns AS due_ns, {begin} + since_ns + late_ns AS made_ns, offset_mb, outcome, runq,
    (median_ns * factor * CASE WHEN {slow} AND target = '{first}' AND ({begin} + since_ns) // {hour} % 24 = 14
        THEN 4 ELSE 1 END)::BIGINT AS service_ns
FROM slots POSITIONAL JOIN (SELECT * FROM draws LIMIT {rows} OFFSET {offset})
"""


@dataclass(frozen=True)
class Shape:
    """Targets of every host, their period, and what one file holds."""

    targets: tuple[str, ...]
    period_ns: int = 1_000_000_000
    file_ns: int = HOUR_NS

    @property
    def rows(self) -> int:
        """Operations of a file."""
        return self.file_ns // self.period_ns * len(self.targets) * len(OPS)

    def of(self, hosts: int, days: int) -> int:
        """Operations of a store."""
        return hosts * days * (DAY_NS // self.file_ns) * self.rows


def week_like(targets: int) -> Shape:
    """``/work0``, ``/work1`` ... at 1 Hz, an hour a file."""
    return Shape(tuple(f"/work{number}" for number in range(targets)))


def make(root: Path, shape: Shape, days: int, hosts: int = 1) -> int:
    """Write what is not there of a store; its rows. Raises SystemExit where there is no room."""
    root.mkdir(parents=True, exist_ok=True)
    free, needed = shutil.disk_usage(root).free, shape.of(hosts, days) * 18
    if needed > 0.9 * free:
        sys.exit(f"{root} has {free / 1e9:.0f} GB free; expected {needed / 1e9:.0f} GB")
    with duckdb.connect() as con:
        con.execute("SELECT setseed(0.25)")
        medians = ", ".join(
            f"('{op}', {place}, {1000 * _MEDIANS_US[op]})" for place, op in enumerate(OPS)
        )
        con.execute(
            f"CREATE TABLE ops AS SELECT * FROM (VALUES {medians}) AS t(op, place, median_ns)"
        )
        names = ", ".join(f"('{target}')" for target in shape.targets)
        con.execute(f"CREATE TABLE targets AS SELECT * FROM (VALUES {names}) AS t(target)")
        con.execute(_DRAW.format(draws=_DRAWS))
        con.execute(_SLOTS.format(period=shape.period_ns, ticks=shape.file_ns // shape.period_ns))
        for host in range(hosts):
            for number in range(days * (DAY_NS // shape.file_ns)):
                _write(con, root, shape, host, number)
    return shape.of(hosts, days)


def _write(
    con: duckdb.DuckDBPyConnection, root: Path, shape: Shape, host: int, number: int
) -> None:
    begin, run = START_NS + number * shape.file_ns, f"{host:016x}"
    path = parquet_path(root, f"node{host:03}", f"{run}-{number:06}", begin)
    if path.exists():
        return
    made = {
        "schema_version": "1",
        "host": f"'node{host:03}'",
        "period_ns": f"{shape.period_ns}",
        "size_bytes": "CASE WHEN op LIKE 'data%' THEN 1048576 ELSE 3901 END",
        "offset_bytes": "CASE WHEN op LIKE 'data%' THEN offset_mb * 1048576 END",
        "began_ns": "CASE WHEN outcome <> 'skipped' THEN made_ns END",
        "ended_ns": "made_ns + service_ns",
        "cache": "CASE WHEN op LIKE 'data%' THEN 'direct' ELSE 'unknown' END",
        "control_runq_ns": "runq",
        "seed": f"{host}",
        "run_id": f"'{run}'",
    }
    day = (begin - START_NS) // DAY_NS
    rows = _SQL.format(
        slow=str(host % 10 == 0 and day % 3 == 2).lower(),
        first=shape.targets[0],
        hour=HOUR_NS,
        begin=begin,
        rows=shape.rows,
        offset=(host * 7919 + number * 104_729) % (_DRAWS - shape.rows),
    )
    columns = ", ".join(
        f"({made.get(name, name)})::{kind} AS {name}" for name, kind in SAMPLE_TYPES.items()
    )
    write_parquet(con, f"SELECT {columns} FROM ({rows})", path)
